// Runners of tests, in Node and in jsdom, which has a document but no workers.
import { ANSWER, binOf, runIn } from './app.mjs';

const TEST = `
  import { pickBox } from './pick-box.js';
  test('picks', async () => {
    expect(await pickBox()).toBe('${ANSWER}');
  });
`;

/** The runner fails where its test does, and then all that it says is thrown. */
function answered(app, command, args) {
  const { stdout, stderr } = runIn(app, command, args);
  return /1 passed/.test(stdout + stderr) ? ANSWER : stdout + stderr;
}

const vitest = (environment) => (app) => {
  return answered(app, binOf(app, 'vitest'), ['run', '--globals', '--environment', environment]);
};

/** Jest knows no `import` of any package without this flag, before Node 24.9. */
const jest = (app, options) => {
  const args = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];
  return answered(app, process.execPath, [...args, ...options]);
};

/** In jsdom Jest takes what packages have for browsers, unless told otherwise (docs/start-up.md). */
const CONDITIONS = "testEnvironmentOptions: { customExportConditions: ['node'] }";

export const TEST_RUNNERS = {
  vitest: {
    packages: ['vitest', 'jsdom'],
    files: { 'app.test.js': TEST },
    ways: { node: vitest('node'), jsdom: vitest('jsdom') },
  },
  jest: {
    packages: ['jest', 'jest-environment-jsdom'],
    files: { 'app.test.js': TEST, 'for-jsdom.mjs': `export default { testEnvironment: 'jsdom', ${CONDITIONS} };` },
    ways: {
      node: (app) => jest(app, ['--env=node']),
      jsdom: (app) => jest(app, ['--config=for-jsdom.mjs']),
      'jsdom without the line that the error names'(app) {
        try {
          return jest(app, ['--env=jsdom']);
        } catch ({ message }) {
          return message.includes(CONDITIONS) ? ANSWER : message;
        }
      },
    },
  },
};
