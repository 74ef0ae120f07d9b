// Switches that the bench compiles differently, to measure the effect of fitted boxes (`npm run bench -- --boxes`):
// trees without rotations, and counters. In the shipped core all of this is constant and compiles to nothing.

/** Whether nodes get rotations. */
export const FITTING: bool = true;
export const COUNTING: bool = false;

let nodes: u32 = 0;
let leaves: u32 = 0;
let triangles: u32 = 0;

/** Counts a test of a node's boxes against a ray, or against those of another node. */
// @ts-ignore: decorator
@inline
export function countNode(): void {
  if (COUNTING) nodes++;
}

/** Counts a test of a block of triangles against a ray, or against another block. */
// @ts-ignore: decorator
@inline
export function countLeaf(): void {
  if (COUNTING) leaves++;
}

/** Counts a test of a triangle in float64. */
// @ts-ignore: decorator
@inline
export function countTriangle(): void {
  if (COUNTING) triangles++;
}

/** Returns the count since the last call, of: 0 nodes, 1 leaves, 2 triangles. */
export function takeCount(which: i32): u32 {
  const count = which == 0 ? nodes : which == 1 ? leaves : triangles;
  if (which == 0) nodes = 0;
  else if (which == 1) leaves = 0;
  else triangles = 0;
  return count;
}
