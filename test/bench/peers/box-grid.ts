/**
 * Finds all overlapping pairs of cubes, as an expert would in plain JavaScript: a uniform grid of the centres with cells as wide
 * as the cubes' diagonal, filled by a counting sort; then the separating axis test (Gottschalk, Lin and Manocha, OBBTree, 1996).
 * All in float64, without garbage.
 */
export class BoxGrid {
  /** Pairs of the last `findPairs`: two indices each, the smaller first. */
  pairs = new Uint32Array(1024);
  count = 0;

  readonly #boxCount: number;
  readonly #cellOf: Int32Array;
  /** Indices of the boxes, sorted by cell. */
  readonly #sorted: Int32Array;
  #starts = new Int32Array(0);
  /** Centre and three axes: twelve numbers per box. */
  readonly #frames: Float64Array;
  readonly #gridMin = new Float64Array(3);
  readonly #cells = new Int32Array(3);

  constructor(boxes: number) {
    this.#boxCount = boxes;
    this.#cellOf = new Int32Array(boxes);
    this.#sorted = new Int32Array(boxes);
    this.#frames = new Float64Array(12 * boxes);
  }

  /** `matrices`: 16 numbers per box, column-major, of rotation and translation. */
  findPairs(matrices: Float32Array, halfSize: number): void {
    this.#readFrames(matrices);
    this.#sortByCell(2 * Math.sqrt(3) * halfSize);
    this.count = 0;
    const [nx, ny, nz] = this.#cells;
    let cell = 0;
    for (let z = 0; z < nz; z++) {
      for (let y = 0; y < ny; y++) {
        for (let x = 0; x < nx; x++, cell++) {
          const start = this.#starts[cell];
          const end = this.#starts[cell + 1];
          if (start === end) continue;
          this.#testWithinCell(start, end, halfSize);
          // Visits half of the 26 neighbours, each row of cells as one range: the cells of a row are adjacent in memory.
          const left = x > 0 ? -1 : 0;
          const right = x < nx - 1 ? 1 : 0;
          if (right) this.#testAcrossCells(start, end, cell + 1, cell + 1, halfSize);
          if (y < ny - 1) this.#testAcrossCells(start, end, cell + nx + left, cell + nx + right, halfSize);
          if (z === nz - 1) continue;
          const above = cell + nx * ny;
          if (y > 0) this.#testAcrossCells(start, end, above - nx + left, above - nx + right, halfSize);
          this.#testAcrossCells(start, end, above + left, above + right, halfSize);
          if (y < ny - 1) this.#testAcrossCells(start, end, above + nx + left, above + nx + right, halfSize);
        }
      }
    }
  }

  #readFrames(matrices: Float32Array): void {
    const frames = this.#frames;
    for (let i = 0, from = 0, to = 0; i < this.#boxCount; i++, from += 16, to += 12) {
      frames[to] = matrices[from + 12];
      frames[to + 1] = matrices[from + 13];
      frames[to + 2] = matrices[from + 14];
      frames[to + 3] = matrices[from];
      frames[to + 4] = matrices[from + 1];
      frames[to + 5] = matrices[from + 2];
      frames[to + 6] = matrices[from + 4];
      frames[to + 7] = matrices[from + 5];
      frames[to + 8] = matrices[from + 6];
      frames[to + 9] = matrices[from + 8];
      frames[to + 10] = matrices[from + 9];
      frames[to + 11] = matrices[from + 10];
    }
  }

  #sortByCell(cellSize: number): void {
    const frames = this.#frames;
    for (let axis = 0; axis < 3; axis++) {
      let min = Infinity;
      let max = -Infinity;
      for (let at = axis; at < frames.length; at += 12) {
        if (frames[at] < min) min = frames[at];
        if (frames[at] > max) max = frames[at];
      }
      this.#gridMin[axis] = min;
      this.#cells[axis] = Math.floor((max - min) / cellSize) + 1;
    }
    const [minX, minY, minZ] = this.#gridMin;
    const [nx, ny, nz] = this.#cells;
    if (this.#starts.length <= nx * ny * nz) this.#starts = new Int32Array(nx * ny * nz + 1);
    const starts = this.#starts.fill(0);
    const cellOf = this.#cellOf;
    for (let i = 0, at = 0; i < this.#boxCount; i++, at += 12) {
      const x = Math.floor((frames[at] - minX) / cellSize);
      const y = Math.floor((frames[at + 1] - minY) / cellSize);
      const z = Math.floor((frames[at + 2] - minZ) / cellSize);
      const cell = x + nx * (y + ny * z);
      cellOf[i] = cell;
      starts[cell]++;
    }
    for (let cell = 0, sum = 0; cell < starts.length; cell++) {
      sum += starts[cell];
      starts[cell] = sum;
    }
    for (let i = this.#boxCount - 1; i >= 0; i--) this.#sorted[--starts[cellOf[i]]] = i;
  }

  #testWithinCell(start: number, end: number, halfSize: number): void {
    for (let i = start; i < end; i++) {
      for (let k = i + 1; k < end; k++) this.#testPair(this.#sorted[i], this.#sorted[k], halfSize);
    }
  }

  #testAcrossCells(start: number, end: number, firstCell: number, lastCell: number, halfSize: number): void {
    const from = this.#starts[firstCell];
    const to = this.#starts[lastCell + 1];
    for (let i = start; i < end; i++) {
      for (let k = from; k < to; k++) this.#testPair(this.#sorted[i], this.#sorted[k], halfSize);
    }
  }

  #testPair(a: number, b: number, halfSize: number): void {
    const frames = this.#frames;
    const dx = frames[12 * b] - frames[12 * a];
    const dy = frames[12 * b + 1] - frames[12 * a + 1];
    const dz = frames[12 * b + 2] - frames[12 * a + 2];
    const distanceSquared = dx * dx + dy * dy + dz * dz;
    if (distanceSquared > 12 * halfSize * halfSize) return;
    // If the inscribed spheres overlap, no axis can separate the boxes.
    if (
      distanceSquared > 4 * halfSize * halfSize &&
      cubesAreApart(frames, 12 * a + 3, 12 * b + 3, dx, dy, dz, halfSize)
    )
      return;
    if (2 * this.count === this.pairs.length) {
      const larger = new Uint32Array(2 * this.pairs.length);
      larger.set(this.pairs);
      this.pairs = larger;
    }
    this.pairs[2 * this.count] = a < b ? a : b;
    this.pairs[2 * this.count + 1] = a < b ? b : a;
    this.count++;
  }
}

/**
 * Returns whether one of the 15 axes separates two cubes, whose nine axis coordinates begin at `a` and `b`; d is the vector
 * between their centres.
 */
function cubesAreApart(
  axes: Float64Array,
  a: number,
  b: number,
  dx: number,
  dy: number,
  dz: number,
  halfSize: number,
): boolean {
  const ax = axes[a];
  const ay = axes[a + 1];
  const az = axes[a + 2];
  const bx = axes[a + 3];
  const by = axes[a + 4];
  const bz = axes[a + 5];
  const cx = axes[a + 6];
  const cy = axes[a + 7];
  const cz = axes[a + 8];
  // d in the frame of the first cube, in half sizes.
  const ta = (dx * ax + dy * ay + dz * az) / halfSize;
  const tb = (dx * bx + dy * by + dz * bz) / halfSize;
  const tc = (dx * cx + dy * cy + dz * cz) / halfSize;
  const ux = axes[b];
  const uy = axes[b + 1];
  const uz = axes[b + 2];
  const vx = axes[b + 3];
  const vy = axes[b + 4];
  const vz = axes[b + 5];
  const wx = axes[b + 6];
  const wy = axes[b + 7];
  const wz = axes[b + 8];
  const au = ax * ux + ay * uy + az * uz;
  const av = ax * vx + ay * vy + az * vz;
  const aw = ax * wx + ay * wy + az * wz;
  const auAbs = Math.abs(au);
  const avAbs = Math.abs(av);
  const awAbs = Math.abs(aw);
  if (Math.abs(ta) > 1 + auAbs + avAbs + awAbs) return true;
  const bu = bx * ux + by * uy + bz * uz;
  const bv = bx * vx + by * vy + bz * vz;
  const bw = bx * wx + by * wy + bz * wz;
  const buAbs = Math.abs(bu);
  const bvAbs = Math.abs(bv);
  const bwAbs = Math.abs(bw);
  if (Math.abs(tb) > 1 + buAbs + bvAbs + bwAbs) return true;
  const cu = cx * ux + cy * uy + cz * uz;
  const cv = cx * vx + cy * vy + cz * vz;
  const cw = cx * wx + cy * wy + cz * wz;
  const cuAbs = Math.abs(cu);
  const cvAbs = Math.abs(cv);
  const cwAbs = Math.abs(cw);
  if (Math.abs(tc) > 1 + cuAbs + cvAbs + cwAbs) return true;
  if (Math.abs(ta * au + tb * bu + tc * cu) > 1 + auAbs + buAbs + cuAbs) return true;
  if (Math.abs(ta * av + tb * bv + tc * cv) > 1 + avAbs + bvAbs + cvAbs) return true;
  if (Math.abs(ta * aw + tb * bw + tc * cw) > 1 + awAbs + bwAbs + cwAbs) return true;
  return (
    Math.abs(tc * bu - tb * cu) > buAbs + cuAbs + avAbs + awAbs ||
    Math.abs(tc * bv - tb * cv) > bvAbs + cvAbs + auAbs + awAbs ||
    Math.abs(tc * bw - tb * cw) > bwAbs + cwAbs + auAbs + avAbs ||
    Math.abs(ta * cu - tc * au) > auAbs + cuAbs + bvAbs + bwAbs ||
    Math.abs(ta * cv - tc * av) > avAbs + cvAbs + buAbs + bwAbs ||
    Math.abs(ta * cw - tc * aw) > awAbs + cwAbs + buAbs + bvAbs ||
    Math.abs(tb * au - ta * bu) > auAbs + buAbs + cvAbs + cwAbs ||
    Math.abs(tb * av - ta * bv) > avAbs + bvAbs + cuAbs + cwAbs ||
    Math.abs(tb * aw - ta * bw) > awAbs + bwAbs + cuAbs + cvAbs
  );
}
