// `npm test`: sets up everything that a fresh clone lacks, then runs lint, types and all tests. Arguments after `--` go to
// vitest: `npm test -- worker/mesh`. The last lines list the failures, and the totals.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureChromium } from './chromium.mjs';
import { root, startBeside, startNode } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';
import { ensureThrees, OLDER_THREES } from './three-versions.mjs';

/** A process of this priority gets a third of the time that others on the same core get. */
const LOW = 5;
const args = process.argv.slice(2);
/**
 * Two runs of vitest in parallel, each with its lane of vitest.config.ts. A page that draws frame after frame, or that waits for
 * a lost worker, leaves a core idle, which the second run uses. That run has a low priority, so that the first one is nearly as
 * fast as alone. If projects are named, there is only one run.
 */
const LANES = args.some((each) => each.startsWith('--project'))
  ? [{ priority: 0 }]
  : [
      { name: 'waiting', priority: 0 },
      { name: 'computing', priority: LOW },
    ];
const reportOf = (lane) => join(root, `build/test-report${lane === 0 ? '' : `-${lane}`}.json`);

ensureDependencies();
ensureBuild();
// All in parallel: in sequence they take 60 s on two cores, 40 of these for the types.
const started = {
  types: startNode('node_modules/typescript-7/bin/tsc', ['--noEmit']),
  lint: startNode('node_modules/@biomejs/biome/bin/biome', ['check', '--error-on-warnings']),
  layers: startNode('node_modules/dependency-cruiser/bin/dependency-cruise.mjs', ['src', 'demo', 'test', 'scripts']),
};
ensureChromium();
const missingThrees = ensureThrees(OLDER_THREES);
const checks = {};
for (const name in started) checks[name] = await started[name];

const reports = (await runLanes()).map(readReport);
const sumOf = (key) => reports.reduce((sum, report) => sum + report[key], 0);
const [passed, skippedTests] = [sumOf('passed'), sumOf('skipped')];
const failures = reports.flatMap((report) => report.failures);
if (passed + skippedTests + failures.length === 0) {
  failures.push({ where: 'all', message: `No test was found by ${args.join(' ')}` });
}

// Without a network and an earlier copy, all other tests still run.
const skipped = skippedTests + missingThrees.length;
for (const version of missingThrees) console.log(`\nSkipped: three ${version}, which npm could not install`);
const failedChecks = Object.keys(checks).filter((name) => checks[name] !== 0);
if (failedChecks.length > 0) console.log(`\nFailed besides the tests: ${failedChecks.join(', ')}`);
const passedInAll = passed + Object.keys(checks).length - failedChecks.length;
const failedInAll = failures.length + failedChecks.length;
for (const { where, message } of failures) console.log(`\nFailed: ${where}\n${message.replace(/^/gm, '    ')}`);
console.log(`\n${passedInAll} passed, ${failedInAll} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failedInAll > 0 ? 1 : 0);

/** Runs the tests, and returns the exit code of each lane. */
function runLanes() {
  const threes = OLDER_THREES.filter((each) => !missingThrees.includes(each)).join();
  const env = { ...process.env, THREES_IN_SHORT: threes };
  // A process whose output is a pipe does not use colours by default.
  if (process.stdout.isTTY) env.FORCE_COLOR ??= '1';
  const codes = LANES.map(({ name, priority }, lane) => {
    rmSync(reportOf(lane), { force: true });
    const reporters = ['--reporter=default', '--reporter=./scripts/run-report.mjs'];
    const options = ['run', '--passWithNoTests', ...reporters, ...args];
    const own = { ...env, LANE: name ?? '', RUN_REPORT: reportOf(lane) };
    return startBeside('node_modules/vitest/vitest.mjs', options, { env: own, priority });
  });
  return Promise.all(codes);
}

/** A run that failed without a failed test counts as a failure, as does one that did not finish. */
function readReport(code, lane) {
  const where = `the run of ${LANES[lane].name ?? 'all'} tests`;
  const message = `It ended with the exit code ${code}; its own output says why.`;
  try {
    const report = JSON.parse(readFileSync(reportOf(lane), 'utf8'));
    if (code !== 0 && report.failures.length === 0) report.failures.push({ where, message });
    return report;
  } catch {
    return { passed: 0, skipped: 0, failures: code === 0 ? [] : [{ where, message }] };
  }
}
