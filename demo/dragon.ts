import type { BufferGeometry } from 'three';
import { PLYLoader } from 'three/addons/loaders/PLYLoader.js';

/** Fetches a gzipped PLY model. */
export async function loadDragon(url: string): Promise<BufferGeometry> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} could not be loaded: ${response.status} ${response.statusText}`);
  const geometry = new PLYLoader().parse(await unzip(await response.arrayBuffer()));
  geometry.computeVertexNormals();
  geometry.computeBoundingBox();
  return geometry;
}

/** Some servers declare a .gz file as an encoding, which the browser has undone by then. */
async function unzip(data: ArrayBuffer): Promise<ArrayBuffer> {
  const [first, second] = new Uint8Array(data, 0, 2);
  if (first !== 0x1f || second !== 0x8b) return data;
  return new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}
