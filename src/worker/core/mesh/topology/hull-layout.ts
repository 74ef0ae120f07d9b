// The data of a convex mesh for frequent queries: its corners, each once and in clusters of near ones; and the planes of
// its faces. Four at a time, in tree space.

/** The header; the sections follow it in the order of the functions below. */
@unmanaged
export class Hull {
  /** The number of clusters, a multiple of four; padding clusters are empty. */
  clusterCount: u32;
  /** The number of groups of four planes; the last plane is repeated to fill the last group. */
  planeGroupCount: u32;
  /** 1 if the mesh, in its present form, is one closed part whose triangles all face outwards, or all inwards. */
  isOneClosedPart: u32;
  pad: u32;
}

export const HULL_BYTES: usize = offsetof<Hull>();
export const CLUSTER_CORNERS: u32 = 16;
/** The bytes of a cluster: x, y and z of four corners, four times. */
export const CLUSTER_BYTES: usize = 192;
export const BOUNDS_GROUP_BYTES: usize = 96;
export const PLANE_GROUP_BYTES: usize = 64;

// @ts-ignore: decorator
@inline
export function planeGroupsFor(triangleCount: u32): u32 {
  return (triangleCount + 3) >> 2;
}

/** Returns how many bytes follow the header. */
export function hullSectionBytes(clusterCount: u32, triangleCount: u32): u64 {
  return (
    <u64>(clusterCount >> 2) * BOUNDS_GROUP_BYTES + <u64>clusterCount * CLUSTER_BYTES +
    <u64>planeGroupsFor(triangleCount) * PLANE_GROUP_BYTES
  );
}

/**
 * Returns the address of x, y, z of four clusters' centres and of their half sizes, BOUNDS_GROUP_BYTES per four clusters.
 */
// @ts-ignore: decorator
@inline
export function boundsIn(hull: Hull): usize {
  return changetype<usize>(hull) + HULL_BYTES;
}

/**
 * Returns the address of vectors x, y, z of four corners each, CLUSTER_BYTES per cluster; the last corner is repeated to
 * fill its cluster.
 */
// @ts-ignore: decorator
@inline
export function cornersIn(hull: Hull): usize {
  return boundsIn(hull) + <usize>(hull.clusterCount >> 2) * BOUNDS_GROUP_BYTES;
}

/**
 * Returns the address of vectors x, y, z of four triangles' outward unit normals, and of the planes' heights along them.
 */
// @ts-ignore: decorator
@inline
export function planesIn(hull: Hull): usize {
  return cornersIn(hull) + <usize>hull.clusterCount * CLUSTER_BYTES;
}

/**
 * Returns the address of a plane's normal x; y, z and the height are 16, 32 and 48 bytes further. Planes have the order
 * of the triangles in the blocks.
 */
// @ts-ignore: decorator
@inline
export function planeAt(hull: Hull, index: u32): usize {
  return planesIn(hull) + <usize>(index >> 2) * PLANE_GROUP_BYTES + <usize>((index & 3) << 2);
}
