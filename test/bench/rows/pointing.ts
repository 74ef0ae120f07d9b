import { BoxGeometry, Matrix4, Mesh, PerspectiveCamera, Scene as ThreeScene } from 'three';
import { SelectionBox } from 'three/addons/interactive/SelectionBox.js';
import { readView } from '../../../src/client/frame/view-table.js';
import { viewFromCamera } from '../../../src/client/three/view/view.js';
import { CONTACTS_NONE, REGION_TOUCH } from '../../../src/shared/layout.js';
import { Random } from '../../oracle/random.js';
import type { Contender, Row } from '../harness.js';
import { filterOf, OURS, Scene } from '../ours.js';
import { type BoxFrame, HALF_SIZE, turningBoxes } from '../work/boxes.js';

const SIZE = { width: 1920, height: 1080 };
const RADIUS = 20;
const CURSORS = 100;
const RECTANGLES = 20;

/** The object whose centre is drawn nearest to a cursor: the cost should be that of what is near it. */
export function screenRow(count: number): Row {
  return {
    name: 'screen-100k',
    work: `a pick by screen distance, ${RADIUS} pixels, among ${count.toLocaleString('en')} objects around the camera`,
    rounds: 21,
    async prepare() {
      const [frame] = turningBoxes(new Random(1), count, 1);
      const random = new Random(2);
      const cursors = Array.from({ length: CURSORS }, () => [random.next() * SIZE.width, random.next() * SIZE.height]);
      return { contenders: [await ourScreen(frame, cursors), projectAll(frame, cursors)], repeats: CURSORS };
    },
  };
}

/** What a rectangle on the screen touches. */
export function regionRow(count: number): Row {
  return {
    name: 'region-100k',
    work: `what a rectangle of a tenth of the screen's width and height touches among ${count.toLocaleString('en')} objects`,
    rounds: 11,
    async prepare() {
      const [frame] = turningBoxes(new Random(1), count, 1);
      const random = new Random(2);
      // Low x and y in clip space over w.
      const corners = Array.from({ length: RECTANGLES }, () => [random.range(-1, 0.8), random.range(-1, 0.8)]);
      const ours = await ourRegions(frame, corners);
      const theirs = selectionBox(frame, corners);
      return {
        contenders: [ours.contender, theirs.contender],
        repeats: RECTANGLES,
        // A box whose centre is in the rectangle touches it.
        verify: () =>
          [...theirs.found()].filter((i) => !ours.found().has(i)).map((i) => `box ${i} is in the rectangle, not found`),
      };
    },
  };
}

/** In the middle of the scene. */
function camera(): PerspectiveCamera {
  const camera = new PerspectiveCamera(55, SIZE.width / SIZE.height, 0.1, 1000);
  camera.updateMatrixWorld();
  return camera;
}

async function sceneOf({ positions, matrices }: BoxFrame): Promise<Scene> {
  const scene = await Scene.ofBoxes(positions.length / 3, { contacts: CONTACTS_NONE });
  scene.setTransforms(scene.ids, matrices);
  scene.update();
  return scene;
}

async function ourScreen(frame: BoxFrame, cursors: number[][]): Promise<Contender> {
  const { core } = await sceneOf(frame);
  const { record } = readView('bench', viewFromCamera(camera(), SIZE));
  const pixels = new Float64Array(cursors.length);
  return {
    name: OURS,
    run() {
      cursors.forEach(([x, y], i) => {
        pixels[i] = core.queries.pickScreen(record, { x, y, radius: RADIUS }, filterOf())?.pixels ?? RADIUS;
      });
    },
    checksum: () => ({ pixels: pixels.reduce((sum, each) => sum + each) }),
  };
}

/** What one writes without an index: all centres through the camera's matrix, in float64. */
function projectAll({ positions }: BoxFrame, cursors: number[][]): Contender {
  const eye = camera();
  const m = new Matrix4().multiplyMatrices(eye.projectionMatrix, eye.matrixWorldInverse).elements;
  const centres = Float64Array.from(positions);
  const pixels = new Float64Array(cursors.length);
  return {
    name: 'JavaScript loop',
    run() {
      cursors.forEach(([cursorX, cursorY], k) => {
        let best = RADIUS * RADIUS;
        for (let i = 0; i < centres.length; i += 3) {
          const x = centres[i];
          const y = centres[i + 1];
          const z = centres[i + 2];
          const w = m[3] * x + m[7] * y + m[11] * z + m[15];
          const depth = m[2] * x + m[6] * y + m[10] * z + m[14];
          if (!(w > 0 && depth >= -w && depth <= w)) continue;
          const dx = (0.5 + (0.5 * (m[0] * x + m[4] * y + m[8] * z + m[12])) / w) * SIZE.width - cursorX;
          const dy = (0.5 - (0.5 * (m[1] * x + m[5] * y + m[9] * z + m[13])) / w) * SIZE.height - cursorY;
          best = Math.min(best, dx * dx + dy * dy);
        }
        pixels[k] = Math.sqrt(best);
      });
    },
    checksum: () => ({ pixels: pixels.reduce((sum, each) => sum + each) }),
    tolerance: { of: { pixels: 1e-9 }, because: 'float64 sums, rounded otherwise' },
  };
}

interface Selecting {
  contender: Contender;
  /** By the last rectangle: indices. */
  found(): Set<number>;
}

async function ourRegions(frame: BoxFrame, corners: number[][]): Promise<Selecting> {
  const scene = await sceneOf(frame);
  const { record } = readView('bench', viewFromCamera(camera(), SIZE));
  let ids = new Uint32Array();
  return {
    contender: {
      name: OURS,
      run() {
        for (const [x, y] of corners) {
          const bounds = [x, y, x + 0.2, y + 0.2] as const;
          ids = scene.core.queries.pickRegion(
            record,
            { bounds, polygon: new Float64Array(), mode: REGION_TOUCH },
            filterOf(),
          );
        }
      },
    },
    found: () => new Set(Array.from(ids, (id) => scene.indexOf(id))),
  };
}

function selectionBox({ matrices }: BoxFrame, corners: number[][]): Selecting {
  const geometry = new BoxGeometry(2 * HALF_SIZE, 2 * HALF_SIZE, 2 * HALF_SIZE);
  const scene = new ThreeScene();
  for (let i = 0; i < matrices.length / 16; i++) {
    const mesh = new Mesh(geometry);
    mesh.matrixWorld.fromArray(matrices, 16 * i);
    scene.add(mesh);
  }
  const box = new SelectionBox(camera(), scene);
  const indexOf = new Map(scene.children.map((mesh, i) => [mesh.uuid, i]));
  return {
    contender: {
      name: "three's SelectionBox",
      note: 'finds what has its centre in the rectangle',
      run() {
        for (const [x, y] of corners) {
          box.startPoint.set(x, y, 0.5);
          box.endPoint.set(x + 0.2, y + 0.2, 0.5);
          box.select();
        }
      },
    },
    found: () => new Set(box.collection.map(({ uuid }) => indexOf.get(uuid)!)),
  };
}
