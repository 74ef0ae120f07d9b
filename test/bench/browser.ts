import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright';
import { build, preview } from 'vite';
import { chromiumLaunchOptions } from '../../scripts/chromium.mjs';
import { ISOLATED } from '../../scripts/isolated.mjs';
import { root } from '../../scripts/run.mjs';
import { COLLECTING, type TraceEvent, tasksSince } from '../fixtures/task-trace.js';
import { type Probes, TRACE_MARK } from './page/probes.js';

const path = (relative: string) => fileURLToPath(new URL(relative, `file://${root}/`));

const OPTIONS = {
  root: path('test/bench/page'),
  logLevel: 'warn' as const,
  resolve: {
    alias: { 'collision-worker/three': path('dist/three.js'), 'collision-worker': path('dist/index.js') },
  },
  // Readable in profiles, and as fast.
  build: { outDir: path('build/bench-page'), emptyOutDir: true, minify: false },
  preview: { host: '127.0.0.1', headers: ISOLATED },
};

let built: Promise<unknown> | undefined;

export interface OpenPage {
  page: Page;
  close(): Promise<void>;
}

/** Serves the bench's page, and shows it in a Chromium without a screen. */
interface Stage {
  browser: Browser;
  url: string;
  close(): Promise<void>;
}

/** Of pages that are short. */
let shared: Promise<Stage> | undefined;

async function startStage(): Promise<Stage> {
  built ??= build(OPTIONS);
  await built;
  const server = await preview(OPTIONS);
  const browser = await chromium.launch(chromiumLaunchOptions());
  return {
    browser,
    url: server.resolvedUrls!.local[0],
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

/**
 * The bench's page in a Chromium without a screen. What goes wrong in it is thrown by `close`. One that `isShort` has no
 * long warm-ups, and shares its Chromium with the others, until `closeShared`.
 */
export async function openPage(isShort: boolean): Promise<OpenPage> {
  if (isShort) shared ??= startStage();
  const stage = await (isShort ? shared! : startStage());
  const { browser, url } = stage;
  const context = await browser.newContext();
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  for (const [name, probe] of Object.entries(await probesOf(browser, page))) await page.exposeFunction(name, probe);
  await page.goto(`${url}${isShort ? '?short' : ''}`);
  await page.waitForFunction(() => 'bench' in window);
  return {
    page,
    async close() {
      await context.close();
      if (!isShort) await stage.close();
      if (faults.length > 0) throw new Error(`the bench's page failed: ${faults.join('; ')}`);
    },
  };
}

/** Ends the Chromium of all short pages. */
export async function closeShared(): Promise<void> {
  await (await shared)?.close();
  shared = undefined;
}

async function probesOf(browser: Browser, page: Page): Promise<Probes> {
  const session = await page.context().newCDPSession(page);
  return {
    async heapBytes() {
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize, backingStorageSize } = await session.send('Runtime.getHeapUsage');
      return usedSize + backingStorageSize;
    },
    startTrace: () => browser.startTracing(page, { categories: COLLECTING }),
    async longestTask() {
      const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
      const tasks = tasksSince(traceEvents, TRACE_MARK);
      const most = (key: 'wall' | 'all' | 'ours') => Math.max(...tasks.map((task) => task[key]));
      return { wall: most('wall'), cpu: most('all'), ours: most('ours') };
    },
  };
}
