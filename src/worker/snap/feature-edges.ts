import type { Corners } from './corners.js';
import { hashOf } from './hash.js';
import type { Vertices } from './vertices.js';

/** Steps between two rests: some 0.3 ms. */
const ITEMS_PER_STEP = 4096;
/** Sine below which an angle counts as 0, so that two faces coincide. */
const SAME_SINE = 2 ** -10;

/** Edges between vertices, with the elements adjacent to each. */
export interface EdgeList {
  count: number;
  /** Two vertices for each edge, the lower first. */
  ends: Uint32Array;
  /** One entry more than there are edges: edge i has the elements `faces[faceStarts[i]]` to `faces[faceStarts[i + 1] - 1]`. */
  faceStarts: Uint32Array;
  /** Indices of elements in the corners. */
  faces: Uint32Array;
}

/** The edges of all triangles. Each edge has a linked list of half-edges, numbered by the corner that they begin at. */
interface HalfEdges {
  count: number;
  /** The first half-edge of each edge; and for each half-edge, the next one of its edge plus 1, or 0. */
  first: Uint32Array;
  next: Uint32Array;
}

/** Finds the half-edges of triangles that connect the same two vertices. */
function* pairHalfEdges(vertexOfCorner: Uint32Array): Generator<void, HalfEdges> {
  const halfCount = vertexOfCorner.length;
  const first = new Uint32Array(halfCount);
  const last = new Uint32Array(halfCount);
  const next = new Uint32Array(halfCount);
  let table = new Uint32Array(1024); // an edge plus 1, or 0
  let count = 0;
  const endOf = (half: number): number => vertexOfCorner[half % 3 === 2 ? half - 2 : half + 1];
  const bucketOf = (half: number): number => {
    const s = vertexOfCorner[half];
    const t = endOf(half);
    const mask = table.length - 1;
    let bucket = hashOf(Math.min(s, t), Math.max(s, t)) & mask;
    for (; table[bucket] !== 0; bucket = (bucket + 1) & mask) {
      const other = first[table[bucket] - 1];
      const x = vertexOfCorner[other];
      const y = endOf(other);
      if ((x === s && y === t) || (x === t && y === s)) break;
    }
    return bucket;
  };
  for (let half = 0; half < halfCount; half++) {
    if (half % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    // A triangle with coinciding corners is skipped: its neighbours on both sides meet each other.
    const corner = half - (half % 3);
    if (
      vertexOfCorner[corner] === vertexOfCorner[corner + 1] ||
      vertexOfCorner[corner + 1] === vertexOfCorner[corner + 2] ||
      vertexOfCorner[corner + 2] === vertexOfCorner[corner]
    )
      continue;
    const bucket = bucketOf(half);
    if (table[bucket] !== 0) {
      const edge = table[bucket] - 1;
      next[last[edge]] = half + 1;
      last[edge] = half;
      continue;
    }
    first[count] = last[count] = half;
    table[bucket] = ++count;
    if (2 * count <= table.length) continue;
    table = new Uint32Array(4 * table.length);
    for (let i = 0; i < count; i++) {
      table[bucketOf(first[i])] = i + 1;
      if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    }
  }
  return { count, first: first.subarray(0, count), next };
}

/**
 * Finds the feature edges of triangles: those at which the surface bends by more than an angle, given by its cosine, those with
 * a single triangle, and those with three or more unless all of them lie in one surface. The windings of triangles do not
 * matter, and coinciding triangles count as one.
 */
export function* findFeatureEdges(
  { positions }: Corners,
  { vertexOfCorner }: Vertices,
  cosine: number,
): Generator<void, EdgeList> {
  const { count, first, next } = yield* pairHalfEdges(vertexOfCorner);
  const wings = new WingTest(positions, cosine);
  const ends: number[] = [];
  const faceStarts = [0];
  const faces: number[] = [];
  let steps = 0;
  for (let edge = 0; edge < count; edge++) {
    wings.begin(first[edge]);
    for (let half = first[edge] + 1; half !== 0; half = next[half - 1]) {
      if (++steps % ITEMS_PER_STEP === 0) yield;
      if (half > first[edge] + 1) wings.add(half - 1);
    }
    if (wings.isSmooth) continue;
    const half = first[edge];
    const s = vertexOfCorner[half];
    const t = vertexOfCorner[half % 3 === 2 ? half - 2 : half + 1];
    ends.push(Math.min(s, t), Math.max(s, t));
    for (let each = half + 1; each !== 0; each = next[each - 1]) faces.push(Math.floor((each - 1) / 3));
    faceStarts.push(faces.length);
  }
  return {
    count: ends.length / 2,
    ends: Uint32Array.from(ends),
    faceStarts: Uint32Array.from(faceStarts),
    faces: Uint32Array.from(faces),
  };
}

/**
 * Finds the flat faces: coplanar triangles that are connected by edges. Returns for each triangle the representative of its
 * face.
 */
export function* findFlatFaces({ positions }: Corners, { vertexOfCorner }: Vertices): Generator<void, Uint32Array> {
  const { count, first, next } = yield* pairHalfEdges(vertexOfCorner);
  const wings = new WingTest(positions, Math.cos(SAME_SINE));
  const parents = new Uint32Array(vertexOfCorner.length / 3);
  for (let i = 0; i < parents.length; i++) parents[i] = i;
  const rootOf = (triangle: number): number => {
    let root = triangle;
    while (parents[root] !== root) {
      parents[root] = parents[parents[root]];
      root = parents[root];
    }
    return root;
  };
  // The half-edges of an edge with distinct triangles: any number of triangles may coincide.
  const distinctHalves: number[] = [];
  let steps = 0;
  for (let edge = 0; edge < count; edge++) {
    distinctHalves.length = 0;
    for (let half = first[edge] + 1; half !== 0; half = next[half - 1]) {
      steps += 1 + distinctHalves.length;
      if (steps > ITEMS_PER_STEP) {
        steps = 0;
        yield;
      }
      let isDistinct = true;
      for (const other of distinctHalves) {
        wings.begin(other);
        if (wings.add(half - 1)) isDistinct = false;
        if (!wings.isSmooth) continue;
        const a = rootOf(Math.floor((half - 1) / 3));
        const b = rootOf(Math.floor(other / 3));
        parents[Math.max(a, b)] = Math.min(a, b);
      }
      if (isDistinct) distinctHalves.push(half - 1);
    }
  }
  for (let i = 0; i < parents.length; i++) {
    parents[i] = rootOf(i);
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  return parents;
}

/** Converts lines to edges; each is its own adjacent element. */
export function lineEdges({ slots }: Corners, { vertexOfCorner }: Vertices): EdgeList {
  const elementIndices = slots.map((_, i) => i);
  const faceStarts = new Uint32Array(slots.length + 1);
  for (let i = 0; i <= slots.length; i++) faceStarts[i] = i;
  return { count: slots.length, ends: vertexOfCorner.slice(), faceStarts, faces: elementIndices };
}

/** Tests whether the triangles around an edge lie in one surface, by the directions in which they extend from the edge. */
class WingTest {
  isSmooth = false;
  readonly #positions: Float32Array;
  readonly #cosine: number;
  #isFlat = false;
  // A point on the edge, and its unit direction; the first triangle's unit direction away from the edge; and the current
  // triangle's.
  #x = 0;
  #y = 0;
  #z = 0;
  #alongX = 0;
  #alongY = 0;
  #alongZ = 0;
  #firstX = 0;
  #firstY = 0;
  #firstZ = 0;
  #wingX = 0;
  #wingY = 0;
  #wingZ = 0;

  constructor(positions: Float32Array, cosine: number) {
    this.#positions = positions;
    this.#cosine = cosine;
  }

  begin(half: number): void {
    const p = this.#positions;
    const from = 3 * half;
    const to = half % 3 === 2 ? from - 6 : from + 3;
    this.#x = p[from];
    this.#y = p[from + 1];
    this.#z = p[from + 2];
    const [x, y, z] = [p[to] - p[from], p[to + 1] - p[from + 1], p[to + 2] - p[from + 2]];
    const unit = 1 / Math.hypot(x, y, z);
    this.#alongX = x * unit;
    this.#alongY = y * unit;
    this.#alongZ = z * unit;
    this.#findWing(half);
    this.#firstX = this.#wingX;
    this.#firstY = this.#wingY;
    this.#firstZ = this.#wingZ;
    this.isSmooth = false;
    this.#isFlat = true;
  }

  /** Adds a triangle; returns whether it coincides with the first one. */
  add(half: number): boolean {
    this.#findWing(half);
    const dot = this.#wingX * this.#firstX + this.#wingY * this.#firstY + this.#wingZ * this.#firstZ;
    const isOpposite = -dot >= this.#cosine;
    const crossX = this.#wingY * this.#firstZ - this.#wingZ * this.#firstY;
    const crossY = this.#wingZ * this.#firstX - this.#wingX * this.#firstZ;
    const crossZ = this.#wingX * this.#firstY - this.#wingY * this.#firstX;
    const isSame = dot > 0 && Math.hypot(crossX, crossY, crossZ) <= SAME_SINE;
    this.#isFlat &&= isOpposite || isSame;
    this.isSmooth = this.#isFlat && (this.isSmooth || isOpposite);
    return isSame;
  }

  #findWing(half: number): void {
    const p = this.#positions;
    const at = half % 3 === 0 ? 3 * half + 6 : 3 * half - 3;
    let [x, y, z] = [p[at] - this.#x, p[at + 1] - this.#y, p[at + 2] - this.#z];
    const along = x * this.#alongX + y * this.#alongY + z * this.#alongZ;
    x -= along * this.#alongX;
    y -= along * this.#alongY;
    z -= along * this.#alongZ;
    const unit = 1 / Math.hypot(x, y, z);
    this.#wingX = x * unit;
    this.#wingY = y * unit;
    this.#wingZ = z * unit;
  }
}
