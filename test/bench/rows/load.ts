import { type CollisionService, createCollisionService, type MeshId } from 'collision-worker';
import { DoubleSide, Ray } from 'three';
import { MeshBVH } from 'three-mesh-bvh';
import type { Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import { type Contender, inOwnProcess, inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS, timeAwaited } from '../ours.js';
import { geometryOf, treeOf } from '../peers/three-mesh-bvh.js';
import { raysAround } from '../work/rays.js';

/** From a baked mesh in the page's memory to the answer of a ray, including messages. */
export function loadRow(mesh: () => Triangles): Row {
  return {
    name: 'load-871k',
    work: 'the full dragon, baked, to its first ray',
    rounds: 9,
    async prepare() {
      const triangles = mesh();
      const ray = hittingRay(triangles);
      const baked = await bakedOf(triangles);
      return {
        contenders: [
          inThisProcess(async () => ({ ...(await ours(OURS, ray, (service) => service.addMesh(baked))), atMost: 8 })),
          inThisProcess(() => transferred('the same by transfer: true', baked, ray)),
          inThisProcess(async () => ({
            ...(await ours('its own build instead', ray, (service) => service.addMesh(triangles))),
            target: 25,
          })),
          inOwnProcess(() => deserialize(triangles, ray)),
        ],
      };
    },
  };
}

async function bakedOf(triangles: Triangles): Promise<ArrayBuffer> {
  const service = await createCollisionService();
  const baked = await service.bakeMesh(await service.addMesh(triangles));
  service.dispose();
  return baked;
}

/** Data that was fetched or read from a database is transferred. */
async function transferred(name: string, baked: ArrayBuffer, ray: Ray): Promise<SelfTimedContender> {
  let fetched = baked.slice(0);
  const contender = await ours(name, ray, (service) => service.addMesh(fetched, { transfer: true }));
  return {
    ...contender,
    before() {
      contender.before?.();
      fetched = baked.slice(0);
    },
  };
}

async function ours(
  name: string,
  ray: Ray,
  meshOf: (service: CollisionService) => Promise<MeshId>,
): Promise<SelfTimedContender> {
  const service = await createCollisionService();
  const [origin, direction] = [ray.origin.toArray(), ray.direction.toArray()];
  let current: { mesh: MeshId; object: number } | undefined;
  let distance = 0;
  return timeAwaited({
    name,
    before() {
      if (current === undefined) return;
      service.removeObject(current.object);
      service.removeMesh(current.mesh);
    },
    async run() {
      const mesh = await meshOf(service);
      current = { mesh, object: service.addObject({ shape: { type: 'mesh', mesh } }) };
      distance = (await service.raycast({ origin, direction }))!.distance;
    },
    checksum: () => ({ distance }),
    close: () => service.dispose(),
  });
}

function deserialize(triangles: Triangles, ray: Ray): Contender {
  const serialized = MeshBVH.serialize(treeOf(triangles));
  let geometry = geometryOf(triangles);
  let distance = 0;
  return {
    name: 'three-mesh-bvh deserialize',
    note: 'checks nothing and copies the indices only',
    before() {
      geometry = geometryOf(triangles);
    },
    run() {
      const tree = MeshBVH.deserialize(serialized, geometry);
      distance = tree.raycastFirst(ray, DoubleSide)!.distance;
    },
    checksum: () => ({ distance }),
    tolerance: { of: { distance: 1e-12 }, because: 'float64, rounded otherwise' },
  };
}

function hittingRay(triangles: Triangles): Ray {
  const rays = raysAround(new Random(1), triangles.positions, 100);
  const tree = treeOf(triangles);
  const ray = new Ray();
  for (let i = 0; i < rays.length; i += 8) {
    ray.origin.fromArray(rays, i);
    ray.direction.fromArray(rays, i + 4);
    if (tree.raycastFirst(ray, DoubleSide)) return ray;
  }
  throw new Error('none of the rays hits the mesh');
}
