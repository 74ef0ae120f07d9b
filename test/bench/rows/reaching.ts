import { icosphere } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import { type Fact, inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS, Scene } from '../ours.js';
import { type BoxFrame, frameOfRound, turningBoxes } from '../work/boxes.js';
import { heapOf } from '../work/heap.js';

/** Half the maximum gap between two spheres of size 1. */
const CLEARANCE = 0.025;

/** Moving meshes with a clearance, compared with the same without. */
export function clearanceRow(count: number): Row {
  return {
    name: 'clearance-2k',
    work: `a frame of ${count.toLocaleString('en')} moving icospheres, meshes of 320 triangles, to all that touch or are nearer than a twentieth of their size, with points`,
    rounds: 21,
    async prepare() {
      const mesh = icosphere(0.5, 3);
      const frames = await heapOf(new Random(1), mesh, { count, room: 3.1, frames: 10 });
      const [clearanceScene, plainScene] = await Promise.all(
        [CLEARANCE, 0].map((clearance) => Scene.ofMeshes(count, mesh, { contacts: 'manifold', clearance })),
      );
      return frameRow(OURS, clearanceScene, 'without a clearance', plainScene, frames, 1.5);
    },
  };
}

/** Boxes with continuous detection, compared with the same boxes without it. */
export function continuousRow(count: number): Row {
  return {
    name: 'continuous-10k',
    work: `a frame of ${count.toLocaleString('en')} boxes that all turn and drift, to all pairs that overlap or met on their way`,
    rounds: 41,
    async prepare() {
      const frames = turningBoxes(new Random(1), count, 30);
      const [continuousScene, discreteScene] = await Promise.all(
        [true, false].map((continuous) => Scene.ofBoxes(count, { continuous })),
      );
      return frameRow(OURS, continuousScene, 'none continuous', discreteScene, frames, 1.6);
    },
  };
}

/** Compares a scene's frames with those of a scene that requests less; they should take at most `atMost` times as long. */
function frameRow(
  name: string,
  scene: Scene,
  otherName: string,
  other: Scene,
  frames: readonly BoxFrame[],
  atMost: number,
) {
  const ours = framesOf(name, scene, frames);
  const reference = { ...framesOf(otherName, other, frames), target: 1 / atMost };
  const facts = async (): Promise<Fact[]> => [
    { name: 'pairs', value: ours.count(), unit: 'pairs' },
    { name: `pairs ${otherName}`, value: reference.count(), unit: 'pairs' },
  ];
  return {
    contenders: [inThisProcess(() => ours), inThisProcess(() => reference)] as [
      ReturnType<typeof inThisProcess>,
      ReturnType<typeof inThisProcess>,
    ],
    facts,
  };
}

function framesOf(name: string, scene: Scene, frames: readonly BoxFrame[]): SelfTimedContender & { count(): number } {
  let count = 0;
  return {
    name,
    count: () => count,
    async measure(round) {
      scene.setTransforms(scene.ids, frameOfRound(frames, round).matrices);
      const frame = await scene.update();
      count = frame.contacts.count;
      return frame.ms.total;
    },
    close: () => scene.close(),
  };
}
