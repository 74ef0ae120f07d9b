// Runs test files one after the other in this process, as requested by messages of the process that forked it: it receives an
// Order and sends a TestRun (test-runner.ts). Each file is a bundle that is evaluated anew each time, with all of our own code,
// while three and the compiled core stay loaded: a separate process for each file would spend most of its time on starting, and
// on compiling and optimizing the same core again.
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setEnvironmentData } from 'node:worker_threads';
import { startTests } from '@vitest/runner';
import { getFullName } from '@vitest/runner/utils';
import { build } from 'rolldown';

const BUNDLES = 'build/quick';
const ORACLE = 'test/oracle';
/** Imports by name in tests that do not resolve to the installed package of that name. */
const OURS = {
  vitest: 'test/mutants/core/quick-vitest.mjs',
  'collision-worker': 'dist/index.node.js',
  'collision-worker/three': 'dist/three.js',
};

const [root] = process.argv.slice(2);
process.chdir(root);
let evaluations = 0;
/** The first failure, and whether it occurred outside of any test. */
let failure;
let isStray = false;
/** The name of the first failed test; and the names of the only tests to run, if not all. */
let failed;
let only;
/** CPU time of a file's tests, after which the rest is skipped. */
let most = Number.POSITIVE_INFINITY;
let isCut = false;
let isAnyRun = false;
/**
 * Data exchanged with the cores of this process and of its threads: workspace.ts. `reached` has a byte for each mutant; when the
 * epoch changes, a core reports all of them again.
 */
const reached = new Uint8Array(new SharedArrayBuffer(1 << 16));
const epoch = new Int32Array(new SharedArrayBuffer(4));
epoch[0] = 1;
/** By test or suite, or `null` for the file: the mutants that it reaches itself, and its CPU time. */
let spent = new Map();
let current = { task: null, since: 0 };
let begun = 0;

process.on('uncaughtException', failBeside);
process.on('unhandledRejection', failBeside);
console.log = () => {};

function failBeside(error) {
  isStray = true;
  fail(error);
}

function fail(error) {
  failure ??= String(error?.message ?? error);
}

/** The processes of all lanes share the bundles. */
async function bundleOf(path) {
  const name = path.slice(root.length).replace(/\W+/g, '-');
  const file = join(root, BUNDLES, `${name}.mjs`);
  if (!existsSync(file)) {
    await buildOracle();
    const unfinished = `${file}.${process.pid}.mjs`;
    await bundle(path, [outside()], { file: unfinished, codeSplitting: false });
    renameSync(unfinished, file);
  }
  return pathToFileURL(file).href;
}

/** The oracle does not depend on any mutant: it stays loaded, and so does the code that the engine has compiled for it. */
async function buildOracle() {
  const folder = join(root, BUNDLES, 'oracle');
  if (existsSync(folder)) return;
  const names = readdirSync(join(root, ORACLE)).filter((name) => name.endsWith('.ts'));
  const input = Object.fromEntries(names.map((name) => [name.slice(0, -3), join(root, ORACLE, name)]));
  const unfinished = `${folder}-${process.pid}`;
  await bundle(input, [], { dir: unfinished, entryFileNames: '[name].mjs' });
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another lane was faster.
    if (!existsSync(folder)) throw error;
  }
}

function bundle(input, plugins, output) {
  return build({
    input,
    platform: 'node',
    external: (id) => !id.startsWith('.') && !id.startsWith('/') && !(id in OURS),
    resolve: {
      extensionAlias: { '.js': ['.ts', '.js'] },
    },
    plugins,
    transform: { define: { 'import.meta.env.SEED': JSON.stringify(process.env.SEED ?? '1') } },
    output,
    logLevel: 'silent',
  });
}

/** Keeps the shipped package, the single instance of the matchers, and the oracle out of the bundles. */
function outside() {
  return {
    name: 'outside',
    resolveId(id, importer) {
      if (id in OURS) return { id: here(OURS[id]), external: true };
      if (!importer || !id.startsWith('.')) return null;
      const path = join(importer, '..', id);
      if (dirname(path) !== join(root, ORACLE)) return null;
      return { id: here(join(BUNDLES, 'oracle', `${basename(path, '.js')}.mjs`)), external: true };
    },
  };
}

function here(path) {
  return pathToFileURL(join(root, path)).href;
}

const runner = {
  config: {
    root,
    name: 'mutants',
    setupFiles: [],
    passWithNoTests: false,
    allowOnly: true,
    sequence: { seed: 1, hooks: 'stack', setupFiles: 'list' },
    maxConcurrency: 1,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    retry: 0,
    tags: [],
  },
  async importFile(path) {
    await import(`${await bundleOf(path)}?${++evaluations}`);
  },
  onCollected(files) {
    if (only) for (const file of files) leaveOut(file);
  },
  onBeforeRunSuite: enter,
  onAfterRunSuite: leave,
  onBeforeRunTask(test) {
    enter(test);
    // The first test always runs, however long its file takes to begin: a file of which no test ran would count as failed.
    const isTooLate = isAnyRun && processorMs() - begun > most;
    isAnyRun = true;
    isCut ||= isTooLate;
    if (failure || isTooLate) test.mode = 'skip';
  },
  onAfterRunTask(test) {
    leave(test);
    const { name, result } = test;
    if (result?.state !== 'fail') return;
    if (!failure) failed = getFullName(test);
    fail(`${name}: ${result.errors?.[0]?.message?.split('\n')[0]}`);
  },
};

/** Returns whether any test of the suite remains. */
function leaveOut(suite) {
  let isAnyLeft = false;
  for (const task of suite.tasks) {
    const isLeft = task.type === 'suite' ? leaveOut(task) : only.has(getFullName(task));
    if (!isLeft) task.mode = 'skip';
    isAnyLeft ||= isLeft;
  }
  return isAnyLeft;
}

function enter(task) {
  note();
  current.task = task;
}

function leave(task) {
  note();
  current.task = task.suite ?? task.file ?? null;
}

/** Attributes the CPU time and the mutants reached since the last call to the current task. */
function note() {
  const now = processorMs();
  const key = current.task === null || current.task.filepath !== undefined ? null : current.task;
  const entry = spent.get(key) ?? { processorMs: 0, reaches: new Set() };
  spent.set(key, entry);
  entry.processorMs += now - current.since;
  current.since = now;
  for (let id = reached.indexOf(1); id >= 0; id = reached.indexOf(1, id + 1)) entry.reaches.add(id);
  reached.fill(0);
  Atomics.add(epoch, 0, 1);
}

function processorMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Returns what the file does outside of tests, and what each test does, including its suites. */
function partsOf() {
  const tests = [];
  for (const [task, { processorMs, reaches }] of spent) {
    if (task?.type !== 'test' || task.mode === 'skip') continue;
    const all = new Set(reaches);
    for (let { suite } = task; suite; { suite } = suite) for (const id of spent.get(suite)?.reaches ?? []) all.add(id);
    tests.push({ name: getFullName(task), processorMs, reaches: [...all] });
  }
  return { outside: [...(spent.get(null)?.reaches ?? [])], tests };
}

process.on('message', async (order) => {
  const begin = performance.now();
  setEnvironmentData('mutants', { active: order.mutant, reached, epoch });
  failure = failed = undefined;
  only = order.only && new Set(order.only);
  isStray = isCut = isAnyRun = false;
  spent = new Map();
  reached.fill(0);
  current = { task: null, since: processorMs() };
  begun = current.since;
  most = order.mostMs ?? Number.POSITIVE_INFINITY;
  let files = [];
  try {
    files = await startTests([{ filepath: join(root, order.file) }], runner);
  } catch (error) {
    fail(error);
  }
  note();
  const bad = files.find(({ result }) => result?.state !== 'pass');
  if (bad) fail(bad.result?.errors?.[0]?.message ?? `${order.file} did not run`);
  process.send({
    passed: files.length > 0 && failure === undefined,
    milliseconds: performance.now() - begin,
    processorMs: processorMs() - begun,
    failure,
    test: failed,
    isStray,
    isCut,
    ...partsOf(),
  });
});
process.send({ ready: true });
