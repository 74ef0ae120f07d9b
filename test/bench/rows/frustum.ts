import { BoxGeometry, Frustum, Matrix4, Mesh, PerspectiveCamera, Vector3 } from 'three';
import { viewFromCamera } from '../../../src/client/three/view/view.js';
import { frustumPlanes } from '../../oracle/frustum.js';
import { Random } from '../../oracle/random.js';
import {
  type Answer,
  type Contender,
  inOwnProcess,
  inThisProcess,
  type Row,
  type SelfTimedContender,
} from '../harness.js';
import { OURS, Scene } from '../ours.js';
import { type BoxFrame, HALF_SIZE, turningBoxes } from '../work/boxes.js';

/** A single frame would be too short to time. */
const FRAMES_A_ROUND = 10;
const FRAMES_A_TURN = 300;
const SIZE = { width: 1920, height: 1080 };

interface VisibleShare {
  suffix: string;
  what: string;
  fieldOfView: number;
  /**
   * Distance of the camera from the middle of the scene, in multiples of its size; the camera looks outwards from the middle, or
   * back at it.
   */
  away: number;
  target?: number;
}

const VISIBLE_SHARES: VisibleShare[] = [
  { suffix: '', what: 'about a tenth of them', fieldOfView: 55, away: 0, target: 20 },
  { suffix: '-few', what: 'about a hundredth of them', fieldOfView: 15, away: 0 },
  { suffix: '-all', what: 'all of them', fieldOfView: 55, away: 2.5 },
];

/** One frame of a turning camera. Our time should grow with the number of visible objects. */
export function frustumRows(count: number): Row[] {
  return VISIBLE_SHARES.map((share) => ({
    name: `frustum-100k${share.suffix}`,
    work: `a frame of ${count.toLocaleString('en')} objects and a turning camera that sees ${share.what}`,
    rounds: 21,
    async prepare() {
      const [frame] = turningBoxes(new Random(1), count, 1);
      const cameras = camerasOf(share, Math.cbrt(count * 8));
      const ours = await ourCulling(frame, cameras);
      await ours.measure(0);
      return {
        contenders: [inThisProcess(() => ours), inOwnProcess(() => threeCulling(frame, cameras, share.target))],
        repeats: FRAMES_A_ROUND,
        facts: [{ name: 'visible', value: (await ours.answer!())!.length, unit: 'objects' }],
        verify: ([visible, spheres]) => differences(frame, ours.camera(), visible, spheres),
      };
    },
  }));
}

function camerasOf({ fieldOfView, away }: VisibleShare, size: number): PerspectiveCamera[] {
  return Array.from({ length: FRAMES_A_TURN }, (_, i) => {
    const camera = new PerspectiveCamera(fieldOfView, SIZE.width / SIZE.height, 0.1, 4 * size);
    const direction = new Vector3().setFromSphericalCoords(1, Math.PI / 2, (2 * Math.PI * i) / FRAMES_A_TURN);
    camera.position.copy(direction).multiplyScalar(away * size);
    camera.lookAt(away > 0 ? new Vector3() : direction);
    camera.updateMatrixWorld();
    return camera;
  });
}

/** Its answer is the indices of the boxes that the last frame saw. */
async function ourCulling(
  { positions, matrices }: BoxFrame,
  cameras: PerspectiveCamera[],
): Promise<SelfTimedContender & { camera(): PerspectiveCamera }> {
  const scene = await Scene.ofBoxes(positions.length / 3, { contacts: 'none' });
  scene.setTransforms(scene.ids, matrices);
  let [camera] = cameras;
  let { visible } = await scene.update();
  return {
    name: OURS,
    async measure(round) {
      let ms = 0;
      for (let i = 0; i < FRAMES_A_ROUND; i++) {
        camera = cameras[(round * FRAMES_A_ROUND + i) % cameras.length];
        scene.setView(viewFromCamera(camera, SIZE));
        const frame = await scene.update();
        ({ visible } = frame);
        ms += frame.ms.total;
      }
      return ms;
    },
    answer: () => visible.ids.map((id) => scene.indexOf(id)),
    camera: () => camera,
    close: () => scene.close(),
  };
}

function threeCulling({ matrices }: BoxFrame, cameras: PerspectiveCamera[], target: number | undefined): Contender {
  const geometry = new BoxGeometry(2 * HALF_SIZE, 2 * HALF_SIZE, 2 * HALF_SIZE);
  geometry.computeBoundingSphere();
  const objects = Array.from({ length: matrices.length / 16 }, (_, i) => {
    const mesh = new Mesh(geometry);
    mesh.matrixWorld.fromArray(matrices, 16 * i);
    return mesh;
  });
  const frustum = new Frustum();
  const matrix = new Matrix4();
  const visible = new Uint32Array(objects.length);
  let count = 0;
  const run = (round: number) => {
    for (let i = 0; i < FRAMES_A_ROUND; i++) {
      const camera = cameras[(round * FRAMES_A_ROUND + i) % cameras.length];
      frustum.setFromProjectionMatrix(matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse));
      count = 0;
      for (let k = 0; k < objects.length; k++) if (frustum.intersectsObject(objects[k])) visible[count++] = k;
    }
  };
  const name = 'three frustum.intersectsObject';
  const note = "tests spheres: sees a few more; doesn't say what entered and left";
  return { name, note, run, ...(target === undefined ? {} : { target }), answer: () => visible.slice(0, count) };
}

/**
 * Compares our result with a plain float64 test of every oriented box, except for boxes that just touch a plane; and with three's
 * result, which must include ours.
 */
function differences({ matrices }: BoxFrame, camera: PerspectiveCamera, ours: Answer, theirs: Answer): string[] {
  const visible = new Set(ours);
  const spheres = new Set(theirs);
  const { projectionMatrix, matrixWorldInverse } = camera;
  const planes = frustumPlanes(projectionMatrix.elements, matrixWorldInverse.elements);
  const faults: string[] = [];
  for (let i = 0; i < matrices.length / 16; i++) {
    const height = Math.min(...planes.map(({ normal, constant }) => maxAlong(matrices, 16 * i, normal) + constant));
    if (Math.abs(height) < 1e-4) continue;
    if (visible.has(i) !== height > 0) faults.push(`box ${i} is ${height} inside, and visible: ${visible.has(i)}`);
    if (visible.has(i) && !spheres.has(i)) faults.push(`box ${i} is visible, its sphere is not`);
  }
  return faults;
}

/** The maximum over a box's corners along a direction. */
function maxAlong(matrices: Float32Array, at: number, { x, y, z }: Vector3): number {
  const dotColumn = (column: number) => {
    const m = at + 4 * column;
    return x * matrices[m] + y * matrices[m + 1] + z * matrices[m + 2];
  };
  return dotColumn(3) + HALF_SIZE * (Math.abs(dotColumn(0)) + Math.abs(dotColumn(1)) + Math.abs(dotColumn(2)));
}
