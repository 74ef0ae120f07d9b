// The core that the worker unpacks is the one that was built, whatever the order in which it was packed.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import binaryen from 'assemblyscript/binaryen';
import { expect, test } from 'vitest';
import { alignIndices } from '../../scripts/core-indices.mjs';
import { packedOrder } from '../../scripts/core-order.mjs';
import { restoreOrder } from '../../src/worker/binding/core-order.js';
import { wasm } from '../fixtures/core.js';

test('what was put in order to be packed is put back to the byte', () => {
  const packed = new Uint8Array(packedOrder(wasm));
  expect(Buffer.from(packed).includes(wasm.subarray(100, 50_000)), 'it is in another order').toBe(false);
  expect(Buffer.from(restoreOrder(packed)).equals(wasm)).toBe(true);
});

test('what is shipped is a module with the narrow phase in it', async () => {
  const shipped = restoreOrder(new Uint8Array(gunzipSync(readFileSync('build/core.wasm.gz'))));
  const core = await WebAssembly.compile(shipped);
  const [narrow] = WebAssembly.Module.customSections(core, 'narrow-phase');
  expect(WebAssembly.validate(narrow!)).toBe(true);
});

test('a core without its narrow phase is not packed', () => {
  expect(() => packedOrder(wasm.subarray(0, 8))).toThrow('the narrow phase is not in the last section');
});

test('what both modules have comes at the same index, and does the same as before', async () => {
  const texts = [
    `(module (import "env" "a" (func $a)) (import "env" "b" (func $b)) (import "env" "told" (global $told i32))
       (global $mine (mut i32) (i32.const 1)) (global $both (mut i32) (i32.const 5)) (global $more (mut i32) (i32.const 2))
       (func $alone (result i32) (call $shared (i32.sub (global.get $mine) (global.get $told))))
       (func $shared (param i32) (result i32) (i32.add (local.get 0) (global.get $both)))
       (func $last (export "run") (result i32) (global.set $more (call $alone)) (call $shared (global.get $more))))`,
    `(module (import "env" "a" (func $a))
       (global $both (mut i32) (i32.const 7)) (global $its (mut i32) (i32.const 3))
       (func $shared (param i32) (result i32) (i32.add (local.get 0) (global.get $both)))
       (func $other (export "run") (result i32) (call $shared (call $shared (global.get $its)))))`,
  ];
  const [core, narrow] = texts.map((text) => binaryen.parseText(text));
  alignIndices(core!, narrow!);
  const functionsOf = (module: binaryen.Module) =>
    Array.from(
      { length: module.getNumFunctions() },
      (_, i) => binaryen.getFunctionInfo(module.getFunctionByIndex(i)).name,
    );
  const globalsOf = (module: binaryen.Module) =>
    Array.from({ length: module.getNumGlobals() }, (_, i) => binaryen.getGlobalInfo(module.getGlobalByIndex(i)).name);
  // The second module's own function makes up for the import that it lacks.
  expect(functionsOf(core!)).toEqual(['a', 'b', 'shared', 'alone', 'last']);
  expect(functionsOf(narrow!)).toEqual(['a', 'other', 'shared']);
  expect(globalsOf(core!)).toEqual(['told', 'more', 'both', 'mine']);
  expect(globalsOf(narrow!)).toEqual(['its', 'both']);
  const env = { a: () => undefined, b: () => undefined, told: 4 };
  const run = async (module: binaryen.Module) => {
    const { instance } = await WebAssembly.instantiate(module.emitBinary() as BufferSource, { env });
    return (instance.exports.run as () => number)();
  };
  expect([await run(core!), await run(narrow!)]).toEqual([7, 17]);
});
