// The built demo in a Chromium without a screen, for `npm run headless` and the demo's tests.
import { join } from 'node:path';
import { chromium } from 'playwright';
import { build, preview } from 'vite';
import { chromiumLaunchOptions } from './chromium.mjs';
import { root } from './run.mjs';

/** Milliseconds; a machine without a graphics card draws a few frames a second. */
const START_TIMEOUT = 120_000;

/** Builds the demo and serves it until `close`. */
export async function serveDemo() {
  const options = {
    root: join(root, 'demo'),
    logLevel: 'warn',
    build: { outDir: join(root, 'build/demo'), emptyOutDir: true },
  };
  await build(options);
  const server = await preview({ ...options, preview: { host: '127.0.0.1', port: 4173 } });
  const browser = await chromium.launch(chromiumLaunchOptions());

  /**
   * Opens a page on the demo, which may still be loading. `faults` fills with what goes wrong in it: console errors
   * and warnings, uncaught errors, files that cannot be loaded.
   *
   * @param {{ width: number, height: number }} viewport
   * @param {(page: import('playwright').Page) => Promise<unknown>} [prepare] before anything is loaded
   */
  async function open(viewport, prepare) {
    const page = await browser.newPage({ viewport });
    const faults = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) faults.push(`console ${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => faults.push(`page error: ${error.message}`));
    page.on('requestfailed', (request) => faults.push(`not loaded: ${request.url()}`));
    await prepare?.(page);
    await page.goto(server.resolvedUrls.local[0]);
    return { page, faults };
  }

  async function close() {
    await browser.close();
    await server.close();
  }

  return { open, close };
}

/** Waits until the demo runs, or shows an error. */
export async function demoStarted(page) {
  await page.waitForFunction(() => window.demo || !document.getElementById('error').hidden, null, {
    timeout: START_TIMEOUT,
  });
}
