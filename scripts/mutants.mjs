// `npm run mutants`: mutation tests, whether tests notice one-line changes of the sources. Installs and builds first if needed.
import { parseArgs } from 'node:util';
import { fail, root } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

const HELP = `npm run mutants -- core|client [options]

core    one-line mutants of src/worker/core, drawn at random, each against the tests that reach it. Results are kept in
        build/mutants-core.json: a run that was interrupted goes on where it was.
client  mutants of src/client, src/worker/*.ts and src/worker/binding by StrykerJS. Results are kept in
        build/mutants-client.jsonl, and gone on with, too.

Prints the mutants that are not killed, with the change, and the share that was: of a mutant that lives, all tests that
reach it passed; one that is undecided has outlived its budget of them. What changes nothing is listed in
test/mutants/equivalent.json with the reason.

  --count n    core: how many; 300 by default
  --budget s   seconds of processor time, of tests that reach it, that a mutant must outlive; 60 by default, client: 25
  --lanes n    how many mutants are run at a time, each in processes of its own; 1 by default
  --again      what survived before, with the tests as they are now
  --report     runs nothing: prints what the last run has found so far
  --as-drawn   core: the mutants of the last run, whose core is built already, though the sources have changed since
  --sample n   client: how many; all by default
  --seed n     of the draw; 1 by default
  --help       this text`;

const options = optionsOf(process.argv.slice(2));
ensureDependencies();
ensureBuild();
const { bundleTool } = await import('./bundle.mjs');
await bundleTool('test/mutants/main.ts', 'build/mutants.mjs');
const { mutateCore, mutateClient } = await import('../build/mutants.mjs');
const mutate = options.part === 'core' ? mutateCore : mutateClient;
process.exit(await mutate({ root, ...options }));

function optionsOf(args) {
  const number = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  let parsed;
  try {
    parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        count: number,
        budget: number,
        lanes: number,
        sample: number,
        seed: number,
        again: flag,
        'as-drawn': flag,
        report: flag,
        help: flag,
      },
    });
  } catch (error) {
    fail(`${error.message}\n\n${HELP}`);
  }
  const { values, positionals } = parsed;
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  const [part] = positionals;
  if (positionals.length !== 1 || !['core', 'client'].includes(part)) fail(HELP);
  const { count = '300', budget = part === 'core' ? '60' : '25', lanes = '1', sample, seed = '1', again } = values;
  for (const [name, value] of Object.entries({ count, budget, lanes, sample, seed })) {
    if (value !== undefined && !/^[1-9]\d*$/.test(value)) fail(`--${name}: ${value} is not a number above 0`);
  }
  return {
    part,
    count: Number(count),
    budget: Number(budget),
    lanes: Number(lanes),
    sample: sample === undefined ? undefined : Number(sample),
    seed: Number(seed),
    again,
    asDrawn: values['as-drawn'],
    report: values.report,
  };
}
