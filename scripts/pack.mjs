// Packs a file as gzip, by zopfli. In a process of its own, as the library takes the whole process's errors for its own.
import { readFileSync, writeFileSync } from 'node:fs';
import zopfli from '@gfx/zopfli';

const [from, to] = process.argv.slice(2);
writeFileSync(to, await zopfli.gzipAsync(readFileSync(from), {}));
