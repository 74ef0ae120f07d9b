import type { InstancedMesh } from 'three';
import { MOST_IN_BLOCK } from './stand-in.js';

/** Size of the first step if more than a block of instances is to be added: code that has not run yet is slow. */
const FIRST_INSTANCES = 1024;

/** Returns how many instances three draws. */
export function wantedOf({ count, instanceMatrix }: InstancedMesh): number {
  return Math.max(0, Math.trunc(Math.min(count, instanceMatrix.count)) || 0);
}

/** Returns how many instances there should be by now, given the present `count`: many are added, and removed, in slices. */
export function nextCount(count: number, wanted: number, isInSlice: boolean): number {
  const isMuch = Math.abs(wanted - count) > MOST_IN_BLOCK;
  if (isMuch && count > 0 && !isInSlice) return count;
  // Blocks are filled up first, and are added and removed as wholes.
  const [block, begun] = [Math.floor(count / MOST_IN_BLOCK), count % MOST_IN_BLOCK];
  const fewest = (begun > 0 ? block : block - 1) * MOST_IN_BLOCK;
  const most = isMuch && block === 0 ? Math.max(FIRST_INSTANCES, 2 * count) : MOST_IN_BLOCK;
  return Math.max(fewest, Math.min((block + 1) * MOST_IN_BLOCK, count + most, wanted));
}
