// The documentation as a site, served from a folder unknown at build time.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright';
import { type PreviewServer, preview } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { chromiumLaunchOptions } from '../../scripts/chromium.mjs';
import { root, runNode } from '../../scripts/run.mjs';

const site = join(root, 'build/docs');
const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];

let browser: Browser;
let server: PreviewServer;
let url: string;
let page: Page;
let faults: string[];

beforeAll(async () => {
  expect(runNode('scripts/docs.mjs', [], { stdio: 'ignore' })).toBe(0);
  server = await preview({
    root: join(root, 'build'),
    configFile: false,
    base: '/some/folder/',
    appType: 'mpa',
    build: { outDir: 'docs' },
    preview: { host: '127.0.0.1', port: 4273 },
  });
  url = server.resolvedUrls!.local[0];
  browser = await chromium.launch(chromiumLaunchOptions());
}, 400_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
});
beforeEach(async () => {
  page = await browser.newPage({ viewport: SIZES[0] });
  faults = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('response', (response) => response.status() >= 400 && faults.push(`${response.status()} ${response.url()}`));
});
afterEach(async () => {
  await page.close();
  expect(faults).toEqual([]);
});

const heading = () => page.locator('h1').first();

test('no page says where it stands', () => {
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
  expect(files.length).toBeGreaterThan(80);
  for (const name of files) {
    const links = readFileSync(join(site, name), 'utf8').match(/(?:href|src)="\/[^"]*"/g);
    expect(links, name).toBe(null);
  }
});

test('what is searched for is found and opened, without a server, and links lead on from there', async () => {
  await page.goto(`${url}conventions.html`);
  await page.locator('.VPNavBarSearch button').first().click();
  await page.locator('.VPLocalSearchBox input').fill('frustumMotion');
  await page.locator('.VPLocalSearchBox .result').first().waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => heading().textContent()).toContain('frustumMotion()');
  expect(page.url()).toContain('/some/folder/api/');

  await page.locator('.VPNavBarMenu a', { hasText: 'Guide' }).click();
  await expect.poll(() => heading().textContent()).toContain('First steps');
  await page.locator('.vp-doc a', { hasText: 'Contacts' }).click();
  await expect.poll(() => heading().textContent()).toContain('Contacts');
  expect(page.url()).toBe(`${url}contacts.html`);
});

test('the first page leads to the first steps', async () => {
  await page.goto(url);
  await page.locator('.VPHero img').first().waitFor();
  await page.locator('.VPHero a', { hasText: 'First steps' }).click();
  await expect.poll(() => heading().textContent()).toContain('First steps');
});

test.each(SIZES)('pages fit $width × $height, and their pictures are there', async (size) => {
  await page.setViewportSize(size);
  for (const name of ['index', 'troubles', 'how-it-works', 'from-physics', 'performance', 'api/index']) {
    await page.goto(`${url}${name}.html`);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wider, name).toBeLessThanOrEqual(0);
    const missing = await page.evaluate(() => [...document.images].filter((image) => image.naturalWidth === 0).length);
    expect(missing, name).toBe(0);
  }
});
