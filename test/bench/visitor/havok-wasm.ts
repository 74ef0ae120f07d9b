// Replaces peers/havok-wasm.ts in a browser.
import url from '@babylonjs/havok/lib/esm/HavokPhysics.wasm?url';

/** Fetches the WebAssembly of Havok. */
export async function havokWasm(): Promise<ArrayBuffer> {
  return (await fetch(url)).arrayBuffer();
}
