import * as layout from '../../shared/layout.js';
import type { MeshAddress } from './descriptions.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';

/** A mesh on its way to a buffer: call `step` until it answers 1, then `finish`. */
export interface MeshBake {
  /** Whether the mesh itself is read from now on, and must stay as it is, and not only copies of it. */
  readonly isReading: boolean;
  /** Works for about `budget` milliseconds. Answers the fraction done. Throws OUT_OF_MEMORY; the bake has ended then. */
  step(budget: number): number;
  /** Answers the baked mesh, in a buffer of its own. */
  finish(): ArrayBuffer;
  abort(): void;
}

/** How much is copied between two looks at the clock: a tenth of a millisecond, and half of one where memory is new. */
const STEP_BYTES = 1 << 20;
/** Of a bake: the rest of it copies the mesh out. */
const CORE_SHARE = 0.9;

/** Begins to bake a mesh. Throws OUT_OF_MEMORY. */
export function beginBake(wasm: CoreExports, memory: CoreMemory, mesh: MeshAddress): MeshBake {
  const bake = wasm.beginBake(mesh) >>> 0;
  let baked: Uint8Array<ArrayBuffer> | undefined;
  let copied = 0;
  let hasEnded = false;

  const abort = () => {
    if (!hasEnded) wasm.freeBake(bake);
    hasEnded = true;
  };
  const step = (budget: number): number => {
    const end = performance.now() + budget;
    if (!baked) {
      const fraction = wasm.stepBake(bake, end);
      if (fraction < 1) return CORE_SHARE * fraction;
      baked = new Uint8Array(bytesOf(memory, wasm.bakedMesh(bake) >>> 0));
    }
    const from = wasm.bakedMesh(bake) >>> 0;
    while (copied < baked.length) {
      const bytes = Math.min(STEP_BYTES, baked.length - copied);
      baked.set(memory.bytes(from + copied, bytes), copied);
      copied += bytes;
      if (performance.now() >= end) break;
    }
    return copied === baked.length ? 1 : CORE_SHARE + ((1 - CORE_SHARE) * copied) / baked.length;
  };
  return {
    get isReading() {
      return !hasEnded && Boolean(wasm.readsMesh(bake));
    },
    step(budget) {
      try {
        return step(budget);
      } catch (error) {
        abort();
        throw error;
      }
    },
    finish() {
      abort();
      return baked!.buffer;
    },
    abort,
  };
}

function bytesOf({ view }: CoreMemory, mesh: MeshAddress): number {
  return view.getUint32(mesh + layout.MESH_BYTES, true);
}
