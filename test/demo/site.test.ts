// The demo as `npm run site` builds it, served by a plain server from a folder unknown at build time.
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { root } from '../../scripts/run.mjs';

/** Built by `serve.ts` with the options of the site's build. */
const SITE = join(root, 'build/demo');
const FOLDER = '/some/folder/';
/** The only types that the file server knows; everything else is bytes. */
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};
/** Less of the work that takes a machine without a graphics card long. */
const QUERY = '?quality=low&points=20000';
/** They have pages of their own kind. */
const FOLDERS = ['bench', 'examples'];
/** The page of examples shows one of them. */
const EXAMPLE = '?hover';

/** React Three Fiber uses three's deprecated Clock. */
const OF_OTHERS = /THREE\.Clock/;

const files = readdirSync(SITE, { recursive: true, encoding: 'utf8' });
const pages = files.filter((name) => name.endsWith('.html')).sort();

let server: Server;
let demo: Awaited<ReturnType<typeof browseDemo>>;
let url: string;

beforeAll(async () => {
  expect(inject('demoUrl')).toBeTruthy(); // waits for the build
  server = createServer(async ({ url: asked }, response) => {
    const { pathname } = new URL(asked!, 'http://any/');
    const name = normalize(decodeURIComponent(pathname.slice(FOLDER.length)));
    try {
      if (!pathname.startsWith(FOLDER) || name.startsWith('..')) throw new Error('not of the site');
      const body = await readFile(join(SITE, name));
      response.writeHead(200, { 'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream' }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${FOLDER}`;
  demo = await browseDemo(url);
});
afterAll(async () => {
  await demo?.close();
  server?.closeAllConnections();
  server?.close();
});

test('every page is built, and none says where it stands', () => {
  const sources = readdirSync(join(root, 'demo')).filter((name) => name.endsWith('.html'));
  expect(pages).toEqual([...sources, ...FOLDERS.map((folder) => join(folder, 'index.html'))].sort());
  for (const name of pages) {
    const html = readFileSync(join(SITE, name), 'utf8');
    expect(html.match(/(?:href|src)="\/[^"]*"/g), name).toBe(null);
  }
});

test.for(pages)('%s starts in any folder', { timeout: 30_000 }, async (name) => {
  const elsewhere: string[] = [];
  const isExample = name.startsWith('examples');
  const address = `${name}${isExample ? EXAMPLE : QUERY}`;
  const { page, faults } = await demo.open({ width: 960, height: 600 }, address, async (opened) => {
    opened.on('request', (request) => {
      if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url())) elsewhere.push(request.url());
    });
  });
  try {
    if (isExample) await page.locator('canvas').first().waitFor();
    else if (name.startsWith('bench')) await page.locator('#run:enabled').waitFor();
    else await demoStarted(page);
    await page.waitForLoadState('networkidle');
    expect(elsewhere).toEqual([]);
    expect(faults.filter((fault) => !OF_OTHERS.test(fault))).toEqual([]);
    for (const error of await page.locator('#error').allTextContents()) expect(error).toBe('');
  } finally {
    await page.close();
  }
});
