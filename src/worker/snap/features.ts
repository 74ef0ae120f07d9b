import { MESH_BYTES, MESH_HEADER_BYTES } from '../../shared/layout.js';
import { type BoxTree, buildBoxTree, levelsOf } from './box-tree.js';
import { findCircles } from './circles.js';
import { type Corners, type MemoryGetter, readCorners } from './corners.js';
import { type EdgeList, findFeatureEdges, lineEdges } from './feature-edges.js';
import { hashOf } from './hash.js';
import { findRuns, findStars } from './runs.js';
import { weldCorners } from './vertices.js';

/**
 * Rounding moves vertices by less than this, relative to the mesh's largest coordinate: vertices that are no farther apart are
 * merged.
 */
export const NOISE = 2 ** -22;
const ITEMS_PER_STEP = 8192;

/** The snapping features of a mesh, in mesh space. In the tree, the circles follow the edges as items. */
export interface Features extends BoxTree {
  /** The vertices per element: 3 for triangles, 2 for lines, 1 for points. */
  size: 1 | 2 | 3;
  /** The feature angle, in degrees. */
  angle: number;
  /** xyz of each vertex of the features. */
  points: Float32Array;
  /** A corner in the tree for each vertex: `size` times its element's slot (corners.ts), plus the corner's index. */
  corners: Uint32Array;
  /** Two vertices per edge; none for points. */
  edges: Uint32Array;
  /** The run of each edge; each run's ends and its midpoint: runs.ts. */
  runs: Uint32Array;
  flags: Uint8Array;
  runEnds: Uint32Array;
  middleEdges: Uint32Array;
  middles: Float64Array;
  /** The slots of the elements adjacent to each edge: those of edge i from faceStarts[i] to faceStarts[i + 1] - 1. */
  faceStarts: Uint32Array;
  faces: Uint32Array;
  /** circles.ts. */
  circles: Float64Array;
  circleEnds: Uint32Array;
  circleStarts: Uint32Array;
  circleEdges: Uint32Array;
}

/** Number of items in a feature tree: edges and circles, or points. */
export function itemCount({ size, edges, circles, points }: Features): number {
  return size === 1 ? points.length / 3 : edges.length / 2 + circles.length / 7;
}

/** Finds the features of a mesh. It may rest after each step; meanwhile the mesh must not change. */
export function* findFeatures(getMemory: MemoryGetter, mesh: number, angle: number): Generator<void, Features> {
  const corners = yield* readCorners(getMemory, mesh);
  return yield* featuresOf(corners, angle);
}

export function* featuresOf(corners: Corners, angle: number): Generator<void, Features> {
  const { size, slots } = corners;
  const bounds = yield* boundsOf(corners.positions);
  const noise = NOISE * Math.max(...bounds.map(Math.abs));
  const vertices = yield* weldCorners(corners.positions, noise);
  const cosine = Math.cos((angle * Math.PI) / 180);
  const edges =
    size === 3
      ? yield* findFeatureEdges(corners, vertices, cosine)
      : size === 2
        ? lineEdges(corners, vertices)
        : yield* pointEdges(vertices.count);
  // Vertices without a feature edge are left out. Points are edges of no length, until their boxes are known.
  const vertexNumbers = new Uint32Array(vertices.count); // a number plus 1, or 0
  const usedVertices: number[] = [];
  for (let i = 0; i < edges.ends.length; i++) {
    const vertex = edges.ends[i];
    if (vertexNumbers[vertex] === 0) vertexNumbers[vertex] = usedVertices.push(vertex);
    edges.ends[i] = vertexNumbers[vertex] - 1;
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  const points = new Float32Array(3 * usedVertices.length);
  const cornerSlots = new Uint32Array(usedVertices.length);
  for (let i = 0; i < usedVertices.length; i++) {
    const corner = vertices.corners[usedVertices[i]];
    for (let k = 0; k < 3; k++) points[3 * i + k] = corners.positions[3 * corner + k];
    cornerSlots[i] = size * slots[Math.floor(corner / size)] + (corner % size);
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  const stars = yield* findStars(edges, usedVertices.length);
  const runs = yield* findRuns(edges, stars, points, noise, size === 3);
  const hasCircles = size === 3;
  const circles = hasCircles ? yield* findCircles(edges, stars, points, noise, bounds) : NO_CIRCLES;
  const items = yield* itemBoxes(edges.ends, points, circles.records);
  const tree = yield* buildBoxTree(items);
  return {
    ...tree,
    size,
    angle,
    points,
    corners: cornerSlots,
    edges: size === 1 ? NO_INDICES : edges.ends,
    runs: runs.runOfEdge,
    flags: runs.flags,
    runEnds: runs.ends,
    middleEdges: runs.middleEdges,
    middles: runs.middles,
    faceStarts: edges.faceStarts,
    faces: edges.faces.map((face) => slots[face]),
    circles: circles.records,
    circleEnds: circles.ends,
    circleStarts: circles.edgeStarts,
    circleEdges: circles.edges,
  };
}

const NO_INDICES = new Uint32Array();
const NO_CIRCLES = { records: new Float64Array(), ends: NO_INDICES, edgeStarts: new Uint32Array(1), edges: NO_INDICES };

/** Makes an edge of each point, for its box; they do not count. */
function* pointEdges(count: number): Generator<void, EdgeList> {
  const ends = new Uint32Array(2 * count);
  for (let i = 0; i < ends.length; i++) {
    ends[i] = i >> 1;
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  return { count: 0, ends, faceStarts: new Uint32Array(1), faces: NO_INDICES };
}

/** Returns the minimum xyz and the maximum xyz of positions. */
export function* boundsOf(positions: Float32Array): Generator<void, number[]> {
  const bounds = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
  for (let i = 0; i < positions.length; i++) {
    const k = i % 3;
    bounds[k] = Math.min(bounds[k], positions[i]);
    bounds[3 + k] = Math.max(bounds[3 + k], positions[i]);
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  return bounds;
}

function* itemBoxes(ends: Uint32Array, points: Float32Array, circles: Float64Array): Generator<void, Float32Array> {
  const edgeCount = ends.length / 2;
  const boxes = new Float32Array(6 * (edgeCount + circles.length / 7));
  for (let i = 0; i < edgeCount; i++) {
    for (let k = 0; k < 3; k++) {
      const [a, b] = [points[3 * ends[2 * i] + k], points[3 * ends[2 * i + 1] + k]];
      boxes[6 * i + k] = Math.min(a, b);
      boxes[6 * i + 3 + k] = Math.max(a, b);
    }
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  for (let i = 0; i < circles.length / 7; i++) {
    for (let k = 0; k < 3; k++) {
      const center = circles[7 * i + k];
      const slack = Math.abs(center) * 2 ** -23;
      boxes[6 * (edgeCount + i) + k] = center - slack;
      boxes[6 * (edgeCount + i) + 3 + k] = center + slack;
    }
  }
  return boxes;
}

// --- baking ---

const MAGIC = 0x46535743; // 'CWSF'
const VERSION = 1;
const HEADER_WORDS = 8;
/** The arrays in the order in which they are baked: those of eight bytes per number first. */
export const ARRAYS = [
  ['middles', Float64Array],
  ['circles', Float64Array],
  ['points', Float32Array],
  ['boxes', Float32Array],
  ['order', Uint32Array],
  ['corners', Uint32Array],
  ['edges', Uint32Array],
  ['runs', Uint32Array],
  ['runEnds', Uint32Array],
  ['middleEdges', Uint32Array],
  ['faceStarts', Uint32Array],
  ['faces', Uint32Array],
  ['circleEnds', Uint32Array],
  ['circleStarts', Uint32Array],
  ['circleEdges', Uint32Array],
  ['flags', Uint8Array],
] as const;
const FIRST_WORD = HEADER_WORDS + ARRAYS.length;

/**
 * Bytes that are copied between two readings of the clock: a tenth of a millisecond, or half a millisecond if the memory is new.
 */
const BYTES_PER_STEP = 1 << 20;

/** Concatenates a baked mesh and its features in one buffer. */
export function* withFeatures(baked: ArrayBuffer, features: Features): Generator<void, ArrayBuffer> {
  const start = alignUp(baked.byteLength);
  let bytes = alignUp(4 * FIRST_WORD);
  for (const [name] of ARRAYS) bytes += alignUp(features[name].byteLength);
  const combined = new ArrayBuffer(start + bytes);
  for (let at = 0; at < baked.byteLength; at += BYTES_PER_STEP) {
    new Uint8Array(combined).set(new Uint8Array(baked, at, Math.min(BYTES_PER_STEP, baked.byteLength - at)), at);
    yield;
  }
  const words = new Uint32Array(combined, start);
  words.set([MAGIC, VERSION, bytes, 0, features.size]);
  new Float64Array(combined, start + 24, 1)[0] = features.angle;
  let at = start + alignUp(4 * FIRST_WORD);
  for (const [i, [name]] of ARRAYS.entries()) {
    const { buffer, byteOffset, byteLength, length } = features[name];
    words[HEADER_WORDS + i] = length;
    new Uint8Array(combined).set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += alignUp(byteLength);
    yield;
  }
  words[3] = yield* checksumOf(words);
  return combined;
}

/** Returns how many of the first `end` bytes of a baked mesh precede its features: all if it has none. */
export function bytesWithoutFeatures(baked: ArrayBuffer, end: number): number {
  if (end < MESH_HEADER_BYTES) return end;
  const bytes = new DataView(baked).getUint32(MESH_BYTES, true);
  const start = alignUp(bytes);
  if (start + 4 * FIRST_WORD > end) return end;
  return new DataView(baked).getUint32(start, true) === MAGIC ? bytes : end;
}

/**
 * Reads the features that follow the first `meshBytes` bytes of a baked mesh, up to `end`, for `size` vertices per element and
 * `slotCount` slots; null if they are invalid. The result consists of views of the same buffer. It may rest after each step.
 */
export function* readFeatures(
  baked: ArrayBuffer,
  meshBytes: number,
  end: number,
  size: 1 | 2 | 3,
  slotCount: number,
): Generator<void, Features | null> {
  const start = alignUp(meshBytes);
  if (end % 4 !== 0) return null;
  const words = new Uint32Array(baked, start, (end - start) / 4);
  if (words[0] !== MAGIC || words[1] !== VERSION || words[2] !== end - start) return null;
  if (words[3] !== (yield* checksumOf(words)) || words[4] !== size) return null;
  const features: Record<string, unknown> = { size, angle: new Float64Array(baked, start + 24, 1)[0] };
  let at = start + alignUp(4 * FIRST_WORD);
  for (const [i, [name, ArrayType]] of ARRAYS.entries()) {
    const count = words[HEADER_WORDS + i];
    const next = at + alignUp(count * ArrayType.BYTES_PER_ELEMENT);
    if (next > end) return null;
    features[name] = new ArrayType(baked, at, count);
    at = next;
  }
  const result = features as unknown as Features;
  return at === end && (yield* isValid(result, slotCount)) ? result : null;
}

/** Returns whether all indices in baked features are in range, whatever their origin. */
function* isValid(features: Features, slotCount: number): Generator<void, boolean> {
  const { size, angle, points, corners, edges, runs, flags, runEnds, middleEdges, middles } = features;
  const { faceStarts, faces, circles, circleEnds, circleStarts, circleEdges, order, boxes } = features;
  const vertexCount = points.length / 3;
  const edgeCount = edges.length / 2;
  const runCount = middles.length;
  const circleCount = circles.length / 7;
  const items = itemCount(features);
  const nodes = levelsOf(items).at(-1)!;
  const fits =
    angle >= 0 &&
    angle <= 180 &&
    [vertexCount, edgeCount, circleCount].every(Number.isInteger) &&
    flags.length === edgeCount &&
    boxes.length === 6 * nodes;
  if (!fits) return false;
  const checks = [
    areBelow(size * slotCount, corners, vertexCount),
    areBelow(vertexCount, edges),
    areBelow(runCount, runs, edgeCount),
    areBelow(vertexCount, runEnds, 2 * runCount),
    areBelow(edgeCount, middleEdges, runCount),
    areBelow(slotCount, faces),
    areBelow(vertexCount, circleEnds, 2 * circleCount),
    areBelow(edgeCount, circleEdges),
    areBelow(items, order, items),
    areValidStarts(faceStarts, edgeCount, faces.length),
    areValidStarts(circleStarts, circleCount, circleEdges.length),
    ...[points, middles, circles, boxes].map((numbers) => areBelow(Infinity, numbers)),
  ];
  for (const check of checks) if (!(yield* check)) return false;
  return true;
}

/** Returns whether there are `count` numbers, each with a magnitude below a limit. */
function* areBelow(limit: number, numbers: ArrayLike<number>, count = numbers.length): Generator<void, boolean> {
  for (let i = 0; i < numbers.length; i++) {
    if (!(Math.abs(numbers[i]) < limit)) return false;
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  return numbers.length === count;
}

function* areValidStarts(starts: Uint32Array, count: number, end: number): Generator<void, boolean> {
  if (starts.length !== count + 1 || starts[0] !== 0 || starts[count] !== end) return false;
  for (let i = 0; i < count; i++) {
    if (starts[i] > starts[i + 1]) return false;
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  return true;
}

/** Hashes words from the fifth on, so that any change of a single word changes the hash. */
function* checksumOf(words: Uint32Array): Generator<void, number> {
  let hash = 0;
  for (let i = 4; i < words.length; i++) {
    hash = hashOf(hash, words[i]);
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  return hash;
}

/** Arrays begin on a boundary of 16 bytes. */
export function alignUp(bytes: number): number {
  return Math.ceil(bytes / 16) * 16;
}
