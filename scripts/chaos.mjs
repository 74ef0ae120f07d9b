// `npm run chaos`: random operations and accidents in Node, compared with a model. Installs and builds first if needed.
import { parseArgs } from 'node:util';
import { fail, root } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

const HELP = `npm run chaos -- [options]

Runs random operations on one service after the other while their workers are killed, hang, throw, hear and answer late,
fail to start and run out of memory, and compares every answer with a model. Exits with 1 when one is wrong or never comes.

  --seed n    of the run; the same seed does the same steps (the time of day by default)
  --steps n   how many; 100000 by default
  --slices n  ends a slice of work, and serves messages, at one of n looks at the clock, by chance: 1 for the shortest
  --from n    of these the first one, to go straight to what a failure names; 0 by default
  --write     writes test/chaos/results.json, from which docs/failures.md has its figures
  --help      this text`;

const options = optionsOf(process.argv.slice(2));
ensureDependencies();
ensureBuild();
const { bundleTool } = await import('./bundle.mjs');
await bundleTool('test/chaos/main.ts', 'build/chaos.mjs');
const { chaos } = await import('../build/chaos.mjs');
process.exitCode = await chaos({ root, ...options });

function optionsOf(args) {
  const number = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: { seed: number, steps: number, from: number, slices: number, write: flag, help: flag },
    }));
  } catch (error) {
    fail(`${error.message}\n\n${HELP}`);
  }
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  const { seed = String(Date.now() % 1_000_000), steps = '100000', from = '0', slices, write } = values;
  for (const [name, value] of Object.entries({ seed, steps, slices })) {
    if (value !== undefined && !/^[1-9]\d*$/.test(value)) fail(`--${name}: ${value} is not a number above 0`);
  }
  return {
    ...{ seed: Number(seed), steps: Number(steps), from: Number(from), write },
    ...(slices !== undefined && { slices: Number(slices) }),
  };
}
