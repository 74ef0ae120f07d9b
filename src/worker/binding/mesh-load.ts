import type { BakedSource } from '../../shared/baked-source.js';
import { CollisionError } from '../../shared/errors.js';
import type { MeshAddress } from './descriptions.js';
import { type CoreExports, FAULTS } from './exports.js';
import type { CoreMemory } from './memory.js';
import { orAbort } from './steps.js';

/** A baked mesh that is being loaded: call `step` until it returns true, then `finish`. */
export interface MeshLoad {
  /**
   * Copies and validates for about `budget` milliseconds, or as many bytes as are there. Returns whether everything is done.
   * Throws BAD_DATA, which ends the load.
   */
  step(budget: number): boolean;
  /** Returns whether the load cannot proceed before more bytes arrive. */
  isWaiting(): boolean;
  finish(): MeshAddress;
  abort(): void;
}

// core/check-mesh.ts
const MESH_UNDECIDED = 255;

/** Bytes that are copied at a time: as much as a processor's inner caches hold until it is validated. */
const BYTES_PER_STEP = 1 << 17;

interface LoadSource {
  /** The mesh, and how many bytes were given with it. */
  baked: BakedSource;
  givenBytes: number;
  /** Whether the mesh comes straight from a builder's core, and nobody else had access to it. */
  isTrusted: boolean;
}

/**
 * Begins to copy a baked mesh in, and to check that nothing in it can lead a traversal astray, unless it is trusted. Throws
 * OUT_OF_MEMORY.
 */
export function beginLoad(
  wasm: CoreExports,
  memory: CoreMemory,
  { baked, givenBytes, isTrusted }: LoadSource,
  registerMesh: (mesh: MeshAddress) => void,
): MeshLoad {
  const { bytes: length } = baked;
  const address = memory.allocate(length);
  let check = 0;
  let copiedBytes = 0;
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
  const copyNextBytes = () => {
    const bytes = baked.view(copiedBytes, BYTES_PER_STEP);
    memory.bytes(address + copiedBytes, bytes.length).set(bytes);
    copiedBytes += bytes.length;
  };
  const isWaiting = () => copiedBytes < length && copiedBytes === baked.available;
  const step = (budget: number): boolean => {
    const deadline = performance.now() + budget;
    if (check === 0 && !isTrusted) check = wasm.beginCheck(address, length) >>> 0;
    do {
      if (copiedBytes < baked.available) copyNextBytes();
      const fault = isTrusted ? 0 : wasm.stepCheck(check, deadline, copiedBytes);
      if (fault !== 0 && fault !== MESH_UNDECIDED) {
        throw new CollisionError('BAD_DATA', `${FAULTS[fault]} (${givenBytes} bytes given)`);
      }
      if (fault === 0 && copiedBytes === length) {
        endCheck();
        return true;
      }
    } while (!isWaiting() && performance.now() < deadline);
    return false;
  };
  return {
    step: (budget) => orAbort(abort, () => step(budget)),
    isWaiting,
    finish() {
      hasEnded = true;
      registerMesh(address);
      return address;
    },
    abort,
  };
}
