// A run locks its work folder: the baked parts and results of two runs would be mixed up.

import { mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CollisionError } from 'collision-worker';
import { writingFailed } from './folder.js';

const LOCK_FILE = 'lock';
/** Milliseconds between two updates of the lock's time. */
const TOUCH_MS = 5_000;
/** A lock of another machine counts as stale after this many milliseconds without an update. */
const STALE_MS = 60_000;

/** Locks of this process, since another run in it has the same process id. */
const lockedPaths = new Set<string>();

/** The process that has locked a work folder. */
interface Owner {
  pid: number;
  host: string;
}

/**
 * Locks a work folder, which is made if there is none, and resolves with a function that unlocks it. A lock of a process that has
 * ended is taken over. Rejects with INVALID_ARGUMENT while another run has it, and if it cannot be written.
 */
export async function lockWork(work: string): Promise<() => Promise<void>> {
  const path = await lockPathOf(work);
  if (lockedPaths.has(path)) refuse(work, 'another run of this process has it');
  lockedPaths.add(path);
  try {
    while (!(await createLock(path))) {
      const owner = await describeOwner(path);
      if (typeof owner === 'string') refuse(work, owner);
      if (owner === null) await removeStale(work, path);
    }
  } catch (error) {
    lockedPaths.delete(path);
    throw CollisionError.is(error) ? error : writingFailed(path, error);
  }
  const heartbeat = startHeartbeat(path);
  return async () => {
    await heartbeat.terminate();
    await rm(path, { force: true }).catch(() => {});
    lockedPaths.delete(path);
  };
}

/**
 * Removes a stale lock, which one process at a time may do: if several found it stale, the next would remove the lock that
 * the first has created by then.
 */
async function removeStale(work: string, path: string): Promise<void> {
  const removalPath = `${path}.removal`;
  if (!(await createLock(removalPath))) {
    const remover = await describeOwner(removalPath);
    if (typeof remover === 'string') refuse(work, remover);
    if (remover === null) await rm(removalPath, { force: true });
    return;
  }
  try {
    if ((await describeOwner(path)) === null) await rm(path, { force: true });
  } finally {
    await rm(removalPath, { force: true });
  }
}

/** Updates a lock's time, in a thread: libraries that read a large file block the main thread for minutes. */
function startHeartbeat(path: string): Worker {
  const times = `${JSON.stringify(path)}, new Date(), new Date()`;
  const script = `setInterval(() => require('fs').utimes(${times}, () => {}), ${TOUCH_MS})`;
  const worker = new Worker(script, { eval: true, execArgv: [] });
  worker.on('error', () => {}); // without a heartbeat, the lock becomes stale
  worker.unref();
  return worker;
}

/** Makes a work folder, and returns the path of its lock: a folder has one lock, though it may have several names by links. */
async function lockPathOf(work: string): Promise<string> {
  try {
    await mkdir(work, { recursive: true });
    return join(await realpath(work), LOCK_FILE);
  } catch (error) {
    throw writingFailed(join(work, LOCK_FILE), error);
  }
}

function refuse(work: string, holder: string): never {
  throw new CollisionError(
    'INVALID_ARGUMENT',
    `clash: work is ${work}, expected a folder that no other run uses: ${holder}`,
  );
}

/** Creates the lock; returns whether it was free. */
async function createLock(path: string): Promise<boolean> {
  const owner: Owner = { pid: process.pid, host: hostname() };
  try {
    await writeFile(path, JSON.stringify(owner), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}

/**
 * Describes the owner of a lock; null if the lock is stale, and undefined if there is none: it must not be removed, since the next
 * process may create one at any time.
 */
async function describeOwner(path: string): Promise<string | null | undefined> {
  const stats = await stat(path).catch(() => null);
  if (!stats) return undefined;
  if (Date.now() - stats.mtimeMs > STALE_MS) return null;
  const owner = parseOwner(await readFile(path, 'utf8').catch(() => ''));
  // The owner is about to write it, or could not.
  if (owner === null) return 'another run has it';
  const { pid, host } = owner;
  return host === hostname() && !isAlive(pid) ? null : `process ${pid} on ${host} has it`;
}

function parseOwner(text: string): Owner | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A lock with this process's id that it does not hold is of an earlier process, as in a container that was restarted. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
