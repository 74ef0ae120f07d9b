// Builds src/worker/core into one file of WebAssembly: the core, and the narrow phase as a module that can be left and gone
// on with, in a custom section of it. The filter of the main thread is a file of its own. Run with a name of one of them, it
// compiles that alone.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import binaryen from 'assemblyscript/binaryen';
import { alignIndices } from './core-indices.mjs';
import { packedOrder, withoutLastSection } from './core-order.mjs';
import { root, runNode } from './run.mjs';

const from = (path) => join(root, path);
const self = fileURLToPath(import.meta.url);

/** Where the core's static data begin; those of the narrow phase's module lie below (`checkStatic`). */
const CORE_BASE = 1 << 19;

/** Their entries, and what the compiler is told of each: names of functions and globals (`--debug`), by which both are compared. */
const MODULES = {
  core: ['index', '--debug', '--memoryBase', `${CORE_BASE}`],
  'narrow-phase': ['pair-module', '--debug', '--importMemory', '--zeroFilledMemory'],
  'frustum-filter': ['frustum-filter', '--initialMemory', '1', '--zeroFilledMemory'],
};
/** The section of the core that holds the narrow phase. */
const NARROW_PHASE = 'narrow-phase';
const CORE = 'build/core.wasm';
const FILTER = 'build/frustum-filter.wasm';

/** What the compiler read, and what decides how: with the same of them, the core is the same. */
const STAMP = 'build/core.sha256';
const TOOLS = [
  'scripts/build-core.mjs',
  'scripts/core-indices.mjs',
  'scripts/core-order.mjs',
  'scripts/pack.mjs',
  'package-lock.json',
];

/**
 * The core as WebAssembly. It brings its own allocator, so the runtime is the stub that never allocates. `change` may
 * give a source file another text (the bench counts what the core does).
 */
export async function buildCore(outFile, change) {
  mkdirSync(dirname(from(outFile)), { recursive: true });
  const narrowFile = outFile.replace(/(\.wasm)?$/, '.narrow-phase.wasm');
  // A function cannot be handed to another process.
  const beside = change ? undefined : compileBeside('narrow-phase', narrowFile);
  const files = await compile('core', outFile, change);
  files.push(...(await (beside ?? compile('narrow-phase', narrowFile, change))));
  writeFileSync(from(outFile), withSection(readFileSync(from(outFile)), NARROW_PHASE, readFileSync(from(narrowFile))));
  rmSync(from(narrowFile));
  return files;
}

/** Builds the core and the filter and packs them, unless what is there was made of the same sources. */
export async function ensureCore() {
  const outputs = [CORE, FILTER].flatMap((file) => [file, `${file}.gz`]);
  if (existsSync(from(STAMP)) && outputs.every((file) => existsSync(from(file)))) {
    const { files, hash } = JSON.parse(readFileSync(from(STAMP), 'utf8'));
    if (hash === hashOf(files)) return;
  }
  rmSync(from(STAMP), { force: true });
  const read = [...(await buildCore(CORE)), ...(await compile('frustum-filter', FILTER))];
  const files = [...new Set([...read, ...TOOLS])].sort();
  const packed = 'build/core.ordered';
  writeFileSync(from(packed), packedOrder(shipped(readFileSync(from(CORE)))));
  pack(packed, `${CORE}.gz`);
  pack(FILTER, `${FILTER}.gz`);
  rmSync(from(packed));
  writeFileSync(from(STAMP), JSON.stringify({ files, hash: hashOf(files) }));
}

/** By zopfli it is 5 % smaller than by zlib. */
function pack(file, to) {
  if (runNode('scripts/pack.mjs', [file, to]) !== 0) throw new Error(`${file} could not be packed`);
}

/** Hashes names and contents of files; one that is gone is as good as one that changed. */
function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) {
    hash
      .update(`${file}\0`)
      .update(existsSync(from(file)) ? readFileSync(from(file)) : '')
      .update('\0');
  }
  return hash.digest('hex');
}

/** Compiles one of the modules; answers the project's own files that went into it. */
async function compile(name, outFile, change = (_path, text) => text) {
  const [entry, ...options] = MODULES[name];
  const files = [];
  const readFile = (path, dir) => {
    const file = join(dir, path);
    if (!existsSync(file)) return null;
    if (path.startsWith('src/')) files.push(path);
    return change(path, readFileSync(file, 'utf8'));
  };
  const { error } = await asc.main(
    [
      `src/worker/core/${entry}.ts`,
      ...['--baseDir', root],
      ...['--outFile', outFile],
      ...['--runtime', 'stub'],
      ...['--enable', 'simd'],
      ...['--optimizeLevel', '3'],
      // AS112: vectors go from file to file, and never out of the module.
      ...['--disableWarning', '112'],
      '--noAssert',
      ...options,
    ],
    { stdout: process.stderr, stderr: process.stderr, readFile },
  );
  if (error) throw error;
  if (name === 'narrow-phase') {
    const wasm = readFileSync(from(outFile));
    checkStatic(wasm);
    writeFileSync(from(outFile), interruptible(wasm));
  }
  return files;
}

/** The same in a process of its own: the compiler has one thread. */
function compileBeside(name, outFile) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [self, name, outFile], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(printed));
      else reject(new Error(`${name} could not be compiled:\n${printed}`));
    });
  });
}

/** Checks that the static data of the narrow phase do not reach into those of the core. */
function checkStatic(wasm) {
  const module = new WebAssembly.Module(wasm);
  const env = { memory: new WebAssembly.Memory({ initial: CORE_BASE >> 16 }) };
  for (const { name, kind } of WebAssembly.Module.imports(module)) {
    if (kind === 'function') env[name] = () => 0;
    // Mutants have some (test/mutants/core).
    else if (kind === 'global') env[name] = new WebAssembly.Global({ value: 'i32', mutable: true }, 0);
  }
  const end = new WebAssembly.Instance(module, { env }).exports.staticEnd();
  if (end > CORE_BASE)
    throw new Error(`the narrow phase's static data end at ${end}, the core's begin at ${CORE_BASE}`);
}

/** The module, made so that it can be left at its import `suspend` and gone on with (Binaryen's Asyncify). */
function interruptible(wasm) {
  const module = moduleOf(wasm);
  binaryen.setOptimizeLevel(3);
  binaryen.setPassArgument('asyncify-imports', 'env.suspend');
  // What is called by its address are visitors of triangles, which have no checkpoints.
  binaryen.setPassArgument('asyncify-ignore-indirect', '');
  module.removeExport('staticEnd');
  module.runPasses(['asyncify']);
  binaryen.clearPassArguments();
  module.optimize();
  return bytesOf(module, true);
}

/**
 * The core as it is shipped: without names, without what tests alone ask it for, 2 KB of the worker, with the locals of each
 * function in order of use, and with indices that both modules share: so like functions are alike to the byte.
 */
function shipped(wasm) {
  const core = moduleOf(withoutLastSection(wasm));
  for (const name of ['check', 'checkMeshTree', 'meshPairs', 'foundPairs', 'isFresh', 'mayHaveMesh'])
    core.removeExport(name);
  const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(wasm), NARROW_PHASE);
  const narrow = moduleOf(new Uint8Array(section));
  core.runPasses(['remove-unused-module-elements', 'reorder-locals']);
  alignIndices(core, narrow);
  return withSection(bytesOf(core), NARROW_PHASE, bytesOf(narrow));
}

function moduleOf(wasm) {
  const { Features } = binaryen;
  return binaryen.readBinaryWithFeatures(
    wasm,
    Features.MVP |
      Features.SIMD128 |
      Features.BulkMemory |
      Features.BulkMemoryOpt |
      Features.SignExt |
      Features.NontrappingFPToInt |
      Features.MutableGlobals,
  );
}

/** Ends a module; answers its bytes. */
function bytesOf(module, hasNames = false) {
  binaryen.setDebugInfo(hasNames);
  const binary = module.emitBinary();
  module.dispose();
  return binary;
}

/** A module with a custom section behind all others. */
function withSection(wasm, name, content) {
  const leb = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]);
  const title = new TextEncoder().encode(name);
  const length = leb(title.length);
  const head = [0, ...leb(length.length + title.length + content.length), ...length, ...title];
  return Buffer.concat([wasm, Uint8Array.from(head), content]);
}

if (process.argv[1] === self) {
  const [name, outFile] = process.argv.slice(2);
  console.log(JSON.stringify(await compile(name, outFile)));
}
