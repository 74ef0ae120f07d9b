// Runs test files one after the other in this one process, as told by messages of the process that forked it, as
// vitest-runner.mjs does: { file, only } in, { passed, milliseconds, processorMs } out. Each file is a bundle that is evaluated anew each time,
// with all that is ours, while three and the compiled core stay: a process of its own for each file would spend most of
// its time on starting, and on compiling and optimising the same core again.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startTests } from '@vitest/runner';
import { getFullName } from '@vitest/runner/utils';
import { build } from 'rolldown';

const [root] = process.argv.slice(2);
process.chdir(root);
const bundles = new Map();
let evaluations = 0;
/** What failed first, and whether that was beside any test. */
let failure;
let isStray = false;
/** The name of the test that failed first; and the name of the only one to run, where there is one. */
let failed;
let onlyTest;

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

async function bundleOf(path) {
  if (bundles.has(path)) return bundles.get(path);
  const file = join(
    root,
    `build/quick-${process.env.MUTANTS_LANE}`,
    path.slice(root.length).replace(/\W+/g, '-').concat('.mjs'),
  );
  await build({
    input: path,
    platform: 'node',
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    resolve: {
      extensionAlias: { '.js': ['.ts', '.js'] },
    },
    plugins: [outside()],
    transform: { define: { 'import.meta.env.SEED': JSON.stringify(process.env.SEED ?? '1') } },
    output: { file, codeSplitting: false },
    logLevel: 'silent',
  });
  bundles.set(path, pathToFileURL(file).href);
  return bundles.get(path);
}

/** Leaves the package as it ships, and the one instance of the matchers, outside of the bundles. */
function outside() {
  const files = {
    'collision-worker': 'dist/index.node.js',
    'collision-worker/three': 'dist/three.js',
  };
  return {
    name: 'outside',
    resolveId(id) {
      if (id === 'vitest') return { id: here('test/mutants/core/quick-vitest.mjs'), external: true };
      if (id in files) return { id: here(files[id]), external: true };
      return null;
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
  onBeforeRunTask(test) {
    if (failure || (onlyTest !== undefined && getFullName(test) !== onlyTest)) test.mode = 'skip';
  },
  onAfterRunTask(test) {
    const { name, result } = test;
    if (result?.state !== 'fail') return;
    if (!failure) failed = getFullName(test);
    fail(`${name}: ${result.errors?.[0]?.message?.split('\n')[0]}`);
  },
};

process.on('message', async ({ file, only }) => {
  const begin = performance.now();
  const processor = process.cpuUsage();
  failure = failed = undefined;
  onlyTest = only;
  isStray = false;
  let files = [];
  try {
    files = await startTests([{ filepath: join(root, file) }], runner);
  } catch (error) {
    fail(error);
  }
  const bad = files.find(({ result }) => result?.state !== 'pass');
  if (bad) fail(bad.result?.errors?.[0]?.message ?? `${file} did not run`);
  const { user, system } = process.cpuUsage(processor);
  process.send({
    passed: files.length > 0 && failure === undefined,
    milliseconds: performance.now() - begin,
    processorMs: (user + system) / 1000,
    failure,
    test: failed,
    isStray,
  });
});
process.send({ ready: true });
