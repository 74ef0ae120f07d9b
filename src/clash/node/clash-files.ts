import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { CollisionError } from 'collision-worker';
import { checkInteger, checkNumber, checkObject, checkText, invalid, reasonOf, throwIfAborted } from '../check.js';
import { maxPartsPerTile } from '../plan/tiles.js';
import { Progress } from '../progress.js';
import { ReportMaker, readReportOptions } from '../report/report.js';
import { compileRules } from '../rules/rules.js';
import { inSlices } from '../slices.js';
import type { ClashProgress, ClashReport, ReportOptions, Rule } from '../types.js';
import { Folder, writeAtomically } from './folder.js';
import { filesOfModel, nameOfModel, readModel } from './input/read-model.js';
import { bakeParts, PartStore } from './part-store.js';
import type { Queue } from './queue.js';
import { FORMAT, keyOf, openRun, RUN_FILE, type Run, readRun } from './run.js';
import { MAX_TILE_BYTES, ThreadPool } from './thread-pool.js';
import { TilesOnDisk } from './tiles-on-disk.js';
import { lockWork } from './work-lock.js';

export interface ClashFilesOptions extends ReportOptions {
  /** The folder for baked parts and results, so that an interrupted run can be resumed. Only one run at a time may use it. */
  work: string;
  /** Continues after the tiles that are done in the work folder. Default false: all tiles are run. */
  resume?: boolean;
  /** Threads that run tiles, each with a worker of its own. Default: as many as the machine has cores. */
  workers?: number;
  /** The approximate number of bytes that everything may take. Default half of the machine's memory. */
  memory?: number;
  /** Runs the tiles on the workers of a queue instead of threads: the result of `openQueue`. */
  queue?: Queue;
  onProgress?: (progress: ClashProgress) => void;
  /** Aborting rejects with ABORTED; finished tiles stay in the work folder. */
  signal?: AbortSignal | undefined;
}

const KEYS = [...['work', 'resume', 'workers', 'memory', 'queue', 'onProgress', 'signal', 'accepted', 'groupDistance']];

/** Bytes that a process and its threads take without any meshes. */
const BASE_BYTES = 160 * 2 ** 20;
const MIN_TILE_BYTES = 16 * 2 ** 20;
/** A thread's memory holds a tile's meshes, as many kept from earlier tiles, and copies of both in transit. */
const TILES_PER_THREAD = 4;
/** The number of workers for which tiles of a queue are sized, since nobody knows how many there will be. */
const ASSUMED_QUEUE_WORKERS = 16;

/**
 * Finds the clashes between two files, or within one if `b` is null or the same file, as `clash` does between parts. The
 * parts of each file are baked once to the work folder, and loaded by tile. Kinds of files: GLB and glTF
 * (@gltf-transform/core), IFC (web-ifc), and baked parts.
 *
 * Rejects with BAD_DATA for files that cannot be read, with UNSUPPORTED if the library for it is not installed, with
 * INVALID_ARGUMENT for a work folder that another run uses or that cannot be written, and with OUT_OF_MEMORY if the disk is
 * full. Finished tiles stay, and `resume` continues with them.
 */
export async function clashFiles(
  a: string,
  b: string | null,
  rules: readonly Rule[],
  options: ClashFilesOptions,
): Promise<ClashReport> {
  const given = checkObject<ClashFilesOptions>('options', options, KEYS);
  const { resume = false, workers = availableParallelism(), queue, onProgress, signal, ...otherOptions } = given;
  checkText('a', a);
  if (b !== null) checkText('b', b);
  const work = resolve(checkText('work', given.work));
  checkInteger('workers', workers, 1, 256);
  const memory = checkNumber('memory', given.memory ?? totalmem() / 2, 2 ** 28, 'bytes, 268,435,456 at least');
  if (typeof resume !== 'boolean') invalid('resume', resume, 'a boolean');
  compileRules(rules);
  const reportOptions = readReportOptions(otherOptions);
  throwIfAborted(signal);
  const bytesPerThread = Math.max((memory - BASE_BYTES) / workers, BASE_BYTES);
  const tileBytes = Math.max(MIN_TILE_BYTES, (bytesPerThread - BASE_BYTES) / TILES_PER_THREAD);
  const bytes = Math.min(MAX_TILE_BYTES, tileBytes);

  // Between a file and itself, each part would clash with itself.
  const models = b === null || (await isSamePath(a, b)) ? [a] : [a, b];
  for (const model of models) {
    if (await isBakedInto(work, model))
      invalid('work', work, `another folder than that of ${model}, which it would bake anew`);
  }
  const keys = await Promise.all(models.map((model) => keyOfModel(model, signal)));
  const key = keyOf(`format ${FORMAT}`, ...keys, JSON.stringify(rules));
  const unlock = await lockWork(work);
  try {
    const reading = new Progress('read', models.length, onProgress);
    for (const [i, model] of models.entries()) {
      await bakeIfChanged(join(work, 'ab'[i]), model, keys[i], { workers, bytes: memory / 8, signal });
      reading.add(1);
      throwIfAborted(signal);
    }
    const count = await countParts(work, models.length);
    const limits = { parts: maxPartsPerTile(count, queue ? ASSUMED_QUEUE_WORKERS : workers), bytes };
    await beginRun(work, { format: FORMAT, key, isWithin: models.length === 1, rules: [...rules], limits }, resume);
    const { key: runKey, plan, unread } = await openRun(work);
    const tiles = new TilesOnDisk(work, runKey);
    await tiles.look();
    const report = new ReportMaker(plan, unread, reportOptions);
    for (const tile of tiles.done) {
      const result = await tiles.read(tile);
      if (result) await inSlices(report.add(result), signal);
    }
    const progress = new Progress('clash', plan.tiles.length, onProgress, tiles.done.length);
    const missingTiles = Array.from(plan.tiles.keys()).filter((tile) => !tiles.has(tile));
    const onResult = async (tile: number, result: string): Promise<void> => {
      await tiles.put(tile, result);
      progress.add(1);
      await inSlices(report.add(JSON.parse(result)), signal);
    };
    const threadData = { place: work, key: runKey, cache: undefined, bytes };
    if (queue) await queue.run(work, runKey, missingTiles, onResult, signal);
    else await runInThreads(threadData, bytesPerThread, missingTiles, workers, onResult, signal);
    throwIfAborted(signal);
    return await inSlices(report.make(), signal);
  } finally {
    await unlock();
  }
}

/** Returns the path of a file or folder without links; one that does not exist has no links. */
export function realPathOf(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

async function isSamePath(a: string, b: string): Promise<boolean> {
  return (await realPathOf(a)) === (await realPathOf(b));
}

/** Returns whether a model is in one of the folders that a run bakes parts into, or is one of them, by whatever name. */
async function isBakedInto(work: string, model: string): Promise<boolean> {
  const [folder, modelPath] = await Promise.all([work, model].map(realPathOf));
  return ['a', 'b'].some((name) => `${modelPath}${sep}`.startsWith(`${join(folder, name)}${sep}`));
}

/** Returns a hash of the contents of a file, or of the parts in a baked folder. */
async function keyOfModel(path: string, signal: AbortSignal | undefined): Promise<string> {
  const stats = await stat(path).catch((cause) => {
    throw new CollisionError('INVALID_ARGUMENT', `clash: ${path} cannot be read: ${cause.message}`, { cause });
  });
  const hash = createHash('sha256').update(`${FORMAT} ${nameOfModel(path)} `);
  for (const file of await filesOfModel(path, stats.isDirectory())) {
    try {
      for await (const bytes of createReadStream(file)) {
        if (signal?.aborted) break;
        hash.update(bytes);
      }
    } catch (cause) {
      throw new CollisionError('BAD_DATA', `clash: ${path} cannot be read: ${reasonOf(cause)}`, { cause });
    }
    throwIfAborted(signal);
  }
  return hash.digest('hex');
}

async function bakeIfChanged(
  folder: string,
  model: string,
  key: string,
  options: Parameters<typeof bakeParts>[3],
): Promise<void> {
  const store = await PartStore.open(new Folder(folder)).catch(() => null);
  if (store?.key !== key) await bakeParts(folder, key, readModel(model), options);
}

async function countParts(work: string, models: number): Promise<number> {
  const stores = ['a', 'b'].slice(0, models).map((name) => PartStore.open(new Folder(join(work, name))));
  return (await Promise.all(stores)).reduce((sum, { parts }) => sum + parts.length, 0);
}

/** Continues the run of the work folder if it is the same; otherwise starts a new one. */
async function beginRun(work: string, run: Run, resume: boolean): Promise<void> {
  if (resume) {
    const previousRun = await readRun(work).catch(() => null);
    if (previousRun?.key === run.key) return;
  }
  await TilesOnDisk.clear(work);
  await writeAtomically(join(work, RUN_FILE), JSON.stringify(run));
}

async function runInThreads(
  threadData: ConstructorParameters<typeof ThreadPool>[0],
  bytesPerThread: number,
  missingTiles: readonly number[],
  workers: number,
  onResult: (tile: number, result: string) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  throwIfAborted(signal);
  const pool = new ThreadPool(threadData, bytesPerThread);
  const remainingTiles = missingTiles.values();
  let hasEnded = false;
  const runThread = async (): Promise<void> => {
    // The result of a tile is written while the thread runs the next one.
    let lastWrite = Promise.resolve();
    for (const tile of remainingTiles as Iterable<number>) {
      if (hasEnded) return;
      const result = await pool.run(tile);
      await lastWrite;
      lastWrite = onResult(tile, result);
      lastWrite.catch(() => {}); // it is awaited later, which gets the error
    }
    await lastWrite;
  };
  const abort = (): void => {
    hasEnded = true;
    pool.close();
  };
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await Promise.all(Array.from({ length: Math.min(workers, missingTiles.length) }, runThread));
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  } finally {
    hasEnded = true;
    signal?.removeEventListener('abort', abort);
    await pool.close();
  }
}
