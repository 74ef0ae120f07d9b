import { type CollisionService, createCollisionService, type FrameResult, type WorkerLike } from 'collision-worker';
import { Random } from '../oracle/random.js';
import { createMeasuredWorker, type ThreadMemory } from './measured-worker.js';
import { SoakScene } from './scene.js';

/** Measurements of one stretch of frames. */
export interface Sample {
  frame: number;
  /** Megabytes after a collection: JavaScript of the main thread, and of the worker. */
  heap: number;
  buffers: number;
  workerHeap: number;
  workerBuffers: number;
  /** Megabytes of the worker's core, in use and reserved; and of the whole process. */
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
  /** Called after every frame: a test uses it to leak memory. */
  onFrame?: (result: FrameResult, service: CollisionService) => void;
  /** Ends it early. */
  signal?: AbortSignal;
}

/** Milliseconds of silence after which a worker counts as lost: many, because a soak may run on an overloaded machine. */
const TIMEOUT_MS = 120_000;

/**
 * Runs frames like those of an app, as fast as possible: objects move and are added and removed, meshes too, and there are picks.
 */
export async function soak(options: SoakOptions): Promise<Sample[]> {
  const { seed, frames, samples, collectGarbage, onSample, onFrame, signal } = options;
  const workers: ReturnType<typeof createMeasuredWorker>[] = [];
  const createWorker = () => {
    workers.push(createMeasuredWorker());
    return workers.at(-1)!.worker as unknown as WorkerLike;
  };
  const service = await createCollisionService({ createWorker, timeout: TIMEOUT_MS });
  const scene = new SoakScene(service, new Random(seed));
  await scene.fill();
  const results: Sample[] = [];
  for (let i = 0; i < samples && !signal?.aborted; i++) {
    const updates: number[] = [];
    const picks: number[] = [];
    for (let k = 0; k < frames / samples && !signal?.aborted; k++) {
      await scene.change();
      const update = timeAnswer(service.update(), updates);
      const pick = timeAnswer(service.pick(scene.random.range(0, 800), scene.random.range(0, 600)), picks);
      const [result] = await Promise.all([update, pick]);
      onFrame?.(result, service);
    }
    // The service's own worker is the first; builders start and end.
    const worker = await workers[0].measure();
    collectGarbage();
    const { usedBytes, memoryBytes, frames: frame } = service.stats;
    const sample = { frame, ...memory(worker, usedBytes, memoryBytes), ...latency(updates, picks) };
    results.push(sample);
    onSample?.(sample);
  }
  service.dispose();
  for (const { close } of workers) close();
  return results;
}

/** Records how many milliseconds an answer takes. */
async function timeAnswer<T>(answer: Promise<T>, times: number[]): Promise<T> {
  const start = performance.now();
  const value = await answer;
  times.push(performance.now() - start);
  return value;
}

const MEMORY = ['heap', 'buffers', 'workerHeap', 'workerBuffers', 'used', 'reserved'] as const;
const LATENCY = ['update', 'pick'] as const;
/** Noise, in megabytes. */
const TOLERANCE = 1;

/** Describes memory that is not flat: compares the last third with the second, since the first one fills caches. */
export function growth(samples: readonly Sample[]): string[] {
  return MEMORY.flatMap((name) => {
    const [before, after] = thirdMedians(samples, name);
    return after - before <= TOLERANCE ? [] : [`${name} rose from ${before.toFixed(2)} to ${after.toFixed(2)} MB`];
  });
}

/** Describes latency that is not flat. Only for an otherwise idle machine. */
export function slowdown(samples: readonly Sample[]): string[] {
  return LATENCY.flatMap((name) => {
    const [before, after] = thirdMedians(samples, name);
    return after <= 1.5 * before + 0.5 ? [] : [`${name} rose from ${before.toFixed(2)} to ${after.toFixed(2)} ms`];
  });
}

/** Returns the medians of the second and of the last third. */
function thirdMedians(samples: readonly Sample[], name: keyof Sample): [number, number] {
  const third = Math.floor(samples.length / 3);
  const median = (start: number, end?: number) =>
    quantile(
      samples.slice(start, end).map((sample) => sample[name]),
      0.5,
    );
  return [median(third, -third), median(-third)];
}

function memory(worker: ThreadMemory, usedBytes: number, memoryBytes: number) {
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  const [heap, buffers, used, reserved, total] = [heapUsed, arrayBuffers, usedBytes, memoryBytes, rss].map(
    (bytes) => bytes / 2 ** 20,
  );
  const { heap: workerHeap, buffers: workerBuffers } = worker;
  return { heap, buffers, workerHeap, workerBuffers, used, reserved, process: total };
}

function latency(updates: number[], picks: number[]) {
  const [update, update99] = [quantile(updates, 0.5), quantile(updates, 0.99)];
  return { update, update99, pick: quantile(picks, 0.5), pick99: quantile(picks, 0.99) };
}

function quantile(values: readonly number[], fraction: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * fraction)] ?? 0;
}
