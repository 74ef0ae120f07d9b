// `npm test`: everything that a fresh clone lacks, then lint, types and all tests. What follows `--` goes to
// vitest: `npm test -- worker/mesh`. The last line printed counts it all.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureChromium } from './chromium.mjs';
import { root, startBeside, startNode } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';
import { ensureThrees, OLDER_THREES } from './three-versions.mjs';

/** Gets a third of what others get that want the same core. */
const LOW = 5;
const args = process.argv.slice(2);
/**
 * Two runs of vitest beside each other, each with its lane of vitest.config.ts. A page that draws one frame after the other, or that
 * waits for a worker that is lost, leaves a core idle, which the second run takes. That one has a low priority, so that the first one is
 * nearly as fast as alone. Whoever names projects gets one run.
 */
const LANES = args.some((each) => each.startsWith('--project'))
  ? [{ priority: 0 }]
  : [
      { name: 'waiting', priority: 0 },
      { name: 'computing', priority: LOW },
    ];
const resultsOf = (lane) => `build/test-results${lane === 0 ? '' : `-${lane}`}.json`;

ensureDependencies();
ensureBuild();
// All at once: one after the other they take 60 s on two cores, of which the types take 40.
const started = {
  types: startNode('node_modules/typescript/bin/tsc', ['--noEmit']),
  lint: startNode('node_modules/@biomejs/biome/bin/biome', ['check', '--error-on-warnings']),
  layers: startNode('node_modules/dependency-cruiser/bin/dependency-cruise.mjs', ['src', 'demo', 'test', 'scripts']),
};
ensureChromium();
const missingThrees = ensureThrees(OLDER_THREES);
const checks = {};
for (const name in started) checks[name] = await started[name];

const counts = (await runLanes()).map(countTests);
const sumOf = (key) => counts.reduce((sum, count) => sum + count[key], 0);
const [passed, skippedTests] = [sumOf('passed'), sumOf('skipped')];
const isEmpty = passed + skippedTests + sumOf('failed') === 0;
if (isEmpty) console.log(`\nNo test was found by ${args.join(' ')}`);
const failed = isEmpty ? 1 : sumOf('failed');

// Without a network and a copy from before, all else is tested.
const skipped = skippedTests + missingThrees.length;
for (const version of missingThrees) console.log(`\nSkipped: three ${version}, which npm could not install`);
const failedChecks = Object.keys(checks).filter((name) => checks[name] !== 0);
if (failedChecks.length > 0) console.log(`\nFailed besides the tests: ${failedChecks.join(', ')}`);
const passedInAll = passed + Object.keys(checks).length - failedChecks.length;
const failedInAll = failed + failedChecks.length;
console.log(`\n${passedInAll} passed, ${failedInAll} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failedInAll > 0 ? 1 : 0);

/** Runs the tests, and answers the exit code of each lane. */
function runLanes() {
  const threes = OLDER_THREES.filter((each) => !missingThrees.includes(each)).join();
  const env = { ...process.env, THREES_IN_SHORT: threes };
  // What writes into a pipe has no colours by itself.
  if (process.stdout.isTTY) env.FORCE_COLOR ??= '1';
  const codes = LANES.map(({ name, priority }, lane) => {
    rmSync(join(root, resultsOf(lane)), { force: true });
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${resultsOf(lane)}`];
    const options = ['run', '--passWithNoTests', ...reporters, ...args];
    return startBeside('node_modules/vitest/vitest.mjs', options, { env: { ...env, LANE: name ?? '' }, priority });
  });
  return Promise.all(codes);
}

/** A file that could not even be loaded, or an error outside any test, is one that failed. */
function countTests(code, lane) {
  let report;
  try {
    report = JSON.parse(readFileSync(join(root, resultsOf(lane)), 'utf8'));
  } catch {
    return { passed: 0, failed: code === 0 ? 0 : 1, skipped: 0 };
  }
  const unloadable = report.testResults.filter(({ status, assertionResults }) => {
    return status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
  });
  const failed = report.numFailedTests + unloadable.length;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
