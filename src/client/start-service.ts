import { CollisionError } from '../shared/errors.js';
import type { CollisionServiceOptions } from '../shared/types.js';
import { checkSignal } from './check/signal.js';
import { checkBoolean, checkInteger, checkNumber, checkPositive, readOptions, throwInvalid } from './check/validate.js';
import { aborted, unlessAborted } from './link/abort.js';
import type { Host } from './link/host.js';
import { errorFromFailure, type LinkOptions, renameError } from './link/worker-link.js';
import { CollisionService, type ServiceSettings } from './service.js';

const KEYS = ['createWorker', 'restart', 'builders', 'timeout', 'contactBudget', 'signal'];
const MAX_TIMEOUT = 2 ** 31 - 1; // of timers, in milliseconds

/** Starts a service on that host; see createCollisionService. */
export async function startService(host: Host, options: CollisionServiceOptions): Promise<CollisionService> {
  const operation = 'createCollisionService';
  const given = readOptions(operation, 'options', options, KEYS);
  const { createWorker, restart = true, builders = 1, timeout = 10_000 } = given;
  const { contactBudget = Number.POSITIVE_INFINITY, signal } = given;
  if (createWorker !== undefined && typeof createWorker !== 'function') {
    throwInvalid(operation, 'createWorker', createWorker, 'a function that makes a worker');
  }
  checkBoolean(operation, 'restart', restart);
  checkInteger(operation, 'builders', builders, 0, 64);
  checkPositive(operation, 'timeout', timeout);
  checkNumber(operation, 'contactBudget', contactBudget, Number.MIN_VALUE, 'milliseconds > 0');
  checkSignal(operation, signal);
  if (signal?.aborted) throw aborted(operation, signal);
  const budget = contactBudget === Number.POSITIVE_INFINITY ? 0 : contactBudget;
  const settings = { builders, contactBudget: budget, restart, signal };
  const link = { host, timeout: Math.min(timeout, MAX_TIMEOUT) };
  if (createWorker !== undefined) return openService(settings, { ...link, createWorker });
  let firstError: CollisionError | undefined;
  // Other services may be starting at the same time: each tries the ways for itself.
  for (let i = host.way; i < host.ways.length; i++) {
    const makeWorker = await unlessAborted(operation, availableWithin(timeout, host.ways[i]()), signal);
    let isObstructed = false;
    const onObstacle = (): void => {
      isObstructed = true;
    };
    try {
      if (makeWorker === null) continue;
      const service = await openService(settings, { ...link, createWorker: makeWorker }, onObstacle);
      host.way = i;
      return service;
    } catch (error) {
      if (!isObstructed || !CollisionError.is(error) || error.code !== 'WORKER_LOST') throw error;
      firstError ??= error;
    }
  }
  const { message, cause } = firstError ?? new CollisionError('WORKER_LOST', `${operation}: there is no worker`);
  throw errorFromFailure(operation, { code: 'WORKER_LOST', message: message + host.advice() }, cause);
}

/** Opens a service whose worker is ready; `onObstacle` is called when its worker could not be loaded. */
async function openService(
  settings: ServiceSettings,
  link: LinkOptions,
  onObstacle?: () => void,
): Promise<CollisionService> {
  let service: CollisionService | undefined;
  try {
    service = new CollisionService(settings, link);
    await service.ready;
    return service;
  } catch (error) {
    if (service === undefined || service.isObstructed) onObstacle?.();
    service?.dispose();
    throw renameError('createCollisionService', error);
  }
}

/** Resolves as `promise` does, or with null if it rejects or takes longer than `milliseconds`. */
function availableWithin<T>(milliseconds: number, promise: Promise<T | null>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(milliseconds, MAX_TIMEOUT), null);
    promise
      .catch(() => null)
      .then((value) => {
        clearTimeout(timer);
        resolve(value);
      });
  });
}
