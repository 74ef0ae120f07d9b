import { brotliCompressSync, gzipSync } from 'node:zlib';

/** Returns the transfer sizes of bytes when a server compresses them. */
export function packedSizes(bytes) {
  return { gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotliCompressSync(bytes).length };
}
