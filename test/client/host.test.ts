// How a page creates the worker: from the file beside its script,
// from a file of another origin, and from its source text.
import { resolveObjectURL } from 'node:buffer';
import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { browserHost, inlineHost } from '../../src/client/link/host.browser.js';

vi.mock('../../src/client/link/worker-text.js', () => ({ packedWorker: () => gzipSync('let text;') }));

class PageWorker {
  readonly script: string | URL;
  readonly options: object;

  constructor(script: string | URL, options: object) {
    this.script = script;
    this.options = options;
  }
}

/** Creates a worker in one of the ways; returns it, and the type and text of the Blob that it was created from. */
async function made(way: (typeof browserHost.ways)[number]) {
  vi.stubGlobal('Worker', PageWorker);
  const worker = (await way())!() as unknown as PageWorker;
  const blob = resolveObjectURL(String(worker.script));
  return { worker, type: blob?.type, text: await blob?.text() };
}

const [beside, fromOtherOrigin, fromBlob] = browserHost.ways;

test('of the file beside the script, first of all', async () => {
  const { worker } = await made(beside);
  expect(String(worker.script)).toMatch(/\/worker\.js$/);
  expect(worker.options).toEqual({ type: 'module', name: 'collision-worker' });
  expect([browserHost.way, inlineHost.way]).toEqual([0, 0]);
});

test('of a Blob that imports the file, where it is of another origin', async () => {
  vi.stubGlobal('location', { origin: 'https://example.org' });
  const { worker, type, text } = await made(fromOtherOrigin);
  expect(text).toMatch(/^import "[^"]*\/worker\.js";$/);
  expect([type, worker.options]).toEqual(['text/javascript', { type: 'module', name: 'collision-worker' }]);
});

test('but not where it is of the same', async () => {
  vi.stubGlobal('location', { origin: new URL(import.meta.url).origin });
  expect(await fromOtherOrigin()).toBeNull();
});

test.each([
  ['after the others', fromBlob],
  ['alone, for pages that want no file', inlineHost.ways[0]],
])('of all of its text, %s', async (_, way) => {
  const { worker, type, text } = await made(way);
  expect([type, text]).toEqual(['text/javascript', 'let text;']);
  expect(worker.options).toEqual({ type: 'classic', name: 'collision-worker' });
  expect([browserHost.ways.length, inlineHost.ways.length]).toEqual([3, 1]);
});

test('what is no worker is none', () => {
  const worker = { postMessage() {}, addEventListener() {}, terminate() {} };
  for (const { endpointOf } of [browserHost, inlineHost]) {
    expect(endpointOf(worker)).toBe(worker);
    for (const name of Object.keys(worker)) expect(endpointOf({ ...worker, [name]: 7 })).toBeNull();
    for (const none of [null, undefined, 7]) expect(endpointOf(none)).toBeNull();
  }
  expect(inlineHost.advice()).toBe('');
});

test.each([
  ['on a page of jsdom', { userAgent: 'Mozilla/5.0 (linux) jsdom/26.1.0' }, /; with Jest, put `testEnvironmentOptions/],
  ['in a browser that has none', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' }, /^$/],
  ['where nobody says what it is', undefined, /^$/],
])('without workers, what helps is said %s', (_, navigator, says) => {
  vi.stubGlobal('Worker', undefined);
  vi.stubGlobal('navigator', navigator);
  expect(browserHost.advice()).toMatch(says);
});
