// What a character may meet in a step, in its own frame: triangles, and ellipsoids that are swept along a segment, which
// is what spheres and capsules are under any map. They are gathered once (scene/character/gather.ts) and asked many
// times.

import { reserve } from '../memory';

@unmanaged
export class Obstacle {
  /** The corners of a triangle; the columns of the linear map of the unit ball of what is round. */
  ax: f64; ay: f64; az: f64;
  bx: f64; by: f64; bz: f64;
  cx: f64; cy: f64; cz: f64;
  /** The unit normal of a triangle; 0 where it has no area. */
  normalX: f64; normalY: f64; normalZ: f64;
  /** The middle of the segment that a ball is swept along, and half of the segment. */
  middleX: f64; middleY: f64; middleZ: f64;
  alongX: f64; alongY: f64; alongZ: f64;
  lowX: f64; lowY: f64; lowZ: f64;
  highX: f64; highY: f64; highZ: f64;
  object: u32;
  /** Its index in the mesh as that was given; -1 of what is no mesh. */
  triangle: i32;
  kind: u32;
  /** Whether only its front can be met, as what is behind it is solid. */
  isOneSided: u32;
}

/** The kinds of obstacles. Those from BLOCK on are not met, but left by who is in the midst of them. */
export const TRIANGLE: u32 = 0;
export const ROUND: u32 = 1;
/** A box: a, b and c are the rows of the map from the frame to the cube [-1, 1]³, its middle is at `middle`. */
export const BLOCK: u32 = 2;
/** The way out of a solid mesh: the distance of its surface from the origin is ax, along the normal. */
export const EXIT: u32 = 3;

const OBSTACLE_BYTES: usize = offsetof<Obstacle>();

let list: usize = 0;
export let obstacleCount: u32 = 0;

// @ts-ignore: decorator
@inline
export function obstacleAt(i: u32): Obstacle {
  return changetype<Obstacle>(list + <usize>i * OBSTACLE_BYTES);
}

export function clearObstacles(): void {
  obstacleCount = 0;
}

/** Adds an obstacle, which the caller must write, its bounds by `boundTriangle` or `boundRound`. Throws OUT_OF_MEMORY. */
export function addObstacle(object: u32, triangle: i32, kind: u32, isOneSided: bool): Obstacle {
  list = reserve(list, <usize>obstacleCount * OBSTACLE_BYTES, <u64>(obstacleCount + 1) * OBSTACLE_BYTES);
  const obstacle = obstacleAt(obstacleCount++);
  obstacle.object = object;
  obstacle.triangle = triangle;
  obstacle.kind = kind;
  obstacle.isOneSided = <u32>isOneSided;
  return obstacle;
}

/** Sets the normal and the bounds of a triangle by its corners. */
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

/** Sets the bounds of what is round. */
export function boundRound(o: Obstacle): void {
  const x = sqrt(o.ax * o.ax + o.bx * o.bx + o.cx * o.cx) + abs(o.alongX);
  const y = sqrt(o.ay * o.ay + o.by * o.by + o.cy * o.cy) + abs(o.alongY);
  const z = sqrt(o.az * o.az + o.bz * o.bz + o.cz * o.cz) + abs(o.alongZ);
  o.lowX = o.middleX - x; o.highX = o.middleX + x;
  o.lowY = o.middleY - y; o.highY = o.middleY + y;
  o.lowZ = o.middleZ - z; o.highZ = o.middleZ + z;
}
