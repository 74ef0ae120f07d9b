import type { FrameResult } from './frame.js';

/** A browser's `Worker`, or one of Node's `worker_threads`. */
export interface WorkerLike {
  postMessage(...args: never[]): void;
  terminate(): unknown;
}

export interface CollisionServiceOptions {
  /** Makes the service's worker and the builders. By default they run the script that comes with the package. */
  createWorker?: () => WorkerLike;
  /**
   * Whether a lost worker is replaced, at most three times a minute, and given all that the old one had. It costs a copy of
   * every baked mesh, outside of the memory of the page, and of every frame that is sent. Default true.
   */
  restart?: boolean;
  /**
   * The most workers that build trees beside the service; with 0 the service's own worker builds them, between frames. Two
   * free builders share a mesh of 200,000 triangles or more: its tree is the same to the byte. Default 1.
   */
  builders?: number;
  /** After this many milliseconds without an answer, with work in flight, the worker counts as lost. Default 10,000. */
  timeout?: number;
  /**
   * The milliseconds that a frame may spend on pairs whose bounds overlap. Pairs that it does not get to are `stale` or
   * `waiting`, and come first in the next frame, oldest first. It bounds the work on one pair of meshes, too: such a pair
   * continues in later frames, with its objects as they were when it was begun, and is `stale` if they have moved by the time
   * it is done. Default Infinity: all pairs in every frame. Either way, queries are answered between slices of a few
   * milliseconds.
   */
  contactBudget?: number;
  /** Aborting before the service has started rejects with ABORTED, and ends its worker. */
  signal?: AbortSignal | undefined;
}

/** The current counts; the worker's numbers are those of its last answer. */
export interface ServiceStats {
  objects: number;
  meshes: number;
  /** How many triangles all meshes together were added with. */
  triangles: number;
  /** The worker's bytes for all meshes, trees and triangles; and the same per triangle, 0 if there are none. */
  meshBytes: number;
  bytesPerTriangle: number;
  /** Bytes of the worker's WebAssembly memory, and how many of them are in use. */
  memoryBytes: number;
  usedBytes: number;
  /** Frames that wait for the one in the worker: 0 or 1. */
  queueDepth: number;
  /** Calls without an answer yet, update() among them. */
  pending: number;
  /** Frames answered. */
  frames: number;
  /** Frame buffers allocated so far, both ways. Constant while the scene does not grow. */
  frameBuffers: number;
  /** The worker's milliseconds for the last frame. */
  ms: FrameResult['ms'];
}
