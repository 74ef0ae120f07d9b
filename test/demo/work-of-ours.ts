// How long the main thread of a page is busy with our own work, according to Chromium's own trace. With software WebGL, the
// driver draws and compiles on the page's time, which no graphics card does: sampling separates that. A sample is the
// renderer's if, of the functions on the stack, the innermost one that is neither the browser's nor of three's classes of
// maths and geometry is in three's renderer, which the build puts into a file of its own. Everything else is ours: the
// pages, the library, what other packages do for them, and garbage collection.
import type { Browser, Page } from 'playwright';
import { SAMPLING, type StackFrame, type TracedTask, type TraceEvent, tasksOf } from '../fixtures/task-trace.js';

/** The chunk of demo/vite.config.ts, and that of the classes that both use. */
const RENDERER = /\/three-renderer-/;
const SHARED = /\/three-core-/;

export type Task = Omit<TracedTask, 'wall'>;

/** Records what the pages of a browser do, from before `page` is loaded. */
export function startTrace(browser: Browser, page: Page): Promise<void> {
  return browser.startTracing(page, { categories: SAMPLING });
}

/** The task of the page's main thread with the most work of ours since then. */
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
