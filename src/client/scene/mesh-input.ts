// The caller's data of a mesh: checked, and copied or transferred into buffers of our own.
import type { BakedSource } from '../../shared/baked-source.js';
import { CollisionError } from '../../shared/errors.js';
import type { AddMeshOptions, MeshData } from '../../shared/types.js';
import { bufferOf, checkTypedArray, isArrayBuffer, isDetached } from '../check/binary.js';
import { checkSignal } from '../check/signal.js';
import {
  argumentError,
  checkAtLeastZero,
  checkBoolean,
  checkNumber,
  checkOneOf,
  invalidArgumentError,
  readOptions,
  throwInvalid,
} from '../check/validate.js';
import { aborted } from '../link/abort.js';
import { buffersOf, type CheckUnshared, checkDeform, copyDeform } from '../skin/mesh-deform.js';
import { type ChunkPool, isInChunks } from './chunk-pool.js';
import { type Boxes, checkBoxes } from './named-boxes.js';

const QUALITIES = ['good', 'fast'] as const;
const FEATURE_KEYS = ['angle'];
/** Degrees; the default angle for features, as in worker/snap/feature-store.ts. */
const FEATURE_ANGLE = 35;
const ADD_KEYS = ['onProgress', 'signal', 'transfer', 'weld', 'features', 'boxes', 'quality'];
const DATA_KEYS = ['positions', 'indices', 'topology', 'skin', 'morphs'];
/** The number of vertices per element of each topology. */
const VERTICES_PER_ELEMENT = { triangles: 3, lines: 2, points: 1 } as const;
const TOPOLOGIES = Object.keys(VERTICES_PER_ELEMENT) as (keyof typeof VERTICES_PER_ELEMENT)[];
const INDEX_KINDS = ['Uint32Array', 'Uint16Array'] as const;

/** The options of a mesh that is added. */
export interface AddRequest {
  /** Reports the fraction of the mesh that is built, 0 … 1. */
  report: (fraction: number) => void;
  signal: AbortSignal | undefined;
  isHandedOver: boolean;
  weld: number;
  /** The angle by which features are to be found; undefined if they are not. */
  angle: number | undefined;
  /** Its boxes, checked; undefined to use those that are baked with it. */
  asked: Boxes | undefined;
  isFast: boolean;
}

/** Reads and checks the options of a mesh that is added, each once. */
export function readAddOptions(operation: string, data: MeshData | ArrayBuffer, options: AddMeshOptions): AddRequest {
  const given = readOptions(operation, 'options', options, ADD_KEYS);
  const { onProgress, signal, transfer: isHandedOver = false, weld = 0, features, boxes, quality } = given;
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throwInvalid(operation, 'onProgress', onProgress, 'a function');
  }
  checkSignal(operation, signal);
  checkBoolean(operation, 'transfer', isHandedOver);
  checkAtLeastZero(operation, 'weld', weld);
  const angle = checkFeatures(operation, features);
  const isFast = quality !== undefined && checkOneOf(operation, 'quality', quality, QUALITIES) === 'fast';
  if (isArrayBuffer(data)) {
    const none = 'none for a baked mesh, which';
    if (weld > 0) throwInvalid(operation, 'weld', weld, '0 for a baked mesh, which was welded as it was built');
    if (angle !== undefined) throwInvalid(operation, 'features', features, `${none} has those that it was baked with`);
    if (quality !== undefined) throwInvalid(operation, 'quality', quality, `${none} is built already`);
  } else if (isFast && (data?.topology ?? 'triangles') !== 'triangles') {
    throwInvalid(operation, 'quality', quality, `'good' for ${data.topology}, whose trees are built in one way`);
  }
  const asked = boxes === undefined ? undefined : checkBoxes(operation, 'boxes', boxes);
  // The function runs in a microtask of its own: an error that it throws ends nothing here.
  const report = (fraction: number) => onProgress && queueMicrotask(() => onProgress(fraction));
  return { report, signal, isHandedOver, weld, angle, asked, isFast };
}

/** Returns the angle by which features are to be found, in degrees; undefined if they are not. */
function checkFeatures(operation: string, features: AddMeshOptions['features'] = false): number | undefined {
  if (typeof features === 'boolean') return features ? FEATURE_ANGLE : undefined;
  const { angle = FEATURE_ANGLE } = readOptions(operation, 'features', features, FEATURE_KEYS);
  checkNumber(operation, 'features.angle', angle, 0, 'a number from 0 to 180');
  if (angle > 180) throwInvalid(operation, 'features.angle', angle, 'a number from 0 to 180');
  return angle;
}

/** Checks the data, and takes it into buffers of our own; a large baked mesh that is not transferred, into chunks. */
export function copyOrTransferData(
  operation: string,
  data: MeshData | ArrayBuffer,
  isHandedOver: boolean,
  signal: AbortSignal | undefined,
  weld: number,
  pool: ChunkPool,
): MeshData | ArrayBuffer | BakedSource {
  const arrays = isArrayBuffer(data) ? checkBaked(operation, data) : checkData(operation, data, isHandedOver, weld);
  if (signal?.aborted) throw aborted(operation, signal);
  if (!isHandedOver) {
    return isArrayBuffer(arrays) && isInChunks(arrays) ? pool.take(arrays.byteLength) : copyOf(arrays);
  }
  const ownedData = transferData(operation, arrays, isArrayBuffer(arrays) ? [arrays] : allBuffersOf(arrays));
  // Blobs do not accept resizable buffers.
  return isArrayBuffer(ownedData) && 'resizable' in ownedData && ownedData.resizable ? copyOf(ownedData) : ownedData;
}

/**
 * Checks that there are positions for all vertices of a mesh, and takes them into a buffer of our own. Nothing is detached if
 * this throws.
 */
export function copyOrTransferPositions(
  operation: string,
  value: unknown,
  vertices: number,
  isHandedOver: boolean,
): Float32Array {
  const positions = checkTypedArray<Float32Array>(operation, 'positions', value, ['Float32Array']);
  if (positions.length !== 3 * vertices) {
    const expected = `3 for each of its ${vertices} vertices`;
    throw argumentError('BAD_DATA', operation, 'the length of positions', positions.length, expected);
  }
  if (!isHandedOver) return positions.slice();
  checkUnshared(operation, 'positions', positions, value);
  return transferData(operation, positions, [positions.buffer]);
}

/** Transfers the caller's buffers to us. */
function transferData<T>(operation: string, data: T, buffers: readonly ArrayBufferLike[]): T {
  try {
    return structuredClone(data, { transfer: [...new Set(buffers)] as ArrayBuffer[] });
  } catch (cause) {
    const message = `${operation}: the data cannot be transferred, expected buffers that can: ${String(cause)}`;
    throw new CollisionError('INVALID_ARGUMENT', message, { cause });
  }
}

function copyOf<T extends MeshData | ArrayBuffer>(data: T): T;
function copyOf(data: MeshData | ArrayBuffer): MeshData | ArrayBuffer {
  if (isArrayBuffer(data)) return new Uint8Array(new Uint8Array(data)).buffer;
  const { positions, indices, topology = 'triangles' } = data;
  const copy = { positions: positions.slice(), topology, ...copyDeform(data) };
  return indices ? { ...copy, indices: indices.slice() } : copy;
}

function allBuffersOf(data: MeshData): ArrayBufferLike[] {
  const buffers = [data.positions.buffer, ...buffersOf(data)];
  return data.indices ? [...buffers, data.indices.buffer] : buffers;
}

function checkBaked(operation: string, baked: ArrayBuffer): ArrayBuffer {
  if (isDetached(baked)) throwInvalid(operation, 'data', 'a detached buffer', 'a baked mesh');
  return baked;
}

function checkData(operation: string, data: MeshData, isHandedOver: boolean, weld: number): MeshData {
  // A file that Node has read is a view; a baked mesh may be in memory that is shared, which has no positions.
  const given: Partial<MeshData> = ArrayBuffer.isView(data) ? {} : readOptions(operation, 'data', data, DATA_KEYS);
  if (given.positions === undefined) {
    throwInvalid(operation, 'data', data, 'positions and indices, or a baked mesh in an ArrayBuffer');
  }
  const positions = checkTypedArray<Float32Array>(operation, 'positions', given.positions, ['Float32Array']);
  const checkTransferable: CheckUnshared | undefined = isHandedOver
    ? (argument, checked, array) => checkUnshared(operation, argument, checked, array)
    : undefined;
  checkTransferable?.('positions', positions, given.positions);
  const { topology = 'triangles' } = given;
  const size = VERTICES_PER_ELEMENT[checkOneOf(operation, 'topology', topology, TOPOLOGIES)];
  if (weld > 0 && topology !== 'triangles')
    throwInvalid(operation, 'weld', weld, `0 for ${topology}, which have no faces`);
  checkLength(operation, 'positions', positions, given.indices === undefined ? 3 * size : 3);
  const deform = checkDeform(operation, given, positions.length / 3, checkTransferable);
  if (topology !== 'triangles' && Object.keys(deform).length > 0) {
    throw new CollisionError('UNSUPPORTED', `${operation}: ${topology} have a skin or morphs, expected none of them`);
  }
  if (given.indices === undefined) return { positions, topology, ...deform };
  const indices = checkTypedArray<Uint32Array | Uint16Array>(operation, 'indices', given.indices, INDEX_KINDS);
  checkTransferable?.('indices', indices, given.indices);
  checkLength(operation, 'indices', indices, size);
  return { positions, indices, topology, ...deform };
}

/** Checks that an array can be transferred: if its buffer is shared, the checked array is a copy. */
function checkUnshared(
  operation: string,
  argument: string,
  checked: { buffer: ArrayBufferLike },
  value: unknown,
): void {
  if (checked.buffer === bufferOf(value)) return;
  const message = `${operation}: ${argument} cannot be transferred, as its buffer is shared; expected one that can`;
  throw invalidArgumentError(message);
}

function checkLength(operation: string, argument: string, { length }: ArrayLike<number>, multiple: number): void {
  if (length > 0 && length % multiple === 0) return;
  throw argumentError('BAD_DATA', operation, `the length of ${argument}`, length, `a multiple of ${multiple}, not 0`);
}
