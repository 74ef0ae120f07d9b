// Gathers the obstacles that a character may meet in a step: the triangles, boxes, spheres and capsules whose bounds
// reach into a box around it, in the character's frame (core/character/obstacles.ts). The character leaves solid meshes
// and boxes that it is inside of by the nearest way. Conservative in float32 down to the triangle, float64 from there
// on.

import {
  FILTER_BYTES, FILTER_IGNORE, FILTER_IGNORE_COUNT, FILTER_LAYERS, FILTER_PRECISION, FILTER_SIDE, FLAG_PICKABLE, PRECISION_MESH,
  SHAPE_BOX, SHAPE_MESH, SHAPE_POINT_LINE, SIDE_DOUBLE,
} from '../../../../shared/layout';
import {
  BOX, EXIT, ROUND, TRIANGLE, addObstacle, boundRound, boundTriangle, clearObstacles, packBounds,
} from '../../character/obstacles';
import {
  findOverlappingSmallCube, overlappingAt, overlappingCount, triangleAt,
} from '../../contact/primitive/overlapping-triangles';
import { Affine, copyColumns, determinant, invert, setRelative } from '../../math/affine';
import { closestDistance, closestOnMesh, closestTriangle, closestX, closestY, closestZ } from '../../mesh/query/closest-point';
import { Mesh } from '../../mesh/tree/layout';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { idAt, isAlive, itemAt, placedShapeAt, slotOf } from '../objects';
import { aabbAt, aabbCount, queryAabb } from '../query/aabb-query';
import { containsPoint } from '../query/closest-point';
import { isIgnored, layers as filteredLayers, setIgnoredObject, setFilter } from '../query/filter';
import { POSITION_BYTES } from '../../sizes';

const filter: usize = memory.data(<i32>FILTER_BYTES, 16);
const solid = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
/** The box around the character, and its frame. */
const boxTransform = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const inverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/** The corners of a box, xyz each: the first is at - along all of its axes, the last at +. */
const corners: usize = memory.data(8 * POSITION_BYTES, 16);
/** The corners of the six faces, counter-clockwise as seen from outside. */
const faces: usize = memory.data<u8>([0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6]);

let frame: Affine = changetype<Affine>(0);
let halfSizeX: f64 = 0, halfSizeY: f64 = 0, halfSizeZ: f64 = 0;

/** Sets what a character may meet: objects of these layers, except those of a list (ascending) and one more. */
export function setObstacleFilter(layers: u32, ignored: usize, ignoredCount: u32, ownObject: u32): void {
  store<u32>(filter, layers, FILTER_LAYERS);
  store<u32>(filter, SIDE_DOUBLE, FILTER_SIDE);
  store<u32>(filter, PRECISION_MESH, FILTER_PRECISION);
  store<u32>(filter, <u32>ignored, FILTER_IGNORE);
  store<u32>(filter, ignoredCount, FILTER_IGNORE_COUNT);
  setFilter(filter);
  setIgnoredObject(ownObject);
  passedObject = 0; // a gathering without memory may have left it
}

/** Returns whether the character may meet the object of an id: not one that was removed, nor one that the filter leaves out. */
export function isObstacle(id: u32): bool {
  if (!isAlive(id) || isIgnored(id)) return false;
  const item = itemAt(slotOf(id));
  return (item.layers & filteredLayers) != 0 && (item.flags & FLAG_PICKABLE) != 0;
}

/** The object that is not gathered; 0 for none. */
let passedObject: u32 = 0;

/** Leaves an object out: ground that carries a character is in its new place already. 0 for none. */
export function setPassedObject(id: u32): void {
  passedObject = id;
}

/** Gathers obstacles in a box around the origin of a frame, given by its half sizes. Throws OUT_OF_MEMORY. */
export function gather(transform: Affine, hx: f64, hy: f64, hz: f64): void {
  frame = transform;
  halfSizeX = hx;
  halfSizeY = hy;
  halfSizeZ = hz;
  boxTransform.xx = transform.xx * hx; boxTransform.xy = transform.xy * hx; boxTransform.xz = transform.xz * hx;
  boxTransform.yx = transform.yx * hy; boxTransform.yy = transform.yy * hy; boxTransform.yz = transform.yz * hy;
  boxTransform.zx = transform.zx * hz; boxTransform.zy = transform.zy * hz; boxTransform.zz = transform.zz * hz;
  boxTransform.tx = transform.tx; boxTransform.ty = transform.ty; boxTransform.tz = transform.tz;
  clearObstacles(hx, hy, hz);
  queryAabb(
    transform.tx, transform.ty, transform.tz, abs(boxTransform.xx) + abs(boxTransform.yx) + abs(boxTransform.zx),
    abs(boxTransform.xy) + abs(boxTransform.yy) + abs(boxTransform.zy),
    abs(boxTransform.xz) + abs(boxTransform.yz) + abs(boxTransform.zz),
  );
  for (let i: u32 = 0; i < aabbCount; i++) {
    const slot = aabbAt(i);
    if (idAt(slot) == passedObject) continue;
    placedShapeAt(solid, slot, PRECISION_MESH);
    const shape: u32 = solid.shape;
    if (shape == SHAPE_MESH) addMesh(idAt(slot));
    else if (shape == SHAPE_BOX) addBox(idAt(slot));
    else if (shape != SHAPE_POINT_LINE) addRound(idAt(slot));
  }
  packBounds();
}

function addMesh(object: u32): void {
  const mesh = changetype<Mesh>(<usize>solid.mesh);
  const isFilled = solid.filled != 0;
  setRelative(map, boxTransform, mapOf(solid));
  // The cube's space is the frame's, except for its scale, which mirrors nothing.
  const isMirrored = isFilled && determinant(map) < 0;
  findOverlappingSmallCube(mesh, map);
  for (let i: u32 = 0; i < overlappingCount; i++) {
    const t = triangleAt(i);
    const o = addObstacle(object, <i32>overlappingAt(i).triangle, TRIANGLE, isFilled);
    o.ax = t.ax * halfSizeX; o.ay = t.ay * halfSizeY; o.az = t.az * halfSizeZ;
    const bx = t.bx * halfSizeX, by = t.by * halfSizeY, bz = t.bz * halfSizeZ;
    const cx = t.cx * halfSizeX, cy = t.cy * halfSizeY, cz = t.cz * halfSizeZ;
    o.bx = isMirrored ? cx : bx; o.by = isMirrored ? cy : by; o.bz = isMirrored ? cz : bz;
    o.cx = isMirrored ? bx : cx; o.cy = isMirrored ? by : cy; o.cz = isMirrored ? bz : cz;
    boundTriangle(o);
  }
  if (!isFilled || !containsPoint(solid, frame.tx, frame.ty, frame.tz)) return;
  const world = mapOf(solid);
  world.tx -= frame.tx;
  world.ty -= frame.ty;
  world.tz -= frame.tz;
  if (!closestOnMesh(mesh, world, Infinity, false) || !(closestDistance > 0)) return;
  const o = addObstacle(object, closestTriangle, EXIT, true);
  const inverseDistance = 1.0 / closestDistance;
  o.normalX = (closestX * frame.xx + closestY * frame.xy + closestZ * frame.xz) * inverseDistance;
  o.normalY = (closestX * frame.yx + closestY * frame.yy + closestZ * frame.yz) * inverseDistance;
  o.normalZ = (closestX * frame.zx + closestY * frame.zy + closestZ * frame.zz) * inverseDistance;
  o.ax = closestDistance;
}

function addBox(object: u32): void {
  setRelative(map, frame, mapOf(solid));
  for (let i: usize = 0; i < 8; i++) {
    const u: f64 = i & 1 ? 1 : -1, v: f64 = i & 2 ? 1 : -1, w: f64 = i & 4 ? 1 : -1;
    const at = corners + i * 24;
    store<f64>(at, u * map.xx + v * map.yx + w * map.zx + map.tx);
    store<f64>(at, u * map.xy + v * map.yy + w * map.zy + map.ty, 8);
    store<f64>(at, u * map.xz + v * map.yz + w * map.zz + map.tz, 16);
  }
  const isMirrored = determinant(map) < 0;
  for (let face: usize = 0; face < 24; face += 4) {
    const a = cornerOf(face), c = cornerOf(face + 2);
    const b = isMirrored ? cornerOf(face + 3) : cornerOf(face + 1);
    const d = isMirrored ? cornerOf(face + 1) : cornerOf(face + 3);
    addTriangle(object, a, b, c);
    addTriangle(object, a, c, d);
  }
  // The rows of the inverse give the depth of a point in the box.
  invert(inverse, map);
  const o = addObstacle(object, -1, BOX, true);
  o.ax = inverse.xx; o.ay = inverse.yx; o.az = inverse.zx;
  o.bx = inverse.xy; o.by = inverse.yy; o.bz = inverse.zy;
  o.cx = inverse.xz; o.cy = inverse.yz; o.cz = inverse.zz;
  o.centerX = map.tx; o.centerY = map.ty; o.centerZ = map.tz;
}

// @ts-ignore: decorator
@inline
function cornerOf(i: usize): usize {
  return corners + <usize>load<u8>(faces + i) * 24;
}

function addTriangle(object: u32, a: usize, b: usize, c: usize): void {
  const o = addObstacle(object, -1, TRIANGLE, true);
  const to = changetype<usize>(o);
  copyPoint(to, a);
  copyPoint(to + 24, b);
  copyPoint(to + 48, c);
  boundTriangle(o);
}

// @ts-ignore: decorator
@inline
function copyPoint(to: usize, from: usize): void {
  v128.store(to, v128.load(from));
  store<f64>(to, load<f64>(from, 16), 16);
}

function addRound(object: u32): void {
  setRelative(map, frame, mapOf(solid));
  const o = addObstacle(object, -1, ROUND, false);
  copyColumns(changetype<usize>(o), map);
  o.centerX = map.tx; o.centerY = map.ty; o.centerZ = map.tz;
  o.halfSegmentX = map.zx * solid.half; o.halfSegmentY = map.zy * solid.half; o.halfSegmentZ = map.zz * solid.half;
  o.normalX = o.normalY = o.normalZ = 0;
  boundRound(o);
}
