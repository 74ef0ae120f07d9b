// Builds all that ships: src/worker/core -> build/core.wasm, then dist/ (index, three adapter, hosts, worker,
// types). dist/ is swapped in whole, so that nobody ever sees half a build.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import asc from 'assemblyscript/asc';
import { build } from 'rolldown';
import { rememberBuild, sourcesHash } from './outputs.mjs';
import { root, runNode } from './run.mjs';

const from = (path) => join(root, path);
const resolve = { extensionAlias: { '.js': ['.ts', '.js'] } };
const builtins = /^node:/;

/**
 * The core as WebAssembly. It brings its own allocator, so the runtime is the stub that never allocates. `change` may
 * give a source file another text (the bench counts what the core does).
 */
export async function buildCore(outFile, change = (_path, text) => text) {
  mkdirSync(dirname(from(outFile)), { recursive: true });
  const readFile = (path, dir) => {
    const file = join(dir, path);
    return existsSync(file) ? change(path, readFileSync(file, 'utf8')) : null;
  };
  const { error } = await asc.main(
    [
      'src/worker/core/index.ts',
      ...['--baseDir', root],
      ...['--outFile', outFile],
      ...['--runtime', 'stub'],
      ...['--enable', 'simd'],
      ...['--optimizeLevel', '3'],
      '--noAssert',
    ],
    { stdout: process.stdout, stderr: process.stderr, readFile },
  );
  if (error) throw error;
}

/**
 * What runs on the main thread. One build of all its entries: what they share, CollisionError above all, is in a
 * chunk that exists once. `#host` is resolved by who uses the package, by the `imports` of its package.json.
 */
async function buildClient(dir) {
  await build({
    input: {
      index: from('src/client/index.ts'),
      three: from('src/client/three/index.ts'),
      host: from('src/client/link/host.ts'),
      'host.node': from('src/client/link/host.node.ts'),
    },
    external: ['#host', /^comlink/, /^three(\/|$)/, builtins],
    platform: 'neutral',
    resolve,
    output: { dir, sourcemap: true, chunkFileNames: '[name].js' },
  });
}

/**
 * The worker: one file for browsers and Node, comlink and the core's bytes inside. Bundlers wrap it in a function by
 * default (Vite's `worker.format`), which forbids top-level await and imports; so does this build, to fail first.
 */
async function buildWorker(dir) {
  await build({
    input: { worker: from('src/worker/worker.ts') },
    platform: 'browser',
    moduleTypes: { '.gz': 'binary' },
    resolve,
    output: { dir, sourcemap: true, format: 'iife', minify: true },
  });
}

function buildTypes(dir) {
  const code = runNode('node_modules/typescript/bin/tsc', [
    '-p',
    'tsconfig.build.json',
    '--outDir',
    join(dir, 'types'),
  ]);
  if (code !== 0) throw new Error('the types could not be made');
}

export async function buildAll() {
  const sources = sourcesHash();
  const dir = from(`.dist-${process.pid}`);
  try {
    await buildCore('build/core.wasm');
    // A third of its size in the worker's script.
    writeFileSync(from('build/core.wasm.gz'), gzipSync(readFileSync(from('build/core.wasm')), { level: 9 }));
    await buildClient(dir);
    await buildWorker(dir);
    buildTypes(dir);
    rmSync(from('dist'), { recursive: true, force: true });
    renameSync(dir, from('dist'));
    rememberBuild(sources);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll();
