// Draws the occluders of a view into the depth buffer: as they are if they are small, else a part of them that certainly
// occludes.

import {
  FLAG_FACE_SIDES, FLAG_NO_OCCLUDER, FLAG_OCCLUDER, FLAG_SIDE, SHAPE_BOX, SHAPE_MESH, SHAPE_POINT_LINE, SHAPE_SPHERE, SIDE_BACK, SIDE_FRONT,
} from '../../../../shared/layout';
import { AFFINE_BYTES, Affine, invert, multiply } from '../../math/affine';
import { valueAt } from '../../math/plane';
import { Mesh, composeTreeMap } from '../../mesh/tree/layout';
import { pixelsWide } from '../../occlusion/depth-tiles';
import { drawOccluder, screenNear } from '../../occlusion/draw-occluder';
import { ReliefEye, drawRelief } from '../../occlusion/draw-relief';
import { CUBE, MAX_TRIANGLES, innerBoxOf, isComputed, shapeOf } from '../../occlusion/occluder-shape';
import { beginReliefs, reliefOf } from '../../occlusion/relief';
import { halfOf, worldOf } from '../../shape/item';
import { isPosed } from '../../skin/pose';
import { clipSetOf, itemAt, orientedBounds } from '../objects';
import { changedSinceCull } from '../scene';
import { hasSlot } from '../slot-set';
import { pixelsAcross } from './cull';
import { isHidden } from './occludees';
import { candidateAt, candidateCount } from './occluder-candidates';
import { camera, pixelMargin, view } from './occlusion-screen';
import { setBit } from './views';

/**
 * The work limit of one view: a triangle counts 1, an object 8, and one that turns out to be occluded 2. In a city of
 * 100,000 boxes, twice as much work occludes a hundredth more.
 */
const BUDGET: u32 = 6000;
/** How many of the largest objects are considered. */
const MAX_CANDIDATES: u32 = 8192;
/**
 * Per view: how many triangles of meshes that are examined for the first time, and how many meshes into which a box is
 * fitted.
 */
const MAX_NEW_TRIANGLES: u32 = 20000;
const MAX_NEW_BOXES: u32 = 8;
/** Triangles of a relief are small or turned away: they count half. */
const RELIEF_SHIFT: u32 = 1;

let newTriangles: u32 = 0, newBoxes: u32 = 0;

function mayOcclude(slot: u32): bool {
  const item = itemAt(slot);
  if (item.flags & (FLAG_NO_OCCLUDER | FLAG_FACE_SIDES) || item.shape == SHAPE_POINT_LINE) return false;
  if (!(item.flags & FLAG_OCCLUDER) && item.shape != SHAPE_BOX && item.shape != SHAPE_MESH) return false;
  if (camera.isLasting && hasSlot(changedSinceCull, slot)) return false;
  // Set 1 is the renderer's clipping planes and nothing else: it is empty if views request occlusion.
  return clipSetOf(slot) <= 1 && !(item.shape == SHAPE_MESH && isPosed(changetype<Mesh>(<usize>item.mesh)));
}

/** Draws occluders within the budget. Returns how many. */
export function drawOccluders(): u32 {
  newTriangles = newBoxes = 0;
  beginReliefs();
  let work: u32 = 0, count: u32 = 0;
  for (let i: u32 = 0, end = min(candidateCount, MAX_CANDIDATES); i < end && work < BUDGET; i++) {
    const slot = candidateAt(i);
    if (!mayOcclude(slot)) continue;
    const bounds = orientedBounds(slot);
    if (isHidden(bounds)) {
      work += 2;
      continue;
    }
    // An object that will soon be too small to be drawn cannot be relied on.
    if (view.minPixels > 0 && pixelsAcross(view, bounds) < 2 * view.minPixels) continue;
    const cost = draw(slot, bounds);
    if (cost == 0) continue;
    work += cost + 8;
    setBit(view.occluders, slot);
    count++;
  }
  return count;
}

const occluderTransform = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/**
 * Draws the part of an object that certainly occludes others. Returns how many triangles were examined, 0 if there is no
 * such part.
 */
function draw(slot: u32, bounds: Affine): u32 {
  const item = itemAt(slot);
  const side = (<u32>item.flags / FLAG_SIDE) & 3;
  const isCut = crossesNearPlane(bounds);
  if (item.shape == SHAPE_MESH) return drawMesh(changetype<Mesh>(<usize>item.mesh), worldOf(item), side, isCut);
  if (side == SIDE_BACK) return 0;
  memory.copy(changetype<usize>(occluderTransform), changetype<usize>(bounds), AFFINE_BYTES);
  if (item.shape == SHAPE_BOX) return isCut ? drawCutBox(side) : drawSolid(occluderTransform);
  if (isCut) return 0;
  // A box inside the sphere, or inside the capsule's cylinder and parts of its ends.
  const half = halfOf(item);
  const radialScale = item.shape == SHAPE_SPHERE || half == 0 ? 0.577 : 0.707;
  scaleAxes(occluderTransform, radialScale, radialScale, half == 0 ? 0.577 : half / (half + 1));
  return drawSolid(occluderTransform);
}

/** Draws a small mesh as it is if the eye does not move, else a part of it, or a box inside it, that occludes no more. */
function drawMesh(mesh: Mesh, world: Affine, side: u32, isCut: bool): u32 {
  if (camera.margin == 0 && mesh.keptCount <= MAX_TRIANGLES) return drawTriangles(mesh, world, side, isCut);
  if (!mesh.closed) return drawOpenMesh(mesh, world, side);
  if (isCut || side == SIDE_BACK) return 0;
  if (!isComputed(mesh, true) && newBoxes++ >= MAX_NEW_BOXES) return 0;
  const box = innerBoxOf(mesh);
  if (box === null || (side == SIDE_FRONT && box.winding < 0)) return 0;
  multiply(occluderTransform, world, changetype<Affine>(box));
  return drawSolid(occluderTransform);
}

function drawTriangles(mesh: Mesh, world: Affine, side: u32, isCut: bool): u32 {
  if (!isComputed(mesh, false)) {
    if (newTriangles > MAX_NEW_TRIANGLES) return 0;
    newTriangles += mesh.keptCount;
  }
  const shape = shapeOf(mesh);
  if (shape === null) return 0;
  composeTreeMap(occluderTransform, mesh, world);
  let cost: u32 = 0;
  if (side & SIDE_FRONT) {
    drawOccluder(shape, occluderTransform, false, pixelMargin);
    cost += shape.triangleCount;
  }
  // The back faces of a closed mesh are visible only from inside, or where the near plane cuts it.
  if (side & SIDE_BACK && (side == SIDE_BACK || !mesh.closed || isCut)) {
    drawOccluder(shape, occluderTransform, true, pixelMargin);
    cost += shape.triangleCount;
  }
  return cost;
}

/** Draws the box at `occluderTransform`, which the near plane cuts, if the eye does not move. */
function drawCutBox(side: u32): u32 {
  if (camera.margin > 0) return 0;
  drawOccluder(CUBE, occluderTransform, false, pixelMargin);
  if (side & SIDE_BACK) drawOccluder(CUBE, occluderTransform, true, pixelMargin);
  return CUBE.triangleCount;
}

const reliefEye = changetype<ReliefEye>(memory.data(<i32>offsetof<ReliefEye>(), 16));

/** Draws the part of an open mesh that occludes others from wherever the eye is within the margin. */
function drawOpenMesh(mesh: Mesh, world: Affine, side: u32): u32 {
  if (!camera.isPerspective) return 0;
  const relief = reliefOf(mesh, MAX_NEW_TRIANGLES);
  if (relief === null) return 0;
  reliefEye.x = camera.eyeX; reliefEye.y = camera.eyeY; reliefEye.z = camera.eyeZ;
  reliefEye.margin = camera.margin;
  reliefEye.nearRadius = camera.nearRadius;
  reliefEye.pixelsPerUnit = view.pixelsPerUnit * <f64>pixelsWide / camera.width;
  reliefEye.outlineRadius = pixelMargin;
  let triangles: u32 = 0;
  if (side & SIDE_FRONT) triangles = drawRelief(relief, mesh, world, true, reliefEye);
  if (side & SIDE_BACK && triangles == 0) triangles = drawRelief(relief, mesh, world, false, reliefEye);
  return triangles >> RELIEF_SHIFT;
}

/** Draws a box that a solid contains and that is completely behind the near plane. */
function drawSolid(box: Affine): u32 {
  if (camera.margin > 0 && !erode(box, camera.margin)) return 0;
  drawOccluder(CUBE, box, false, pixelMargin);
  return CUBE.triangleCount;
}

const inverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** Moves all faces of a box inwards. Returns false if nothing is left. */
function erode(box: Affine, margin: f64): bool {
  invert(inverse, box);
  const b = inverse;
  const x = 1 - margin * sqrt(b.xx * b.xx + b.yx * b.yx + b.zx * b.zx);
  const y = 1 - margin * sqrt(b.xy * b.xy + b.yy * b.yy + b.zy * b.zy);
  const z = 1 - margin * sqrt(b.xz * b.xz + b.yz * b.yz + b.zz * b.zz);
  if (!(x > 0 && y > 0 && z > 0)) return false;
  scaleAxes(box, x, y, z);
  return true;
}

function scaleAxes(box: Affine, x: f64, y: f64, z: f64): void {
  box.xx *= x; box.xy *= x; box.xz *= x;
  box.yx *= y; box.yy *= y; box.yz *= y;
  box.zx *= z; box.zy *= z; box.zz *= z;
}

/** Returns whether oriented bounds have a corner in front of the near plane. */
function crossesNearPlane(b: Affine): bool {
  const n = screenNear;
  return valueAt(n, b.tx, b.ty, b.tz) <
    abs(n.x * b.xx + n.y * b.xy + n.z * b.xz) + abs(n.x * b.yx + n.y * b.yy + n.z * b.yz) +
    abs(n.x * b.zx + n.y * b.zy + n.z * b.zz);
}
