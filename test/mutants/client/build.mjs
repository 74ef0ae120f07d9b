// Builds dist/ of Stryker's copy of the tree, in which the sources are mutated; the core is the one of the tree itself.
import { join } from 'node:path';
import { buildClient, buildWorker } from '../../../scripts/build.mjs';
import { root } from '../../../scripts/run.mjs';

/** In the worker: the active mutant, and where to note which are reached, as its thread is told by setup.ts. */
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
// The client holds the worker's text (worker-text.ts).
await buildWorker(dist, { banner: BANNER });
await buildClient(dist);
