import type { BakedSource } from '../../shared/baked-source.js';
import { CollisionError } from '../../shared/errors.js';
import type { MeshAddress } from './descriptions.js';
import { type CoreExports, FAULTS } from './exports.js';
import type { CoreMemory } from './memory.js';

/** A baked mesh on its way in: call `step` until it answers true, then `finish`. */
export interface MeshLoad {
  /**
   * Copies and checks for about `budget` milliseconds, or what there is of the bytes. Returns whether all is done. Throws BAD_DATA;
   * the load has ended then.
   */
  step(budget: number): boolean;
  /** Returns whether nothing can be done before more bytes are there. */
  isWaiting(): boolean;
  finish(): MeshAddress;
  abort(): void;
}

// core/check-mesh.ts
const MESH_UNDECIDED = 255;

/** How much is copied at a time: as much as the nearer caches of a processor hold until it is checked. */
const STEP_BYTES = 1 << 17;

interface LoadSource {
  /** The mesh; and how many bytes were given with it. */
  baked: BakedSource;
  given: number;
  /** The core of a builder has made it, and nobody else has had it. */
  isTrusted: boolean;
}

/**
 * Begins to copy a baked mesh in, and to check that nothing in it can lead a traversal astray, unless it is trusted. Throws
 * OUT_OF_MEMORY.
 */
export function beginLoad(
  wasm: CoreExports,
  memory: CoreMemory,
  { baked, given, isTrusted }: LoadSource,
  take: (mesh: MeshAddress) => void,
): MeshLoad {
  const { bytes: length } = baked;
  const address = memory.allocate(length);
  let check = 0;
  let copied = 0;
  let hasEnded = false;

  const endCheck = () => {
    if (check !== 0) wasm.release(check);
    check = 0;
  };
  const abort = () => {
    if (hasEnded) return;
    hasEnded = true;
    endCheck();
    wasm.release(address);
  };
  const copySome = () => {
    const bytes = baked.view(copied, STEP_BYTES);
    memory.bytes(address + copied, bytes.length).set(bytes);
    copied += bytes.length;
  };
  const isWaiting = () => copied < length && copied === baked.available;
  const step = (budget: number): boolean => {
    const end = performance.now() + budget;
    if (check === 0 && !isTrusted) check = wasm.beginCheck(address, length) >>> 0;
    do {
      if (copied < baked.available) copySome();
      const fault = isTrusted ? 0 : wasm.stepCheck(check, end, copied);
      if (fault !== 0 && fault !== MESH_UNDECIDED) {
        throw new CollisionError('BAD_DATA', `${FAULTS[fault]} (${given} bytes given)`);
      }
      if (fault === 0 && copied === length) {
        endCheck();
        return true;
      }
    } while (!isWaiting() && performance.now() < end);
    return false;
  };
  return {
    step(budget) {
      try {
        return step(budget);
      } catch (error) {
        abort();
        throw error;
      }
    },
    isWaiting,
    finish() {
      hasEnded = true;
      take(address);
      return address;
    },
    abort,
  };
}
