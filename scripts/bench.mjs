// `npm run bench`: compares the package with its peers, each in its own process. Installs and builds first if needed.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fail, root } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

const HELP = `npm run bench -- [options]

Measures the package and its peers, one after the other, on the same work, and compares their answers. Ours is a service
in its worker: what it says in \`ms\`, or where answers do not say that, how long they were awaited; rows that say so are
measured by a page in Chromium, and …-inner is a function of the core that no app calls by itself. Peers have a process
each. Exits with 1 when answers differ; never because of a time.

  --rows a,b     only these rows
  --rounds n     how often each row is run, without the warm-up; by default it is up to the row
  --native       with Embree 3 and FCL 0.7, compiled here (Debian: apt-get install g++ libembree-dev libfcl-dev)
  --page         instead of all that, serves the page that runs rows in your own browser, with a finer clock than that of the site
  --fitted       instead of the rows: what rotations in the trees save, as counts of tests
  --json [file]  all samples as JSON; the file is artifacts/bench.json by default
  --write        writes test/bench/results.json, test/bench/chart.svg and the tables in docs/performance.md and README.md
  --help         this text`;
const BUNDLE = 'build/bench.mjs';

const options = optionsOf(process.argv.slice(2));
ensureDependencies();
ensureBuild();
if (options.page) {
  const { serveBenchPage } = await import('./demo-page.mjs');
  console.log(`\nThe bench in your browser: ${await serveBenchPage()}`);
} else {
  await measureHere();
}

async function measureHere() {
  const { bundleTool } = await import('./bundle.mjs');
  await bundleTool('test/bench/main.ts', BUNDLE);
  allowGarbageCollection();
  const { bench, countTests } = await import(`../${BUNDLE}`);
  if (options.fitted) await countTests(await countingCores());
  else process.exitCode = await bench({ root, peerScript: join(root, 'scripts/bench-peer.mjs'), ...options });
}

function optionsOf(args) {
  const { help, rows, rounds, ...others } = parsed(args);
  if (help) {
    console.log(HELP);
    process.exit(0);
  }
  if (rounds !== undefined && !/^[1-9]\d*$/.test(rounds)) fail(`--rounds: ${rounds} is not a number of rounds`);
  if (others.write && rows !== undefined) fail('--write: the table is of all rows; leave --rows out');
  return { ...others, rows: rows?.split(','), rounds: rounds && Number(rounds) };
}

function parsed(args) {
  // The file after --json is optional, which parseArgs does not support.
  const complete = args.flatMap((arg, i) => {
    return arg === '--json' && !(args[i + 1] && !args[i + 1].startsWith('--'))
      ? ['--json=artifacts/bench.json']
      : [arg];
  });
  const string = { type: 'string' };
  const boolean = { type: 'boolean' };
  try {
    return parseArgs({
      args: complete,
      options: {
        rows: string,
        rounds: string,
        json: string,
        native: { ...boolean, default: false },
        write: { ...boolean, default: false },
        fitted: { ...boolean, default: false },
        page: { ...boolean, default: false },
        help: boolean,
      },
    }).values;
  } catch (error) {
    return fail(`${error.message}\n\n${HELP}`);
  }
}

/** Builds the core with counters, as it is and without tree rotations, and returns both paths. */
async function countingCores() {
  const { buildCore } = await import('./build-core.mjs');
  const paths = { fitted: 'build/core-counting.wasm', plain: 'build/core-counting-plain.wasm' };
  for (const [kind, path] of Object.entries(paths)) {
    await buildCore(path, (file, text) => {
      if (file.endsWith('core/index.ts')) return `${text}\nexport { takeCount } from './mesh/tree/counters';\n`;
      if (!file.endsWith('mesh/tree/counters.ts')) return text;
      const counting = text.replace('COUNTING: bool = false', 'COUNTING: bool = true');
      return kind === 'fitted' ? counting : counting.replace('FITTING: bool = true', 'FITTING: bool = false');
    });
  }
  return { fitted: join(root, paths.fitted), plain: join(root, paths.plain) };
}

/** Lets the bench collect garbage between measurements. Code that has not run for a while stays compiled. */
function allowGarbageCollection() {
  setFlagsFromString('--expose-gc');
  setFlagsFromString('--no-flush-bytecode');
  globalThis.gc = runInNewContext('gc');
}
