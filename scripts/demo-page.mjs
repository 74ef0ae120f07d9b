// Opens the built demo's pages in a headless Chromium, for `npm run headless` and the demo's tests.
import { join } from 'node:path';
import { chromium } from 'playwright';
import { build, preview } from 'vite';
import { chromiumLaunchOptions } from './chromium.mjs';
import { drawSeldom } from './draw-seldom.mjs';
import { ISOLATED } from './isolated.mjs';
import { root } from './run.mjs';

/** Milliseconds; a machine without a graphics card draws a few frames a second. */
const START_TIMEOUT = 120_000;

/** Chromium itself reads the canvas back when it composites a page without WebGL (UNSEEN_ARGS). */
const OF_UNSEEN = /GPU stall due to ReadPixels/;

function optionsOf(folder) {
  return {
    root: join(root, 'demo'),
    logLevel: 'warn',
    build: { outDir: join(root, folder), emptyOutDir: true },
  };
}

/** Builds the demo as static files, which work in any folder of any server. */
export async function buildDemo(folder) {
  const { NODE_ENV } = process.env;
  // Vite inherits the NODE_ENV of a test runner, which would put React's development checks into the site.
  process.env.NODE_ENV = 'production';
  try {
    await build(optionsOf(folder));
  } finally {
    // Other code in this process uses the development build of React.
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
}

/** Builds the demo and serves it at `url` until `close`. */
export async function serveDemo() {
  const folder = 'build/demo';
  await buildDemo(folder);
  const server = await preview({ ...optionsOf(folder), preview: { host: '127.0.0.1', port: 4173 } });
  return { url: server.resolvedUrls.local[0], close: () => server.close() };
}

/** Builds the demo and serves it with high-resolution timers; returns the address of its bench. */
export async function serveBenchPage() {
  const folder = 'build/demo';
  await buildDemo(folder);
  const server = await preview({ ...optionsOf(folder), preview: { host: '127.0.0.1', headers: ISOLATED } });
  return new URL('bench/index.html', server.resolvedUrls.local[0]).href;
}

/**
 * Launches a Chromium for the pages below `url`, until `close`. If nobody looks at pictures, as in tests, pages have half the
 * resolution and draw seldom, since they are rendered in software: with `PICTURES=1` tests draw everything, and take pictures,
 * too.
 */
export async function browseDemo(url, { pictures = process.env.PICTURES === '1' } = {}) {
  const browser = await chromium.launch(chromiumLaunchOptions({ draws: pictures }));
  const deviceScaleFactor = pictures ? 1 : 0.5;

  /**
   * Opens a page of the demo, which may still be loading. `faults` collects its errors: console errors
   * and warnings, uncaught errors, files that cannot be loaded.
   *
   * @param {{ width: number, height: number, hasTouch?: boolean }} device
   * @param {string} [path] of the page, below `url`
   * @param {(page: import('playwright').Page) => Promise<unknown>} [prepare] before anything is loaded
   */
  async function open({ hasTouch = false, ...viewport }, path = '', prepare = undefined) {
    const page = await browser.newPage({ viewport, hasTouch, deviceScaleFactor });
    const faults = [];
    page.on('console', (message) => {
      const fault = `console ${message.type()}: ${message.text()}`;
      if (!['error', 'warning'].includes(message.type()) || (!pictures && OF_UNSEEN.test(fault))) return;
      faults.push(fault);
    });
    page.on('pageerror', (error) => faults.push(`page error: ${error.message}`));
    page.on('requestfailed', (request) => faults.push(`not loaded: ${request.url()}`));
    if (!pictures) await drawSeldom(page);
    await prepare?.(page);
    await page.goto(new URL(path, url).href);
    return { page, faults };
  }

  /** Takes a picture of a page, if pictures are wanted, into the folder `artifacts`. */
  async function picture(page, name) {
    if (pictures) await page.screenshot({ path: join(root, 'artifacts', `${name}.png`) });
  }

  return { browser, open, picture, close: () => browser.close() };
}

/** Waits until a page runs, or shows an error. */
export async function demoStarted(page) {
  const isStarted = () => document.getElementById('progress').hidden || !document.getElementById('error').hidden;
  await page.waitForFunction(isStarted, null, { timeout: START_TIMEOUT });
}
