/** Returns the worker's script, packed by gzip. The build inserts it here (scripts/build.mjs). */
export function packedWorker(): Uint8Array<ArrayBuffer> {
  throw new Error('the script is there in what is built only');
}
