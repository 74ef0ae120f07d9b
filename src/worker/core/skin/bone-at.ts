import { bonesAt, vertexOfCorner, deformOf, isDeformable, weightsAt } from '../mesh/tree/deform-layout';
import { Mesh } from '../mesh/tree/layout';
import { baseOf } from './pose';

/** Returns how much a bone moves a point in a triangle, given by its barycentric coordinates. */
function weightOf(base: Mesh, triangle: u32, bone: u32, u: f64, v: f64, w: f64): f64 {
  const deform = deformOf(base);
  let sum: f64 = 0;
  for (let k: u32 = 0; k < 3; k++) {
    const vertex = vertexOfCorner(base, triangle, k);
    const bones = bonesAt(deform, vertex), weights = weightsAt(deform, vertex);
    const share = k == 0 ? u : k == 1 ? v : w;
    for (let i: usize = 0; i < 4; i++) {
      if (<u32>load<u16>(bones + (i << 1)) == bone) sum += share * <f64>load<f32>(weights + (i << 2));
    }
  }
  return sum;
}

/**
 * Returns the bone with the greatest weight at a point of a triangle, given by its barycentric coordinates; of several
 * the first. -1 if the mesh has no skin.
 */
export function boneAt(mesh: Mesh, triangle: u32, u: f64, v: f64, w: f64): i32 {
  const base = baseOf(mesh);
  if (!hasSkin(mesh) || triangle >= base.triangleCount) return -1;
  let best: i32 = -1;
  let bestWeight: f64 = -Infinity;
  for (let k: u32 = 0; k < 3; k++) {
    const vertex = vertexOfCorner(base, triangle, k);
    for (let i: usize = 0; i < 4; i++) {
      if (load<f32>(weightsAt(deformOf(base), vertex) + (i << 2)) == 0) continue;
      const bone = <i32>load<u16>(bonesAt(deformOf(base), vertex) + (i << 1));
      const weight = weightOf(base, triangle, bone, u, v, w);
      if (weight < bestWeight || (weight == bestWeight && bone >= best)) continue;
      bestWeight = weight;
      best = bone;
    }
  }
  return best;
}

/** Returns whether bones may move parts of a mesh. */
export function hasSkin(mesh: Mesh): bool {
  const base = baseOf(mesh);
  return isDeformable(base) && deformOf(base).boneCount != 0;
}
