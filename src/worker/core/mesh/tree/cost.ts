import { Space } from './tree-space';

/**
 * Returns the expected cost of a ray through a mesh's bounds, in nodes and blocks that it visits: the root, and each
 * descendant with the probability that its box is hit, which is its area divided by the root's (Goldsmith and Salmon,
 * "Automatic Creation of Object Hierarchies for Ray Tracing", 1987). `areas` is half the total area of all boxes, in
 * tree space.
 */
export function treeCost(space: Space, scale: f64, areas: f64): f64 {
  const x = (space.maxX - space.minX) * scale;
  const y = (space.maxY - space.minY) * scale;
  const z = (space.maxZ - space.minZ) * scale;
  return 1.0 + areas / (x * y + y * z + z * x);
}
