import type { BufferGeometry } from 'three';
import { askWorker } from '../ask-worker.js';
import { type GeometryArrays, geometryOf } from '../geometry-arrays.js';
import type { Quality } from '../quality.js';

/** Makes the body of body.ts in a worker: it takes longer than a frame. */
export async function loadBody(quality: Quality): Promise<BufferGeometry> {
  const worker = new Worker(new URL('./body-worker.ts', import.meta.url), { type: 'module' });
  return geometryOf(await askWorker<GeometryArrays>(worker, 'makes the body', quality));
}
