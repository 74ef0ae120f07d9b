import { CollisionError } from '../shared/errors.js';
import type { WorkerApi } from '../shared/protocol.js';
import { answering } from './answering.js';

const refuse = answering((): never => {
  throw new CollisionError('ABORTED', 'nobody waits for it any more');
});

/** Answers dropped calls: comlink keeps each until there is an answer. */
export const refusing = new Proxy({} as WorkerApi, { get: () => refuse });
