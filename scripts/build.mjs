// Builds all that ships: src/worker/core -> build/core.wasm and the filter of the main thread, then dist/ (the entries, what
// they share, the worker, the types). dist/ is swapped in whole, so that nobody ever sees half a build.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { ensureCore } from './build-core.mjs';
import { rememberBuild, sourcesHash } from './outputs.mjs';
import { root } from './run.mjs';
import { shortenLines } from './short-lines.mjs';
import { packedSizes } from './sizes.mjs';

const from = (path) => join(root, path);
const resolve = { extensionAlias: { '.js': ['.ts', '.js'] }, mainFields: ['module', 'main'] };
const builtins = /^node:/;

/** What apps import, by the name of its file in dist/. */
const ENTRIES = {
  index: 'src/client/index.ts',
  'index.node': 'src/client/index.node.ts',
  three: 'src/client/three/index.ts',
  react: 'src/client/react/index.ts',
  inline: 'src/client/inline.ts',
  pointer: 'src/client/pointer/index.ts',
};
/** These are made of others, with all that imports the start of a service, but for Node. */
const NODE_ENTRIES = { 'react.node': ENTRIES.react };
const FOR_NODE = '?node';

/** They are the app's own. */
const PEERS = /^(three|react|@react-three|@pmndrs)(\/|$)/;

/**
 * What entries share: one chunk for all of them, and one for those that need three. The helpers, too: bundlers leave them out
 * where they are not used, and Parcel in development runs a module that has exports of others and classes of its own without
 * the imports of these classes, if none of them is used.
 */
function sharedChunks(end = '') {
  const needsThree = /src[\\/]client[\\/](three|react|pointer)[\\/]/;
  const needsNode = /\.node\.ts$/;
  const ofEvents = /src[\\/]client[\\/]pointer[\\/]/;
  return {
    groups: [
      // First, as a chunk takes along what its modules import.
      {
        name: `shared${end}`,
        minShareCount: 2,
        test: (id) => !needsThree.test(id) && !needsNode.test(id),
        priority: 2,
      },
      { name: 'shared.node', minShareCount: 2, test: needsNode, priority: 2 },
      // What waits with a native event for the worker's answer: who only imports `collision-worker/three` does not load it.
      ...(end === '' ? [{ name: 'events', minShareCount: 2, test: ofEvents, priority: 2 }] : []),
      { name: `adapter${end}`, minShareCount: 2, priority: 1 },
      ...(end === '' ? [{ name: 'helper', test: /src[\\/]client[\\/]three[\\/]helper[\\/]/ }] : []),
    ],
  };
}

/**
 * What runs on the main thread. One build of all its entries: what they share, CollisionError above all, is in a
 * chunk that exists once. The `exports` of package.json choose the entry for Node.
 */
export async function buildClient(dir) {
  await build({
    input: Object.fromEntries([
      ...Object.entries(ENTRIES).map(([name, path]) => [name, from(path)]),
      ...Object.entries(NODE_ENTRIES).map(([name, path]) => [name, from(path) + FOR_NODE]),
    ]),
    external: [PEERS, builtins],
    platform: 'neutral',
    plugins: [packedWorker(dir), filterBytes(), plainWorkerUrl(), forNode()],
    resolve,
    output: {
      dir,
      // A stack leads to file and line of the source; the sources themselves would double the package.
      sourcemap: true,
      sourcemapExcludeSources: true,
      sourcemapPathTransform: (path) => path.replace(FOR_NODE, ''),
      minify: true,
      // Minifiers write them at each Map of a class, too. What bundlers leave out here, they do by what is imported.
      comments: { annotation: false },
      chunkFileNames: '[name].js',
      codeSplitting: sharedChunks(),
    },
  });
  // These say what is wrong with an argument. All others have 0.6 % more bytes by it.
  shortenLines(dir, ['shared.js', 'shared.node.js']);
}

/** Has a second copy of an entry's own folder start threads of Node instead of workers of a page. */
function forNode() {
  return {
    name: 'for-node',
    resolveId(source, importer) {
      if (source.endsWith(FOR_NODE)) return source;
      if (!importer?.endsWith(FOR_NODE) || !source.startsWith('.')) return null;
      const folder = dirname(importer);
      const path = join(folder, source).replace(/\.js$/, '.ts');
      if (path === from('src/client/create.ts')) return from('src/client/create.node.ts');
      return dirname(path) === folder ? path + FOR_NODE : path;
    },
    load(id) {
      if (!id.endsWith(FOR_NODE)) return null;
      return { code: readFileSync(id.slice(0, -FOR_NODE.length), 'utf8'), moduleType: 'ts' };
    },
  };
}

/**
 * What finds clashes: a build of its own, which imports the package by its name, so that there is one CollisionError, and
 * nothing of it in what pages load.
 */
const CLASH_ENTRIES = {
  clash: 'src/clash/index.ts',
  'clash-node': 'src/clash/node/index.ts',
  'clash-cli': 'src/clash/node/cli.ts',
  'clash-thread': 'src/clash/node/tile-thread.ts',
};
/** Loaded when they are needed, from where the app has them. */
const CLASH_PEERS = [/^collision-worker$/, /^@gltf-transform\//, /^web-ifc$/, /^bullmq$/, /^ioredis$/];

const CLASH_TYPES = { clash: CLASH_ENTRIES.clash, 'clash-node': CLASH_ENTRIES['clash-node'] };
/** Pages load nothing that is for Node. */
const CLASH_CHUNKS = {
  groups: [
    { name: 'clash-shared', minShareCount: 2, test: (id) => !/clash[\\/]node[\\/]/.test(id), priority: 1 },
    { name: 'clash-node-shared', minShareCount: 2 },
  ],
};

export async function buildClash(dir) {
  await build({
    input: Object.fromEntries(Object.entries(CLASH_ENTRIES).map(([name, path]) => [name, from(path)])),
    external: [...CLASH_PEERS, builtins],
    platform: 'neutral',
    resolve,
    output: {
      dir,
      sourcemap: true,
      sourcemapExcludeSources: true,
      minify: true,
      chunkFileNames: '[name].js',
      codeSplitting: CLASH_CHUNKS,
    },
  });
}

/**
 * Bytes as a script has them: what imports their decoder, and the expression. gzip and Brotli make of base64 nearly what was there
 * before, and of text of 91 digits, which is 8 % shorter, 1 % more.
 */
function asBase64(bytes) {
  return {
    imported: `import { fromBase64 } from ${JSON.stringify(from('src/shared/base64.ts'))};`,
    bytes: `fromBase64("${Buffer.from(bytes).toString('base64')}")`,
  };
}

/** Puts the packed core into the module that answers it, when it is asked for. */
function packedCore() {
  return {
    name: 'packed-core',
    load(id) {
      if (!id.endsWith('.gz')) return null;
      const { imported, bytes } = asBase64(readFileSync(id));
      return { code: `${imported}\nexport default () => ${bytes};`, moduleType: 'js' };
    },
  };
}

/** Puts the script of the worker, which is built before, into the module that answers it. */
function packedWorker(dir) {
  return {
    name: 'packed-worker',
    load(id) {
      if (!id.endsWith('link/worker-text.ts')) return null;
      const packed = gzipSync(readFileSync(join(dir, 'worker.js')), { level: 9 });
      const { imported, bytes } = asBase64(packed);
      return { code: `${imported}\nexport function packedWorker() { return ${bytes}; }`, moduleType: 'js' };
    },
  };
}

/** Puts the filter of the main thread into the module that answers it. */
function filterBytes() {
  return {
    name: 'filter-bytes',
    load(id) {
      if (!id.endsWith('culling/filter-bytes.ts')) return null;
      const text = readFileSync(from('build/frustum-filter.wasm.gz')).toString('base64');
      return { code: `export const FILTER_BYTES = ${JSON.stringify(text)};`, moduleType: 'js' };
    },
  };
}

/** Some bundlers know the line that starts the worker by its quotes, which are back quotes when it is minified. */
function plainWorkerUrl() {
  return {
    name: 'plain-worker-url',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        chunk.code = chunk.code?.replace(
          /new URL\(`(\.\/worker\.js)`,import\.meta\.url\),\{type:`module`/g,
          'new URL("$1",import.meta.url),{type:"module"',
        );
      }
    },
  };
}

/**
 * The worker: one file for browsers and Node, the core's bytes inside. Bundlers wrap it in a function by
 * default (Vite's `worker.format`), which forbids top-level await and imports; so does this build, to fail first.
 * `options` of rolldown's output are for tests of the tests.
 */
export async function buildWorker(dir, options = {}) {
  await build({
    input: { worker: from('src/worker/worker.ts') },
    platform: 'browser',
    plugins: [packedCore()],
    resolve,
    // Nobody drops parts of a script that runs by itself: annotations for bundlers would only be bytes. It has no source
    // map, as most of it is the core, and its map would be as large.
    output: { dir, format: 'iife', minify: true, comments: { annotation: false }, ...options },
  });
}

/** A file of types for each entry, without what is marked as internal. */
async function buildTypes(dir) {
  const { 'index.node': _, ...typed } = ENTRIES; // its types are those of the index
  await build({
    input: Object.fromEntries(Object.entries(typed).map(([name, path]) => [name, from(path)])),
    external: [PEERS],
    checks: { bundlerTimings: false },
    plugins: [dts({ tsconfig: from('tsconfig.build.json'), emitDtsOnly: true })],
    resolve,
    output: { dir, chunkFileNames: '[name].ts', codeSplitting: sharedChunks('.d') },
  });
  await build({
    input: Object.fromEntries(Object.entries(CLASH_TYPES).map(([name, path]) => [name, from(path)])),
    external: [...CLASH_PEERS, builtins],
    checks: { bundlerTimings: false },
    plugins: [dts({ tsconfig: from('tsconfig.build.json'), emitDtsOnly: true })],
    resolve,
    output: {
      dir,
      chunkFileNames: '[name].ts',
      codeSplitting: { groups: [{ name: 'clash-shared.d', minShareCount: 2 }] },
    },
  });
  writeFileSync(
    join(dir, 'worker.d.ts'),
    '/** The script of the worker: it is started, and exports nothing. */\nexport {};\n',
  );
}

/** Prints what a file of dist/ comes to when it is sent. */
function printSizes(dir) {
  for (const name of readdirSync(dir).filter((each) => each.endsWith('.js'))) {
    const bytes = readFileSync(join(dir, name));
    const { gzip, brotli } = packedSizes(bytes);
    console.log(`dist/${name}: ${bytes.length} bytes, ${gzip} gzipped, ${brotli} by Brotli`);
  }
}

export async function buildAll() {
  const sources = sourcesHash();
  const dir = from(`.dist-${process.pid}`);
  try {
    await ensureCore();
    await buildWorker(dir);
    await buildClient(dir);
    await buildClash(dir);
    await buildTypes(dir);
    printSizes(dir);
    rmSync(from('dist'), { recursive: true, force: true });
    renameSync(dir, from('dist'));
    rememberBuild(sources);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll();
