import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Reads the WebAssembly of Havok. */
export async function havokWasm(): Promise<ArrayBuffer> {
  const path = createRequire(import.meta.url).resolve('@babylonjs/havok');
  return (await readFile(join(dirname(path), 'HavokPhysics.wasm'))).buffer as ArrayBuffer;
}
