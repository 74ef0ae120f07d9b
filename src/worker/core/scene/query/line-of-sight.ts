// Finds which objects an eye sees: casts rays from the near plane of a view to points of each, in world units. Sampled,
// not exact: an object of which only other points are visible counts as hidden.

import { Affine } from '../../math/affine';
import { valueAt } from '../../math/plane';
import { ANY } from '../../mesh/query/ray';
import { boundsOf } from '../../shape/proxy';
import { isTooSmall } from '../view/cull';
import { keepsPoint } from './clipping';
import { setIgnoredObject, setFilter } from './filter';
import { nearPlane, eyeW, eyeX, eyeY, eyeZ } from '../view/projection';
import { boxAt, isAlive, slotOf } from '../objects';
import { readProxy, treeOf } from '../index/octree';
import { castRay } from './ray';
import { updateTrees } from '../scene';
import { OUTSIDE, addRectangle, allLimits, beginVolume, boxLimits, limitDepth, volumeContains } from './volume';
import { queryView, describeView } from '../view/views';

const bounds = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/**
 * Writes, for each of `count` ids at `targets`, a u8 to `points`: how many of nine points are in the view's frustum,
 * without its margin, and visible. It is 0 for an object that is not alive, not in the view's layers or too small for
 * it. Throws OUT_OF_MEMORY.
 */
export function sees(view: usize, targets: usize, count: u32, filter: usize, points: usize): void {
  updateTrees();
  setFilter(filter);
  describeView(queryView, view);
  beginVolume();
  addRectangle(-1, -1, 1, 1);
  limitDepth();
  for (let i: u32 = 0; i < count; i++) {
    const id = load<u32>(targets + (<usize>i << 2));
    store<u8>(points + i, isAlive(id) ? <u8>countVisiblePoints(id) : 0);
  }
}

function countVisiblePoints(id: u32): u32 {
  const box = boxAt(slotOf(id));
  const target = readProxy(treeOf(box.tree), box.position);
  boundsOf(target, bounds);
  if (!(target.layers & queryView.layers) || isTooSmall(queryView, bounds)) return 0;
  const limits = boxLimits(bounds, allLimits());
  if (limits == OUTSIDE) return 0;
  setIgnoredObject(id);
  let visibleCount: u32 = isPointVisible(0, 0, 0) ? 1 : 0;
  for (let corner: u32 = 0; corner < 8; corner++) {
    if (isPointVisible(corner & 1 ? 0.5 : -0.5, corner & 2 ? 0.5 : -0.5, corner & 4 ? 0.5 : -0.5)) visibleCount++;
  }
  setIgnoredObject(0);
  return visibleCount;
}

/**
 * Returns whether a point is visible: casts a ray to it from the near plane. The point is in the cube whose image the
 * target's bounds are.
 */
function isPointVisible(a: f64, b: f64, c: f64): bool {
  const x = bounds.tx + a * bounds.xx + b * bounds.yx + c * bounds.zx;
  const y = bounds.ty + a * bounds.xy + b * bounds.yy + c * bounds.zy;
  const z = bounds.tz + a * bounds.xz + b * bounds.yz + c * bounds.zz;
  if (!volumeContains(x, y, z) || !keepsPoint(x, y, z)) return false;
  // Where the line to the eye intersects the near plane: an eye at infinity is a direction.
  const depth = valueAt(nearPlane, x, y, z);
  const towardsX = eyeX - x * eyeW, towardsY = eyeY - y * eyeW, towardsZ = eyeZ - z * eyeW;
  const rise = nearPlane.x * towardsX + nearPlane.y * towardsY + nearPlane.z * towardsZ;
  const t = -depth / rise;
  const length = t * sqrt(towardsX * towardsX + towardsY * towardsY + towardsZ * towardsZ);
  if (!(length > 0)) return true; // on the near plane itself
  return !castRay(x + t * towardsX, y + t * towardsY, z + t * towardsZ, -towardsX, -towardsY, -towardsZ, 0, length, ANY);
}
