// Gathers the obstacles that a character may meet in a step: the triangles, boxes, spheres and capsules whose bounds
// reach into a box around it, in the character's frame (core/character/obstacles.ts). The character leaves solid meshes
// and boxes that it is inside of by the nearest way. Conservative in float32 down to the triangle, float64 from there
// on.

import {
  FILTER_BYTES, FILTER_IGNORE, FILTER_IGNORE_COUNT, FILTER_LAYERS, FILTER_PRECISION, FILTER_SIDE, PRECISION_MESH, SHAPE_BOX,
  SHAPE_MESH, SHAPE_POINT_LINE, SIDE_DOUBLE,
} from '../../../../shared/layout';
import {
  BLOCK, EXIT, ROUND, TRIANGLE, addObstacle, boundRound, boundTriangle, clearObstacles, packBounds,
} from '../../character/obstacles';
import { findNear, overlappingAt, overlappingCount, triangleAt } from '../../contact/primitive/overlapping-triangles';
import { Affine, copyColumns, determinant, invert, relate } from '../../math/affine';
import { closestDistance, closestOnMesh, closestTriangle, closestX, closestY, closestZ } from '../../mesh/query/closest-point';
import { Mesh } from '../../mesh/tree/layout';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { idAt, placedShapeAt } from '../objects';
import { aabbAt, aabbCount, queryAabb } from '../query/aabb-query';
import { isAround } from '../query/closest-point';
import { passOver, setFilter } from '../query/filter';
import { PLACE_BYTES } from '../../sizes';

const filter: usize = memory.data(<i32>FILTER_BYTES, 16);
const solid = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
/** The box around the character, and its frame. */
const area = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const inverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/** The corners of a box, xyz each: the first is at - along all of its axes, the last at +. */
const corners: usize = memory.data(8 * PLACE_BYTES, 16);
/** The corners of the six faces, counter-clockwise as seen from outside. */
const faces: usize = memory.data<u8>([0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6]);

let frame: Affine = changetype<Affine>(0);
let sizeX: f64 = 0, sizeY: f64 = 0, sizeZ: f64 = 0;

/** Sets what a character may meet: objects of these layers, except those of a list (ascending) and one more. */
export function setObstacleFilter(layers: u32, ignored: usize, ignoredCount: u32, own: u32): void {
  store<u32>(filter, layers, FILTER_LAYERS);
  store<u32>(filter, SIDE_DOUBLE, FILTER_SIDE);
  store<u32>(filter, PRECISION_MESH, FILTER_PRECISION);
  store<u32>(filter, <u32>ignored, FILTER_IGNORE);
  store<u32>(filter, ignoredCount, FILTER_IGNORE_COUNT);
  setFilter(filter);
  passOver(own);
}

/** Gathers obstacles in a box around the origin of a frame, given by its half sizes. Throws OUT_OF_MEMORY. */
export function gather(place: Affine, hx: f64, hy: f64, hz: f64): void {
  frame = place;
  sizeX = hx;
  sizeY = hy;
  sizeZ = hz;
  area.xx = place.xx * hx; area.xy = place.xy * hx; area.xz = place.xz * hx;
  area.yx = place.yx * hy; area.yy = place.yy * hy; area.yz = place.yz * hy;
  area.zx = place.zx * hz; area.zy = place.zy * hz; area.zz = place.zz * hz;
  area.tx = place.tx; area.ty = place.ty; area.tz = place.tz;
  clearObstacles(hx, hy, hz);
  queryAabb(
    place.tx, place.ty, place.tz, abs(area.xx) + abs(area.yx) + abs(area.zx), abs(area.xy) + abs(area.yy) + abs(area.zy),
    abs(area.xz) + abs(area.yz) + abs(area.zz),
  );
  for (let i: u32 = 0; i < aabbCount; i++) {
    const slot = aabbAt(i);
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
  relate(map, area, mapOf(solid));
  // The cube's space is the frame's, except for its scale, which mirrors nothing.
  const isMirrored = isFilled && determinant(map) < 0;
  findNear(mesh, map);
  for (let i: u32 = 0; i < overlappingCount; i++) {
    const t = triangleAt(i);
    const o = addObstacle(object, <i32>overlappingAt(i).triangle, TRIANGLE, isFilled);
    o.ax = t.ax * sizeX; o.ay = t.ay * sizeY; o.az = t.az * sizeZ;
    const bx = t.bx * sizeX, by = t.by * sizeY, bz = t.bz * sizeZ;
    const cx = t.cx * sizeX, cy = t.cy * sizeY, cz = t.cz * sizeZ;
    o.bx = isMirrored ? cx : bx; o.by = isMirrored ? cy : by; o.bz = isMirrored ? cz : bz;
    o.cx = isMirrored ? bx : cx; o.cy = isMirrored ? by : cy; o.cz = isMirrored ? bz : cz;
    boundTriangle(o);
  }
  if (!isFilled || !isAround(solid, frame.tx, frame.ty, frame.tz)) return;
  const world = mapOf(solid);
  world.tx -= frame.tx;
  world.ty -= frame.ty;
  world.tz -= frame.tz;
  if (!closestOnMesh(mesh, world, Infinity, false) || !(closestDistance > 0)) return;
  const o = addObstacle(object, closestTriangle, EXIT, true);
  const by = 1.0 / closestDistance;
  o.normalX = (closestX * frame.xx + closestY * frame.xy + closestZ * frame.xz) * by;
  o.normalY = (closestX * frame.yx + closestY * frame.yy + closestZ * frame.yz) * by;
  o.normalZ = (closestX * frame.zx + closestY * frame.zy + closestZ * frame.zz) * by;
  o.ax = closestDistance;
}

function addBox(object: u32): void {
  relate(map, frame, mapOf(solid));
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
    addFace(object, a, b, c);
    addFace(object, a, c, d);
  }
  // The rows of the inverse give the depth of a point in the box.
  invert(inverse, map);
  const o = addObstacle(object, -1, BLOCK, true);
  o.ax = inverse.xx; o.ay = inverse.yx; o.az = inverse.zx;
  o.bx = inverse.xy; o.by = inverse.yy; o.bz = inverse.zy;
  o.cx = inverse.xz; o.cy = inverse.yz; o.cz = inverse.zz;
  o.middleX = map.tx; o.middleY = map.ty; o.middleZ = map.tz;
}

// @ts-ignore: decorator
@inline
function cornerOf(i: usize): usize {
  return corners + <usize>load<u8>(faces + i) * 24;
}

function addFace(object: u32, a: usize, b: usize, c: usize): void {
  const o = addObstacle(object, -1, TRIANGLE, true);
  const to = changetype<usize>(o);
  copyPlace(to, a);
  copyPlace(to + 24, b);
  copyPlace(to + 48, c);
  boundTriangle(o);
}

// @ts-ignore: decorator
@inline
function copyPlace(to: usize, from: usize): void {
  v128.store(to, v128.load(from));
  store<f64>(to, load<f64>(from, 16), 16);
}

function addRound(object: u32): void {
  relate(map, frame, mapOf(solid));
  const o = addObstacle(object, -1, ROUND, false);
  copyColumns(changetype<usize>(o), map);
  o.middleX = map.tx; o.middleY = map.ty; o.middleZ = map.tz;
  o.alongX = map.zx * solid.half; o.alongY = map.zy * solid.half; o.alongZ = map.zz * solid.half;
  o.normalX = o.normalY = o.normalZ = 0;
  boundRound(o);
}
