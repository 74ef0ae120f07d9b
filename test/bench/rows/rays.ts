import type { QueryOptions } from 'collision-worker';
import { FrontSide, Vector3 } from 'three';
import { boundsOf, type Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import { inOwnProcess, inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS, Scene } from '../ours.js';
import { havokRays } from '../peers/havok.js';
import { embreeRays } from '../peers/native.js';
import { octree } from '../peers/octree.js';
import { meshObject, raycaster } from '../peers/raycaster.js';
import { raycastFirst, SMALL_LEAVES, type TreeOptions, treeOf } from '../peers/three-mesh-bvh.js';
import { cameraRays, rayChecksum, raysAround } from '../work/rays.js';

export interface RaysOptions {
  name: string;
  mesh(): Triangles;
  what: string;
  rays: number;
  /** Number of rays for three's Raycaster, which tests every triangle. */
  fewRays: number;
  /** Target for three-mesh-bvh. */
  target: number;
  /** Target for Embree. */
  nativeTarget?: number;
  treeOptions?: TreeOptions;
  /** Havok's surfaces are so thick that it hits half as many thin objects again, which is not the same work. */
  areThin?: boolean;
  rounds?: number;
}

/** First hits of rays on both sides of one mesh's triangles. */
export function raysRow(options: RaysOptions): Row {
  const { what, rays: count } = options;
  const work = `${count.toLocaleString('en')} first hits from a sphere around ${what} to random points in its box`;
  return rowOf(options, work, (positions) => raysAround(new Random(1), positions, count));
}

/** Primary rays of a camera. Embree casts single rays, since the others cast them one by one, too. */
export function cameraRaysRow(options: Omit<RaysOptions, 'rays'>, width: number, height: number): Row {
  const work = `the first hits of ${width} × ${height} rays of a camera that looks at ${options.what}`;
  return rowOf(options, work, (positions) => cameraRays(positions, width, height));
}

function rowOf(
  { name, mesh, fewRays, target, nativeTarget, treeOptions, areThin = false, rounds = 11 }: Omit<RaysOptions, 'rays'>,
  work: string,
  raysOf: (positions: Float32Array) => Float32Array,
): Row {
  return {
    name,
    work,
    rounds,
    async prepare({ native }) {
      const triangles = mesh();
      const rays = raysOf(triangles.positions);
      const rayLength = 3 * boundsOf(triangles.positions).getSize(new Vector3()).length();
      return {
        contenders: [
          inThisProcess(() => ourRays(triangles, rays)),
          inOwnProcess(() => ({ ...raycastFirst(treeOf(triangles, treeOptions), rays), target })),
          ...(areThin
            ? []
            : [inOwnProcess(async () => ({ ...(await havokRays(triangles, rays, rayLength)), target: 2.5 }))]),
          inOwnProcess(() => raycaster([meshObject(triangles)], rays, fewRays)),
          ...(native ? embreeRays(triangles, rays, nativeTarget) : []),
        ],
      };
    },
  };
}

/** Measures the worker's own time. */
async function ourRays(
  triangles: Triangles,
  rays: Float32Array,
  options: QueryOptions = {},
): Promise<SelfTimedContender> {
  return manyRays(await Scene.ofMeshes(1, triangles), rays, options);
}

/** Uses `raycastMany`; measures the worker's own time. */
export async function manyRays(scene: Scene, rays: Float32Array, options?: QueryOptions): Promise<SelfTimedContender> {
  await scene.update();
  let distances: Float64Array = new Float64Array(0);
  return {
    name: OURS,
    async measure() {
      const hits = await scene.service.raycastMany(rays, options);
      ({ distances } = hits);
      return hits.ms;
    },
    checksum: (part) => rayChecksum(distances, part),
    close: () => scene.close(),
  };
}

/** Hits front faces only, like three's Octree. */
export function frontRaysRow(mesh: () => Triangles, count: number): Row {
  return {
    name: 'rays-front',
    work: `${count.toLocaleString('en')} first hits of the dragon's front faces`,
    rounds: 7,
    async prepare() {
      const triangles = mesh();
      const rays = raysAround(new Random(1), triangles.positions, count);
      return {
        contenders: [
          inThisProcess(() => ourRays(triangles, rays, { side: 'front' })),
          inOwnProcess(() => raycastFirst(treeOf(triangles, SMALL_LEAVES), rays, FrontSide)),
          inOwnProcess(() => octree(triangles, rays, 1000)),
        ],
      };
    },
  };
}
