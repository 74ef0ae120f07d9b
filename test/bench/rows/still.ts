import { PerspectiveCamera } from 'three';
import { viewFromCamera } from '../../../src/client/three/view/view.js';
import { Random } from '../../oracle/random.js';
import { type ContenderElsewhere, here, type Row } from '../harness.js';
import { OURS, Scene } from '../ours.js';
import { BoxGrid } from '../peers/box-grid.js';
import { type BoxFrame, frameOfRound, HALF_SIZE, turningBoxes } from '../work/boxes.js';

const FRAMES = 6;

/** Frames of pairs and a view in which few objects move, compared with frames in which all move. */
export function stillRow(count: number): Row {
  const few = count / 1000;
  return {
    name: 'still-100k',
    work: `a frame of ${count.toLocaleString('en')} boxes, their pairs and a view, of which ${few.toLocaleString('en')} move`,
    rounds: 15,
    async prepare() {
      const frames = turningBoxes(new Random(1), count, FRAMES);
      const still = await moving(`${OURS}, ${few} move`, frames, few);
      const all = await moving(`${OURS}, all move`, frames, count);
      return {
        contenders: [here(() => still.contender), here(() => ({ ...all.contender, target: 15 }))],
        verify: () => [...still.differences(), ...all.differences()],
      };
    },
  };
}

async function moving(name: string, frames: readonly BoxFrame[], count: number) {
  const scene = await Scene.ofBoxes(frames[0].positions.length / 3);
  const places = frames[0].matrices.slice();
  scene.setTransforms(scene.ids, places);
  const size = Math.cbrt(scene.ids.length * 8);
  scene.setView(viewFromCamera(new PerspectiveCamera(55, 16 / 9, 0.1, 2 * size), { width: 1600, height: 900 }));
  let { contacts } = await scene.update();
  const ids = scene.ids.subarray(0, count);
  const contender: ContenderElsewhere = {
    name,
    async measure(round) {
      const moved = frameOfRound(frames, round).matrices.subarray(0, 16 * count);
      places.set(moved); // an app has to do this as well
      scene.setTransforms(ids, moved);
      const frame = await scene.update();
      ({ contacts } = frame);
      return frame.ms.total;
    },
    close: () => scene.close(),
  };
  /** Compares the pairs with those of a float64 test. */
  const differences = (): string[] => {
    const grid = new BoxGrid(scene.ids.length);
    grid.findPairs(places, HALF_SIZE);
    const found = new Set(Array.from(contacts.a, (a, i) => pairOf(scene.indexOf(a), scene.indexOf(contacts.b[i]))));
    const expected = new Set(
      Array.from({ length: grid.count }, (_, i) => pairOf(grid.pairs[2 * i], grid.pairs[2 * i + 1])),
    );
    const wrong = [...found].filter((pair) => !expected.has(pair)).length;
    const missing = [...expected].filter((pair) => !found.has(pair)).length;
    return wrong + missing === 0 ? [] : [`${name}: ${wrong} pairs too many, ${missing} missing, of ${expected.size}`];
  };
  return { contender, differences };
}

function pairOf(a: number, b: number): string {
  return `${Math.min(a, b)} ${Math.max(a, b)}`;
}
