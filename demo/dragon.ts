import type { BufferGeometry } from 'three';
import { askWorker } from './ask-worker.js';
import { type GeometryArrays, geometryOf } from './geometry-arrays.js';
import { nextTurn } from './next-turn.js';

/** Fetches a gzipped PLY model, and parses it in a worker, since that takes longer than a frame. */
export async function loadDragon(url: string): Promise<BufferGeometry> {
  const worker = new Worker(new URL('./dragon-worker.ts', import.meta.url), { type: 'module' });
  const { href } = new URL(url, location.href);
  const answer = await askWorker<GeometryArrays | { error: string }>(worker, `reads ${url}`, href);
  await nextTurn();
  if ('error' in answer) throw new Error(answer.error);
  return geometryOf(answer);
}
