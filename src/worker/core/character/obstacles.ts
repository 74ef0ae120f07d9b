// The obstacles that a character may meet in a step, in its own frame: triangles, and ellipsoids swept along a segment,
// which is what spheres and capsules are under any map. They are gathered once (scene/character/gather.ts), in a box that
// is as small as most steps need, and tested many times; a test that reaches beyond the box gathers a larger one first.

import { reserve } from '../memory';

@unmanaged
export class Obstacle {
  /** The corners of a triangle; or the columns of the linear map from the unit ball to a round obstacle. */
  ax: f64; ay: f64; az: f64;
  bx: f64; by: f64; bz: f64;
  cx: f64; cy: f64; cz: f64;
  /** The unit normal of a triangle; 0 if it has no area. */
  normalX: f64; normalY: f64; normalZ: f64;
  /** The centre of the segment along which a ball is swept, and half of the segment. */
  centerX: f64; centerY: f64; centerZ: f64;
  halfSegmentX: f64; halfSegmentY: f64; halfSegmentZ: f64;
  minX: f64; minY: f64; minZ: f64;
  maxX: f64; maxY: f64; maxZ: f64;
  object: u32;
  /** Triangle index in the mesh as it was given; -1 if not a mesh. */
  triangle: i32;
  kind: u32;
  /** Whether only its front can be hit, because the space behind it is solid. */
  isOneSided: u32;
  // Cache of the capsule axis' distance with its centre at a position (capsule-cast.ts). Only valid if `isMeasured`.
  measuredX: f64; measuredY: f64; measuredZ: f64;
  distance: f64;
  contactNormalX: f64; contactNormalY: f64; contactNormalZ: f64;
  contactPointX: f64; contactPointY: f64; contactPointZ: f64;
  isMeasured: u32;
}

/** The kinds of obstacles. Casts ignore the kinds from BOX on; only a character inside of one is pushed out. */
export const TRIANGLE: u32 = 0;
export const ROUND: u32 = 1;
/** A box: a, b and c are the rows of the map from the frame to the cube [-1, 1]³; its centre is (centerX, centerY, centerZ). */
export const BOX: u32 = 2;
/** The way out of a solid mesh: its surface is at distance ax from the origin, along the normal. */
export const EXIT: u32 = 3;

const OBSTACLE_BYTES: usize = offsetof<Obstacle>();
/** The bounds of four obstacles in float32, rounded outwards: minimum x, y, z and maximum x, y, z, four lanes each. */
const BOUNDS_BYTES: usize = 6 * 16;

let obstacles: usize = 0;
let packedBounds: usize = 0;
export let obstacleCount: u32 = 0;

// @ts-ignore: decorator
@inline
export function obstacleAt(i: u32): Obstacle {
  return changetype<Obstacle>(obstacles + <usize>i * OBSTACLE_BYTES);
}

/** Gathers all obstacles that intersect a box about the origin with these half sizes. */
export type Gather = (x: f64, y: f64, z: f64) => void;

let regather: Gather = (): void => {};
let gatheredHalfX: f64 = 0, gatheredHalfY: f64 = 0, gatheredHalfZ: f64 = 0;

/** Sets the function that gathers a larger box. */
export function setGather(gather: Gather): void {
  regather = gather;
}

/** Clears the obstacles, and sets the half sizes of the box about the origin for which new ones are gathered. */
export function clearObstacles(x: f64, y: f64, z: f64): void {
  obstacleCount = 0;
  gatheredHalfX = x;
  gatheredHalfY = y;
  gatheredHalfZ = z;
}

/**
 * Ensures that all obstacles that intersect a box about the origin are gathered. If it has to gather, indices of
 * obstacles change. Throws OUT_OF_MEMORY.
 */
// @ts-ignore: decorator
@inline
export function ensureGathered(x: f64, y: f64, z: f64): void {
  if (x > gatheredHalfX || y > gatheredHalfY || z > gatheredHalfZ)
    regather(max(x, gatheredHalfX), max(y, gatheredHalfY), max(z, gatheredHalfZ));
}

/**
 * Adds an obstacle, which the caller must fill in, including its bounds by `boundTriangle` or `boundRound`. Throws
 * OUT_OF_MEMORY.
 */
export function addObstacle(object: u32, triangle: i32, kind: u32, isOneSided: bool): Obstacle {
  obstacles = reserve(obstacles, <usize>obstacleCount * OBSTACLE_BYTES, <u64>(obstacleCount + 1) * OBSTACLE_BYTES);
  const obstacle = obstacleAt(obstacleCount++);
  obstacle.object = object;
  obstacle.triangle = triangle;
  obstacle.kind = kind;
  obstacle.isOneSided = <u32>isOneSided;
  obstacle.isMeasured = 0;
  return obstacle;
}

// --- four at a time ---

/** Rounding error of float32, relative and absolute. */
const ROUNDING: f32 = 1.1920928955078125e-7; // 2^-23
const MIN_NORMAL: f32 = 1.1754943508222875e-38; // 2^-126

// @ts-ignore: decorator
@inline
function roundDown(v: f64): f32 {
  const rounded = <f32>v;
  return rounded - abs(rounded) * ROUNDING - MIN_NORMAL;
}

// @ts-ignore: decorator
@inline
function roundUp(v: f64): f32 {
  const rounded = <f32>v;
  return rounded + abs(rounded) * ROUNDING + MIN_NORMAL;
}

/** Packs the bounds of the obstacles for `lanesNearBox`, once all are added. Throws OUT_OF_MEMORY. */
export function packBounds(): void {
  const blocks = (obstacleCount + 3) >> 2;
  packedBounds = reserve(packedBounds, 0, <u64>blocks * BOUNDS_BYTES);
  for (let i: u32 = 0; i < blocks << 2; i++) {
    const at = packedBounds + <usize>(i >> 2) * BOUNDS_BYTES + ((i & 3) << 2);
    const hasBounds = i < obstacleCount && obstacleAt(i).kind < BOX;
    const o = obstacleAt(i);
    store<f32>(at, hasBounds ? roundDown(o.minX) : <f32>Infinity);
    store<f32>(at, hasBounds ? roundDown(o.minY) : <f32>Infinity, 16);
    store<f32>(at, hasBounds ? roundDown(o.minZ) : <f32>Infinity, 32);
    store<f32>(at, hasBounds ? roundUp(o.maxX) : -<f32>Infinity, 48);
    store<f32>(at, hasBounds ? roundUp(o.maxY) : -<f32>Infinity, 64);
    store<f32>(at, hasBounds ? roundUp(o.maxZ) : -<f32>Infinity, 80);
  }
}

let boxMinX: v128 = i32x4.splat(0), boxMinY: v128 = i32x4.splat(0), boxMinZ: v128 = i32x4.splat(0);
let boxMaxX: v128 = i32x4.splat(0), boxMaxY: v128 = i32x4.splat(0), boxMaxZ: v128 = i32x4.splat(0);

let maxDistanceSquared: v128 = i32x4.splat(0);

/** Relative rounding error of squared distances between boxes in float32. */
const SQUARED_ROUNDING: f32 = 3.814697265625e-6; // 2^-18

/** Sets the box and the distance that `lanesNearBox` tests. */
export function setQueryBox(
  minX: f64, minY: f64, minZ: f64, maxX: f64, maxY: f64, maxZ: f64, distance: f64,
): void {
  boxMinX = f32x4.splat(roundDown(minX)); boxMaxX = f32x4.splat(roundUp(maxX));
  boxMinY = f32x4.splat(roundDown(minY)); boxMaxY = f32x4.splat(roundUp(maxY));
  boxMinZ = f32x4.splat(roundDown(minZ)); boxMaxZ = f32x4.splat(roundUp(maxZ));
  maxDistanceSquared = f32x4.splat(roundUp(distance * distance) * (<f32>1 + SQUARED_ROUNDING));
}

/**
 * Tests which of the four obstacles from `first` on may be within the distance of the box, a bit each; BOX and above
 * never are.
 */
// @ts-ignore: decorator
@inline
export function lanesNearBox(first: u32): u32 {
  const at = packedBounds + <usize>(first >> 2) * BOUNDS_BYTES;
  const x = gap(f32x4.sub(v128.load(at), boxMaxX), f32x4.sub(boxMinX, v128.load(at, 48)));
  const y = gap(f32x4.sub(v128.load(at, 16), boxMaxY), f32x4.sub(boxMinY, v128.load(at, 64)));
  const z = gap(f32x4.sub(v128.load(at, 32), boxMaxZ), f32x4.sub(boxMinZ, v128.load(at, 80)));
  const distancesSquared = f32x4.add(f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y)), f32x4.mul(z, z));
  return <u32>i32x4.bitmask(f32x4.le(distancesSquared, maxDistanceSquared));
}

// @ts-ignore: decorator
@inline
function gap(a: v128, b: v128): v128 {
  return f32x4.pmax(f32x4.pmax(a, b), f32x4.splat(0));
}

// --- bounds ---

/** Sets the normal and the bounds of a triangle from its corners. */
export function boundTriangle(o: Obstacle): void {
  const ex = o.bx - o.ax, ey = o.by - o.ay, ez = o.bz - o.az;
  const fx = o.cx - o.ax, fy = o.cy - o.ay, fz = o.cz - o.az;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const length = sqrt(nx * nx + ny * ny + nz * nz);
  const inverse = length > 0 ? 1.0 / length : 0.0;
  o.normalX = nx * inverse;
  o.normalY = ny * inverse;
  o.normalZ = nz * inverse;
  o.minX = min(min(o.ax, o.bx), o.cx); o.maxX = max(max(o.ax, o.bx), o.cx);
  o.minY = min(min(o.ay, o.by), o.cy); o.maxY = max(max(o.ay, o.by), o.cy);
  o.minZ = min(min(o.az, o.bz), o.cz); o.maxZ = max(max(o.az, o.bz), o.cz);
}

/** Sets the bounds of a round obstacle. */
export function boundRound(o: Obstacle): void {
  const x = sqrt(o.ax * o.ax + o.bx * o.bx + o.cx * o.cx) + abs(o.halfSegmentX);
  const y = sqrt(o.ay * o.ay + o.by * o.by + o.cy * o.cy) + abs(o.halfSegmentY);
  const z = sqrt(o.az * o.az + o.bz * o.bz + o.cz * o.cz) + abs(o.halfSegmentZ);
  o.minX = o.centerX - x; o.maxX = o.centerX + x;
  o.minY = o.centerY - y; o.maxY = o.centerY + y;
  o.minZ = o.centerZ - z; o.maxZ = o.centerZ + z;
}
