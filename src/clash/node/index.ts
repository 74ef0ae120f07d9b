export { type ClashFilesOptions, clashFiles } from './clash-files.js';
export type { ReadItem } from './input/read-item.js';
export { readModel } from './input/read-model.js';
export { openQueue, type Queue, type QueueOptions } from './queue.js';
export { type QueueWorkerOptions, runQueueWorker } from './queue-worker.js';
