// Builds all that ships: src/worker/core -> build/core.wasm and the filter of the main thread, then dist/ (the entries, their
// shared chunks, the worker, the types). dist/ is replaced as a whole, so that nobody ever sees half a build.
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

/** Entries that apps import, by their file name in dist/. */
const ENTRIES = {
  index: 'src/client/index.ts',
  'index.node': 'src/client/index.node.ts',
  three: 'src/client/three/index.ts',
  react: 'src/client/react/index.ts',
  inline: 'src/client/inline.ts',
  pointer: 'src/client/pointer/index.ts',
};
/** Variants of entries for Node: everything in them that imports the start of a service is built a second time. */
const NODE_ENTRIES = { 'react.node': ENTRIES.react };
const FOR_NODE = '?node';

/** Peer dependencies, which the app provides. */
const PEERS = /^(three|react|@react-three|@pmndrs)(\/|$)/;

/**
 * Chunks shared by entries: one for all of them, and one for those that need three. Helpers are in them, too: bundlers leave
 * unused ones out, and Parcel in development runs a module that re-exports others and has classes of its own without the imports
 * of these classes, if none of them is used.
 */
function sharedChunks(end = '') {
  const needsThree = /src[\\/]client[\\/](three|react|pointer)[\\/]/;
  const needsNode = /\.node\.ts$/;
  const ofEvents = /src[\\/]client[\\/]pointer[\\/]/;
  return {
    groups: [
      // Goes first, because a chunk takes along the modules that its own import.
      {
        name: `shared${end}`,
        minShareCount: 2,
        test: (id) => !needsThree.test(id) && !needsNode.test(id),
        priority: 2,
      },
      { name: 'shared.node', minShareCount: 2, test: needsNode, priority: 2 },
      // Code that holds native events back until the worker answers: an app that only imports `collision-worker/three` does not
      // load it.
      ...(end === '' ? [{ name: 'events', minShareCount: 2, test: ofEvents, priority: 2 }] : []),
      { name: `adapter${end}`, minShareCount: 2, priority: 1 },
      ...(end === '' ? [{ name: 'helper', test: /src[\\/]client[\\/]three[\\/]helper[\\/]/ }] : []),
    ],
  };
}

/**
 * Builds the code of the main thread. All entries are in one build, so that shared code, CollisionError above all, is in a chunk
 * that exists once. The `exports` of package.json select the entry for Node.
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
      // Stack traces lead to file and line of the source; embedding the sources would double the package.
      sourcemap: true,
      sourcemapExcludeSources: true,
      sourcemapPathTransform: (path) => path.replace(FOR_NODE, ''),
      minify: true,
      // Minifiers add annotations to each Map of a class, too. Here bundlers drop code by its imports, without annotations.
      comments: { annotation: false },
      chunkFileNames: '[name].js',
      codeSplitting: sharedChunks(),
    },
  });
  // The errors for invalid arguments come from these chunks. Doing the same to all others would add 0.6 % to their size.
  shortenLines(dir, ['shared.js', 'shared.node.js']);
}

/** Builds a second copy of an entry's own folder that starts threads of Node instead of web workers. */
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
 * The clash detection: a separate build, which imports the package by its name, so that there is only one CollisionError and
 * pages load none of its code.
 */
const CLASH_ENTRIES = {
  clash: 'src/clash/index.ts',
  'clash-node': 'src/clash/node/index.ts',
  'clash-cli': 'src/clash/node/cli.ts',
  'clash-thread': 'src/clash/node/tile-thread.ts',
};
/** Loaded on demand from the app's dependencies. */
const CLASH_PEERS = [/^collision-worker$/, /^@gltf-transform\//, /^web-ifc$/, /^bullmq$/, /^ioredis$/];

const CLASH_TYPES = { clash: CLASH_ENTRIES.clash, 'clash-node': CLASH_ENTRIES['clash-node'] };
/** Keeps code for Node out of what pages load. */
const CLASH_CHUNKS = {
  groups: [
    { name: 'clash-shared', minShareCount: 2, test: (id) => !/clash[\\/]node[\\/]/.test(id), priority: 1 },
    { name: 'clash-node-shared', minShareCount: 2 },
  ],
};

async function buildClash(dir) {
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
      // The readers of files are loaded on demand.
      chunkFileNames: ({ isDynamicEntry }) => (isDynamicEntry ? 'clash-[name].js' : '[name].js'),
      codeSplitting: CLASH_CHUNKS,
    },
  });
}

/**
 * Embeds bytes in a script: returns the import of their decoder, and the expression. gzip and Brotli compress base64 nearly to
 * the original size, and text in base 91, which is 8 % shorter, to 1 % more.
 */
function asBase64(bytes) {
  return {
    imported: `import { fromBase64 } from ${JSON.stringify(from('src/shared/base64.ts'))};`,
    bytes: `fromBase64("${Buffer.from(bytes).toString('base64')}")`,
  };
}

/** Inlines the packed core into the module that returns it on demand. */
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

/** Inlines the worker's script, which is built before, into the module that returns it. */
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

/** Inlines the filter of the main thread into the module that returns it. */
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

/** Some bundlers recognize the line that starts the worker by its quotes, which minifying turns into back quotes. */
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
 * Builds the worker: one file for browsers and Node, with the core's bytes embedded. Bundlers wrap it in a function by default
 * (Vite's `worker.format`), which forbids top-level await and imports; this build does the same, so that it fails first.
 * `options` for rolldown's output exist for tests of the tests.
 */
export async function buildWorker(dir, options = {}) {
  await build({
    input: { worker: from('src/worker/worker.ts') },
    platform: 'browser',
    plugins: [packedCore()],
    resolve,
    // Nobody tree-shakes a standalone script: annotations for bundlers would only add bytes. It has no source map, since most of
    // it is the core, whose map would be as large.
    output: { dir, format: 'iife', minify: true, comments: { annotation: false }, ...options },
  });
}

/** Builds one file of types per entry, without declarations marked as internal. */
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

/** Prints the transfer size of a file of dist/. */
function printSizes(dir) {
  for (const name of readdirSync(dir).filter((each) => each.endsWith('.js'))) {
    const bytes = readFileSync(join(dir, name));
    const { gzip, brotli } = packedSizes(bytes);
    console.log(`dist/${name}: ${bytes.length} bytes, ${gzip} gzipped, ${brotli} by Brotli`);
  }
}

async function buildAll() {
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
