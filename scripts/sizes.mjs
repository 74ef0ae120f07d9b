import { brotliCompressSync, gzipSync } from 'node:zlib';

/** What bytes come to when a server sends them packed. */
export function packedSizes(bytes) {
  return { gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotliCompressSync(bytes).length };
}
