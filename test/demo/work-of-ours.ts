// How long the main thread of a page is busy with work of ours, as Chromium's own trace says it. Where WebGL runs in
// software, the driver draws and compiles on the page's time, as no graphics card does: that is told apart by sampling. A
// sample is the renderer's if, of all that is on the stack, the innermost function that is neither the browser's nor of
// three's classes of maths and geometry is in three's renderer, which the build has in a file of its own. All else is ours:
// the pages, the library, what other packages do for them, and the collection of garbage.
import type { Browser, Page } from 'playwright';
import { SAMPLING, type StackFrame, type TracedTask, type TraceEvent, tasksOf } from '../fixtures/task-trace.js';

/** The chunk of demo/vite.config.ts, and that of the classes that both use. */
const RENDERER = /\/three-renderer-/;
const SHARED = /\/three-core-/;

export type Task = Omit<TracedTask, 'wall'>;

/** Notes what the pages of a browser do, from before `page` is loaded. */
export function startTrace(browser: Browser, page: Page): Promise<void> {
  return browser.startTracing(page, { categories: SAMPLING });
}

/** The task of the page's main thread with most work of ours since then. */
export async function longestTask(browser: Browser, page: Page): Promise<Task> {
  const { origin } = new URL(page.url());
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  let longest: Task = { ours: 0, all: 0, at: '' };
  for (const task of tasksOf(traceEvents, origin, isOurs)) if (task.ours > longest.ours) longest = task;
  return longest;
}

function isOurs(stack: Iterable<StackFrame>): boolean {
  for (const { name, url } of stack) {
    if (name === '(garbage collector)') return true;
    if (url === '' || SHARED.test(url)) continue;
    return !RENDERER.test(url);
  }
  return false;
}
