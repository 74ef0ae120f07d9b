import { expect, test } from 'vitest';
import { SentMatrices } from '../../src/client/three/track/sent-matrices.js';

test('what was sent is of one source in one version, in one array, below one parent', () => {
  const sent = new SentMatrices();
  const [source, parent] = [{}, Array.from({ length: 16 }, (_, i) => i)];
  const array = new Float32Array(32);
  expect(sent.areThose(source, 0, array)).toBe(false);
  sent.note(source, 3, array, parent);
  expect(sent.areThose(source, 3, array)).toBe(true);
  expect(sent.areThose(source, 3, array.subarray(16))).toBe(true);
  expect(sent.areThose({}, 3, array)).toBe(false);
  expect(sent.areThose(source, 4, array)).toBe(false);
  expect(sent.areThose(source, 3, array.slice())).toBe(false); // set in place, with no new version
  expect(sent.areBelow(parent)).toBe(true);
  for (let i = 0; i < 16; i++) if (i % 4 !== 3) expect(sent.areBelow(parent.with(i, -1))).toBe(false);
  sent.forget();
  expect(sent.areThose(source, 3, array)).toBe(false);
});
