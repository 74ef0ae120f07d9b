import { acquireChunks, BakedSource } from '../../shared/baked-source.js';
import * as layout from '../../shared/layout.js';
import type { MeshAddress } from './descriptions.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import { orAbort } from './steps.js';

/** A mesh that is being baked: call `step` until it returns 1, then `finish`. */
export interface MeshBake {
  /** Whether the bake still reads the mesh itself, which must not change then, and not only copies of it. */
  readonly isReading: boolean;
  /** Works for about `budget` milliseconds. Returns the fraction done. Throws OUT_OF_MEMORY; the bake has ended then. */
  step(budget: number): number;
  /** Returns the baked mesh, in a buffer of its own. */
  finish(): ArrayBuffer;
  /** Returns the baked mesh in chunks, if the bake was begun with spare ones. */
  finishChunks(): BakedSource;
  abort(): void;
}

/**
 * Bytes that are copied between two readings of the clock: a tenth of a millisecond, or half a millisecond if the memory is
 * new.
 */
const BYTES_PER_STEP = 1 << 20;
/** The core's share of the progress; the rest is copying the mesh out. */
const CORE_SHARE = 0.9;

/** Begins to bake a mesh: into one buffer, or into shared chunks, which are taken from `spare`. Throws OUT_OF_MEMORY. */
export function beginBake(
  wasm: CoreExports,
  memory: CoreMemory,
  mesh: MeshAddress,
  spare?: ArrayBufferLike[],
): MeshBake {
  const bake = wasm.beginBake(mesh) >>> 0;
  let baked: BakedSource | undefined;
  let copiedBytes = 0;
  let hasEnded = false;

  const abort = () => {
    if (!hasEnded) wasm.freeBake(bake);
    hasEnded = true;
  };
  const step = (budget: number): number => {
    const deadline = performance.now() + budget;
    if (!baked) {
      const fraction = wasm.stepBake(bake, deadline);
      if (fraction < 1) return CORE_SHARE * fraction;
      const bytes = bytesOf(memory, wasm.bakedMesh(bake) >>> 0);
      baked = spare ? acquireChunks(bytes, spare, true) : new BakedSource(bytes, [new ArrayBuffer(bytes)], bytes);
    }
    const from = wasm.bakedMesh(bake) >>> 0;
    while (copiedBytes < baked.bytes) {
      const part = baked.view(copiedBytes, BYTES_PER_STEP);
      part.set(memory.bytes(from + copiedBytes, part.length));
      copiedBytes += part.length;
      if (performance.now() >= deadline) break;
    }
    return copiedBytes === baked.bytes ? 1 : CORE_SHARE + ((1 - CORE_SHARE) * copiedBytes) / baked.bytes;
  };
  const finishChunks = () => {
    abort();
    return baked!;
  };
  return {
    get isReading() {
      return !hasEnded && Boolean(wasm.readsMesh(bake));
    },
    step: (budget) => orAbort(abort, () => step(budget)),
    finish: () => finishChunks().buffers[0] as ArrayBuffer,
    finishChunks,
    abort,
  };
}

function bytesOf({ view }: CoreMemory, mesh: MeshAddress): number {
  return view.getUint32(mesh + layout.MESH_BYTES, true);
}
