/**
 * Finds first hits of rays among cubes in plain JavaScript: a uniform grid with each cube in every cell that its bounds overlap,
 * traversed cell by cell (Amanatides and Woo, A Fast Voxel Traversal Algorithm for Ray Tracing, 1987). All in float64.
 */
export class BoxRayGrid {
  /** Hit of the last ray; -1 for a miss. */
  box = -1;

  readonly #matrices: Float64Array;
  readonly #halfSize: number;
  readonly #cellSize: number;
  readonly #gridMin = [Infinity, Infinity, Infinity];
  readonly #cells = [0, 0, 0];
  readonly #starts: Int32Array;
  readonly #boxes: Int32Array;
  /** Per box, the number of the last ray that was tested with it. */
  readonly #lastRay: Int32Array;
  #rayIndex = 0;
  // State of the traversal, per axis.
  readonly #cell = new Int32Array(3);
  readonly #nextCrossing = new Float64Array(3);
  readonly #origin = new Float64Array(3);
  readonly #direction = new Float64Array(3);

  /** `matrices`: 16 numbers per cube, column-major, of rotation and translation. */
  constructor(matrices: Float32Array, halfSize: number) {
    const count = matrices.length / 16;
    this.#matrices = Float64Array.from(matrices);
    this.#halfSize = halfSize;
    this.#cellSize = 4 * halfSize;
    this.#lastRay = new Int32Array(count);
    const bounds = this.#boundsOf(count);
    const gridMax = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < bounds.length; i += 6) {
      for (let axis = 0; axis < 3; axis++) {
        this.#gridMin[axis] = Math.min(this.#gridMin[axis], bounds[i + axis]);
        gridMax[axis] = Math.max(gridMax[axis], bounds[i + 3 + axis]);
      }
    }
    for (let axis = 0; axis < 3; axis++) {
      this.#cells[axis] = Math.floor((gridMax[axis] - this.#gridMin[axis]) / this.#cellSize) + 1;
    }
    const [nx, ny, nz] = this.#cells;
    this.#starts = new Int32Array(nx * ny * nz + 1);
    this.#forEachCell(bounds, (cell) => this.#starts[cell]++);
    for (let cell = 0, sum = 0; cell < this.#starts.length; cell++) {
      sum += this.#starts[cell];
      this.#starts[cell] = sum;
    }
    this.#boxes = new Int32Array(this.#starts[nx * ny * nz]);
    this.#forEachCell(bounds, (cell, box) => {
      this.#boxes[--this.#starts[cell]] = box;
    });
  }

  /** Returns the distance in multiples of the direction's length; Infinity for a miss. `at` is the ray's offset in `rays`. */
  cast(rays: Float32Array, at: number): number {
    this.box = -1;
    this.#rayIndex++;
    const enter = this.#enterGrid(rays, at);
    if (enter === Infinity) return Infinity;
    const [nx, ny] = this.#cells;
    const cell = this.#cell;
    const next = this.#nextCrossing;
    let nearest = Infinity;
    for (;;) {
      const index = cell[0] + nx * (cell[1] + ny * cell[2]);
      for (let i = this.#starts[index]; i < this.#starts[index + 1]; i++) {
        const box = this.#boxes[i];
        if (this.#lastRay[box] === this.#rayIndex) continue;
        this.#lastRay[box] = this.#rayIndex;
        const distance = this.#hitBox(box);
        if (distance < nearest) {
          nearest = distance;
          this.box = box;
        }
      }
      const axis = next[0] < next[1] ? (next[0] < next[2] ? 0 : 2) : next[1] < next[2] ? 1 : 2;
      if (nearest <= next[axis]) return nearest;
      const direction = this.#direction[axis];
      cell[axis] += direction > 0 ? 1 : -1;
      if (cell[axis] < 0 || cell[axis] >= this.#cells[axis]) return nearest;
      next[axis] += this.#cellSize / Math.abs(direction);
    }
  }

  /** Starts the traversal at the first cell; returns the distance to it, Infinity if the ray misses the grid. */
  #enterGrid(rays: Float32Array, at: number): number {
    let enter = 0;
    let leave = Infinity;
    for (let axis = 0; axis < 3; axis++) {
      const origin = rays[at + axis];
      const direction = rays[at + 4 + axis];
      this.#origin[axis] = origin;
      this.#direction[axis] = direction;
      const toMin = (this.#gridMin[axis] - origin) / direction;
      const toMax = (this.#gridMin[axis] + this.#cells[axis] * this.#cellSize - origin) / direction;
      enter = Math.max(enter, Math.min(toMin, toMax));
      leave = Math.min(leave, Math.max(toMin, toMax));
    }
    if (!(enter <= leave)) return Infinity;
    for (let axis = 0; axis < 3; axis++) {
      const direction = this.#direction[axis];
      const cellPosition = (this.#origin[axis] + enter * direction - this.#gridMin[axis]) / this.#cellSize;
      const cell = Math.min(Math.max(Math.floor(cellPosition), 0), this.#cells[axis] - 1);
      const border = this.#gridMin[axis] + (cell + (direction > 0 ? 1 : 0)) * this.#cellSize;
      this.#cell[axis] = cell;
      this.#nextCrossing[axis] = direction === 0 ? Infinity : (border - this.#origin[axis]) / direction;
    }
    return enter;
  }

  /** Slab test in the cube's own frame; returns Infinity for a miss. */
  #hitBox(box: number): number {
    const m = this.#matrices;
    const at = 16 * box;
    const half = this.#halfSize;
    const x = this.#origin[0] - m[at + 12];
    const y = this.#origin[1] - m[at + 13];
    const z = this.#origin[2] - m[at + 14];
    const [dx, dy, dz] = [this.#direction[0], this.#direction[1], this.#direction[2]];
    let enter = 0;
    let leave = Infinity;
    for (let axis = at; axis < at + 12; axis += 4) {
      const origin = m[axis] * x + m[axis + 1] * y + m[axis + 2] * z;
      const inverse = 1 / (m[axis] * dx + m[axis + 1] * dy + m[axis + 2] * dz);
      const t0 = (-half - origin) * inverse;
      const t1 = (half - origin) * inverse;
      enter = Math.max(enter, Math.min(t0, t1));
      leave = Math.min(leave, Math.max(t0, t1));
    }
    return enter <= leave ? enter : Infinity;
  }

  /** Minimum and maximum corner of each cube's bounds. */
  #boundsOf(count: number): Float64Array {
    const bounds = new Float64Array(6 * count);
    for (let i = 0; i < count; i++) {
      for (let axis = 0; axis < 3; axis++) {
        const at = 16 * i + axis;
        const m = this.#matrices;
        const extent = this.#halfSize * (Math.abs(m[at]) + Math.abs(m[at + 4]) + Math.abs(m[at + 8]));
        bounds[6 * i + axis] = m[at + 12] - extent;
        bounds[6 * i + 3 + axis] = m[at + 12] + extent;
      }
    }
    return bounds;
  }

  #forEachCell(bounds: Float64Array, visit: (cell: number, box: number) => void): void {
    const [nx, ny] = this.#cells;
    const cellAt = (i: number, axis: number) => Math.floor((bounds[i] - this.#gridMin[axis]) / this.#cellSize);
    for (let i = 0; i < bounds.length; i += 6) {
      for (let z = cellAt(i + 2, 2); z <= cellAt(i + 5, 2); z++) {
        for (let y = cellAt(i + 1, 1); y <= cellAt(i + 4, 1); y++) {
          for (let x = cellAt(i, 0); x <= cellAt(i + 3, 0); x++) visit(x + nx * (y + ny * z), i / 6);
        }
      }
    }
  }
}
