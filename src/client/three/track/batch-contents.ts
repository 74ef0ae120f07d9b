import type { BatchedMesh, BufferGeometry, DataTexture, Matrix4 } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { versionOf } from '../geometry/geometry-version.js';
import { nameOf } from './name-of.js';

/** It says where a geometry is in the buffers of its BatchedMesh. */
export interface BatchRange {
  /** They say which index is its first, or vertex where there are no indices, and how many there are. */
  readonly start: number;
  readonly count: number;
  /** They say which vertices it has, which its indices count from the first of the buffer. */
  readonly vertexStart: number;
  readonly vertexCount: number;
}

/** Stands for an instance that was deleted, and none has its number since. */
export const DELETED = -(2 ** 31);

interface Instance {
  readonly visible: boolean;
  readonly active: boolean;
  readonly geometryIndex: number;
}

/** What three keeps for itself in a BatchedMesh: nothing public tells which numbers of instances are in use. */
interface Insides {
  readonly _matricesTexture?: DataTexture | null;
  /** three has these from r170 on. */
  readonly _instanceInfo?: readonly Instance[];
  readonly _geometryInfo?: readonly (BatchRange & { readonly active: boolean })[];
  /** three had these from r166 to r169. */
  readonly _drawInfo?: readonly Instance[];
  /** three had these up to r165, where each geometry is its only instance. */
  readonly _visibility?: readonly boolean[];
  readonly _active?: readonly boolean[];
  /** three had these up to r169. */
  readonly _drawRanges?: readonly { start: number; count: number }[];
  readonly _reservedRanges?: readonly { vertexStart: number; vertexCount: number }[];
}

/** Reads what is in a BatchedMesh, whatever three it is of. */
export class BatchContents {
  readonly mesh: BatchedMesh;
  readonly #insides: Insides;

  constructor(mesh: BatchedMesh) {
    this.mesh = mesh;
    this.#insides = mesh as unknown as Insides;
  }

  /** Throws UNSUPPORTED for a three that keeps its instances in a way that is not known here. */
  check(): void {
    const { _instanceInfo, _geometryInfo, _drawInfo, _visibility, _active, _drawRanges, _reservedRanges } =
      this.#insides;
    const hasInstances = _instanceInfo ?? _drawInfo ?? (_visibility && _active);
    const hasRanges = _geometryInfo ?? (_drawRanges && _reservedRanges);
    const expected = `expected one of three r160 to r187 that was not disposed; InstancedMeshes are tracked in any`;
    if (hasInstances === undefined || hasRanges === undefined || this.matrices === null) {
      throw new CollisionError('UNSUPPORTED', `trackScene: found the ${nameOf(this.mesh)}, ${expected}`);
    }
    // Its groups belong to materials, and it has none.
    if (Array.isArray(this.mesh.material)) {
      const found = `found an array of materials in the ${nameOf(this.mesh)}`;
      throw new CollisionError('UNSUPPORTED', `trackScene: ${found}, expected one material: three draws nothing of it`);
    }
  }

  /** Answers what three keeps its instances in: another array after `copy`. */
  get instances(): readonly unknown[] {
    const { _instanceInfo, _drawInfo, _active } = this.#insides;
    return (_instanceInfo ?? _drawInfo ?? _active)!;
  }

  /** Answers how many numbers of instances were given out, those of deleted ones included. */
  get count(): number {
    return this.instances.length;
  }

  /** Answers the texture of the matrices, 16 numbers for each instance in a row; null where there is none. */
  get texture(): DataTexture | null {
    return this.#insides._matricesTexture ?? null;
  }

  get matrices(): Float32Array | null {
    const data: unknown = this.texture?.image?.data;
    return data instanceof Float32Array ? data : null;
  }

  /**
   * Answers what an instance is: the number of its geometry, bitwise inverted where it is not visible, or DELETED.
   */
  stateOf(i: number): number {
    const { _instanceInfo, _drawInfo, _visibility, _active } = this.#insides;
    const instances = _instanceInfo ?? _drawInfo;
    if (instances === undefined) return !_active![i] ? DELETED : _visibility![i] ? i : ~i;
    const { visible, active, geometryIndex } = instances[i];
    return !active ? DELETED : visible ? geometryIndex : ~geometryIndex;
  }

  /**
   * Lists those from `first` to before `end` that are another than in `states`, behind the first `found` of `changed`.
   * Answers how many are listed then.
   */
  findChanged(states: Int32Array, first: number, end: number, changed: Uint32Array, found: number): number {
    const { _instanceInfo, _drawInfo } = this.#insides;
    const instances = _instanceInfo ?? _drawInfo;
    let listed = found;
    if (instances === undefined) {
      for (let i = first; i < end; i++) if (this.stateOf(i) !== states[i]) changed[listed++] = i;
      return listed;
    }
    for (let i = firstOther(instances, states, first, end); i < end; i = firstOther(instances, states, i + 1, end)) {
      if (this.stateOf(i) !== states[i]) changed[listed++] = i;
    }
    return listed;
  }

  /** Answers how many numbers of geometries were given out. */
  get geometryCount(): number {
    const { _geometryInfo, _drawRanges } = this.#insides;
    return (_geometryInfo ?? _drawRanges!).length;
  }

  /** Tells whether there is a geometry of that number, and it was not deleted. */
  hasGeometry(geometry: number): boolean {
    const { _geometryInfo, _active, _drawInfo } = this.#insides;
    if (_geometryInfo !== undefined) return _geometryInfo[geometry].active;
    return _drawInfo !== undefined || _active![geometry];
  }

  rangeOf(geometry: number): BatchRange {
    const { _geometryInfo, _drawRanges, _reservedRanges } = this.#insides;
    if (_geometryInfo !== undefined) return _geometryInfo[geometry];
    const { start, count } = _drawRanges![geometry];
    const { vertexStart, vertexCount } = _reservedRanges![geometry];
    return { start, count, vertexStart, vertexCount };
  }
}

/**
 * Finds the first instance from `i` on that is not what its state says, or is not visible; `count` where there is none. Of
 * fifty thousand, with nothing else in the loop, it takes 0.10 ms in Chromium where they are in the caches, and 0.18 with what
 * `stateOf` does.
 */
function firstOther(instances: readonly Instance[], states: Int32Array, i: number, count: number): number {
  for (; i < count; i++) {
    const instance = instances[i];
    if (instance.geometryIndex !== states[i] || instance.visible !== true || instance.active !== true) break;
  }
  return i;
}

/** Reads the matrix of an instance, which may have been deleted: three's `getMatrixAt` throws then. */
export function readBatchMatrix(mesh: BatchedMesh, instance: number, target: Matrix4): Matrix4 {
  const { matrices } = new BatchContents(mesh);
  return matrices !== null && 16 * instance < matrices.length ? target.fromArray(matrices, 16 * instance) : target;
}

/** Notices whether something may be elsewhere in the buffers of a BatchedMesh, or another. */
export class BatchBuffers {
  #geometry: BufferGeometry | null = null;
  #position: unknown = null;
  #positionVersion = -1;
  #index: unknown = null;
  #indexVersion = -1;

  forget(): void {
    this.#geometry = null;
  }

  /** Tells whether they are those of the last call of `haveChanged`. */
  areThose(geometry: BufferGeometry): boolean {
    const { index } = geometry;
    const { position } = geometry.attributes;
    return (
      geometry === this.#geometry &&
      position === this.#position &&
      positionVersionOf(geometry) === this.#positionVersion &&
      index === this.#index &&
      (index?.version ?? -1) === this.#indexVersion
    );
  }

  /** Tells whether they are others than at the last call. */
  haveChanged(geometry: BufferGeometry): boolean {
    if (this.areThose(geometry)) return false;
    this.#geometry = geometry;
    this.#position = geometry.attributes.position;
    this.#positionVersion = positionVersionOf(geometry);
    this.#index = geometry.index;
    this.#indexVersion = geometry.index?.version ?? -1;
    return true;
  }
}

function positionVersionOf({ attributes: { position } }: BufferGeometry): number {
  return position === undefined ? -1 : versionOf(position);
}
