// How long the main thread of a page is busy with work of ours, as Chromium's own trace says it. Where WebGL runs in
// software, the driver draws and compiles on the page's time, as no graphics card does: that is told apart by sampling. A
// sample is the renderer's if, of all that is on the stack, the innermost function that is neither the browser's nor of
// three's classes of maths and geometry is in three's renderer, which the build has in a file of its own. All else is ours:
// the pages, the library, what other packages do for them, and the collection of garbage.
import type { Browser, Page } from 'playwright';

/** The chunk of demo/vite.config.ts, and that of the classes that both use. */
const RENDERER = /\/three-renderer-/;
const SHARED = /\/three-core-/;
const CATEGORIES = ['-*', '__metadata', 'disabled-by-default-devtools.timeline', 'disabled-by-default-v8.cpu_profiler'];

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  id?: string;
  /** Microseconds: by the wall, and of the thread's processor time. */
  ts: number;
  dur: number;
  tdur?: number;
  args: {
    name?: string;
    data?: {
      startTime?: number;
      cpuProfile?: { nodes?: Node[]; samples?: number[] };
      timeDeltas?: number[];
    };
  };
}

interface Node {
  id: number;
  parent?: number;
  callFrame: { functionName: string; url?: string; lineNumber?: number; columnNumber?: number };
}

export interface Task {
  /** Milliseconds of processor time: a wall clock would count what else the machine does. */
  readonly ours: number;
  readonly all: number;
  /** Where most of ours is. */
  readonly at: string;
}

/** Notes what the pages of a browser do, from before `page` is loaded. */
export function startTrace(browser: Browser, page: Page): Promise<void> {
  return browser.startTracing(page, { categories: CATEGORIES });
}

/** The task of the page's main thread with most work of ours since then. */
export async function longestTask(browser: Browser, page: Page): Promise<Task> {
  const { origin } = new URL(page.url());
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const main = mainThreadOf(traceEvents, origin);
  const { nodes, samples } = profileOf(traceEvents, main);
  const tasks = traceEvents.filter(({ name, ph, ...of }) => name === 'RunTask' && ph === 'X' && isOn(main, of));
  let longest: Task = { ours: 0, all: 0, at: '' };
  let next = 0;
  for (const { ts, dur, tdur = dur } of tasks.sort((a, b) => a.ts - b.ts)) {
    while (next < samples.length && samples[next].time < ts) next++;
    const inside: number[] = [];
    for (; next < samples.length && samples[next].time < ts + dur; next++) inside.push(samples[next].node);
    const ours = inside.filter((node) => isOurs(nodes, node));
    const ms = inside.length === 0 ? 0 : (tdur / 1000) * (ours.length / inside.length);
    if (ms > longest.ours)
      longest = { ours: ms, all: tdur / 1000, at: mostFrequent(ours.map((each) => placeOf(nodes, each))) };
  }
  if (tasks.length === 0 || samples.length === 0) throw new Error('the trace has no tasks or no samples');
  return longest;
}

type Thread = Pick<TraceEvent, 'pid' | 'tid'>;

function isOn(thread: Thread, { pid, tid }: Thread): boolean {
  return pid === thread.pid && tid === thread.tid;
}

/** Of the pages' main threads, the one that runs code from there: the browser has pages of its own. */
function mainThreadOf(events: readonly TraceEvent[], origin: string): Thread {
  const mains = events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
  const main = mains.find((thread) => {
    const { nodes } = profileOf(events, thread);
    return [...nodes.values()].some(({ callFrame: { url = '' } }) => url.startsWith(origin));
  });
  if (main === undefined) throw new Error(`the trace has no thread that runs code of ${origin}`);
  return main;
}

function profileOf(events: readonly TraceEvent[], thread: Thread) {
  const profile = events.find((event) => event.name === 'Profile' && isOn(thread, event));
  const nodes = new Map<number, Node>();
  const samples: { time: number; node: number }[] = [];
  let time = profile?.args.data?.startTime ?? 0;
  for (const { name, pid, id, args } of events) {
    if (name !== 'ProfileChunk' || pid !== thread.pid || id !== profile?.id) continue;
    const { cpuProfile, timeDeltas = [] } = args.data!;
    for (const node of cpuProfile?.nodes ?? []) nodes.set(node.id, node);
    cpuProfile?.samples?.forEach((node, i) => {
      time += timeDeltas[i];
      samples.push({ time, node });
    });
  }
  return { nodes, samples };
}

function isOurs(nodes: ReadonlyMap<number, Node>, sample: number): boolean {
  for (let node = nodes.get(sample); node !== undefined; node = nodes.get(node.parent!)) {
    const { functionName, url = '' } = node.callFrame;
    if (functionName === '(garbage collector)') return true;
    if (url === '' || SHARED.test(url)) continue;
    return !RENDERER.test(url);
  }
  return false;
}

/** The innermost two functions with a file. */
function placeOf(nodes: ReadonlyMap<number, Node>, sample: number): string {
  const places: string[] = [];
  for (let node = nodes.get(sample); node !== undefined && places.length < 2; node = nodes.get(node.parent!)) {
    const { functionName, url = '', lineNumber, columnNumber } = node.callFrame;
    if (url !== '') places.push(`${functionName} (${url.split('/').at(-1)}:${lineNumber}:${columnNumber})`);
  }
  return places.join(' in ') || 'collection of garbage';
}

function mostFrequent(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}
