// Why a core could not be started, in words that say how to fix it.
import { afterEach, expect, test, vi } from 'vitest';
import { instantiateCore } from '../../src/worker/binding/exports.js';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const start = () => instantiateCore(Uint8Array.of(0, 97, 115, 109, 9, 9, 9, 9));

test('it is no core', async () => {
  const failure = { code: 'UNSUPPORTED', cause: expect.any(WebAssembly.CompileError) };
  await expect(start()).rejects.toMatchObject(failure);
  await expect(start()).rejects.toThrow(/^the core could not be started: CompileError/);
});

test('without SIMD', async () => {
  vi.spyOn(WebAssembly, 'validate').mockReturnValue(false);
  await expect(start()).rejects.toThrow(/WebAssembly has no SIMD here, .*Chrome 91, Firefox 89 and Safari 16.4/);
});

test('without WebAssembly', async () => {
  vi.stubGlobal('WebAssembly', undefined);
  await expect(start()).rejects.toThrow('the core could not be started: there is no WebAssembly here');
});

test.each([
  "EvalError: Refused to compile: 'unsafe-eval' is not an allowed source",
  'CompileError: blocked by Content Security Policy',
  'CompileError: Wasm code generation disallowed by embedder',
])('for a content security policy: %s', async (message) => {
  vi.spyOn(WebAssembly, 'instantiate').mockRejectedValue(message);
  const expected = `${message}; a content security policy forbids it, that of the worker's script, or of the page`;
  await expect(start()).rejects.toThrow(expected);
  await expect(start()).rejects.toThrow(/its script-src needs 'wasm-unsafe-eval'$/);
});
