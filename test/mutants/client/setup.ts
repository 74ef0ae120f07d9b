// Runs before each test file, after Stryker's own set-up, whose global object holds the active mutant and, when none is active,
// collects the mutants that a test reaches. Workers have a global object of their own: they get the mutant by the environment
// data of their threads, and record those that they reach in shared memory.
import { setEnvironmentData } from 'node:worker_threads';
import { afterEach, beforeEach, inject } from 'vitest';

type Reached = Record<string, number>;

interface Stryker {
  activeMutant?: string;
  currentTestId?: string;
  mutantCoverage?: { static: Reached; perTest: Record<string, Reached> };
}

/** CPU time of a test file in microseconds, after which the rest of its tests is skipped; the runner may allow more. */
const MOST = 1000 * Number(process.env.MUTANTS_MOST_MS ?? 2500);
/** Upper bound of mutants' numbers. */
const MOST_MUTANTS = 1 << 16;

const provided = inject as (key: string) => string | undefined;
const stryker = (globalThis as unknown as { __stryker__: Stryker }).__stryker__;
const reached = new Uint8Array(new SharedArrayBuffer(MOST_MUTANTS));

if (provided('mode') === 'mutant') {
  // Set before the imports, since module initialization is mutated, too: each test file has its own module instances.
  const active = provided('activeMutant')!;
  stryker.activeMutant = active;
  setEnvironmentData('mutants', { active, reached } as never);
} else {
  setEnvironmentData('mutants', { reached } as never);
  let begin: NodeJS.CpuUsage | undefined;
  beforeEach(({ skip }) => {
    // Excludes the file's imports.
    begin ??= process.cpuUsage();
    const { user, system } = process.cpuUsage(begin);
    skip(user + system > MOST);
  });
  // For Stryker, mutants that are reached while no test runs belong to no test: here they belong to all tests of the file.
  const always: Reached = {};
  afterEach(() => {
    const { currentTestId } = stryker;
    if (!currentTestId) return;
    stryker.mutantCoverage ??= { static: {}, perTest: {} };
    const coverage = stryker.mutantCoverage;
    for (const id of Object.keys(coverage.static)) {
      always[id] = 1;
      delete coverage.static[id];
    }
    coverage.perTest[currentTestId] ??= {};
    const own = coverage.perTest[currentTestId];
    for (let id = reached.indexOf(1); id >= 0; id = reached.indexOf(1, id + 1)) own[id] = 1;
    reached.fill(0);
    for (const id of Object.keys(always)) own[id] = 1;
  });
}
