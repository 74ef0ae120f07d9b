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
  /** The middle of the segment along which a ball is swept, and half of the segment. */
  middleX: f64; middleY: f64; middleZ: f64;
  alongX: f64; alongY: f64; alongZ: f64;
  lowX: f64; lowY: f64; lowZ: f64;
  highX: f64; highY: f64; highZ: f64;
  object: u32;
  /** Triangle index in the mesh as it was given; -1 if not a mesh. */
  triangle: i32;
  kind: u32;
  /** Whether only its front can be hit, because the space behind it is solid. */
  isOneSided: u32;
  // Cache of the capsule axis' distance with its middle at a position (capsule-cast.ts). Only valid if `isMeasured`.
  placeX: f64; placeY: f64; placeZ: f64;
  distance: f64;
  awayX: f64; awayY: f64; awayZ: f64;
  touchX: f64; touchY: f64; touchZ: f64;
  isMeasured: u32;
}

/** The kinds of obstacles. Casts ignore the kinds from BLOCK on; only a character inside of one is pushed out. */
export const TRIANGLE: u32 = 0;
export const ROUND: u32 = 1;
/** A box: a, b and c are the rows of the map from the frame to the cube [-1, 1]³; its centre is at `middle`. */
export const BLOCK: u32 = 2;
/** The way out of a solid mesh: its surface is at distance ax from the origin, along the normal. */
export const EXIT: u32 = 3;

const OBSTACLE_BYTES: usize = offsetof<Obstacle>();
/** The bounds of four obstacles in float32, rounded outwards: minimum x, y, z and maximum x, y, z, four lanes each. */
const BOUNDS_BYTES: usize = 6 * 16;

let list: usize = 0;
let boundsList: usize = 0;
export let obstacleCount: u32 = 0;

// @ts-ignore: decorator
@inline
export function obstacleAt(i: u32): Obstacle {
  return changetype<Obstacle>(list + <usize>i * OBSTACLE_BYTES);
}

/** Gathers all obstacles that intersect a box about the origin with these half sizes. */
export type Gather = (x: f64, y: f64, z: f64) => void;

let gatherAnew: Gather = (): void => {};
let coveredX: f64 = 0, coveredY: f64 = 0, coveredZ: f64 = 0;

/** Sets the function that gathers a larger box. */
export function setGather(gather: Gather): void {
  gatherAnew = gather;
}

/** Clears the obstacles, and sets the half sizes of the box about the origin for which new ones are gathered. */
export function clearObstacles(x: f64, y: f64, z: f64): void {
  obstacleCount = 0;
  coveredX = x;
  coveredY = y;
  coveredZ = z;
}

/**
 * Ensures that all obstacles that intersect a box about the origin are gathered. If it has to gather, indices of
 * obstacles change. Throws OUT_OF_MEMORY.
 */
// @ts-ignore: decorator
@inline
export function cover(x: f64, y: f64, z: f64): void {
  if (x > coveredX || y > coveredY || z > coveredZ) gatherAnew(max(x, coveredX), max(y, coveredY), max(z, coveredZ));
}

/**
 * Adds an obstacle, which the caller must fill in, including its bounds by `boundTriangle` or `boundRound`. Throws
 * OUT_OF_MEMORY.
 */
export function addObstacle(object: u32, triangle: i32, kind: u32, isOneSided: bool): Obstacle {
  list = reserve(list, <usize>obstacleCount * OBSTACLE_BYTES, <u64>(obstacleCount + 1) * OBSTACLE_BYTES);
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
const LEAST: f32 = 1.1754943508222875e-38; // 2^-126

// @ts-ignore: decorator
@inline
function below(v: f64): f32 {
  const near = <f32>v;
  return near - abs(near) * ROUNDING - LEAST;
}

// @ts-ignore: decorator
@inline
function above(v: f64): f32 {
  const near = <f32>v;
  return near + abs(near) * ROUNDING + LEAST;
}

/** Packs the bounds of the obstacles for `reaching`, once all are added. Throws OUT_OF_MEMORY. */
export function packBounds(): void {
  const blocks = (obstacleCount + 3) >> 2;
  boundsList = reserve(boundsList, 0, <u64>blocks * BOUNDS_BYTES);
  for (let i: u32 = 0; i < blocks << 2; i++) {
    const at = boundsList + <usize>(i >> 2) * BOUNDS_BYTES + ((i & 3) << 2);
    const isThere = i < obstacleCount && obstacleAt(i).kind < BLOCK;
    const o = obstacleAt(i);
    store<f32>(at, isThere ? below(o.lowX) : <f32>Infinity);
    store<f32>(at, isThere ? below(o.lowY) : <f32>Infinity, 16);
    store<f32>(at, isThere ? below(o.lowZ) : <f32>Infinity, 32);
    store<f32>(at, isThere ? above(o.highX) : -<f32>Infinity, 48);
    store<f32>(at, isThere ? above(o.highY) : -<f32>Infinity, 64);
    store<f32>(at, isThere ? above(o.highZ) : -<f32>Infinity, 80);
  }
}

let boxLowX: v128 = i32x4.splat(0), boxLowY: v128 = i32x4.splat(0), boxLowZ: v128 = i32x4.splat(0);
let boxHighX: v128 = i32x4.splat(0), boxHighY: v128 = i32x4.splat(0), boxHighZ: v128 = i32x4.splat(0);

let nearEnough: v128 = i32x4.splat(0);

/** Relative rounding error of squared distances between boxes in float32. */
const ROUNDING_SQUARE: f32 = 3.814697265625e-6; // 2^-18

/** Sets the box and the distance that `reaching` tests. */
export function setBox(
  lowX: f64, lowY: f64, lowZ: f64, highX: f64, highY: f64, highZ: f64, distance: f64,
): void {
  boxLowX = f32x4.splat(below(lowX)); boxHighX = f32x4.splat(above(highX));
  boxLowY = f32x4.splat(below(lowY)); boxHighY = f32x4.splat(above(highY));
  boxLowZ = f32x4.splat(below(lowZ)); boxHighZ = f32x4.splat(above(highZ));
  nearEnough = f32x4.splat(above(distance * distance) * (<f32>1 + ROUNDING_SQUARE));
}

/**
 * Tests which of the four obstacles from `first` on may be within the distance of the box, a bit each; BLOCK and above
 * never are.
 */
// @ts-ignore: decorator
@inline
export function reaching(first: u32): u32 {
  const at = boundsList + <usize>(first >> 2) * BOUNDS_BYTES;
  const x = gap(f32x4.sub(v128.load(at), boxHighX), f32x4.sub(boxLowX, v128.load(at, 48)));
  const y = gap(f32x4.sub(v128.load(at, 16), boxHighY), f32x4.sub(boxLowY, v128.load(at, 64)));
  const z = gap(f32x4.sub(v128.load(at, 32), boxHighZ), f32x4.sub(boxLowZ, v128.load(at, 80)));
  const square = f32x4.add(f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y)), f32x4.mul(z, z));
  return <u32>i32x4.bitmask(f32x4.le(square, nearEnough));
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
  o.lowX = min(min(o.ax, o.bx), o.cx); o.highX = max(max(o.ax, o.bx), o.cx);
  o.lowY = min(min(o.ay, o.by), o.cy); o.highY = max(max(o.ay, o.by), o.cy);
  o.lowZ = min(min(o.az, o.bz), o.cz); o.highZ = max(max(o.az, o.bz), o.cz);
}

/** Sets the bounds of a round obstacle. */
export function boundRound(o: Obstacle): void {
  const x = sqrt(o.ax * o.ax + o.bx * o.bx + o.cx * o.cx) + abs(o.alongX);
  const y = sqrt(o.ay * o.ay + o.by * o.by + o.cy * o.cy) + abs(o.alongY);
  const z = sqrt(o.az * o.az + o.bz * o.bz + o.cz * o.cz) + abs(o.alongZ);
  o.lowX = o.middleX - x; o.highX = o.middleX + x;
  o.lowY = o.middleY - y; o.highY = o.middleY + y;
  o.lowZ = o.middleZ - z; o.highZ = o.middleZ + z;
}
