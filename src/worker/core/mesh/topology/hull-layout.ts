// What a convex mesh is asked for again and again: its corners, each once, those near each other in one cluster; and
// the planes of its faces. Four at a time, in tree space.

/** The header; the sections follow it in the order of the functions below. */
@unmanaged
export class Hull {
  /** The number of clusters, a multiple of four; those that fill up have nothing in them. */
  clusterCount: u32;
  /** How many groups of four planes there are; the last plane fills up the last group. */
  fourPlanesCount: u32;
  /**
   * 1 where the mesh is one part and closed, as it is now, by triangles that are all turned outwards, or all inwards.
   */
  isWhole: u32;
  pad: u32;
}

export const HULL_BYTES: usize = offsetof<Hull>();
export const CLUSTER_CORNERS: u32 = 16;
/** The bytes of a cluster: x, y and z of four corners, four times. */
export const CLUSTER_BYTES: usize = 192;
export const FOUR_BOUNDS_BYTES: usize = 96;
export const FOUR_PLANES_BYTES: usize = 64;

// @ts-ignore: decorator
@inline
export function fourPlanesFor(triangleCount: u32): u32 {
  return (triangleCount + 3) >> 2;
}

/** Answers how many bytes follow the header. */
export function hullSectionBytes(clusterCount: u32, triangleCount: u32): u64 {
  return (
    <u64>(clusterCount >> 2) * FOUR_BOUNDS_BYTES + <u64>clusterCount * CLUSTER_BYTES +
    <u64>fourPlanesFor(triangleCount) * FOUR_PLANES_BYTES
  );
}

/**
 * Answers the address of x, y, z of four clusters' middles and of their half sizes, FOUR_BOUNDS_BYTES for every four
 * clusters.
 */
// @ts-ignore: decorator
@inline
export function boundsIn(hull: Hull): usize {
  return changetype<usize>(hull) + HULL_BYTES;
}

/**
 * Answers the address of vectors x, y, z of four corners each, CLUSTER_BYTES for every cluster; the last corner fills
 * up.
 */
// @ts-ignore: decorator
@inline
export function cornersIn(hull: Hull): usize {
  return boundsIn(hull) + <usize>(hull.clusterCount >> 2) * FOUR_BOUNDS_BYTES;
}

/** Answers the address of vectors x, y, z of four triangles' outward unit normals, and of their heights along these. */
// @ts-ignore: decorator
@inline
export function planesIn(hull: Hull): usize {
  return cornersIn(hull) + <usize>hull.clusterCount * CLUSTER_BYTES;
}

/**
 * Answers the address of a plane's normal; 16, 32 and 48 bytes on are y, z and the height. Planes are in the order in
 * which the blocks have triangles.
 */
// @ts-ignore: decorator
@inline
export function planeAt(hull: Hull, index: u32): usize {
  return planesIn(hull) + <usize>(index >> 2) * FOUR_PLANES_BYTES + <usize>((index & 3) << 2);
}
