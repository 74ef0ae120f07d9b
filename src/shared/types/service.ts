import type { FrameResult } from './frame.js';

/** A browser's `Worker`, or one of Node's `worker_threads`. */
export interface WorkerLike {
  postMessage(...args: never[]): void;
  terminate(): unknown;
}

export interface CollisionServiceOptions {
  /** Makes the service's worker and the builders. Default: from the script that comes with the package. */
  createWorker?: () => WorkerLike;
  /**
   * Whether a lost worker is replaced, at most three times a minute, and given all that the old one had. Default true;
   * it costs a copy of every baked mesh, outside of the memory of the page, and of every frame that is sent.
   */
  restart?: boolean;
  /**
   * Most workers that build trees beside the service; 0 builds in the service's own, between frames. Two that have nothing else
   * to do share a mesh of 200,000 triangles or more: its tree is the same to the byte. Default 1.
   */
  builders?: number;
  /** Milliseconds without an answer, with work in flight, that count as a lost worker. Default 10,000. */
  timeout?: number;
  /**
   * Milliseconds in which a frame looks at pairs whose bounds overlap; pairs that it does not come to are `stale` or
   * `waiting`, and the first in the next frame, oldest first. It bounds the work on one pair of meshes, too: such a
   * pair goes on in later frames, as its objects were when it was begun, and is `stale` if they have moved by the time
   * that it is done. Default Infinity: all pairs in every frame. Queries are answered between slices of a few
   * milliseconds either way.
   */
  contactBudget?: number;
  /** Aborting before the service is there rejects with ABORTED, and ends its worker. */
  signal?: AbortSignal;
}

/** Counts of now; the worker's numbers are those that came with its last answer. */
export interface ServiceStats {
  objects: number;
  meshes: number;
  /** How many triangles all meshes were given with. */
  triangles: number;
  /** In the worker, of all meshes: trees and triangles. Per triangle: 0 where there are none. */
  meshBytes: number;
  bytesPerTriangle: number;
  /** Bytes of the worker's WebAssembly memory; and how many of them are in use. */
  memoryBytes: number;
  usedBytes: number;
  /** Frames that wait for the one in the worker: 0 or 1. */
  queueDepth: number;
  /** Calls without an answer yet, update() among them. */
  pending: number;
  /** Frames answered. */
  frames: number;
  /** Frame buffers allocated so far, both ways. It stands still while the scene does not grow. */
  frameBuffers: number;
  /** The worker's milliseconds for the last frame. */
  ms: FrameResult['ms'];
}
