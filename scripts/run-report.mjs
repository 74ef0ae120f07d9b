// A vitest reporter: writes the number of passed tests, and the failures, as JSON to the file that RUN_REPORT names.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** This many lines identify an error; that of a comparison continues with the expected value. */
const LINES = 12;

export default class RunReport {
  onTestRunEnd(modules, unhandledErrors) {
    const report = { passed: 0, skipped: 0, failures: [] };
    for (const module of modules) readModule(module, report);
    for (const error of unhandledErrors) report.failures.push({ where: placeOf(error), message: head(error) });
    writeFileSync(process.env.RUN_REPORT, JSON.stringify(report));
  }
}

/** A file that could not be loaded, and a suite whose hooks failed, count as failures. */
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

/** Vitest reports in which file, and after which test, an unhandled error occurred. */
function placeOf({ VITEST_TEST_PATH: file, VITEST_TEST_NAME: test }) {
  const where = file === undefined ? 'outside of any file' : `${relative('.', file)}, outside of any test`;
  return test === undefined ? where : `${where}; the latest was ${test}`;
}

/** Returns the first lines of an error, and of the expected and received values. */
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
