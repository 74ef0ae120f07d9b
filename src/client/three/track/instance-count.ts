import type { InstancedMesh } from 'three';
import { MAX_BLOCK_SIZE } from './stand-in.js';

/** Size of the first step if more than a block of instances is to be added: code that has not run yet is slow. */
const FIRST_INSTANCES = 1024;

/** Returns how many instances three draws. */
export function drawnCountOf({ count, instanceMatrix }: InstancedMesh): number {
  return Math.max(0, Math.trunc(Math.min(count, instanceMatrix.count)) || 0);
}

/** Returns how many instances there should be by now, given the present `count`: many are added, and removed, in slices. */
export function nextCount(count: number, targetCount: number, isInSlice: boolean): number {
  const isLargeChange = Math.abs(targetCount - count) > MAX_BLOCK_SIZE;
  if (isLargeChange && count > 0 && !isInSlice) return count;
  // Blocks are filled up first, and are added and removed as wholes.
  const [block, filled] = [Math.floor(count / MAX_BLOCK_SIZE), count % MAX_BLOCK_SIZE];
  const minCount = (filled > 0 ? block : block - 1) * MAX_BLOCK_SIZE;
  const maxAdded = isLargeChange && block === 0 ? Math.max(FIRST_INSTANCES, 2 * count) : MAX_BLOCK_SIZE;
  return Math.max(minCount, Math.min((block + 1) * MAX_BLOCK_SIZE, count + maxAdded, targetCount));
}
