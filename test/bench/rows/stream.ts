import type { Row } from '../harness.js';
import { pageRow } from './page-row.js';

/** Milliseconds of a frame at 60 per second. */
const FRAME_MS = 1000 / 60;

/** The main thread's cost of streaming, and the latency of an answer: in a page of Chromium. */
export function streamRows(count: number): Row[] {
  const objects = count.toLocaleString('en');
  const tenTimes = (10 * count).toLocaleString('en');
  const fiveTimes = (5 * count).toLocaleString('en');
  return [
    pageRow('moving', {
      name: 'stream-10k',
      work: `the main thread's share of a frame of ${objects} moving Meshes, the answer included, 60 frames a second, in Chromium`,
      count,
      peers: { 'bare loop': { target: 1 / 2.5, note: 'copies the same matrices' }, 'bare loop and two messages': {} },
    }),
    pageRow('instances', {
      name: 'stream-instances',
      work: `the same of an InstancedMesh of ${objects}`,
      count,
      peers: { 'one set': { target: 1 / 4.5, note: 'of its array' }, 'one set and two messages': {} },
    }),
    pageRow('batched', {
      name: 'batch-50k',
      work: `the main thread's share of a frame of a BatchedMesh of ${fiveTimes} moving instances of 20 geometries, in Chromium`,
      count: 5 * count,
      rounds: 9,
      peers: {
        'one set': { note: 'of its matrices' },
        'one set and two messages': { target: 1 / 1.5 },
        'three-mesh-bvh ObjectBVH': { note: 'refits, on the main thread' },
      },
      atMost: { "the frame's index in the worker": 15 },
    }),
    pageRow('culled instances', {
      name: 'cull-instances',
      work: `the main thread's share of a frame of an InstancedMesh of ${tenTimes} moving instances of which the camera sees about a tenth: what is sent, what is drawn, and the matrices of that, in Chromium`,
      count: 10 * count,
      rounds: 9,
      peers: {
        'one set of all and one of a tenth': { target: 1 / 2, note: 'of the matrices' },
        InstancedMesh2: { target: 8, note: 'its matrices and its culling' },
      },
    }),
    pageRow('sorted instances', {
      name: 'cull-instances-sorted',
      work: 'the same, and what is drawn is sorted from front to back',
      count: 10 * count,
      rounds: 9,
      peers: {
        'one set of all and one of a tenth': { target: 1 / 2, note: 'of the matrices' },
        InstancedMesh2: { target: 8, note: 'its matrices, its culling and its sorting' },
      },
    }),
    pageRow('culled batch', {
      name: 'cull-batched',
      work: `the draw list of a BatchedMesh of ${fiveTimes} moving instances of which the camera sees about a tenth, sorted by distance`,
      count: 5 * count,
      rounds: 9,
      peers: { "three's own": { target: 8, note: 'onBeforeRender' } },
    }),
    pageRow('whole batch', {
      name: 'cull-batched-all',
      work: 'the same of a camera that sees all of them',
      count: 5 * count,
      rounds: 9,
      peers: { "three's own": { target: 20, note: 'onBeforeRender' } },
    }),
    pageRow('still', {
      name: 'still-50k',
      work: `the main thread's share of a frame of ${fiveTimes} Meshes of which none moves, in Chromium`,
      count: 5 * count,
      peers: { "three's updateMatrixWorld": { target: 4, note: 'which its renderers call in every frame' } },
    }),
    pageRow('static', {
      name: 'static-50k',
      work: 'the same where all are static',
      count: 5 * count,
      peers: { "three's updateMatrixWorld": { target: 20 } },
    }),
    pageRow('idle picks', {
      name: 'pick-idle',
      work: `from asking for a pick to its answer, ${objects} objects, nothing else to do, in Chromium`,
      count,
      peers: { 'an empty comlink call': { target: 1 / 1.5 } },
    }),
    pageRow('loaded picks', {
      name: 'pick-loaded',
      work: `the same behind each frame of ${objects} moving objects, 60 frames a second`,
      count,
      peers: { 'an empty comlink call': { note: 'to a worker that has no frames to do' } },
      atMost: { 'p99 of picks': FRAME_MS },
    }),
  ];
}
