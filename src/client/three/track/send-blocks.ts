import { isAffine } from '../../check/affine.js';
import type { CollisionService } from '../../service.js';

/**
 * Sends the matrices of instances from number `first` on, block by block. Those from number `placed` on were just added: every
 * query from now on sees them in their places. All others move with the next frame. `hasInvalid`: some new ones have no valid
 * matrix, so the next frame brings all, and lists those.
 */
export function sendBlocks(
  service: CollisionService,
  blocks: readonly Uint32Array[],
  matricesByBlock: readonly Float32Array[],
  parent: readonly number[],
  first: number,
  placed: number,
  hasInvalid: boolean,
): void {
  let end = 0;
  blocks.forEach((block, i) => {
    const begin = end;
    end += block.length;
    if (end <= first) return;
    const matrices = matricesByBlock[i];
    // A smaller attribute has none for those that are to be removed in the next slices.
    const ids = matrices.length < 16 * block.length ? block.subarray(0, matrices.length / 16) : block;
    const from = Math.max(begin, first);
    const firstNew = Math.max(from, placed);
    const at = firstNew - begin;
    if (at < ids.length && isAffine(parent, 0))
      service.placeInstances(at ? ids.subarray(at) : ids, matrices.subarray(16 * at), parent);
    if (from < placed || hasInvalid) service.moveInstances(ids, matrices, parent);
  });
}
