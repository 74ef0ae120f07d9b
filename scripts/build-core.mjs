// Builds src/worker/core into one file of WebAssembly: the core, with the narrow phase in a custom section as a module that can
// be suspended and resumed. The filter of the main thread is a separate file. Given the name of one module, it compiles that one
// alone.
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

/** Where the core's static data begin; those of the narrow phase's module are below (`checkStatic`). */
const CORE_BASE = 1 << 19;

/**
 * The entry of each module and its compiler options: `--debug` keeps the names of functions and globals, by which both modules
 * are aligned.
 */
const MODULES = {
  core: ['index', '--debug', '--memoryBase', `${CORE_BASE}`],
  'narrow-phase': ['pair-module', '--debug', '--importMemory', '--zeroFilledMemory'],
  'frustum-filter': ['frustum-filter', '--initialMemory', '1', '--zeroFilledMemory'],
};
/** The custom section of the core that holds the narrow phase. */
const NARROW_PHASE = 'narrow-phase';
const CORE = 'build/core.wasm';
const FILTER = 'build/frustum-filter.wasm';

/** Hash of the compiler's inputs and of the tools that determine the output: if they are unchanged, so is the core. */
const STAMP = 'build/core.sha256';
const TOOLS = [
  'scripts/build-core.mjs',
  'scripts/core-indices.mjs',
  'scripts/core-order.mjs',
  'scripts/pack.mjs',
  'package-lock.json',
];

/**
 * Builds the core as WebAssembly. It has its own allocator, so the runtime is the stub that never allocates. `change` may replace
 * the text of a source file (the bench uses it to add counters to the core).
 */
export async function buildCore(outFile, change) {
  mkdirSync(dirname(from(outFile)), { recursive: true });
  const narrowFile = outFile.replace(/(\.wasm)?$/, '.narrow-phase.wasm');
  // A function cannot be passed to another process.
  const beside = change ? undefined : compileBeside('narrow-phase', narrowFile);
  const files = await compile('core', outFile, change);
  files.push(...(await (beside ?? compile('narrow-phase', narrowFile, change))));
  writeFileSync(from(outFile), withSection(readFileSync(from(outFile)), NARROW_PHASE, readFileSync(from(narrowFile))));
  rmSync(from(narrowFile));
  return files;
}

/** Builds and packs the core and the filter, unless the existing files were made from the same sources. */
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

/** zopfli's output is 5 % smaller than zlib's. */
function pack(file, to) {
  if (runNode('scripts/pack.mjs', [file, to]) !== 0) throw new Error(`${file} could not be packed`);
}

/** Hashes names and contents of files; a missing file counts as a change. */
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

/** Compiles one of the modules; returns the project's own files that went into it. */
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
      // AS112: vectors pass between files, but never leave the module.
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

/** Does the same in a separate process, since the compiler is single-threaded. */
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

/** Checks that the static data of the narrow phase do not overlap those of the core. */
function checkStatic(wasm) {
  const module = new WebAssembly.Module(wasm);
  const env = { memory: new WebAssembly.Memory({ initial: CORE_BASE >> 16 }) };
  for (const { name, kind } of WebAssembly.Module.imports(module)) {
    if (kind === 'function') env[name] = () => 0;
    // Mutants import globals (test/mutants/core).
    else if (kind === 'global') env[name] = new WebAssembly.Global({ value: 'i32', mutable: true }, 0);
  }
  const end = new WebAssembly.Instance(module, { env }).exports.staticEnd();
  if (end > CORE_BASE)
    throw new Error(`the narrow phase's static data end at ${end}, the core's begin at ${CORE_BASE}`);
}

/** Makes the module suspendable at its import `suspend`, and resumable (Binaryen's Asyncify). */
function interruptible(wasm) {
  const module = moduleOf(wasm);
  binaryen.setOptimizeLevel(3);
  binaryen.setPassArgument('asyncify-imports', 'env.suspend');
  // Indirect calls only reach visitors of triangles, which have no checkpoints.
  binaryen.setPassArgument('asyncify-ignore-indirect', '');
  module.removeExport('staticEnd');
  module.runPasses(['asyncify']);
  binaryen.clearPassArguments();
  module.optimize();
  return bytesOf(module, true);
}

/**
 * Returns the core as shipped: without names, without the exports that only tests call (2 KB of the worker), with the locals of
 * each function in order of use, and with indices that both modules share, so that similar functions are identical byte for byte.
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

/** Returns the bytes of a module, and disposes of it. */
function bytesOf(module, hasNames = false) {
  binaryen.setDebugInfo(hasNames);
  const binary = module.emitBinary();
  module.dispose();
  return binary;
}

/** Returns a module with a custom section appended. */
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
