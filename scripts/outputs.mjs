// Tells whether dist/ and build/ were made from the current sources.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

const INPUTS = [
  'src',
  'scripts/build.mjs',
  'scripts/build-core.mjs',
  'scripts/pack.mjs',
  'scripts/short-lines.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'package-lock.json',
];
const OUTPUTS = [
  'build/core.wasm',
  'build/core.wasm.gz',
  'build/frustum-filter.wasm.gz',
  'dist/index.js',
  'dist/three.js',
  'dist/react.js',
  'dist/inline.js',
  'dist/pointer.js',
  'dist/index.node.js',
  'dist/react.node.js',
  'dist/shared.node.js',
  'dist/shared.js',
  'dist/adapter.js',
  'dist/events.js',
  'dist/helper.js',
  'dist/packed-filter.js',
  'dist/worker.js',
  'dist/clash.js',
  'dist/clash-node.js',
  'dist/clash-cli.js',
  'dist/clash-thread.js',
  'dist/clash-shared.js',
  'dist/clash-node-shared.js',
  'dist/clash-gltf.js',
  'dist/clash-ifc.js',
  'dist/index.d.ts',
  'dist/three.d.ts',
  'dist/react.d.ts',
  'dist/inline.d.ts',
  'dist/pointer.d.ts',
  'dist/clash.d.ts',
  'dist/clash-node.d.ts',
  'dist/clash-shared.d.ts',
  'dist/worker.d.ts',
];
const STAMP = join(root, 'build/sources.sha256');

function* filesBelow(path) {
  if (statSync(join(root, path)).isFile()) yield path;
  else for (const name of readdirSync(join(root, path)).sort()) yield* filesBelow(`${path}/${name}`);
}

/** Hashes all inputs of a build; by contents instead of times, which a checkout or a copy changes. */
export function sourcesHash() {
  const hash = createHash('sha256');
  for (const input of INPUTS) {
    for (const file of filesBelow(input))
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(root, file)))
        .update('\0');
  }
  return hash.digest('hex');
}

export function rememberBuild(hash) {
  mkdirSync(join(root, 'build'), { recursive: true });
  writeFileSync(STAMP, hash);
}

export function buildIsCurrent() {
  if (!existsSync(STAMP) || !OUTPUTS.every((file) => existsSync(join(root, file)))) return false;
  return readFileSync(STAMP, 'utf8') === sourcesHash();
}
