// The closest points of points, segments and triangles (Ericson, "Real-Time Collision Detection", 2005, chapter 5). Corners are
// in arrays, xyz each.

/** The closest points found so far, and the square of their distance. */
export interface ClosestPoints {
  square: number;
  a: [number, number, number];
  b: [number, number, number];
}

/** Keeps the closest pair of all the points that are added. */
export class ClosestPointsSearch implements ClosestPoints {
  square = Number.POSITIVE_INFINITY;
  a: [number, number, number] = [0, 0, 0];
  b: [number, number, number] = [0, 0, 0];

  add(ax: number, ay: number, az: number, bx: number, by: number, bz: number): void {
    const distanceSquared = (bx - ax) ** 2 + (by - ay) ** 2 + (bz - az) ** 2;
    if (!(distanceSquared < this.square)) return;
    this.square = distanceSquared;
    this.a = [ax, ay, az];
    this.b = [bx, by, bz];
  }

  /** Adds a point and its nearest point on a segment from q to r. With `isSwapped` the segment belongs to the first feature. */
  pointSegment(s: Float64Array, p: number, t: Float64Array, q: number, r: number, isSwapped = false): void {
    const [x, y, z] = [t[r] - t[q], t[r + 1] - t[q + 1], t[r + 2] - t[q + 2]];
    const lengthSquared = x * x + y * y + z * z;
    const along = (s[p] - t[q]) * x + (s[p + 1] - t[q + 1]) * y + (s[p + 2] - t[q + 2]) * z;
    const fraction = lengthSquared > 0 ? Math.min(Math.max(along / lengthSquared, 0), 1) : 0;
    // A point at an end is exactly the end.
    const at =
      fraction === 1
        ? [t[r], t[r + 1], t[r + 2]]
        : [t[q] + fraction * x, t[q + 1] + fraction * y, t[q + 2] + fraction * z];
    if (isSwapped) this.add(at[0], at[1], at[2], s[p], s[p + 1], s[p + 2]);
    else this.add(s[p], s[p + 1], s[p + 2], at[0], at[1], at[2]);
  }

  /** Adds the closest points of two segments, from p to q and from r to u. */
  segments(s: Float64Array, p: number, q: number, t: Float64Array, r: number, u: number): void {
    this.pointSegment(s, p, t, r, u);
    this.pointSegment(s, q, t, r, u);
    this.pointSegment(t, r, s, p, q, true);
    this.pointSegment(t, u, s, p, q, true);
    const [ax, ay, az] = [s[q] - s[p], s[q + 1] - s[p + 1], s[q + 2] - s[p + 2]];
    const [bx, by, bz] = [t[u] - t[r], t[u + 1] - t[r + 1], t[u + 2] - t[r + 2]];
    const [wx, wy, wz] = [t[r] - s[p], t[r + 1] - s[p + 1], t[r + 2] - s[p + 2]];
    // The direction perpendicular to both keeps more digits of nearly parallel segments than a determinant.
    const [nx, ny, nz] = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
    const normalLengthSquared = nx * nx + ny * ny + nz * nz;
    const m = ((wy * bz - wz * by) * nx + (wz * bx - wx * bz) * ny + (wx * by - wy * bx) * nz) / normalLengthSquared;
    if (!(m > 0 && m < 1)) return; // on parallel segments, an end is as near as any point
    // The nearest point on the second one is also that of a fraction that rounding has moved.
    this.pointSegment(Float64Array.of(s[p] + m * ax, s[p + 1] + m * ay, s[p + 2] + m * az), 0, t, r, u);
  }

  /** Adds the points where a segment from p to q, or the point p if q is p, is above the inside of a triangle, or intersects it. */
  overTriangle(s: Float64Array, p: number, q: number, t: Float64Array, at: number, isSwapped = false): void {
    const [ux, uy, uz] = [t[at + 3] - t[at], t[at + 4] - t[at + 1], t[at + 5] - t[at + 2]];
    const [vx, vy, vz] = [t[at + 6] - t[at], t[at + 7] - t[at + 1], t[at + 8] - t[at + 2]];
    const [nx, ny, nz] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    const normalLengthSquared = nx * nx + ny * ny + nz * nz;
    if (!(normalLengthSquared > 0)) return;
    const heightOf = (i: number) => (s[i] - t[at]) * nx + (s[i + 1] - t[at + 1]) * ny + (s[i + 2] - t[at + 2]) * nz;
    const add = (x: number, y: number, z: number, height: number): void => {
      // The foot of the perpendicular on the triangle's plane, and whether it is inside.
      const [wx, wy, wz] = [x - t[at], y - t[at + 1], z - t[at + 2]];
      const v = ((wy * vz - wz * vy) * nx + (wz * vx - wx * vz) * ny + (wx * vy - wy * vx) * nz) / normalLengthSquared;
      const w = ((uy * wz - uz * wy) * nx + (uz * wx - ux * wz) * ny + (ux * wy - uy * wx) * nz) / normalLengthSquared;
      if (!(v >= 0 && w >= 0 && v + w <= 1)) return;
      const fraction = height / normalLengthSquared;
      const foot = [x - fraction * nx, y - fraction * ny, z - fraction * nz];
      if (isSwapped) this.add(foot[0], foot[1], foot[2], x, y, z);
      else this.add(x, y, z, foot[0], foot[1], foot[2]);
    };
    const [startHeight, endHeight] = [heightOf(p), heightOf(q)];
    add(s[p], s[p + 1], s[p + 2], startHeight);
    if (p === q) return;
    add(s[q], s[q + 1], s[q + 2], endHeight);
    if (startHeight < 0 === endHeight < 0) return;
    const fraction = startHeight / (startHeight - endHeight);
    add(
      s[p] + fraction * (s[q] - s[p]),
      s[p + 1] + fraction * (s[q + 1] - s[p + 1]),
      s[p + 2] + fraction * (s[q + 2] - s[p + 2]),
      0,
    );
  }
}
