import { DoubleSide, Ray } from 'three';
import { MeshBVH } from 'three-mesh-bvh';
import type { Core } from '../../../src/worker/binding/core.js';
import { bake, startCore } from '../../fixtures/core.js';
import type { Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import type { Contender, Row } from '../harness.js';
import { addMeshObject, filterOf, OBJECT_ID, OURS } from '../ours.js';
import { geometryOf, treeOf } from '../peers/three-mesh-bvh.js';
import { raysAround } from '../work/rays.js';

/** From a baked mesh in memory to the answer of a ray. */
export function loadRow(mesh: () => Triangles): Row {
  return {
    name: 'load-871k',
    work: 'the full dragon, baked, to its first ray',
    rounds: 9,
    async prepare() {
      const triangles = mesh();
      const ray = hittingRay(triangles);
      const core = await startCore();
      const baked = bake(core, triangles);
      return {
        contenders: [
          await ours(OURS, ray, (core) => core.loadMesh(baked)),
          {
            ...(await ours('its own build instead', ray, (core) => core.loadMesh(bake(core, triangles)))),
            target: 25,
          },
          deserialize(triangles, ray),
        ],
      };
    },
  };
}

async function ours(name: string, ray: Ray, meshOf: (core: Core) => number): Promise<Contender> {
  const core = await startCore();
  const [origin, direction] = [ray.origin.toArray(), ray.direction.toArray()];
  let mesh: number | undefined;
  let distance = 0;
  return {
    name,
    before() {
      if (mesh === undefined) return;
      core.removeObject(OBJECT_ID);
      core.freeMesh(mesh);
    },
    run() {
      mesh = meshOf(core);
      addMeshObject(core, mesh);
      distance = core.queries.raycast({ origin, direction }, filterOf())!.distance;
    },
    checksum: () => ({ distance }),
  };
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
