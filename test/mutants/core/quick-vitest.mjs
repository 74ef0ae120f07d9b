// The part of Vitest that tests import, for quick-runner.mjs: its own suites and matchers, without its pool, and with text
// snapshots only.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  addCustomEqualityTesters,
  chai,
  customMatchers,
  GLOBAL_EXPECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from '@vitest/expect';
import { getCurrentTest } from '@vitest/runner';
import { getTestName } from '@vitest/runner/utils';
import { fn, restoreAllMocks, spyOn } from '@vitest/spy';

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, onTestFinished, test } from '@vitest/runner';

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

export const expect = (value, message) => {
  const assertion = chai.expect(value, message);
  const test = getCurrentTest();
  return test ? assertion.withTest(test) : assertion;
};
Object.assign(expect, chai.expect, globalThis[ASYMMETRIC_MATCHERS_OBJECT]);
setState({ assertionCalls: 0, isExpectingAssertions: false, expectedAssertionsNumber: null }, expect);
globalThis[GLOBAL_EXPECT] = expect;
expect.extend = (matchers) => chai.expect.extend(expect, matchers);
expect.extend(customMatchers);
// As in test/fixtures/quick-expect.ts.
addCustomEqualityTesters([
  (a, b) => ((ArrayBuffer.isView(a) || Array.isArray(a)) && isDeepStrictEqual(a, b) ? true : undefined),
]);

/** Recorded snapshots of a file's tests, by test and snapshot number. */
const snapshots = new Map();
/** Number of snapshots that a test has compared. */
const asked = new WeakMap();

expect.extend({
  toMatchSnapshot(text) {
    const test = getCurrentTest();
    const { filepath } = test.file;
    const count = (asked.get(test) ?? 0) + 1;
    asked.set(test, count);
    if (!snapshots.has(filepath)) snapshots.set(filepath, snapshotsOf(filepath));
    const written = snapshots.get(filepath)[`${getTestName(test, ' > ')} ${count}`];
    const pass = written === (text.includes('\n') ? `\n"${text}"\n` : `"${text}"`);
    return { pass, message: () => 'it is not what is written down', actual: text, expected: written };
  },
});

function snapshotsOf(filepath) {
  const all = {};
  const source = readFileSync(join(dirname(filepath), '__snapshots__', `${basename(filepath)}.snap`), 'utf8');
  new Function('exports', source)(all);
  return all;
}

/** Functions that restore what `vi` has stubbed. */
const stubs = [];

/** The part of Vitest's mocks that tests of the core need. */
export const vi = {
  fn,
  spyOn,
  restoreAllMocks,
  mocked: (spy) => spy,
  stubGlobal(name, value) {
    const original = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    stubs.push(() => (original ? Object.defineProperty(globalThis, name, original) : delete globalThis[name]));
  },
  unstubAllGlobals() {
    while (stubs.length > 0) stubs.pop()();
  },
};

/** Fails at once: the first failure kills a mutant. */
expect.soft = expect;

/** Retries until an assertion holds. */
expect.poll = (ask, { interval = 50, timeout = 1000 } = {}) =>
  new Proxy(
    {},
    {
      get:
        (_, matcher) =>
        async (...args) => {
          for (const end = performance.now() + timeout; ; ) {
            try {
              return expect(await ask())[matcher](...args);
            } catch (error) {
              if (performance.now() > end) throw error;
            }
            await new Promise((resolve) => setTimeout(resolve, interval));
          }
        },
    },
  );
