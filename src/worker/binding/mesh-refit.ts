import { CollisionError } from '../../shared/errors.js';
import type { TreeInfo } from '../../shared/protocol.js';
import type { MeshAddress } from './descriptions.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import { orAbort } from './steps.js';

/** A mesh whose vertices are being moved: call `step` until its result is defined, then `finish` or `abort`. */
export interface MeshRefit {
  /**
   * Works for about `budget` milliseconds. Returns undefined if there is more to do, else whether the vertices could be
   * moved: false if a triangle that was left out of the tree has an area now. Throws BAD_DATA, OUT_OF_MEMORY, which ends
   * the refit.
   */
  step(budget: number): boolean | undefined;
  /** Returns the mesh with the moved vertices. */
  finish(): MeshAddress;
  /** Frees the copy. */
  abort(): void;
}

// core/mesh/tree/refit.ts
export const REFIT_OK = 0;
const REFIT_NOT_FINITE = 1;
const REFIT_EMPTY = 2;
const REFIT_NOT_IN_TREE = 3;
// core/mesh-update.ts
const REFIT_UNDECIDED = 255;

/** Numbers that are copied between two readings of the clock: half a millisecond. */
const NUMBERS_PER_STEP = 1 << 18;

/** `registerMesh` is called with a copy that becomes a mesh of its own. */
export function beginRefit(
  wasm: CoreExports,
  memory: CoreMemory,
  info: TreeInfo,
  mesh: MeshAddress,
  positions: Float32Array,
  isCopied: boolean,
  registerMesh: (copy: MeshAddress) => void,
): MeshRefit {
  // The update, the positions and the scratch memory each begin at a multiple of 16.
  const updateBytes = wasm.updateBytes() >>> 0;
  const positionsBytes = Math.ceil(positions.byteLength / 16) * 16;
  const update = memory.allocate(updateBytes + positionsBytes + (wasm.refitScratch(mesh) >>> 0));
  const positionsAddress = update + updateBytes;
  let writtenCount = 0;
  let hasBegun = false;
  let hasEnded = false;

  const abort = () => {
    if (hasEnded) return;
    hasEnded = true;
    if (hasBegun) wasm.dropUpdate(update);
    wasm.release(update);
  };
  const writeUntil = (deadline: number) => {
    while (writtenCount < positions.length) {
      const block = positions.subarray(writtenCount, writtenCount + NUMBERS_PER_STEP);
      new Float32Array(memory.buffer, positionsAddress + 4 * writtenCount, block.length).set(block);
      writtenCount += block.length;
      if (performance.now() >= deadline) break;
    }
  };
  const step = (budget: number): boolean | undefined => {
    const deadline = performance.now() + budget;
    writeUntil(deadline);
    if (writtenCount < positions.length) return undefined;
    if (!hasBegun) {
      wasm.beginUpdate(update, mesh, positionsAddress, positionsAddress + positionsBytes, isCopied);
      hasBegun = true;
    }
    const fault = wasm.stepUpdate(update, deadline);
    if (fault === REFIT_UNDECIDED) return undefined;
    return isMoved(fault, info, positions, () => wasm.updateCulprit(update) >>> 0);
  };
  return {
    step: (budget) => orAbort(abort, () => step(budget)),
    finish() {
      const movedMesh = wasm.updatedMesh(update) >>> 0;
      hasEnded = true;
      wasm.release(update);
      if (isCopied) registerMesh(movedMesh);
      return movedMesh;
    },
    abort,
  };
}

/** Throws BAD_DATA if the number of positions does not match the mesh's vertices. */
export function checkCount({ vertices }: TreeInfo, positions: Float32Array): void {
  if (positions.length === 3 * vertices) return;
  const expected = `${3 * vertices} for its ${vertices} vertices`;
  throw new CollisionError('BAD_DATA', `the length of positions is ${positions.length}, expected ${expected}`);
}

/** Returns whether a finished refit has moved the vertices. Throws BAD_DATA. */
export function isMoved(
  fault: number,
  { elements }: TreeInfo,
  positions: Float32Array,
  culprit: () => number,
): boolean {
  if (fault === REFIT_NOT_FINITE) throw notFiniteError(positions, culprit());
  if (fault === REFIT_EMPTY) throw noAreaError(elements);
  return fault !== REFIT_NOT_IN_TREE;
}

export function noAreaError(triangles: number, weldNote = ''): CollisionError {
  return new CollisionError(
    'BAD_DATA',
    `none of the ${triangles} triangles${weldNote} has an area and finite vertices, expected one at least`,
  );
}

function notFiniteError(positions: Float32Array, vertex: number): CollisionError {
  const coordinates = positions.subarray(3 * vertex, 3 * vertex + 3).join(', ');
  return new CollisionError('BAD_DATA', `vertex ${vertex} of positions is (${coordinates}), expected finite numbers`);
}
