// What the worker unpacks is the core that was built, whatever the order in which it was packed.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { packedOrder } from '../../scripts/core-order.mjs';
import { inOrder } from '../../src/worker/binding/core-order.js';
import { wasm } from '../fixtures/core.js';

test('what was put in order to be packed is put back to the byte', () => {
  const packed = new Uint8Array(packedOrder(wasm));
  expect(Buffer.from(packed).includes(wasm.subarray(100, 50_000)), 'it is in another order').toBe(false);
  expect(Buffer.from(inOrder(packed)).equals(wasm)).toBe(true);
});

test('what is shipped is a module with the narrow phase in it', async () => {
  const shipped = inOrder(new Uint8Array(gunzipSync(readFileSync('build/core.wasm.gz'))));
  const core = await WebAssembly.compile(shipped);
  const [narrow] = WebAssembly.Module.customSections(core, 'narrow-phase');
  expect(WebAssembly.validate(narrow!)).toBe(true);
});

test('a core without its narrow phase is not packed', () => {
  expect(() => packedOrder(wasm.subarray(0, 8))).toThrow('the narrow phase is not in the last section');
});
