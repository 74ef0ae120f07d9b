// A renderer in a worker, with a service of its own: its worker is a worker's worker.
import { createCollisionService } from 'collision-worker';
import { AmbientLight, Scene, WebGLRenderer } from 'three';
import { Random, SEED } from '../oracle/random.js';
import { type Accident, createFragileWorker, happen } from './accidents.js';
import { comparePicks, randomCamera, SIZE, settle, track } from './three-picks.js';
import { randomScene } from './three-scenes.js';

export interface DrawingTask {
  canvas: OffscreenCanvas;
  /** What happens to the service's worker after some frames; undefined where it is the package's own, and nothing does. */
  accident: Accident | undefined;
}

export interface DrawingReport {
  hasDocument: boolean;
  /** Of the picture, which show an object. */
  drawnPixels: number;
  visible: number;
  /** Picks that are not three's, before and after the accident; and how many hit something. */
  faults: string[];
  hits: number;
  events: string[];
}

async function draw({ canvas, accident }: DrawingTask): Promise<DrawingReport> {
  const random = new Random(SEED);
  let worker: Worker | undefined;
  const createWorker = () => {
    worker = createFragileWorker();
    return worker;
  };
  const service = await createCollisionService(accident ? { createWorker, builders: 0, timeout: 3000 } : {});
  const events: string[] = [];
  for (const type of ['lost', 'restored'] as const) service.addEventListener(type, () => events.push(type));
  const scene = new Scene();
  scene.add(new AmbientLight(), randomScene(random, { objects: 20, radius: 6 }));
  const camera = randomCamera(random, 6);
  const renderer = new WebGLRenderer({ canvas, preserveDrawingBuffer: true });
  renderer.setSize(SIZE.width, SIZE.height, false);
  const tracker = await track(service, scene, camera);
  const check = async () => {
    await settle(tracker, camera);
    const { result } = await tracker.update(camera, SIZE);
    const visible = result.visible.ids.length;
    return { visible, ...(await comparePicks(tracker, scene, camera, random, 100)) };
  };

  const before = await check();
  renderer.render(scene, camera);
  if (worker && accident) {
    happen(worker, accident);
    await tracker.update(camera, SIZE).catch(() => {});
    scene.rotateY(0.3);
  }
  const after = await check();
  const drawnPixels = countDrawn(renderer);
  tracker.dispose();
  service.dispose();
  return {
    hasDocument: 'document' in globalThis,
    drawnPixels,
    visible: after.visible,
    faults: [...before.faults, ...after.faults],
    hits: before.hits + after.hits,
    events,
  };
}

function countDrawn(renderer: WebGLRenderer): number {
  const gl = renderer.getContext();
  const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
  const pixels = new Uint8Array(4 * width * height);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  let drawn = 0;
  for (let i = 0; i < pixels.length; i += 4) if (pixels[i] + pixels[i + 1] + pixels[i + 2] > 0) drawn++;
  return drawn;
}

addEventListener('message', ({ data }: MessageEvent<DrawingTask>) => {
  draw(data).then(
    (report) => postMessage(report),
    (error) => postMessage(String(error?.stack ?? error)),
  );
});
