// Builds dist/ from Stryker's copy of the tree with its mutated sources; the core is that of the original tree.
import { join } from 'node:path';
import { buildClient, buildWorker } from '../../../scripts/build.mjs';
import { root } from '../../../scripts/run.mjs';

/**
 * Runs in the worker: sets the active mutant, and where to record those that are reached, from what setup.ts has passed to the
 * thread.
 */
const BANNER = `{
  const told = globalThis.process?.getBuiltinModule('node:worker_threads').getEnvironmentData('mutants');
  if (told) {
    const note = (reached, id, value) => {
      told.reached[id] = 1;
      reached[id] = value;
      return true;
    };
    globalThis.__stryker__ = {
      activeMutant: told.active,
      mutantCoverage: { static: new Proxy({}, { set: note }), perTest: {} },
    };
  }
}`;

const dist = join(root, 'dist');
// The client contains the worker's text (worker-text.ts).
await buildWorker(dist, { banner: BANNER });
await buildClient(dist);
