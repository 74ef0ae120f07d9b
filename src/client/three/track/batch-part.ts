import { BufferAttribute, BufferGeometry, type BufferGeometry as Buffers } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { guardRead } from '../../check/validate.js';
import { copyPositions } from '../geometry/geometry.js';
import type { MeshPool } from '../geometry/mesh-pool.js';
import type { BuiltMesh, MeshUse, MeshUser } from '../geometry/shared-mesh.js';
import type { BatchRange } from './batch-contents.js';

/** A geometry in the form that the service takes: its indices count its own vertices. */
interface GeometryData {
  readonly positions: Float32Array;
  readonly indices: Uint32Array | null;
  /** The number of indices that are drawn, or of vertices if there are no indices. */
  readonly count: number;
}

/**
 * One geometry of a BatchedMesh, and its mesh in the service. It keeps a copy of its vertices and indices, because three only
 * tells that something in the buffers of all geometries has changed: a comparison with the copy shows what.
 */
export class BatchPart {
  /** How many instances have this geometry. */
  wanted = 0;
  /** The mesh that is the shape of these instances in the service. */
  standing: BuiltMesh | null = null;
  /** Whether three no longer has it. */
  isDropped = false;
  /** Set if it should be solid and is open. */
  refusal: CollisionError | null = null;
  readonly #pool: MeshPool;
  readonly #user: MeshUser;
  readonly #weld: number;
  readonly #geometry = new BufferGeometry();
  #use: MeshUse | null = null;
  #buffers: Buffers;
  #start = 0;
  /** Why the geometry cannot be read. */
  #failure: CollisionError | null = null;
  /** The built mesh in terms of the current buffers. */
  #relocatedMesh: BuiltMesh | null = null;

  constructor(pool: MeshPool, user: MeshUser, weld: number, name: string, buffers: Buffers, range: BatchRange) {
    this.#pool = pool;
    this.#user = user;
    this.#weld = weld;
    this.#geometry.name = name;
    this.#buffers = buffers;
    this.review(buffers, range);
  }

  get pending(): boolean {
    return this.#use?.mesh.isBuilding === true;
  }

  get error(): CollisionError | null {
    return this.#failure ?? this.#use?.mesh.error ?? this.refusal;
  }

  /** The mesh that is built, with its triangles where they are in the buffers now; null if there is none. */
  get built(): BuiltMesh | null {
    const built = this.#use === null ? null : this.#use.mesh.built;
    if (built === null || this.#failure !== null) return null;
    const buffers = this.#buffers;
    const relocatedMesh = this.#relocatedMesh;
    const isSame =
      relocatedMesh !== null &&
      relocatedMesh.id === built.id &&
      relocatedMesh.geometry === buffers &&
      relocatedMesh.index === buffers.index;
    if (isSame && relocatedMesh.runs[0].start === this.#start) return relocatedMesh;
    const length = built.runs[0].end - built.runs[0].start;
    const runs = [{ start: this.#start, end: this.#start + length, materialIndex: 0 }];
    this.#relocatedMesh = {
      id: built.id,
      geometry: buffers,
      index: buffers.index,
      runs,
      primitive: 'triangles',
      bones: 0,
      morphs: 0,
    };
    return this.#relocatedMesh;
  }

  /** Reads the geometry at its current place in the buffers, and takes over any change. Throws the service's errors. */
  review(buffers: Buffers, range: BatchRange): void {
    this.#buffers = buffers;
    this.#start = range.start;
    this.#failure = null;
    let data: GeometryData;
    try {
      data = guardRead('trackScene', this.#geometry.name, () => readGeometryData(buffers, range));
    } catch (cause) {
      if (!CollisionError.is(cause)) throw cause;
      this.#failure = cause;
      return;
    }
    const isChanged = this.#copyIfChanged(data);
    if (this.#use === null) this.#use = this.#pool.acquire(this.#geometry, null, this.#weld, this.#user);
    else if (isChanged) this.#pool.review(this.#geometry);
  }

  release(): void {
    if (this.#use !== null) this.#pool.release(this.#use);
    this.#use = null;
  }

  /** Copies the contents if they differ from the copy; returns whether they do. */
  #copyIfChanged({ positions, indices, count }: GeometryData): boolean {
    const geometry = this.#geometry;
    const position = geometry.attributes.position as BufferAttribute | undefined;
    const isSame =
      geometry.drawRange.count === count && areEqual(geometry.index === null ? null : geometry.index.array, indices);
    if (isSame && position !== undefined && position.array.length === positions.length) {
      if (areEqual(position.array, positions)) return false;
      position.array.set(positions);
      position.needsUpdate = true;
      return true;
    }
    geometry.setAttribute('position', new BufferAttribute(positions, 3));
    geometry.setIndex(indices === null ? null : new BufferAttribute(indices, 1));
    geometry.setDrawRange(0, count);
    return true;
  }
}

function readGeometryData(buffers: Buffers, { start, count, vertexStart, vertexCount }: BatchRange): GeometryData {
  const positions = copyPositions(buffers, vertexStart, vertexStart + vertexCount);
  if (buffers.index === null) return { positions, indices: null, count };
  const { array } = buffers.index;
  const indices = new Uint32Array(Math.max(0, Math.min(count, array.length - start)));
  for (let i = 0; i < indices.length; i++) {
    const vertex = array[start + i] - vertexStart;
    if (vertex < 0 || vertex >= vertexCount) {
      const message = `index ${start + i} of a BatchedMesh is ${array[start + i]}, expected a vertex of its own geometry`;
      throw new CollisionError('BAD_DATA', `trackScene: ${message}: ${vertexCount} from ${vertexStart} on`);
    }
    indices[i] = vertex;
  }
  return { positions, indices, count: indices.length };
}

function areEqual(a: ArrayLike<number> | null, b: ArrayLike<number> | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false;
  return true;
}
