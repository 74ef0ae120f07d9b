import type { Rect } from 'collision-worker';
import { BoxGeometry, Matrix4, Mesh, PerspectiveCamera, Scene as ThreeScene } from 'three';
import { SelectionBox } from 'three/addons/interactive/SelectionBox.js';
import { viewFromCamera } from '../../../src/client/three/view/view.js';
import { Random } from '../../oracle/random.js';
import { type Contender, inOwnProcess, inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS, Scene, timeAwaited } from '../ours.js';
import { type BoxFrame, HALF_SIZE, turningBoxes } from '../work/boxes.js';

const SIZE = { width: 1920, height: 1080 };
const RADIUS = 20;
const CURSORS = 100;
const RECTANGLES = 20;

/** The object whose centre is closest to a cursor on the screen: the cost should depend on the objects near it only. */
export function screenRow(count: number): Row {
  return {
    name: 'screen-100k',
    work: `awaiting a pick by screen distance, ${RADIUS} pixels, among ${count.toLocaleString('en')} objects around the camera`,
    rounds: 21,
    async prepare() {
      const [frame] = turningBoxes(new Random(1), count, 1);
      const random = new Random(2);
      const cursors = Array.from({ length: CURSORS }, () => [random.next() * SIZE.width, random.next() * SIZE.height]);
      return {
        contenders: [inThisProcess(() => ourScreen(frame, cursors)), inOwnProcess(() => projectAll(frame, cursors))],
        repeats: CURSORS,
      };
    },
  };
}

/** The objects that a rectangle on the screen touches. */
export function regionRow(count: number): Row {
  return {
    name: 'region-100k',
    work: `awaiting what a rectangle of a tenth of the screen's width and height touches among ${count.toLocaleString('en')} objects`,
    rounds: 11,
    async prepare() {
      const [frame] = turningBoxes(new Random(1), count, 1);
      const random = new Random(2);
      // Minimum x and y in normalized device coordinates.
      const corners = Array.from({ length: RECTANGLES }, () => [random.range(-1, 0.8), random.range(-1, 0.8)]);
      return {
        contenders: [inThisProcess(() => ourRegions(frame, corners)), inOwnProcess(() => selectionBox(frame, corners))],
        repeats: RECTANGLES,
        // If the centre of a box is in the rectangle, the rectangle must touch the box.
        verify([ours, theirs]) {
          const regionIds = new Set(ours);
          return Array.from(theirs!)
            .filter((i) => !regionIds.has(i))
            .map((i) => `box ${i} is in the rectangle, not found`);
        },
      };
    },
  };
}

/** A camera in the middle of the scene. */
function camera(): PerspectiveCamera {
  const camera = new PerspectiveCamera(55, SIZE.width / SIZE.height, 0.1, 1000);
  camera.updateMatrixWorld();
  return camera;
}

async function sceneOf({ positions, matrices }: BoxFrame): Promise<Scene> {
  const scene = await Scene.ofBoxes(positions.length / 3, { contacts: 'none' });
  scene.setTransforms(scene.ids, matrices);
  scene.setView(viewFromCamera(camera(), SIZE));
  await scene.update();
  return scene;
}

async function ourScreen(frame: BoxFrame, cursors: number[][]): Promise<SelfTimedContender> {
  const scene = await sceneOf(frame);
  const pixels = new Float64Array(cursors.length);
  return timeAwaited({
    name: OURS,
    async run() {
      for (const [i, [x, y]] of cursors.entries()) {
        pixels[i] = (await scene.service.pick(x, y, { method: 'screen', radius: RADIUS }))?.pixels ?? RADIUS;
      }
    },
    checksum: () => ({ pixels: pixels.reduce((sum, each) => sum + each) }),
    close: () => scene.close(),
  });
}

/** The solution without an index: projects all centres by the camera's matrix, in float64. */
function projectAll({ positions }: BoxFrame, cursors: number[][]): Contender {
  const view = camera();
  const m = new Matrix4().multiplyMatrices(view.projectionMatrix, view.matrixWorldInverse).elements;
  const centres = Float64Array.from(positions);
  const pixels = new Float64Array(cursors.length);
  return {
    name: 'JavaScript loop',
    run() {
      cursors.forEach(([cursorX, cursorY], k) => {
        let minSquared = RADIUS * RADIUS;
        for (let i = 0; i < centres.length; i += 3) {
          const x = centres[i];
          const y = centres[i + 1];
          const z = centres[i + 2];
          const w = m[3] * x + m[7] * y + m[11] * z + m[15];
          const depth = m[2] * x + m[6] * y + m[10] * z + m[14];
          if (!(w > 0 && depth >= -w && depth <= w)) continue;
          const dx = (0.5 + (0.5 * (m[0] * x + m[4] * y + m[8] * z + m[12])) / w) * SIZE.width - cursorX;
          const dy = (0.5 - (0.5 * (m[1] * x + m[5] * y + m[9] * z + m[13])) / w) * SIZE.height - cursorY;
          minSquared = Math.min(minSquared, dx * dx + dy * dy);
        }
        pixels[k] = Math.sqrt(minSquared);
      });
    },
    checksum: () => ({ pixels: pixels.reduce((sum, each) => sum + each) }),
    tolerance: { of: { pixels: 1e-9 }, because: 'float64 sums, rounded otherwise' },
  };
}

async function ourRegions(frame: BoxFrame, corners: number[][]): Promise<SelfTimedContender> {
  const scene = await sceneOf(frame);
  let ids: Uint32Array = new Uint32Array();
  return timeAwaited({
    name: OURS,
    async run() {
      for (const [x, y] of corners) ids = await scene.service.pickRegion(rectangleAt(x, y));
    },
    answer: () => ids.map((id) => scene.indexOf(id)),
    close: () => scene.close(),
  });
}

/** A rectangle of a tenth of the screen's width and height, given its minimum corner in normalized device coordinates. */
function rectangleAt(x: number, y: number): Rect {
  const { width, height } = SIZE;
  return { x: (0.5 + 0.5 * x) * width, y: (0.5 - 0.5 * (y + 0.2)) * height, width: 0.1 * width, height: 0.1 * height };
}

function selectionBox({ matrices }: BoxFrame, corners: number[][]): Contender {
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
    name: "three's SelectionBox",
    note: 'finds what has its centre in the rectangle',
    run() {
      for (const [x, y] of corners) {
        box.startPoint.set(x, y, 0.5);
        box.endPoint.set(x + 0.2, y + 0.2, 0.5);
        box.select();
      }
    },
    answer: () => Uint32Array.from(box.collection, ({ uuid }) => indexOf.get(uuid)!),
  };
}
