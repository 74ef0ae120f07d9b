import type { Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import type { Row } from '../harness.js';
import { SMALL_LEAVES } from '../peers/three-mesh-bvh.js';
import { rodsAndPlates } from '../work/rods.js';
import { boxManifoldsRow, boxPairsRow, boxRaysRow } from './boxes.js';
import { frustumRows } from './frustum.js';
import { dragonHeapRow, sphereHeapRow } from './heap.js';
import { allPairsRow, distanceRow, firstPairRow, manifoldPairsRow } from './pairs.js';
import { regionRow, screenRow } from './pointing.js';
import { frontRaysRow, raysRow } from './rays.js';
import { clearanceRow, continuousRow } from './reaching.js';
import { stillRow } from './still.js';
import { streamRows } from './stream.js';
import { boxSweepsRow, meshSweepsRow } from './sweeps.js';

export interface AnywhereSizes {
  rods: number;
  rays: number;
  poses: number;
  /** Points in the rows of nearness. */
  points: number;
  boxes: number;
  boxRays: number;
  /** Number of moving meshes. */
  spheres: number;
  dragons: number;
  /** Objects in the rows of frusta and of objects at rest. */
  objects: number;
  /** Objects in the streaming rows. */
  streamed: number;
}

export const FULL_ANYWHERE: AnywhereSizes = {
  rods: 20_000,
  rays: 100_000,
  poses: 200,
  points: 10_000,
  boxes: 10_000,
  boxRays: 10_000,
  spheres: 2000,
  dragons: 64,
  objects: 100_000,
  streamed: 10_000,
};

/** Lists the rows that also run in any browser: all of their contenders are JavaScript or WebAssembly. */
export function rowsAnywhere(small: () => Triangles, sizes: AnywhereSizes): Row[] {
  const { rods, rays, poses, points, boxes, boxRays, spheres, dragons, objects } = sizes;
  return [
    raysRow({
      name: 'rays-48k',
      what: 'the dragon',
      mesh: small,
      rays,
      fewRays: 20,
      target: 10,
      nativeTarget: 0.6,
      treeOptions: SMALL_LEAVES,
    }),
    raysRow({
      name: 'rays-rods',
      areThin: true,
      what: `${rods.toLocaleString('en')} thin rods and plates`,
      mesh: () => rodsAndPlates(new Random(1), rods),
      rays,
      fewRays: 3,
      target: 8,
      rounds: 5,
    }),
    frontRaysRow(small, rays),
    firstPairRow(small, poses),
    allPairsRow(small, poses),
    manifoldPairsRow(small, poses),
    distanceRow(small, poses),
    boxPairsRow(boxes),
    boxManifoldsRow(boxes),
    boxRaysRow(boxes, boxRays),
    meshSweepsRow(small, points),
    boxSweepsRow(boxes, points),
    clearanceRow(spheres),
    continuousRow(boxes),
    sphereHeapRow(spheres),
    dragonHeapRow(small, dragons),
    ...frustumRows(objects),
    screenRow(objects),
    regionRow(objects),
    stillRow(objects),
    ...streamRows(sizes.streamed),
  ];
}
