// `npm test`: everything that a fresh clone lacks, then lint, types and all tests. What follows `--` goes to
// vitest: `npm test -- worker/mesh`. The last line printed counts it all.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureChromium } from './chromium.mjs';
import { root, runNode, startNode } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';
import { ensureThrees, OLDER_THREES } from './three-versions.mjs';

const RESULTS = 'build/test-results.json';

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

rmSync(join(root, RESULTS), { force: true });
const vitest = runNode(
  'node_modules/vitest/vitest.mjs',
  ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${RESULTS}`, ...process.argv.slice(2)],
  { env: { ...process.env, THREES_IN_SHORT: OLDER_THREES.filter((each) => !missingThrees.includes(each)).join() } },
);

const { passed, failed, skipped: skippedTests } = countTests();
// Without a network and a copy from before, all else is tested.
const skipped = skippedTests + missingThrees.length;
for (const version of missingThrees) console.log(`\nSkipped: three ${version}, which npm could not install`);
const failedChecks = Object.keys(checks).filter((name) => checks[name] !== 0);
if (failedChecks.length > 0) console.log(`\nFailed besides the tests: ${failedChecks.join(', ')}`);
const passedInAll = passed + Object.keys(checks).length - failedChecks.length;
const failedInAll = failed + failedChecks.length;
console.log(`\n${passedInAll} passed, ${failedInAll} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failedInAll > 0 ? 1 : 0);

/** A file that could not even be loaded, or an error outside any test, is one that failed. */
function countTests() {
  let report;
  try {
    report = JSON.parse(readFileSync(join(root, RESULTS), 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const unloadable = report.testResults.filter(({ status, assertionResults }) => {
    return status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
  });
  const failed = report.numFailedTests + unloadable.length;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && vitest !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
