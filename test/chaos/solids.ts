// What there is in the model: boxes along the axes and balls, in plain float64, so that every question has a closed form.

export type Point = readonly [number, number, number];

export interface Solid {
  kind: 'box' | 'ball' | 'surface';
  center: Point;
  /** Half extents; a ball's radius three times. A surface is that of a box. */
  half: Point;
}

const AXES = [0, 1, 2] as const;

/** How far apart two solids are: below 0 where they overlap, and of a surface also where the other is in its hollow. */
export function gap(a: Solid, b: Solid): number {
  const solid = solidGap(a, b);
  // What lies in a box without touching its surface has that much room in it.
  const inA = a.kind === 'surface' ? roomIn(a, b) : Number.NEGATIVE_INFINITY;
  const inB = b.kind === 'surface' ? roomIn(b, a) : Number.NEGATIVE_INFINITY;
  return Math.max(solid, inA, inB);
}

function solidGap(a: Solid, b: Solid): number {
  if (a.kind === 'ball' && b.kind === 'ball') return length(difference(a.center, b.center)) - a.half[0] - b.half[0];
  if (a.kind === 'ball') return outside(a.center, b) - a.half[0];
  if (b.kind === 'ball') return outside(b.center, a) - b.half[0];
  return Math.max(...AXES.map((k) => Math.abs(a.center[k] - b.center[k]) - a.half[k] - b.half[k]));
}

/** How far a point is from a box: below 0 inside. */
function outside(point: Point, box: Solid): number {
  const over = AXES.map((k) => Math.abs(point[k] - box.center[k]) - box.half[k]);
  const deepest = Math.max(...over);
  return deepest <= 0 ? deepest : length(over.map((each) => Math.max(each, 0)) as unknown as Point);
}

/** How far a solid is from the surface of the box that it is in; below 0 where it is not. */
function roomIn(box: Solid, inner: Solid): number {
  return Math.min(...AXES.map((k) => box.half[k] - inner.half[k] - Math.abs(inner.center[k] - box.center[k])));
}

/** The distances at which a ray hits, ascending; `doubt` is how near it passes to not doing so. */
export function rayHits(solid: Solid, origin: Point, direction: Point): { hits: number[]; doubt: number } {
  const { hits, doubt } =
    solid.kind === 'ball' ? ballHits(solid, origin, direction) : boxHits(solid, origin, direction);
  return { hits: hits.filter((t) => t >= 0), doubt: Math.min(doubt, ...hits.map(Math.abs)) };
}

function ballHits({ center, half: [radius] }: Solid, origin: Point, direction: Point) {
  const to = difference(center, origin);
  const along = dot(to, direction);
  const across = Math.sqrt(Math.max(dot(to, to) - along * along, 0));
  const reach = radius * radius - across * across;
  const hits = reach < 0 ? [] : [along - Math.sqrt(reach), along + Math.sqrt(reach)];
  return { hits, doubt: Math.abs(radius - across) };
}

function boxHits({ center, half }: Solid, origin: Point, direction: Point) {
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

function difference(a: Point, b: Point): Point {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function dot(a: Point, b: Point): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function length(a: Point): number {
  return Math.hypot(...a);
}
