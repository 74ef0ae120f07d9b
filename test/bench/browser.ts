import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright';
import { build, preview } from 'vite';
import { chromiumLaunchOptions } from '../../scripts/chromium.mjs';
import { root } from '../../scripts/run.mjs';
import type { Probes } from './page/probes.js';

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

/**
 * The bench's page in a Chromium without a screen. What goes wrong in it is thrown by `close`. One that `isShort` has no
 * long warm-ups.
 */
export async function openPage(isShort: boolean): Promise<OpenPage> {
  built ??= build(OPTIONS);
  await built;
  const server = await preview(OPTIONS);
  const browser = await chromium.launch(chromiumLaunchOptions());
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  for (const [name, probe] of Object.entries(await probesOf(browser, page))) await page.exposeFunction(name, probe);
  await page.goto(`${server.resolvedUrls!.local[0]}${isShort ? '?short' : ''}`);
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

async function probesOf(browser: Browser, page: Page): Promise<Probes> {
  const session = await page.context().newCDPSession(page);
  return {
    async heapBytes() {
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize, backingStorageSize } = await session.send('Runtime.getHeapUsage');
      return usedSize + backingStorageSize;
    },
    startTrace: () => browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline'] }),
    async longestTask() {
      const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
      const named = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
      const threads = new Set(named.map(threadOf));
      const tasks = traceEvents.filter((event) => event.name === 'RunTask' && threads.has(threadOf(event)));
      const longest = (times: (number | undefined)[]) =>
        times.reduce<number>((most, ms = 0) => Math.max(most, ms), 0) / 1000;
      return { wall: longest(tasks.map(({ dur }) => dur)), cpu: longest(tasks.map(({ tdur }) => tdur)) };
    },
  };
}

/** An event of Chromium's traces; times are microseconds. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  dur?: number;
  /** Of these, on the processor. */
  tdur?: number;
  args: { name?: string };
}

function threadOf({ pid, tid }: TraceEvent): string {
  return `${pid} ${tid}`;
}
