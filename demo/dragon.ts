import { Box3, BufferAttribute, BufferGeometry, Sphere, Vector3 } from 'three';
import { nextTurn } from './next-turn.js';

/** What the worker answers: arrays of a geometry, its box and its sphere as numbers; or what went wrong. */
export type DragonAnswer =
  | {
      positions: Float32Array<ArrayBuffer>;
      normals: Float32Array<ArrayBuffer>;
      indices: Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
      box: readonly number[];
      sphere: readonly number[];
    }
  | { error: string };

/** Fetches a gzipped PLY model, and reads it in a worker: that takes longer than a frame. */
export async function loadDragon(url: string): Promise<BufferGeometry> {
  const worker = new Worker(new URL('./dragon-worker.ts', import.meta.url), { type: 'module' });
  try {
    const answer = await new Promise<DragonAnswer>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(`the worker that reads ${url} failed: ${message}`));
      worker.postMessage(new URL(url, location.href).href);
    });
    await nextTurn();
    if ('error' in answer) throw new Error(answer.error);
    return geometryOf(answer);
  } finally {
    worker.terminate();
  }
}

function geometryOf({ positions, normals, indices, box, sphere }: Exclude<DragonAnswer, { error: string }>) {
  const geometry = new BufferGeometry()
    .setAttribute('position', new BufferAttribute(positions, 3))
    .setAttribute('normal', new BufferAttribute(normals, 3))
    .setIndex(new BufferAttribute(indices, 1));
  geometry.boundingBox = new Box3(new Vector3().fromArray(box), new Vector3().fromArray(box, 3));
  geometry.boundingSphere = new Sphere(new Vector3().fromArray(sphere), sphere[3]);
  return geometry;
}
