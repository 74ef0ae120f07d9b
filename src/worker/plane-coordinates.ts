/** Returns two unit vectors in the plane, x y z each, that are counter-clockwise as seen from in front of it. */
export function axesOf({ 0: x, 1: y, 2: z }: ArrayLike<number>): [number[], number[]] {
  const length = Math.hypot(x, y, z);
  const n = [x / length, y / length, z / length];
  const minAxis = [0, 1, 2].reduce((a, b) => (Math.abs(n[b]) < Math.abs(n[a]) ? b : a));
  const reference = [0, 0, 0];
  reference[minAxis] = 1;
  const u = cross(reference, n);
  const scale = 1 / Math.hypot(...u);
  const unit = u.map((c) => c * scale);
  return [unit, cross(n, unit)];
}

export function cross([ax, ay, az]: number[], [bx, by, bz]: number[]): number[] {
  return [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
}

/**
 * Points closer to each other or to an edge than this, relative to their distance from the origin and from each other, may be
 * the same, or on the edge, but for rounding.
 */
export const ROUNDING = 2 ** -44;

/**
 * Writes the coordinates of points along the plane's two axes, relative to the point `origin`, which keeps digits far
 * from the world's origin: two numbers per point, the first at `at`, `stride` apart.
 */
export function project(
  points: Float64Array,
  start: number,
  end: number,
  origin: number,
  [u, v]: [number[], number[]],
  out: Float64Array,
  at: number,
  stride: number,
): void {
  for (let p = start, to = at; p < end; p++, to += stride) {
    const x = points[3 * p] - points[3 * origin];
    const y = points[3 * p + 1] - points[3 * origin + 1];
    const z = points[3 * p + 2] - points[3 * origin + 2];
    out[to] = u[0] * x + u[1] * y + u[2] * z;
    out[to + 1] = v[0] * x + v[1] * y + v[2] * z;
  }
}
