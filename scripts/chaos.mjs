// `npm run chaos`: random operations and accidents, in Node, against a model. Installs and builds what is missing first.
import { parseArgs } from 'node:util';
import { fail } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

const HELP = `npm run chaos -- [options]

Runs random operations on one service after the other while their workers are killed, hang, throw, answer late and fail
to start, and compares every answer with a model. Exits with 1 when one is wrong or never comes.

  --seed n    of the run; the same seed does the same steps (the time of day by default)
  --steps n   how many; 100000 by default
  --help      this text`;

const options = optionsOf(process.argv.slice(2));
ensureDependencies();
ensureBuild();
const { bundleTool } = await import('./bundle.mjs');
await bundleTool('test/chaos/main.ts', 'build/chaos.mjs');
const { chaos } = await import('../build/chaos.mjs');
process.exitCode = await chaos(options);

function optionsOf(args) {
  const number = { type: 'string' };
  let values;
  try {
    ({ values } = parseArgs({ args, options: { seed: number, steps: number, help: { type: 'boolean' } } }));
  } catch (error) {
    fail(`${error.message}\n\n${HELP}`);
  }
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  const { seed = String(Date.now() % 1_000_000), steps = '100000' } = values;
  for (const [name, value] of Object.entries({ seed, steps })) {
    if (!/^[1-9]\d*$/.test(value)) fail(`--${name}: ${value} is not a number above 0`);
  }
  return { seed: Number(seed), steps: Number(steps) };
}
