// Runs before each test file, behind Stryker's own set-up: its global object says which mutant is active and gathers,
// when nothing is mutated, which ones a test reaches. Workers have a global object of their own: they are told by the
// environment data of their threads, and note what they reach in shared memory.
import { setEnvironmentData } from 'node:worker_threads';
import { afterEach, beforeEach, inject } from 'vitest';

type Reached = Record<string, number>;

interface Stryker {
  activeMutant?: string;
  currentTestId?: string;
  mutantCoverage?: { static: Reached; perTest: Record<string, Reached> };
}

/** What a test file may use of the processor, in microseconds, before the rest of its tests is left out; the runner may give more. */
const MOST = 1000 * Number(process.env.MUTANTS_MOST_MS ?? 2500);
/** Numbers of mutants are below. */
const MOST_MUTANTS = 1 << 16;

const provided = inject as (key: string) => string | undefined;
const stryker = (globalThis as unknown as { __stryker__: Stryker }).__stryker__;
const reached = new Uint8Array(new SharedArrayBuffer(MOST_MUTANTS));

if (provided('mode') === 'mutant') {
  // Now, as what a module does when it is loaded is mutated, too: each test file has modules of its own.
  const active = provided('activeMutant')!;
  stryker.activeMutant = active;
  setEnvironmentData('mutants', { active, reached } as never);
} else {
  setEnvironmentData('mutants', { reached } as never);
  let begin: NodeJS.CpuUsage | undefined;
  beforeEach(({ skip }) => {
    // Not of what the file imports.
    begin ??= process.cpuUsage();
    const { user, system } = process.cpuUsage(begin);
    skip(user + system > MOST);
  });
  // What is reached while no test runs is of no test for Stryker: it is of all tests of the file.
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
