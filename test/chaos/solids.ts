// The solids of the model: axis-aligned boxes with rounded edges, in plain float64. Balls and capsules are such boxes, too, and
// so is the Minkowski difference of any two, so that every query has a closed form.

export type Point = readonly [number, number, number];

/** All points at most `radius` away from the box with these half extents. */
export interface Solid {
  center: Point;
  half: Point;
  radius: number;
  /** True for a surface: an object inside that does not touch it is separate from it. Only for boxes with sharp edges. */
  isHollow: boolean;
}

export interface RayHits {
  /** Distances at which a ray enters and leaves; those before its origin are left out. */
  hits: number[];
  /** How close the ray is to a different result. */
  doubt: number;
}

const AXES = [0, 1, 2] as const;

/** Distance between two solids, negative if they touch. */
export function gap(a: Solid, b: Solid): number {
  const insideGapA = a.isHollow ? -protrusion(a, b) : Number.NEGATIVE_INFINITY;
  const insideGapB = b.isHollow ? -protrusion(b, a) : Number.NEGATIVE_INFINITY;
  return Math.max(filledGap(a, b), insideGapA, insideGapB);
}

/** The same for filled solids: if negative, the least translation that separates them. */
export function filledGap(a: Solid, b: Solid): number {
  return distanceToBox(difference(a.center, b.center), sum(a.half, b.half)) - a.radius - b.radius;
}

/** How far a solid protrudes from another one, negative if it is completely inside. */
export function protrusion(outer: Solid, inner: Solid): number {
  const offset = difference(inner.center, outer.center);
  const corner = AXES.map((k) => Math.abs(offset[k]) + inner.half[k]) as unknown as Point;
  return distanceToBox(corner, outer.half) + inner.radius - outer.radius;
}

/** Distance of a point from a solid's surface, negative inside. */
export function distanceTo(solid: Solid, point: Point): number {
  return distanceToBox(difference(point, solid.center), solid.half) - solid.radius;
}

/** The axis-aligned bounding box. */
export function boundsOf({ center, half, radius }: Solid): Solid {
  return { center, half: sum(half, [radius, radius, radius]), radius: 0, isHollow: false };
}

/** The bounding sphere, as computed from its bounds. */
export function sphereAbout({ center, half, radius }: Solid): Solid {
  return { center, half: [0, 0, 0], radius: length(half) + radius, isHollow: false };
}

export function translated(solid: Solid, offset: Point): Solid {
  return { ...solid, center: sum(solid.center, offset) };
}

export function rayHits(solid: Solid, origin: Point, direction: Point): RayHits {
  const parts = partsOf(solid).map((part) => {
    return part.radius > 0 ? roundHits(part, origin, direction) : boxHits(part, origin, direction);
  });
  const hits = parts.flatMap((part) => part.hits);
  const ends = hits.length > 0 ? [Math.min(...hits), Math.max(...hits)] : [];
  const doubt = Math.min(...parts.map((part) => part.doubt), ...ends.map(Math.abs));
  return { hits: ends.filter((t) => t >= 0), doubt };
}

/** Splits a capsule into a cylinder and two balls. */
function partsOf(solid: Solid): Solid[] {
  const { center, half, radius } = solid;
  if (radius === 0 || half.every((each) => each === 0)) return [solid];
  const ball = { ...solid, half: [0, 0, 0] as Point };
  return [solid, { ...ball, center: sum(center, half) }, { ...ball, center: difference(center, half) }];
}

/** Hits of a ball, or of a cylinder along its one non-zero half extent, without its caps. */
function roundHits({ center, half, radius }: Solid, origin: Point, direction: Point): RayHits {
  const axis = half.findIndex((each) => each > 0);
  const flatten = (v: Point) => v.map((each, k) => (k === axis ? 0 : each)) as unknown as Point;
  const toCenter = flatten(difference(center, origin));
  const flatDirection = flatten(direction);
  const directionSquared = dot(flatDirection, flatDirection);
  if (directionSquared === 0) return { hits: [], doubt: Math.abs(length(toCenter) - radius) };
  const tCenter = dot(toCenter, flatDirection) / directionSquared;
  const axisDistance = length(difference(toCenter, flatDirection.map((each) => each * tCenter) as unknown as Point));
  const doubt = Math.abs(radius - axisDistance);
  if (axisDistance > radius) return { hits: [], doubt };
  const halfChord = Math.sqrt((radius * radius - axisDistance * axisDistance) / directionSquared);
  const hits = [tCenter - halfChord, tCenter + halfChord];
  if (axis < 0) return { hits, doubt };
  const isBetweenCaps = (t: number) => Math.abs(origin[axis] + t * direction[axis] - center[axis]) <= half[axis];
  return { hits: hits.filter(isBetweenCaps), doubt };
}

function boxHits({ center, half }: Solid, origin: Point, direction: Point): RayHits {
  let [enter, leave, doubt] = [-Infinity, Infinity, Infinity];
  for (const k of AXES) {
    const o = origin[k] - center[k];
    if (direction[k] === 0) {
      doubt = Math.min(doubt, Math.abs(Math.abs(o) - half[k]));
      if (Math.abs(o) > half[k]) return { hits: [], doubt };
      continue;
    }
    const [s, t] = [(-half[k] - o) / direction[k], (half[k] - o) / direction[k]];
    enter = Math.max(enter, Math.min(s, t));
    leave = Math.min(leave, Math.max(s, t));
  }
  return { hits: enter <= leave ? [enter, leave] : [], doubt: Math.min(doubt, Math.abs(leave - enter)) };
}

/** Distance of a point from a box about the origin, negative inside. */
function distanceToBox(point: Point, half: Point): number {
  const excess = AXES.map((k) => Math.abs(point[k]) - half[k]);
  const deepest = Math.max(...excess);
  return deepest <= 0 ? deepest : length(excess.map((each) => Math.max(each, 0)) as unknown as Point);
}

export function sum(a: Point, b: Point): Point {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

export function difference(a: Point, b: Point): Point {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

export function length(a: Point): number {
  return Math.hypot(...a);
}

function dot(a: Point, b: Point): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
