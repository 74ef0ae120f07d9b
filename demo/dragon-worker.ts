// Fetches a gzipped PLY model, parses it, and computes what a renderer needs of it (dragon.ts).
import type { BufferGeometry } from 'three';
import { PLYLoader } from 'three/addons/loaders/PLYLoader.js';
import { postGeometry } from './geometry-arrays.js';

addEventListener('message', async ({ data: url }: MessageEvent<string>) => {
  try {
    const geometry = await load(url);
    geometry.computeVertexNormals();
    postGeometry(geometry);
  } catch (error) {
    postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});

async function load(url: string): Promise<BufferGeometry> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} could not be loaded: ${response.status} ${response.statusText}`);
  return new PLYLoader().parse(await unzip(await response.arrayBuffer()));
}

/** Some servers declare a .gz file as Content-Encoding; the browser has then already decompressed it. */
async function unzip(data: ArrayBuffer): Promise<ArrayBuffer> {
  const [first, second] = new Uint8Array(data, 0, 2);
  if (first !== 0x1f || second !== 0x8b) return data;
  return new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}
