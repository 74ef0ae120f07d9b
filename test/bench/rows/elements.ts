import { createCollisionService, type MeshId } from 'collision-worker';
import { BufferAttribute, BufferGeometry, type Intersection, LineSegments, Points, Ray, Raycaster } from 'three';
import { LineSegmentsBVH, PointsBVH } from 'three-mesh-bvh';
import { Random } from '../../oracle/random.js';
import { type Contender, inOwnProcess, inThisProcess, type Row } from '../harness.js';
import { OURS, Scene, timeAwaited } from '../ours.js';
import { bumpyBall, type Elements } from '../work/elements.js';
import { rayChecksum, raysAround } from '../work/rays.js';
import { manyRays } from './rays.js';

export interface ElementsOptions {
  name: string;
  topology: Elements['topology'];
  count: number;
  rays: number;
  /** Target for three-mesh-bvh's build and rays, as multiples of our time. */
  target: number;
  /** Includes the positions. */
  bytesAtMost: number;
}

/** Hit radius around a ray, on a ball of radius 1. */
const THRESHOLD = 0.003;

const RAYS_OF_A_CHECK = 500;

/** From positions to a tree that can be raycast, ours in a builder's worker; and first hits of rays with a threshold. */
export function elementsRows(options: ElementsOptions): Row[] {
  const { name, topology, count, rays, target, bytesAtMost } = options;
  const countText = `${count.toLocaleString('en')} ${topology}`;
  return [
    {
      name: `${name}-build`,
      work: `the tree of ${countText}`,
      rounds: 3,
      async prepare() {
        const elements = bumpyBall(new Random(1), topology, count);
        const checkRays = raysAround(new Random(2), elements.positions, RAYS_OF_A_CHECK);
        const { contender, bytes } = await ourBuild(elements, checkRays);
        return {
          contenders: [
            inThisProcess(() => contender),
            inOwnProcess(() => ({ ...peerBuild(elements, checkRays), target })),
          ],
          facts: async () => [
            { name: OURS, value: bytes() / count, unit: 'bytes each, positions included', atMost: bytesAtMost },
          ],
        };
      },
    },
    {
      name,
      work: `${rays.toLocaleString('en')} first hits of ${countText} within ${THRESHOLD} of rays, on a ball of radius 1`,
      rounds: 5,
      async prepare() {
        const elements = bumpyBall(new Random(1), topology, count);
        const timedRays = raysAround(new Random(2), elements.positions, rays);
        const scene = () => Scene.ofMeshes(1, elements, { contacts: 'none' });
        return {
          contenders: [
            inThisProcess(async () => manyRays(await scene(), timedRays, { threshold: THRESHOLD })),
            inOwnProcess(() => ({ ...firstHits(treeOf(elements), timedRays), target })),
          ],
        };
      },
    },
  ];
}

async function ourBuild(elements: Elements, rays: Float32Array) {
  const service = await createCollisionService();
  let mesh: MeshId | undefined;
  let bytes = 0;
  const contender = timeAwaited({
    name: OURS,
    before() {
      if (mesh !== undefined) service.removeMesh(mesh);
    },
    async run() {
      mesh = await service.addMesh(elements);
    },
    async checksum() {
      bytes = service.meshInfo(mesh!).bytes;
      const object = service.addObject({ shape: { type: 'mesh', mesh: mesh! } });
      const { distances } = await service.raycastMany(rays, { threshold: THRESHOLD });
      service.removeObject(object);
      return rayChecksum(distances, 1);
    },
    close: () => service.dispose(),
  });
  return { contender, bytes: () => bytes };
}

/** A three-mesh-bvh tree, and the object that is raycast with it. */
interface Tree {
  bvh: PointsBVH | LineSegmentsBVH;
  object: Points | LineSegments;
}

function treeOf({ topology, positions }: Elements): Tree {
  const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(positions, 3));
  return topology === 'points'
    ? { bvh: new PointsBVH(geometry), object: new Points(geometry) }
    : { bvh: new LineSegmentsBVH(geometry), object: new LineSegments(geometry) };
}

function peerBuild(elements: Elements, rays: Float32Array): Contender {
  let tree: Tree;
  return {
    name: `three-mesh-bvh ${elements.topology === 'points' ? 'PointsBVH' : 'LineSegmentsBVH'}`,
    run() {
      tree = treeOf(elements);
    },
    checksum() {
      const check = firstHits(tree, rays);
      check.run(0);
      return check.checksum!(1);
    },
    tolerance: { of: { distances: 1e-9 }, because: 'float64 sums, rounded otherwise' },
  };
}

function firstHits({ bvh, object }: Tree, rays: Float32Array): Contender {
  const raycaster = Object.assign(new Raycaster(), { firstHitOnly: true });
  raycaster.params.Points.threshold = THRESHOLD;
  raycaster.params.Line.threshold = THRESHOLD;
  const ray = new Ray();
  const distances = new Float64Array(rays.length / 8);
  return {
    name: `three-mesh-bvh ${bvh instanceof PointsBVH ? 'PointsBVH' : 'LineSegmentsBVH'}`,
    run() {
      for (let i = 0; i < distances.length; i++) {
        ray.origin.fromArray(rays, i * 8);
        ray.direction.fromArray(rays, i * 8 + 4).normalize(); // in float32 it is not of unit length
        raycaster.ray.copy(ray);
        const hits: Intersection[] = [];
        bvh.raycastObject3D(object, raycaster, hits);
        distances[i] = hits.length > 0 ? hits[0].distance : Infinity;
      }
    },
    checksum: (part) => rayChecksum(distances, part),
    tolerance: { of: { distances: 1e-9 }, because: 'float64 sums, rounded otherwise' },
  };
}
