/** a x + b y + c: non-negative inside; a² + b² = 1. */
export type HalfPlane = readonly [a: number, b: number, c: number];

/** Convex parts of the plane: those inside a polygon by the even-odd rule, and those outside. */
export interface Slabs {
  inside: HalfPlane[][];
  outside: HalfPlane[][];
}

/**
 * Between two neighbouring x of vertices and crossings, no two sides cross, so that they are ordered from bottom to top: the slab
 * decomposes into trapezoids that are alternately outside and inside.
 */
export function slabsOf(polygon: readonly (readonly [number, number])[]): Slabs {
  const sides = polygon.map((p, i) => [p, polygon[(i + 1) % polygon.length]] as const);
  const slabEdges = polygon.map(([x]) => x);
  for (const [p, q] of sides) for (const [r, s] of sides) slabEdges.push(...crossingsOf(p, q, r, s));
  slabEdges.sort((a, b) => a - b);
  const inside: HalfPlane[][] = [];
  const outside: HalfPlane[][] = [[[-1, 0, slabEdges[0]]], [[1, 0, -slabEdges[slabEdges.length - 1]]]];
  for (let i = 1; i < slabEdges.length; i++) {
    const minX = slabEdges[i - 1];
    const maxX = slabEdges[i];
    if (maxX - minX < 1e-12) continue;
    const middleX = 0.5 * (minX + maxX);
    const lines = sides
      .filter(([p, q]) => p[0] < middleX !== q[0] < middleX)
      .map(([p, q]) => (p[0] < q[0] ? [p, q] : [q, p]))
      .map(([p, q]) => ({
        height: p[1] + ((middleX - p[0]) / (q[0] - p[0])) * (q[1] - p[1]),
        above: halfPlaneAbove(p, q),
      }))
      .sort((a, b) => a.height - b.height);
    const slab: HalfPlane[] = [
      [1, 0, -minX],
      [-1, 0, maxX],
    ];
    for (let k = 0; k <= lines.length; k++) {
      const part = [...slab];
      if (k > 0) part.push(lines[k - 1].above);
      if (k < lines.length) part.push(lines[k].above.map((value) => -value) as unknown as HalfPlane);
      (k % 2 === 1 ? inside : outside).push(part);
    }
  }
  return { inside, outside };
}

type Point = readonly [number, number];

/** The half-plane above the line through two points. */
function halfPlaneAbove(p: Point, q: Point): HalfPlane {
  const dx = q[0] - p[0];
  const dy = q[1] - p[1];
  const length = Math.hypot(dx, dy);
  return [-dy / length, dx / length, (dy * p[0] - dx * p[1]) / length];
}

/** The x of the crossing of two segments. */
function crossingsOf(p: Point, q: Point, r: Point, s: Point): number[] {
  const ax = q[0] - p[0];
  const ay = q[1] - p[1];
  const bx = s[0] - r[0];
  const by = s[1] - r[1];
  const determinant = ax * by - ay * bx;
  if (determinant === 0) return [];
  const t = ((r[0] - p[0]) * by - (r[1] - p[1]) * bx) / determinant;
  const u = ((r[0] - p[0]) * ay - (r[1] - p[1]) * ax) / determinant;
  return t > 0 && t < 1 && u > 0 && u < 1 ? [p[0] + t * ax] : [];
}
