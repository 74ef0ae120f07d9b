import { CollisionError } from '../shared/errors.js';
import type { CollisionServiceOptions } from '../shared/types.js';
import { checkSignal } from './check/signal.js';
import { checkBoolean, checkInteger, checkNumber, checkPositive, invalid, readOptions } from './check/validate.js';
import { aborted, unlessAborted } from './link/abort.js';
import type { Host } from './link/host.js';
import { type LinkOptions, namedAnew } from './link/worker-link.js';
import { CollisionService, type ServiceSettings } from './service.js';

const KEYS = ['createWorker', 'restart', 'builders', 'timeout', 'contactBudget', 'signal'];
const LONGEST_TIMEOUT = 2 ** 31 - 1; // of timers, in milliseconds

/** Starts a service on that host; see createCollisionService. */
export async function startService(host: Host, options: CollisionServiceOptions): Promise<CollisionService> {
  const operation = 'createCollisionService';
  const given = readOptions(operation, 'options', options, KEYS);
  const { createWorker, restart = true, builders = 1, timeout = 10_000 } = given;
  const { contactBudget = Number.POSITIVE_INFINITY, signal } = given;
  if (createWorker !== undefined && typeof createWorker !== 'function') {
    invalid(operation, 'createWorker', createWorker, 'a function that makes a worker');
  }
  checkBoolean(operation, 'restart', restart);
  checkInteger(operation, 'builders', builders, 0, 64);
  checkPositive(operation, 'timeout', timeout);
  checkNumber(operation, 'contactBudget', contactBudget, Number.MIN_VALUE, 'milliseconds > 0');
  checkSignal(operation, signal);
  if (signal?.aborted) throw aborted(operation, signal);
  const budget = contactBudget === Number.POSITIVE_INFINITY ? 0 : contactBudget;
  const settings = { builders, contactBudget: budget, restart, signal };
  const link = { host, timeout: Math.min(timeout, LONGEST_TIMEOUT) };
  if (createWorker !== undefined) return open(settings, { ...link, createWorker }, () => {});
  let obstacle: CollisionError | undefined;
  // Other services may be starting at the same time: each tries the ways for itself.
  for (let i = host.way; i < host.ways.length; i++) {
    const way = within(timeout, host.ways[i]()).catch(() => null); // not available here
    const made = await unlessAborted(operation, way, signal);
    let isObstructed = false;
    const onObstacle = (): void => {
      isObstructed = true;
    };
    try {
      if (made === null) continue;
      const service = await open(settings, { ...link, createWorker: made }, onObstacle);
      host.way = i;
      return service;
    } catch (error) {
      if (!isObstructed || !CollisionError.is(error) || error.code !== 'WORKER_LOST') throw error;
      obstacle ??= error;
    }
  }
  const { message, cause } = obstacle ?? new CollisionError('WORKER_LOST', `${operation}: there is no worker`);
  throw new CollisionError('WORKER_LOST', `${message}${host.advice()}`, cause === undefined ? undefined : { cause });
}

/** Opens a service whose worker is ready; `onObstacle` is called when its worker could not be loaded. */
async function open(settings: ServiceSettings, link: LinkOptions, onObstacle: () => void): Promise<CollisionService> {
  let service: CollisionService | undefined;
  try {
    service = new CollisionService(settings, link);
    await service.ready;
    return service;
  } catch (error) {
    if (service === undefined || service.isObstructed) onObstacle();
    service?.dispose();
    throw namedAnew('createCollisionService', error);
  }
}

/** Settles as `promise` does, and rejects if that takes longer than `milliseconds`. */
function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('it took too long')), Math.min(milliseconds, LONGEST_TIMEOUT));
    promise.then(resolve, reject).then(() => clearTimeout(timer));
  });
}
