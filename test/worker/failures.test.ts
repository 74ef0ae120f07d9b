// Expected failures are answers; errors that only a bug throws are not hidden.
import { expect, test } from 'vitest';
import { CollisionError } from '../../src/shared/errors.js';
import { failureOrRethrow, hasMemoryFor, outcomeOf } from '../../src/worker/failures.js';

const bug = new TypeError('undefined is not a function');
const fails = (error: unknown) => () => {
  throw error;
};

test('a failure is told by its code and message', () => {
  const error = new CollisionError('OUT_OF_MEMORY', 'there is no room');
  expect(failureOrRethrow(error)).toMatchObject({ code: 'OUT_OF_MEMORY', message: 'there is no room' });
  expect(hasMemoryFor(fails(error))).toBe(false);
  expect(hasMemoryFor(() => {})).toBe(true);
  expect(outcomeOf(() => 7)).toMatchObject({ value: 7 });
  expect(outcomeOf(fails(error))).toMatchObject({ failure: { code: 'OUT_OF_MEMORY' } });
});

test('what only a bug throws is thrown again', () => {
  expect(() => failureOrRethrow(bug)).toThrow(bug);
  expect(() => hasMemoryFor(fails(bug))).toThrow(bug);
  expect(() => outcomeOf(fails(bug))).toThrow(bug);
});
