// Fetches a gzipped PLY model, reads it, and computes what a renderer would compute of it (dragon.ts).
import type { BufferGeometry } from 'three';
import { PLYLoader } from 'three/addons/loaders/PLYLoader.js';
import type { DragonAnswer } from './dragon.js';

addEventListener('message', async ({ data: url }: MessageEvent<string>) => {
  try {
    const answer = answerOf(await load(url));
    const { positions, normals, indices } = answer;
    postMessage(answer satisfies DragonAnswer, { transfer: [positions.buffer, normals.buffer, indices.buffer] });
  } catch (error) {
    postMessage({ error: error instanceof Error ? error.message : String(error) } satisfies DragonAnswer);
  }
});

async function load(url: string): Promise<BufferGeometry> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} could not be loaded: ${response.status} ${response.statusText}`);
  return new PLYLoader().parse(await unzip(await response.arrayBuffer()));
}

function answerOf(geometry: BufferGeometry): Exclude<DragonAnswer, { error: string }> {
  geometry.computeVertexNormals();
  geometry.computeBoundingBox();
  geometry.computeBoundingSphere();
  const { min, max } = geometry.boundingBox!;
  const { center, radius } = geometry.boundingSphere!;
  return {
    positions: geometry.attributes.position.array as Float32Array<ArrayBuffer>,
    normals: geometry.attributes.normal.array as Float32Array<ArrayBuffer>,
    indices: geometry.index!.array as Uint32Array<ArrayBuffer>,
    box: [...min.toArray(), ...max.toArray()],
    sphere: [...center.toArray(), radius],
  };
}

/** Some servers declare a .gz file as an encoding, which the browser has undone by then. */
async function unzip(data: ArrayBuffer): Promise<ArrayBuffer> {
  const [first, second] = new Uint8Array(data, 0, 2);
  if (first !== 0x1f || second !== 0x8b) return data;
  return new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}
