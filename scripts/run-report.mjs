// A reporter of vitest: writes how many tests passed, and what failed, as JSON to the file that RUN_REPORT names.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** So much of a message tells what it was: that of a comparison goes on with what was expected. */
const LINES = 12;

export default class RunReport {
  onTestRunEnd(modules, unhandledErrors) {
    const report = { passed: 0, skipped: 0, failures: [] };
    for (const module of modules) readModule(module, report);
    for (const error of unhandledErrors) report.failures.push({ where: placeOf(error), message: head(error) });
    writeFileSync(process.env.RUN_REPORT, JSON.stringify(report));
  }
}

/** A file that could not be loaded, or a suite whose hooks failed, is one that failed. */
function readModule(module, report) {
  const name = [module.project.name, module.relativeModuleId].filter((part) => part !== '').join(' ');
  const add = (where, errors) => report.failures.push({ where, message: head(errors[0]) });
  if (module.errors().length > 0) add(name, module.errors());
  for (const suite of module.children.allSuites()) {
    if (suite.errors().length > 0) add(`${name} > ${suite.fullName}`, suite.errors());
  }
  for (const test of module.children.allTests()) {
    const { state, errors } = test.result();
    if (state === 'passed') report.passed++;
    else if (state === 'failed') add(`${name} > ${test.fullName}`, errors);
    else report.skipped++;
  }
}

/** Vitest tells during which file, and behind which test, an error came that nobody has handled. */
function placeOf({ VITEST_TEST_PATH: file, VITEST_TEST_NAME: test }) {
  const where = file === undefined ? 'outside of any file' : `${relative('.', file)}, outside of any test`;
  return test === undefined ? where : `${where}; the latest was ${test}`;
}

/** The first lines of an error, and of what was expected and received. */
function head(error) {
  if (!error) return 'no message';
  const { name, message, diff = '' } = error;
  const text = `${name ? `${name}: ` : ''}${message}\n${diff}`;
  return stripVTControlCharacters(text)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, LINES)
    .map((line) => line.slice(0, 200))
    .join('\n');
}
