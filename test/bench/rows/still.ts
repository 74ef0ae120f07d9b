import { PerspectiveCamera } from 'three';
import { viewFromCamera } from '../../../src/client/three/view/view.js';
import { Random } from '../../oracle/random.js';
import { inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS, Scene } from '../ours.js';
import { BoxGrid } from '../peers/box-grid.js';
import { type BoxFrame, frameOfRound, HALF_SIZE, turningBoxes } from '../work/boxes.js';

const FRAMES = 6;

/** Frames of pairs and a view in which few objects move, compared with frames in which all move. */
export function stillRow(count: number): Row {
  const movingCount = count / 1000;
  return {
    name: 'still-100k',
    work: `a frame of ${count.toLocaleString('en')} boxes, their pairs and a view, of which ${movingCount.toLocaleString('en')} move`,
    rounds: 15,
    async prepare() {
      const frames = turningBoxes(new Random(1), count, FRAMES);
      const still = await movingBoxes(`${OURS}, ${movingCount} move`, frames, movingCount);
      const all = await movingBoxes(`${OURS}, all move`, frames, count);
      return {
        contenders: [inThisProcess(() => still.contender), inThisProcess(() => ({ ...all.contender, target: 15 }))],
        verify: () => [...still.differences(), ...all.differences()],
      };
    },
  };
}

async function movingBoxes(name: string, frames: readonly BoxFrame[], count: number) {
  const scene = await Scene.ofBoxes(frames[0].positions.length / 3);
  const allMatrices = frames[0].matrices.slice();
  scene.setTransforms(scene.ids, allMatrices);
  const size = Math.cbrt(scene.ids.length * 8);
  scene.setView(viewFromCamera(new PerspectiveCamera(55, 16 / 9, 0.1, 2 * size), { width: 1600, height: 900 }));
  let { contacts } = await scene.update();
  const ids = scene.ids.subarray(0, count);
  const contender: SelfTimedContender = {
    name,
    async measure(round) {
      const movedMatrices = frameOfRound(frames, round).matrices.subarray(0, 16 * count);
      allMatrices.set(movedMatrices); // an app has to do this as well
      scene.setTransforms(ids, movedMatrices);
      const frame = await scene.update();
      ({ contacts } = frame);
      return frame.ms.total;
    },
    close: () => scene.close(),
  };
  /** Compares the pairs with those of a float64 test. */
  const differences = (): string[] => {
    const grid = new BoxGrid(scene.ids.length);
    grid.findPairs(allMatrices, HALF_SIZE);
    const actualPairs = new Set(
      Array.from(contacts.a, (a, i) => pairOf(scene.indexOf(a), scene.indexOf(contacts.b[i]))),
    );
    const expectedPairs = new Set(
      Array.from({ length: grid.count }, (_, i) => pairOf(grid.pairs[2 * i], grid.pairs[2 * i + 1])),
    );
    const wrong = [...actualPairs].filter((pair) => !expectedPairs.has(pair)).length;
    const missing = [...expectedPairs].filter((pair) => !actualPairs.has(pair)).length;
    return wrong + missing === 0
      ? []
      : [`${name}: ${wrong} pairs too many, ${missing} missing, of ${expectedPairs.size}`];
  };
  return { contender, differences };
}

function pairOf(a: number, b: number): string {
  return `${Math.min(a, b)} ${Math.max(a, b)}`;
}
