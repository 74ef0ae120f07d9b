import type { BufferAttribute, BufferGeometry, GLBufferAttribute, InterleavedBufferAttribute } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { BoxShape, MeshData } from '../../../shared/types.js';
import { argumentError, guardRead, throwInvalid } from '../../check/validate.js';
import { lastAtMost } from '../last-at-most.js';

/** How a geometry is drawn: lines as pairs of vertices, from each vertex to the next, or also from the last to the first. */
export type Primitive = 'triangles' | 'points' | 'segments' | 'strip' | 'loop';

/** Consecutive elements of a geometry: [start, end) counts indices, or vertices if there are no indices. */
export interface TriangleRun {
  start: number;
  end: number;
  materialIndex: number;
}

/** Runs are cut to a multiple of this many vertices: those left over belong to no element. */
const VERTICES_PER_ELEMENT = { triangles: 3, points: 1, segments: 2, strip: 1, loop: 1 } as const;

type Indices = Uint32Array | Uint16Array;
type IndexArray = BufferAttribute['array'];

/** Vertices or indices that are copied in one step. */
const COPY_STEP = 16_384;

/**
 * Reads the triangles that three draws of `geometry`: indexed or not, of any attribute type, within its draw range,
 * without skin and morphs. Triangle 0 is the first of the draw range. The arrays are the geometry's own where their
 * types allow it, so keep `transfer` off.
 *
 * ```ts
 * const mesh = await service.addMesh(meshDataFromGeometry(new TorusKnotGeometry()));
 * ```
 */
export function meshDataFromGeometry(geometry: BufferGeometry): MeshData {
  return readGeometry('meshDataFromGeometry', geometry, () => meshDataOfRuns(geometry, runsOf(geometry, null)));
}

/** Makes the box around `geometry`, as a shape: cheaper than its triangles, and exact for a box. */
export function boxFromGeometry(geometry: BufferGeometry): BoxShape {
  return readGeometry('boxFromGeometry', geometry, () => {
    if (geometry.boundingBox === null) {
      const { position } = geometry.attributes;
      if (position?.array) checkCount(geometry, position as BufferAttribute);
      geometry.computeBoundingBox();
    }
    const { min, max } = geometry.boundingBox!;
    const corners = [min.x, min.y, min.z, max.x, max.y, max.z];
    if (!corners.every((each) => Number.isFinite(each))) {
      throw argumentError('BAD_DATA', 'boxFromGeometry', 'the bounding box', corners, 'finite positions, one at least');
    }
    return {
      type: 'box',
      center: [(min.x + max.x) / 2, (min.y + max.y) / 2, (min.z + max.z) / 2],
      halfExtents: [(max.x - min.x) / 2, (max.y - min.y) / 2, (max.z - min.z) / 2],
    };
  });
}

/** Reads a geometry of the caller. Throws INVALID_ARGUMENT if it is none. */
function readGeometry<T>(operation: string, geometry: BufferGeometry, read: () => T): T {
  return guardRead(operation, 'the geometry', () => {
    if (geometry?.isBufferGeometry !== true) throwInvalid(operation, 'geometry', geometry, 'a BufferGeometry');
    return read();
  });
}

/**
 * Lists the runs that three draws of a geometry: its draw range (`groups` null), or the part of it that lies in the groups with
 * the given indices, as with an array of materials.
 */
export function runsOf(
  geometry: BufferGeometry,
  groups: readonly number[] | null,
  primitive: Primitive = 'triangles',
): TriangleRun[] {
  const { drawRange } = geometry;
  if (!Number.isInteger(drawRange.start)) {
    throw argumentError(
      'BAD_DATA',
      'meshDataFromGeometry',
      'the start of the draw range',
      drawRange.start,
      'an integer',
    );
  }
  const count = geometry.index !== null ? geometry.index.count : positionAttributeOf(geometry).count;
  const runs: TriangleRun[] = [];
  const add = (from: number, to: number, materialIndex: number): void => {
    const start = Math.max(from, drawRange.start);
    const length = Math.min(to, drawRange.start + drawRange.count, count) - start;
    const end = start + length - (length % VERTICES_PER_ELEMENT[primitive]);
    if (end > start + (primitive === 'strip' ? 1 : 0)) runs.push({ start, end, materialIndex });
  };
  if (groups === null) {
    add(0, count, 0);
  } else {
    for (const groupIndex of groups) {
      const group = geometry.groups[groupIndex];
      if (group === undefined) continue; // it has been removed since
      add(group.start, group.start + group.count, group.materialIndex ?? 0);
    }
  }
  return runs.slice(); // without the spare capacity of an array that has grown: there are thousands
}

/** Gathers the elements of `runs`, one run after the other. */
export function meshDataOfRuns(
  geometry: BufferGeometry,
  runs: readonly TriangleRun[],
  primitive: Primitive = 'triangles',
): MeshData {
  const positions = positionsOfRuns(geometry, runs);
  const indices = geometry.index === null ? null : integersOf(geometry.index);
  if (runs.length === 0) {
    const { start, count } = geometry.drawRange;
    const available = indices === null ? `${positions.length / 3} vertices` : `${indices.length} indices`;
    const expected = { triangles: 'triangle', points: 'point', segments: 'line', strip: 'line', loop: 'line' };
    throw new CollisionError(
      'BAD_DATA',
      `meshDataFromGeometry: of ${geometryNameOf(geometry)} with ${available}, nothing lies in the draw range (${start}, ${count}) ` +
        `and the groups; expected a ${expected[primitive]}`,
    );
  }
  if (primitive !== 'triangles') {
    const data = { positions, topology: topologyOf(primitive) };
    if (indices === null && !isChain(primitive)) return data;
    const elements = new Uint32Array(indexCount(primitive, runs[0]));
    writeIndices(elements, primitive, runs[0], indices, runs[0].start, runs[0].end);
    return { ...data, indices: elements };
  }
  if (runs.length === 1) {
    const { start, end } = runs[0];
    return indices === null ? { positions } : { positions, indices: indices.subarray(start, end) };
  }
  const gathered = new Uint32Array(runs.reduce((sum, run) => sum + run.end - run.start, 0));
  let length = 0;
  for (const { start, end } of runs) {
    for (let i = start; i < end; i++) gathered[length++] = indices === null ? i : indices[i];
  }
  return { positions, indices: gathered };
}

/** Returns whether each line begins where the previous one ends. */
function isChain(primitive: Primitive): primitive is 'strip' | 'loop' {
  return primitive === 'strip' || primitive === 'loop';
}

function topologyOf(primitive: Primitive): 'triangles' | 'lines' | 'points' {
  return primitive === 'triangles' || primitive === 'points' ? primitive : 'lines';
}

/** Returns how many indices a run has in a mesh. */
function indexCount(primitive: Primitive, { start, end }: TriangleRun): number {
  if (primitive === 'strip') return 2 * (end - start - 1);
  return primitive === 'loop' ? 2 * (end - start) : end - start;
}

/**
 * Writes the indices of the elements of a run that begin at elements [from, to) of `source`; a null source is a geometry
 * without indices, whose positions are those of the run.
 */
function writeIndices(
  target: Indices,
  primitive: Primitive,
  { start, end }: TriangleRun,
  source: ArrayLike<number> | null,
  from: number,
  to: number,
): void {
  const at = (i: number): number => (source === null ? i - start : source[i]);
  if (!isChain(primitive)) {
    for (let i = from; i < to; i++) target[i - start] = at(i);
    return;
  }
  for (let i = from; i < to; i++) {
    const isLast = i + 1 === end;
    if (isLast && primitive === 'strip') return;
    target[2 * (i - start)] = at(i);
    target[2 * (i - start) + 1] = at(isLast ? start : i + 1);
  }
}

/** Returns how many numbers `copyMeshData` copies. */
export function copySizeOf(
  geometry: BufferGeometry,
  runs: readonly TriangleRun[],
  primitive: Primitive = 'triangles',
): number {
  const { index } = geometry;
  const numbers = 3 * positionAttributeOf(geometry).count;
  return index === null && runs.length === 1 && !isChain(primitive)
    ? numbers
    : numbers + runs.reduce((sum, run) => sum + indexCount(primitive, run), 0);
}

/**
 * Does what `meshDataOfRuns` does, into arrays of its own, in steps of some tenths of a millisecond each. The geometry must not
 * change before the last step.
 */
export function* copyMeshData(
  geometry: BufferGeometry,
  runs: readonly TriangleRun[],
  primitive: Primitive = 'triangles',
): Generator<void, MeshData> {
  const position = positionAttributeOf(geometry);
  const { first, end, isRange } = vertexRange(geometry, runs);
  const positions = new Float32Array(3 * (end - first));
  for (let from = first; from < end; from += COPY_STEP) {
    copyFloats(positions, 3 * (from - first), position, from, Math.min(end, from + COPY_STEP));
    yield;
  }
  const data = { positions, ...(primitive !== 'triangles' && { topology: topologyOf(primitive) }) };
  if (isRange && !isChain(primitive)) return data;
  const source = geometry.index?.array ?? null;
  const length = runs.reduce((sum, run) => sum + indexCount(primitive, run), 0);
  const indices = source instanceof Uint16Array ? new Uint16Array(length) : new Uint32Array(length);
  if (primitive === 'triangles') yield* copyTriangles(indices, runs, source);
  else yield* copyElements(indices, primitive, runs, source);
  return { ...data, indices };
}

function* copyTriangles(
  indices: Indices,
  runs: readonly TriangleRun[],
  source: IndexArray | null,
): Generator<void, void> {
  let at = 0;
  for (const { start, end } of runs) {
    for (let from = start; from < end; from += COPY_STEP) {
      const to = Math.min(end, from + COPY_STEP);
      if (source !== null) indices.set(source.subarray(from, to), at);
      else for (let i = from; i < to; i++) indices[at + i - from] = i;
      at += to - from;
      yield;
    }
  }
}

function* copyElements(
  indices: Indices,
  primitive: Primitive,
  runs: readonly TriangleRun[],
  source: IndexArray | null,
): Generator<void, void> {
  for (const run of runs) {
    for (let from = run.start; from < run.end; from += COPY_STEP) {
      writeIndices(indices, primitive, run, source, from, Math.min(run.end, from + COPY_STEP));
      yield;
    }
  }
}

/** Returns the range of vertices that `meshDataOfRuns` has; `isRange`: they are the run's own, in their order. */
export function vertexRange(
  geometry: BufferGeometry,
  runs: readonly TriangleRun[],
): { first: number; end: number; isRange: boolean } {
  const isRange = geometry.index === null && runs.length === 1;
  if (isRange) return { first: runs[0].start, end: runs[0].end, isRange };
  return { first: 0, end: positionAttributeOf(geometry).count, isRange };
}

/** Reads the positions of `meshDataOfRuns`. */
export function positionsOfRuns(geometry: BufferGeometry, runs: readonly TriangleRun[]): Float32Array {
  const positions = floatsOf(positionAttributeOf(geometry));
  return geometry.index === null && runs.length === 1
    ? positions.subarray(3 * runs[0].start, 3 * runs[0].end)
    : positions;
}

/** Copies the positions of vertices [first, end). */
export function copyPositions(geometry: BufferGeometry, first: number, end: number): Float32Array {
  const position = positionAttributeOf(geometry);
  if (!(first >= 0 && first <= end && end <= position.count)) {
    throw argumentError(
      'BAD_DATA',
      geometryNameOf(geometry),
      'the range of vertices',
      [first, end],
      `one of ${position.count}`,
    );
  }
  const floats = new Float32Array(3 * (end - first));
  copyFloats(floats, 0, position, first, end);
  return floats;
}

/** Finds where triangle `triangle` of `meshDataOfRuns` begins in the geometry, and its material. */
export function findTriangle(runs: readonly TriangleRun[], triangle: number): { start: number; materialIndex: number } {
  let precedingCount = 0;
  for (const { start, end, materialIndex } of runs) {
    const count = (end - start) / 3;
    if (triangle < precedingCount + count) return { start: start + 3 * (triangle - precedingCount), materialIndex };
    precedingCount += count;
  }
  throw new RangeError(`triangle ${triangle} of ${precedingCount}`);
}

/**
 * Translates triangle indices of `meshDataOfRuns` to face indices of the geometry, as three's Raycaster counts them: every
 * `step`th number from `offset` on, in place. Numbers that are not triangles of these runs stay as they are.
 */
export function toFaceIndices(
  runs: readonly TriangleRun[],
  triangles: Uint32Array,
  offset: number,
  step: number,
): void {
  if (hasFacesInOrder(runs)) return;
  let count = 0;
  /** The number of the first triangle of each run: there may be thousands of runs. */
  const firsts = runs.map(({ start, end }) => {
    const first = count;
    count += (end - start) / 3;
    return first;
  });
  for (let i = offset; i < triangles.length; i += step) {
    if (triangles[i] >= count) continue;
    const run = lastAtMost(firsts, triangles[i]);
    triangles[i] = Math.floor(runs[run].start / 3 + triangles[i] - firsts[run]);
  }
}

/** Returns whether triangle numbers equal face numbers, as they do if all of a geometry is drawn. */
export function hasFacesInOrder(runs: readonly TriangleRun[]): boolean {
  return runs.length === 1 && runs[0].start < 3;
}

function positionAttributeOf(geometry: BufferGeometry): BufferAttribute | InterleavedBufferAttribute {
  if ('isInstancedBufferGeometry' in geometry) {
    throw new CollisionError(
      'UNSUPPORTED',
      `meshDataFromGeometry: ${geometryNameOf(geometry)} is placed by its shader; expected a BufferGeometry`,
    );
  }
  // three's types promise any name in `attributes` and leave GLBufferAttribute out.
  const position = geometry.attributes.position as
    | BufferAttribute
    | InterleavedBufferAttribute
    | GLBufferAttribute
    | undefined;
  if (position === undefined || 'isGLBufferAttribute' in position || position.itemSize < 3) {
    const actual =
      position === undefined
        ? 'none'
        : 'isGLBufferAttribute' in position
          ? 'a GLBufferAttribute'
          : `item size ${position.itemSize}`;
    throw new CollisionError(
      'BAD_DATA',
      `meshDataFromGeometry: ${geometryNameOf(geometry)} has position ${actual}; expected an attribute of item size 3`,
    );
  }
  checkCount(geometry, position);
  return position;
}

/** Checks the count against the array before anything is allocated or looped by it. */
function checkCount(geometry: BufferGeometry, { array, count }: BufferAttribute | InterleavedBufferAttribute): void {
  if (3 * count <= array.length) return;
  const available = `${array.length} numbers for ${count} positions`;
  throw new CollisionError('BAD_DATA', `${geometryNameOf(geometry)} has ${available}; expected 3 for each`);
}

function floatsOf(attribute: BufferAttribute | InterleavedBufferAttribute): Float32Array {
  const { count } = attribute;
  const floatArray = plainFloatArray(attribute);
  if (floatArray !== null) return floatArray.subarray(0, 3 * count);
  const floats = new Float32Array(3 * count);
  copyFloats(floats, 0, attribute, 0, count);
  return floats;
}

/** Returns the array of an attribute if it holds the positions as they are, contiguously; else null. */
function plainFloatArray(attribute: BufferAttribute | InterleavedBufferAttribute): Float32Array | null {
  const { array, itemSize } = attribute;
  const isPacked = !('isInterleavedBufferAttribute' in attribute) && itemSize === 3 && array instanceof Float32Array;
  return isPacked ? array : null;
}

/** Writes vertices [first, end) to `target`, from index `at` on. */
export function copyFloats(
  target: Float32Array,
  at: number,
  attribute: BufferAttribute | InterleavedBufferAttribute,
  first: number,
  end: number,
): void {
  const floatArray = plainFloatArray(attribute);
  if (floatArray !== null) {
    target.set(floatArray.subarray(3 * first, 3 * end), at);
    return;
  }
  for (let i = first, to = at; i < end; i++) {
    // The getters undo interleaving, normalisation and half floats.
    target[to++] = attribute.getX(i);
    target[to++] = attribute.getY(i);
    target[to++] = attribute.getZ(i);
  }
}

function integersOf(attribute: BufferAttribute): Uint32Array | Uint16Array {
  const { array } = attribute;
  return array instanceof Uint32Array || array instanceof Uint16Array ? array : Uint32Array.from(array);
}

export function geometryNameOf(geometry: BufferGeometry): string {
  return geometry.name === '' ? `${geometry.type} ${geometry.id}` : `${geometry.type} "${geometry.name}"`;
}
