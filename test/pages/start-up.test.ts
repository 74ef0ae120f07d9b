// Why a service does not start, on pages with every possible obstacle: the message must name it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type LaunchOptions } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { chromiumLaunchOptions } from '../../scripts/chromium.mjs';
import { ISOLATED } from '../../scripts/isolated.mjs';
import { root } from '../../scripts/run.mjs';
import { VERSION } from '../../src/shared/version.js';
import { type Site, serveSite } from './site.js';

const WORKER = '/dist/worker.js';
/** The fallback if the worker cannot be loaded, without which the error gives the reason. */
const TEXT = '/dist/worker-text.js';
const ALONE = { [TEXT]: { status: 404, body: '' } };
const SCRIPT = readFileSync(join(root, WORKER), 'utf8');
const policy = (text: string) => ({ headers: { 'Content-Security-Policy': text } });

let browser: Browser;
const sites: Site[] = [];
beforeAll(async () => {
  browser = await chromium.launch(chromiumLaunchOptions());
});
afterAll(() => browser?.close());
afterEach(() => {
  for (const site of sites.splice(0)) site.close();
});

async function serve(answers: Site['answers'] = {}): Promise<Site> {
  const site = await serveSite(answers);
  sites.push(site);
  return site;
}

/** The outcome of `start(options)` on the site; `options` is the source of an expression. */
async function outcome(site: Site, options = '{}', by: Browser = browser): Promise<string> {
  const page = await by.newPage();
  try {
    await page.goto(site.url);
    await page.waitForFunction(() => document.title === 'ready');
    return await page.evaluate<string>(`start(${options})`);
  } finally {
    await page.close();
  }
}

describe('the worker of the package', () => {
  test.each<[string, Site['answers'], RegExp | string]>([
    ['is where it should be', {}, 'started'],
    [
      'was not emitted',
      { ...ALONE, [WORKER]: { status: 404, body: 'none' } },
      /^WORKER_LOST .*the bundler did not emit it.*404/,
    ],
    [
      'is answered with a page, as by the server of a one-page app',
      { ...ALONE, [WORKER]: { headers: { 'Content-Type': 'text/html' }, body: '<!doctype html>' } },
      /^WORKER_LOST .*the bundler did not emit it.*HTML in its place.*createWorker/,
    ],
    [
      'is no script',
      { ...ALONE, [WORKER]: { body: 'this is no script' } },
      /^WORKER_LOST .*could not be loaded, or is none/,
    ],
    ['throws', { ...ALONE, [WORKER]: { body: 'throw new Error("broken")' } }, /^WORKER_LOST .*did not start: .*broken/],
    [
      'is of another version',
      { [WORKER]: { body: SCRIPT.replaceAll(VERSION, '0.0.9') } },
      new RegExp(`^WORKER_LOST .*is of version 0\\.0\\.9, expected ${VERSION}: copy dist/worker\\.js`),
    ],
    [
      'is forbidden by worker-src',
      { '/': policy("worker-src 'none'") },
      /^WORKER_LOST .*content security policy forbids its script \(http.*worker\.js\): its worker-src must allow it, 'self'/,
    ],
    [
      'is forbidden by what stands in for worker-src',
      { '/': policy("script-src 'nonce-page' 'unsafe-eval'; script-src-elem 'self' 'nonce-page'") },
      /^WORKER_LOST .*its worker-src must allow it/,
    ],
    [
      'may not compile WebAssembly',
      { [WORKER]: policy("script-src 'self'") },
      /^UNSUPPORTED .*that of the worker's script.*script-src needs 'wasm-unsafe-eval'/,
    ],
    [
      'is not isolated like the page',
      { ...ALONE, '/': { headers: ISOLATED } },
      /^WORKER_LOST .*Cross-Origin-Embedder-Policy, which it must have/,
    ],
    ['is isolated like the page', { '/': { headers: ISOLATED }, [WORKER]: { headers: ISOLATED } }, 'started'],
  ])('%s', async (_, answers, expected) => {
    expect(await outcome(await serve(answers))).toMatch(expected);
  });

  test('starts under the strictest policy', async () => {
    const strict = "default-src 'none'; worker-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
    // What playwright evaluates, and the import map, are the test's own.
    const page = policy(`${strict} 'nonce-page' 'unsafe-eval'`);
    expect(await outcome(await serve({ '/': page, [WORKER]: policy(strict) }))).toBe('started');
  });

  test('is not blamed for what a policy only reports', async () => {
    const report = { headers: { 'Content-Security-Policy-Report-Only': "worker-src 'none'" } };
    const answers = { ...ALONE, '/': report, [WORKER]: { status: 404, body: '' } };
    expect(await outcome(await serve(answers))).toMatch(/^WORKER_LOST .*did not emit it/);
  });
});

describe('where the worker of the package cannot be loaded, it is made of a Blob', () => {
  test.each<[string, Site['answers']]>([
    ['it was not emitted', { [WORKER]: { status: 404, body: 'none' } }],
    ['it is answered with a page', { [WORKER]: { headers: { 'Content-Type': 'text/html' }, body: '<!doctype html>' } }],
    ['it is no script', { [WORKER]: { body: 'this is no script' } }],
    ['it is not isolated like the page', { '/': { headers: ISOLATED }, [TEXT]: { headers: ISOLATED } }],
  ])('%s', async (_, answers) => {
    expect(await outcome(await serve(answers))).toBe('started');
  });

  test('unless a policy forbids that, and the error is the first one', async () => {
    const site = await serve({ '/': policy("worker-src 'self'"), [WORKER]: { status: 404, body: '' } });
    expect(await outcome(site)).toMatch(/^WORKER_LOST .*did not emit it/);
  });

  test('the way that led to one is taken again', async () => {
    const site = await serve({ [WORKER]: { status: 404, body: 'none' } });
    const page = await browser.newPage();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(site.url);
    await page.waitForFunction(() => document.title === 'ready');
    await page.evaluate(`
      globalThis.blobs = 0;
      const createObjectURL = URL.createObjectURL.bind(URL);
      URL.createObjectURL = (blob) => (blobs++, createObjectURL(blob));
    `);
    for (let i = 0; i < 3; i++) expect(await page.evaluate<string>('start({})')).toBe('started');
    expect(await page.evaluate('blobs')).toBe(1); // each is the whole script, and stays as long as the page
    expect(asked.filter((path) => path === WORKER)).toHaveLength(1);
    expect(asked.filter((path) => path === TEXT)).toHaveLength(1);
    await page.close();
  });

  test('several that start at once find it, too', async () => {
    const site = await serve({ [WORKER]: { status: 404, body: 'none' } });
    const page = await browser.newPage();
    await page.goto(site.url);
    await page.waitForFunction(() => document.title === 'ready');
    const all = await page.evaluate<string[]>('Promise.all([start({}), start({}), start({})])');
    expect(all).toEqual(['started', 'started', 'started']);
    await page.close();
  });

  test('a signal ends the attempt', async () => {
    const site = await serve({ [WORKER]: { status: 404, body: 'none' } });
    expect(await outcome(site, '{ signal: AbortSignal.abort() }')).toMatch(/^ABORTED/);
  });
});

describe('files of another origin', () => {
  test('start a worker that imports its script', async () => {
    const cors = { headers: { 'Access-Control-Allow-Origin': '*' } };
    const files = Object.fromEntries(['index', 'shared', 'worker'].map((name) => [`/dist/${name}.js`, cors]));
    const other = await serve({ ...files, ...ALONE });
    const page = await browser.newPage();
    await page.goto((await serve()).url);
    const answer = await page.evaluate<number>(`(async () => {
      const { createCollisionService } = await import('${other.url}dist/index.js');
      const service = await createCollisionService();
      const { frame } = await service.update();
      service.dispose();
      return frame;
    })()`);
    expect(answer).toBe(1);
    await page.close();
  });
});

describe('a worker of the page', () => {
  test('is of another origin', async () => {
    const script = `${(await serve()).url}dist/worker.js`;
    const create = `{ createWorker: () => new Worker('${script}', { type: 'module' }) }`;
    expect(await outcome(await serve(), create)).toMatch(
      /^WORKER_LOST .*could not be made: SecurityError.*from the page's own origin only/,
    );
  });

  test('of another origin starts from a Blob', async () => {
    const cors = { headers: { 'Access-Control-Allow-Origin': '*' } };
    const script = `${(await serve({ [WORKER]: cors })).url}dist/worker.js`;
    const create = `{ createWorker: () => fromSource('import "${script}"') }`;
    expect(await outcome(await serve(), create)).toBe('started');
  });

  test('has a URL that the page trusts', async () => {
    const site = await serve({ '/': policy("require-trusted-types-for 'script'; trusted-types mine") });
    expect(await outcome(site)).toMatch(/^WORKER_LOST .*requires 'TrustedScriptURL' assignment/);
    const trusted = "trustedTypes.createPolicy('mine', { createScriptURL: String }).createScriptURL('/dist/worker.js')";
    const create = `{ createWorker: ((url) => () => new Worker(url, { type: 'module' }))(${trusted}) }`;
    expect(await outcome(site, create)).toBe('started');
  });

  test('may not be made of a Blob', async () => {
    const site = await serve({ '/': policy("worker-src 'self'") });
    expect(await outcome(site, '{ createWorker: () => fromSource("") }')).toMatch(
      /^WORKER_LOST .*forbids its script \(blob.*\): its worker-src must allow it, blob:/,
    );
  });

  test('made of a Blob may compile WebAssembly if the page may', async () => {
    const create = `{ createWorker: () => fromSource('import "' + location.href + 'dist/worker.js"') }`;
    const source = "script-src 'self' 'nonce-page' 'unsafe-inline' blob:";
    const sites = [await serve({ '/': policy(source) }), await serve({ '/': policy(`${source} 'wasm-unsafe-eval'`) })];
    expect(await outcome(sites[0], create)).toMatch(
      /^UNSUPPORTED .*of the page where the script is a Blob: its script-src/,
    );
    expect(await outcome(sites[1], create)).toBe('started');
  });

  test('is a page of HTML, started as a classic script', async () => {
    const site = await serve({ '/none.js': { headers: { 'Content-Type': 'text/html' }, body: '<!doctype html>' } });
    expect(await outcome(site, "{ createWorker: () => new Worker('/none.js') }")).toMatch(
      /^WORKER_LOST .*SyntaxError.*did not emit it/,
    );
  });

  test('finds no DecompressionStream', async () => {
    const source = "delete globalThis.DecompressionStream; import(location.origin + '/dist/worker.js')";
    expect(await outcome(await serve(), `{ createWorker: () => fromSource(${JSON.stringify(source)}) }`)).toMatch(
      /^UNSUPPORTED .*no DecompressionStream here.*Safari 16\.4/,
    );
  });
});

// V8 disables SIMD if the processor is declared to be older; that is only possible for Intel's.
test.runIf(process.arch === 'x64')('a browser without SIMD', async () => {
  const { args = [], ...options }: LaunchOptions = chromiumLaunchOptions();
  const flags = '--js-flags=--no-enable-sse4-1 --no-enable-ssse3 --no-enable-sse4-2 --no-enable-avx';
  const old = await chromium.launch({ ...options, args: [...args, flags] });
  try {
    expect(await outcome(await serve(), '{}', old)).toMatch(/^UNSUPPORTED .*WebAssembly has no SIMD here.*Chrome 91/);
  } finally {
    await old.close();
  }
});

test('a worker whose script is gone when it is lost', async () => {
  const site = await serve();
  const page = await browser.newPage();
  await page.goto(site.url);
  await page.waitForFunction(() => document.title === 'ready');
  const create = '() => (globalThis.worker = new Worker("/dist/worker.js"))';
  await page.evaluate(
    `createCollisionService({ createWorker: ${create} }).then((made) => { globalThis.service = made; })`,
  );
  site.answers[WORKER] = { status: 404, body: 'a newer one has another name' };
  const answer = await page.evaluate<string[]>(`(async () => {
    const events = [];
    for (const type of ['lost', 'restored']) service.addEventListener(type, ({ error }) => events.push(error.message));
    worker.postMessage({ type: 'frame', input: null });
    while (events.length < 4) await new Promise((resolve) => setTimeout(resolve, 50));
    return [...events, await service.update().catch(({ code, message }) => code + ' ' + message)];
  })()`);
  expect(answer).toEqual([
    expect.stringMatching(/^the worker threw: /),
    expect.stringMatching(/^the worker could not start again: its script could not be loaded/),
    expect.stringMatching(/^the worker could not start again: its script could not be loaded/),
    expect.stringMatching(/^the worker could not start again: .*for the 4th time within a minute/),
    expect.stringMatching(/^WORKER_LOST update: the worker could not start again: /),
  ]);
  await page.close();
});
