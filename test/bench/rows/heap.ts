import { icosphere, type Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import { inOwnProcess, inThisProcess, type Row } from '../harness.js';
import { OURS, Scene } from '../ours.js';
import { RAPIERS, trimeshPairs } from '../peers/rapier.js';
import { bvhcastFrames } from '../peers/three-mesh-bvh.js';
import { type BoxFrame, frameOfRound, pairChecksum } from '../work/boxes.js';
import { heapOf, toUnitSize } from '../work/heap.js';

/** A frame in which every mesh moves: from the new transforms to all contacts. */
export function sphereHeapRow(count: number): Row {
  return {
    name: 'spheres-2k',
    work: `a frame of ${count.toLocaleString('en')} moving icospheres, meshes of 320 triangles, to all manifolds`,
    rounds: 9,
    async prepare() {
      const mesh = icosphere(0.5, 3);
      const frames = await heapOf(new Random(1), mesh, { count, room: 3.1, frames: 10 });
      const ours = await ourManifolds(mesh, frames);
      const rapiers = RAPIERS.map(([name, rapier]) => {
        return inOwnProcess(async () => ({ ...(await trimeshPairs(name, rapier, mesh, frames)), target: 20 }));
      });
      return {
        contenders: [inThisProcess(() => ours), ...rapiers],
        facts: [ours.pairs],
      };
    },
  };
}

export function dragonHeapRow(mesh: () => Triangles, count: number): Row {
  return {
    name: 'dragons-64',
    work: `a frame of ${count} moving dragons in a loose heap, to all manifolds; at 60 Hz a frame lasts 16.7 ms`,
    rounds: 7,
    async prepare() {
      const dragon = toUnitSize(mesh());
      const frames = await heapOf(new Random(1), dragon, { count, room: 0.2, apart: 0.9, frames: 10 });
      const ours = await ourManifolds(dragon, frames);
      return {
        contenders: [inThisProcess(() => ours), inOwnProcess(() => ({ ...bvhcastFrames(dragon, frames), target: 20 }))],
        facts: [ours.pairs],
      };
    },
  };
}

/** Reports the number of pairs that touch in the first frame. */
async function ourManifolds(mesh: Triangles, frames: readonly BoxFrame[]) {
  const scene = await Scene.ofMeshes(frames[0].positions.length / 3, mesh, { contacts: 'manifold' });
  const run = (round: number) => {
    scene.setTransforms(scene.ids, frameOfRound(frames, round).matrices);
    return scene.update();
  };
  let { contacts } = await run(0);
  return {
    name: OURS,
    pairs: { name: 'touching', value: contacts.count, unit: 'pairs' },
    async measure(round: number) {
      const frame = await run(round);
      ({ contacts } = frame);
      return frame.ms.total;
    },
    close: () => scene.close(),
    checksum() {
      const { count, a, b } = contacts;
      return pairChecksum(count, (i) => [scene.indexOf(a[i]), scene.indexOf(b[i])]);
    },
  };
}
