// Vite plugin: runs rows of the bench in a browser. Modules that read files, start programs or open a browser in Node are
// replaced by their counterparts for a page, or by nothing.
import { join, relative } from 'node:path';
import { root } from './run.mjs';

const REPLACED = {
  'test/bench/peers/havok-wasm': 'test/bench/visitor/havok-wasm.ts',
  'test/bench/peers/native': 'test/bench/visitor/native.ts',
  'test/bench/rows/page-row': 'test/bench/visitor/page-row.ts',
  'test/oracle/dragon': 'test/bench/visitor/dragon.ts',
};

export function benchInBrowser() {
  return {
    name: 'bench-in-browser',
    enforce: 'pre',
    resolveId(source, importer) {
      if (importer === undefined || !source.startsWith('.')) return null;
      const path = relative(root, join(importer, '..', source)).replace(/\.(js|ts)$/, '');
      return path in REPLACED ? join(root, REPLACED[path]) : null;
    },
  };
}
