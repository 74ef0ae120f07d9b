import { type CollisionService, createCollisionService, type FrameResult, type WorkerLike } from 'collision-worker';
import { Random } from '../oracle/random.js';
import { createMeasuredWorker, type ThreadMemory } from './measured-worker.js';
import { SoakScene } from './scene.js';

/** Of one stretch of frames. */
export interface Sample {
  frame: number;
  /** Megabytes after a collection: of the main thread's JavaScript, and of the worker's. */
  heap: number;
  buffers: number;
  workerHeap: number;
  workerBuffers: number;
  /** Of the worker's core, in use and reserved; of the whole process. */
  used: number;
  reserved: number;
  process: number;
  /** Milliseconds from update() to its answer, and from pick() to its own: medians and 99th percentiles. */
  update: number;
  update99: number;
  pick: number;
  pick99: number;
}

export interface SoakOptions {
  seed: number;
  frames: number;
  samples: number;
  collectGarbage: () => void;
  onSample?: (sample: Sample) => void;
  /** After every frame: a test leaks by it. */
  onFrame?: (result: FrameResult, service: CollisionService) => void;
  /** Ends it early. */
  signal?: AbortSignal;
}

/** Milliseconds of silence that are a loss: many, as a soak is of a machine that may be busy with more than it can do. */
const PATIENCE = 120_000;

/** Frames as an app has them, as fast as they come: objects move, come and go, meshes too, and something is picked. */
export async function soak(options: SoakOptions): Promise<Sample[]> {
  const { seed, frames, samples, collectGarbage, onSample, onFrame, signal } = options;
  const workers: ReturnType<typeof createMeasuredWorker>[] = [];
  const createWorker = () => {
    workers.push(createMeasuredWorker());
    return workers.at(-1)!.worker as unknown as WorkerLike;
  };
  const service = await createCollisionService({ createWorker, timeout: PATIENCE });
  const scene = new SoakScene(service, new Random(seed));
  await scene.fill();
  const taken: Sample[] = [];
  for (let i = 0; i < samples && !signal?.aborted; i++) {
    const updates: number[] = [];
    const picks: number[] = [];
    for (let k = 0; k < frames / samples && !signal?.aborted; k++) {
      await scene.change();
      const update = timed(service.update(), updates);
      const pick = timed(service.pick(scene.random.range(0, 800), scene.random.range(0, 600)), picks);
      const [result] = await Promise.all([update, pick]);
      onFrame?.(result, service);
    }
    // The service's own worker is the first; those that build come and go.
    const worker = await workers[0].measure();
    collectGarbage();
    const { usedBytes, memoryBytes, frames: frame } = service.stats;
    const sample = { frame, ...memory(worker, usedBytes, memoryBytes), ...latency(updates, picks) };
    taken.push(sample);
    onSample?.(sample);
  }
  service.dispose();
  for (const { close } of workers) close();
  return taken;
}

/** Keeps how many milliseconds an answer takes. */
async function timed<T>(answer: Promise<T>, times: number[]): Promise<T> {
  const begin = performance.now();
  const value = await answer;
  times.push(performance.now() - begin);
  return value;
}

const MEMORY = ['heap', 'buffers', 'workerHeap', 'workerBuffers', 'used', 'reserved'] as const;
const LATENCY = ['update', 'pick'] as const;
/** Of noise, in megabytes. */
const FLAT = 1;

/** Memory that is not flat, in words: the last third against the second, as the first one fills caches. */
export function growth(samples: readonly Sample[]): string[] {
  return MEMORY.flatMap((name) => {
    const [before, after] = thirds(samples, name);
    return after - before <= FLAT ? [] : [`${name} rose from ${before.toFixed(2)} to ${after.toFixed(2)} MB`];
  });
}

/** Latency that is not flat. Only for a machine that does nothing else. */
export function slowdown(samples: readonly Sample[]): string[] {
  return LATENCY.flatMap((name) => {
    const [before, after] = thirds(samples, name);
    return after <= 1.5 * before + 0.5 ? [] : [`${name} rose from ${before.toFixed(2)} to ${after.toFixed(2)} ms`];
  });
}

/** The medians of the second third and of the last. */
function thirds(samples: readonly Sample[], name: keyof Sample): [number, number] {
  const third = Math.floor(samples.length / 3);
  const median = (from: number, to?: number) =>
    quantile(
      samples.slice(from, to).map((each) => each[name]),
      0.5,
    );
  return [median(third, -third), median(-third)];
}

function memory(worker: ThreadMemory, usedBytes: number, memoryBytes: number) {
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  const [heap, buffers, used, reserved, whole] = [heapUsed, arrayBuffers, usedBytes, memoryBytes, rss].map(
    (bytes) => bytes / 2 ** 20,
  );
  const { heap: workerHeap, buffers: workerBuffers } = worker;
  return { heap, buffers, workerHeap, workerBuffers, used, reserved, process: whole };
}

function latency(updates: number[], picks: number[]) {
  const [update, update99] = [quantile(updates, 0.5), quantile(updates, 0.99)];
  return { update, update99, pick: quantile(picks, 0.5), pick99: quantile(picks, 0.99) };
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0;
}
