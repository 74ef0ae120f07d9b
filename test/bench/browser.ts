import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright';
import { build, preview } from 'vite';
import { chromiumLaunchOptions } from '../../scripts/chromium.mjs';
import { root } from '../../scripts/run.mjs';

const path = (relative: string) => fileURLToPath(new URL(relative, `file://${root}/`));

const OPTIONS = {
  root: path('test/bench/page'),
  logLevel: 'warn' as const,
  resolve: {
    alias: { 'collision-worker/three': path('dist/three.js'), 'collision-worker': path('dist/index.js') },
  },
  // Readable in profiles, and as fast.
  build: { outDir: path('build/bench-page'), emptyOutDir: true, minify: false },
  // Only isolated pages have a clock of 5 µs instead of 100.
  preview: {
    host: '127.0.0.1',
    headers: { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' },
  },
};

let built: Promise<unknown> | undefined;

export interface OpenPage {
  page: Page;
  close(): Promise<void>;
}

/** The bench's page in a Chromium without a screen. What goes wrong in it is thrown by `close`. */
export async function openPage(): Promise<OpenPage> {
  built ??= build(OPTIONS);
  await built;
  const server = await preview(OPTIONS);
  const browser = await chromium.launch(chromiumLaunchOptions());
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(server.resolvedUrls!.local[0]);
  await page.waitForFunction(() => 'bench' in window);
  return {
    page,
    async close() {
      await browser.close();
      await server.close();
      if (faults.length > 0) throw new Error(`the bench's page failed: ${faults.join('; ')}`);
    },
  };
}
