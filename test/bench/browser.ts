import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright';
import { build, preview } from 'vite';
import { chromiumLaunchOptions } from '../../scripts/chromium.mjs';
import { ISOLATED } from '../../scripts/isolated.mjs';
import { root } from '../../scripts/run.mjs';
import { GARBAGE_COLLECTION, type TraceEvent, tasksSince } from '../fixtures/task-trace.js';
import { type Probes, TRACE_MARK } from './page/probes.js';

const resolvePath = (relative: string) => fileURLToPath(new URL(relative, `file://${root}/`));

const OPTIONS = {
  root: resolvePath('test/bench/page'),
  logLevel: 'warn' as const,
  resolve: {
    alias: { 'collision-worker/three': resolvePath('dist/three.js'), 'collision-worker': resolvePath('dist/index.js') },
  },
  // Readable in profiles, and as fast as minified code.
  build: { outDir: resolvePath('build/bench-page'), emptyOutDir: true, minify: false },
  preview: { host: '127.0.0.1', headers: ISOLATED },
};

let buildDone: Promise<unknown> | undefined;

export interface OpenPage {
  page: Page;
  /** Ends the row that the page shows. Throws the faults of the page. */
  close(): Promise<void>;
}

/** A page with its own Chromium, which is closed with it. `faults` collects what goes wrong in it. */
interface BrowserPage {
  page: Page;
  faults: string[];
  end(): Promise<void>;
}

/** The page that all short rows share, one after the other. */
let sharedPage: Promise<BrowserPage> | undefined;

async function openBrowserPage(query: string): Promise<BrowserPage> {
  buildDone ??= build(OPTIONS);
  await buildDone;
  const server = await preview(OPTIONS);
  const browser = await chromium.launch(chromiumLaunchOptions());
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  for (const [name, probe] of Object.entries(await probesOf(browser, page))) await page.exposeFunction(name, probe);
  await page.goto(`${server.resolvedUrls!.local[0]}${query}`);
  await page.waitForFunction(() => 'bench' in window);
  return {
    page,
    faults,
    async end() {
      await browser.close();
      await server.close();
    },
  };
}

/**
 * Opens the bench's page in a headless Chromium, for one row. A page that `isShort` has no long warm-ups, and is kept for the
 * next row until `closeShared`: separate pages took 2 s of processor time each.
 */
export async function openPage(isShort: boolean): Promise<OpenPage> {
  if (isShort) sharedPage ??= openBrowserPage('?short');
  const { page, faults, end } = await (isShort ? sharedPage! : openBrowserPage(''));
  return {
    page,
    async close() {
      if (isShort) await page.evaluate(() => window.bench.close());
      else await end();
      if (faults.length > 0) throw new Error(`the bench's page failed: ${faults.splice(0).join('; ')}`);
    },
  };
}

/** Closes the page that all short rows share. */
export async function closeShared(): Promise<void> {
  await (await sharedPage)?.end();
  sharedPage = undefined;
}

async function probesOf(browser: Browser, page: Page): Promise<Probes> {
  const session = await page.context().newCDPSession(page);
  return {
    async heapBytes() {
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize, backingStorageSize } = await session.send('Runtime.getHeapUsage');
      return usedSize + backingStorageSize;
    },
    startTrace: () => browser.startTracing(page, { categories: GARBAGE_COLLECTION }),
    async longestTask() {
      const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
      const tasks = tasksSince(traceEvents, TRACE_MARK);
      const maxOf = (key: 'wall' | 'all' | 'ours') => Math.max(...tasks.map((task) => task[key]));
      return { wall: maxOf('wall'), cpu: maxOf('all'), ours: maxOf('ours') };
    },
  };
}
