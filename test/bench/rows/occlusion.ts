import { Matrix4, PerspectiveCamera, Vector3 } from 'three';
import { viewFromCamera } from '../../../src/client/three/view/view.js';
import { IdBuffer } from '../../oracle/id-buffer.js';
import { boxShape, PlacedShape } from '../../oracle/placed.js';
import { inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS, Scene } from '../ours.js';
import { cityOf, STREET } from '../work/city.js';
import { pageRow } from './page-row.js';

const FRAMES_A_ROUND = 10;
const SIZE = { width: 1920, height: 1080 };
/** Distance that the camera moves per frame. */
const STEP = 0.05;

/** The worker's time for occlusion culling by houses, in a street of a city: for the current picture, and one frame late. */
export function occlusionRow(count: number): Row {
  return {
    name: 'occlusion-city',
    work: `what is hidden from a camera that walks and turns in a city of ${count.toLocaleString('en')} boxes, ${FRAMES_A_ROUND} frames`,
    rounds: 21,
    async prepare() {
      const matrices = cityOf(count);
      const exact = await occlusion(OURS, matrices);
      const late = await occlusion(`${OURS}, one frame late`, matrices, 2 * STEP);
      await exact.measure(0);
      const [hidden, visible] = [exact.hidden(), exact.visible()];
      return {
        contenders: [inThisProcess(() => exact), inThisProcess(() => late)],
        repeats: FRAMES_A_ROUND,
        facts: async () => [
          { name: 'a view', value: exact.fastest() / FRAMES_A_ROUND, unit: 'ms at best', atMost: 4 },
          { name: 'occluded', value: hidden, unit: 'objects' },
          { name: 'visible', value: visible, unit: 'objects' },
        ],
        verify: () => exact.faults(),
      };
    },
  };
}

/**
 * The benefit of it all: the time of a frame of the page. Without a graphics card it is that of a software renderer, which says
 * little about any other; the set of drawn objects is the same everywhere.
 */
export function drawnCityRow(count: number): Row {
  return pageRow('drawn city', {
    name: 'draw-city',
    work: `a frame of a page that draws such a city, of two InstancedMeshes of ${count.toLocaleString('en')} parts, and waits for its pixels; where there is no graphics card, by software`,
    count,
    rounds: 5,
    peers: {
      'culling without occlusion': { note: 'ours, with what is hidden' },
      "three's own culling": { note: 'of InstancedMeshes as wholes' },
    },
  });
}

async function occlusion(name: string, matrices: Float32Array, occlusionMargin?: number) {
  const scene = await Scene.ofBoxes(matrices.length / 16, { contacts: 'none' });
  scene.setTransforms(scene.ids, matrices);
  const camera = new PerspectiveCamera(60, SIZE.width / SIZE.height, 0.1, 2000);
  const margin = occlusionMargin === undefined ? {} : { occlusionMargin };
  let { visible } = await scene.update();
  let fastest = Number.POSITIVE_INFINITY;
  const contender: SelfTimedContender = {
    name,
    async measure(round) {
      let ms = 0;
      for (let i = 0; i < FRAMES_A_ROUND; i++) {
        const n = round * FRAMES_A_ROUND + i;
        camera.position.set(STREET / 2 + STEP * n, 1.7, STREET / 2);
        camera.rotation.y = 0.05 * n;
        camera.updateMatrixWorld();
        scene.setView({ ...viewFromCamera(camera, SIZE), occlusion: true, ...margin });
        const frame = await scene.update();
        ({ visible } = frame);
        ms += frame.ms.occlusion;
      }
      fastest = Math.min(fastest, ms);
      return ms;
    },
    close: () => scene.close(),
  };
  return {
    ...contender,
    fastest: () => fastest,
    visible: () => visible.ids.length,
    hidden: () => visible.occluded.length,
    /** Checks the occluded and the visible objects of the last picture. */
    faults(): string[] {
      const buffer = new IdBuffer(camera, SIZE.width, SIZE.height);
      const unit = boxShape(new Vector3(0.5, 0.5, 0.5));
      for (const id of [...visible.ids, ...visible.occluded]) {
        buffer.draw(new PlacedShape(id, unit, new Matrix4().fromArray(matrices, 16 * scene.indexOf(id))));
      }
      const visibleIds = buffer.visible;
      return [...visible.occluded]
        .filter((id) => visibleIds.has(id))
        .map((id) => `box ${scene.indexOf(id)} is seen, and occluded`);
    },
  };
}
