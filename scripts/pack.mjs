// Packs a file as gzip, by zopfli, in a process of its own: the library handles the whole process's errors as its own.
import { readFileSync, writeFileSync } from 'node:fs';
import zopfli from '@gfx/zopfli';

const [from, to] = process.argv.slice(2);
writeFileSync(to, await zopfli.gzipAsync(readFileSync(from), {}));
