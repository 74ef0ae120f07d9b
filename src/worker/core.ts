import { CollisionError } from '../shared/errors.js';
import * as layout from '../shared/layout.js';
import type { ObjectDescription, RayFilter, TreeInfo } from '../shared/protocol.js';
import type { Hit, ObjectId, Ray, Vec3 } from '../shared/types.js';
import { type CoreExports, FAULTS, instantiateCore } from './core-exports.js';

/** Address of a baked mesh in the core's memory. */
export type MeshAddress = number;

/** A build under way; `step` until it answers 1, then `finish`. */
export interface MeshBuild {
  /** Works for about `budget` milliseconds; answers the fraction done. */
  step(budget: number): number;
  /** The baked mesh, in a buffer of its own. Frees the build. */
  finish(): ArrayBuffer;
  abort(): void;
}

/** A description with its mesh's address for `mesh`, and perhaps a matrix. */
export interface PlacedDescription extends ObjectDescription {
  mesh: MeshAddress;
  /** 16, column-major. Absent: the identity for a new object, its own for a set one. */
  matrix?: ArrayLike<number> | undefined;
}

export interface Core {
  /** Bytes of linear memory; and of them, in use. */
  readonly memoryBytes: number;
  readonly usedBytes: number;

  beginBuild(positions: Float32Array, indices?: Uint32Array | Uint16Array): MeshBuild;
  /** Copies a baked mesh in, if nothing in it can lead a traversal astray (else BAD_DATA). */
  loadMesh(baked: ArrayBuffer): MeshAddress;
  bakeMesh(mesh: MeshAddress): ArrayBuffer;
  meshInfo(mesh: MeshAddress): TreeInfo;
  /** As they were given; undefined where every three vertices are a triangle. */
  meshIndices(mesh: MeshAddress): Uint32Array<ArrayBuffer> | undefined;
  /**
   * Moves the vertices and all that stands on them: the tree's boxes and the objects' bounds. False where that cannot
   * be done, as a triangle that was left out of the tree has an area now; the mesh is as it was then, and also where
   * this throws: BAD_DATA, OUT_OF_MEMORY.
   */
  refitMesh(mesh: MeshAddress, positions: Float32Array): boolean;
  /** Puts `by` in the place of `mesh` for all objects, and frees `mesh`. */
  replaceMesh(mesh: MeshAddress, by: MeshAddress): void;
  freeMesh(mesh: MeshAddress): void;

  /** Whether a triangle of `a` meets one of `b`, touching included. `matrix`: 16, column-major, b's space to a's. */
  meshesIntersect(a: MeshAddress, b: MeshAddress, matrix: ArrayLike<number>): boolean;
  /** Every pair of triangles that meet, in the order of the descent: two indices each, a's and b's. */
  intersectingTriangles(a: MeshAddress, b: MeshAddress, matrix: ArrayLike<number>): Uint32Array;

  addObjects(ids: Uint32Array, description: PlacedDescription): void;
  setObject(id: ObjectId, description: PlacedDescription): void;
  removeObject(id: ObjectId): void;
  removeView(slot: number): void;

  /** Runs one frame: layout.ts's frame in, and out into `out` when that is large enough, else into a new buffer. */
  frame(input: ArrayBuffer, out: ArrayBuffer | undefined): ArrayBuffer;

  raycast(ray: Ray, filter: RayFilter): Omit<Hit, 'frame'> | null;
  /** Every hit, by distance, then object, then triangle. */
  raycastAll(ray: Ray, filter: RayFilter): Omit<Hit, 'frame'>[];
  /** `anyHit`: whether anything is hit at all; stops at the first proof. */
  anyHit(ray: Ray, filter: RayFilter): boolean;
  raycastMany(
    rays: Float32Array,
    filter: RayFilter,
  ): { objects: Uint32Array; distances: Float64Array; triangles: Int32Array; barycentrics: Float32Array };

  /** The first broken invariant of any structure in words, or null. Slow; for tests. */
  check(): string | null;
}

const BUILD_BAD_INDEX = 1;

// mesh/refit.ts
const REFIT_NOT_FINITE = 1;
const REFIT_EMPTY = 2;
const REFIT_NOT_IN_TREE = 3;

/** Makes a core of its own memory. Rejects with UNSUPPORTED where WebAssembly SIMD is missing or forbidden. */
export async function createCore(wasm: BufferSource): Promise<Core> {
  return bindCore(await instantiateCore(wasm));
}

export function bindCore(exports: CoreExports): Core {
  return new WasmCore(exports);
}

class WasmCore implements Core {
  readonly #exports: CoreExports;
  #view: DataView;
  /** Room for one description, one ray query and one hit. */
  readonly #scratch: number;
  readonly #meshes = new Set<MeshAddress>();

  constructor(exports: CoreExports) {
    this.#exports = exports;
    this.#view = new DataView(exports.memory.buffer);
    this.#scratch = this.#allocate(layout.OBJECT_BYTES + layout.RAY_BYTES + layout.HIT_BYTES);
  }

  get memoryBytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  get usedBytes(): number {
    return this.#exports.usedBytes() >>> 0;
  }

  // --- memory ---

  #allocate(bytes: number): number {
    return this.#exports.allocate(BigInt(bytes)) >>> 0;
  }

  /** A view of the whole memory; growing detaches the one before. */
  #memory(): DataView {
    if (this.#view.buffer !== this.#exports.memory.buffer) this.#view = new DataView(this.#exports.memory.buffer);
    return this.#view;
  }

  #bytes(address: number, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#exports.memory.buffer as ArrayBuffer, address, length);
  }

  /** Runs `work` on a temporary allocation. */
  #with<T>(bytes: number, work: (address: number) => T): T {
    const address = this.#allocate(Math.max(bytes, 1));
    try {
      return work(address);
    } finally {
      this.#exports.release(address);
    }
  }

  // --- meshes ---

  beginBuild(positions: Float32Array, indices?: Uint32Array | Uint16Array): MeshBuild {
    const wasm = this.#exports;
    const vertices = positions.length / 3;
    const triangles = (indices?.length ?? vertices) / 3;
    const build = wasm.beginBuild(vertices, triangles) >>> 0;
    try {
      wasm.reserveBuild(build, indices !== undefined);
      const { buffer } = wasm.memory;
      new Float32Array(buffer, wasm.buildPositions(build) >>> 0, positions.length).set(positions);
      if (indices) new Uint32Array(buffer, wasm.buildIndices(build) >>> 0, indices.length).set(indices);
    } catch (error) {
      wasm.freeBuild(build);
      throw error;
    }
    let freed = false;
    const free = () => {
      if (!freed) wasm.freeBuild(build);
      freed = true;
    };
    return {
      step: (budget) => {
        try {
          const fraction = wasm.stepBuild(build, performance.now() + budget);
          if (fraction >= 0) return fraction;
          throw this.#buildError(build, vertices, indices, triangles);
        } catch (error) {
          free();
          throw error;
        }
      },
      finish: () => {
        const mesh = wasm.takeMesh(build) >>> 0;
        free();
        try {
          return this.bakeMesh(mesh);
        } finally {
          wasm.release(mesh);
        }
      },
      abort: free,
    };
  }

  #buildError(
    build: number,
    vertices: number,
    indices: ArrayLike<number> | undefined,
    triangles: number,
  ): CollisionError {
    if (this.#exports.buildError(build) === BUILD_BAD_INDEX) {
      const i = this.#exports.buildCulprit(build) >>> 0;
      const range = `0 to ${vertices - 1} for ${vertices} vertices`;
      return new CollisionError('BAD_DATA', `indices[${i}] is ${indices?.[i]}, expected ${range}`);
    }
    return noArea(triangles);
  }

  loadMesh(baked: ArrayBuffer): MeshAddress {
    const wasm = this.#exports;
    const address = this.#allocate(baked.byteLength);
    try {
      this.#bytes(address, baked.byteLength).set(new Uint8Array(baked));
      const fault = wasm.checkMesh(address, baked.byteLength);
      if (fault !== 0) throw new CollisionError('BAD_DATA', `${FAULTS[fault]} (${baked.byteLength} bytes given)`);
    } catch (error) {
      wasm.release(address);
      throw error;
    }
    this.#meshes.add(address);
    return address;
  }

  bakeMesh(mesh: MeshAddress): ArrayBuffer {
    this.#exports.sealMesh(mesh);
    const length = this.#memory().getUint32(mesh + layout.MESH_BYTES, true);
    return this.#bytes(mesh, length).slice().buffer;
  }

  meshInfo(mesh: MeshAddress): TreeInfo {
    const view = this.#memory();
    const triangles = view.getUint32(mesh + layout.MESH_TRIANGLE_COUNT, true);
    return {
      triangles,
      degenerate: triangles - view.getUint32(mesh + layout.MESH_KEPT_COUNT, true),
      vertices: view.getUint32(mesh + layout.MESH_VERTEX_COUNT, true),
      bytes: view.getUint32(mesh + layout.MESH_BYTES, true),
      cost: view.getFloat64(mesh + layout.MESH_COST, true) / view.getFloat64(mesh + layout.MESH_BUILT_COST, true),
    };
  }

  meshIndices(mesh: MeshAddress): Uint32Array<ArrayBuffer> | undefined {
    const view = this.#memory();
    if (view.getUint32(mesh + layout.MESH_INDEXED, true) === 0) return undefined;
    const at = mesh + view.getUint32(mesh + layout.MESH_INDICES, true);
    const count = 3 * view.getUint32(mesh + layout.MESH_TRIANGLE_COUNT, true);
    return new Uint32Array(this.#bytes(at, 4 * count).slice().buffer);
  }

  refitMesh(mesh: MeshAddress, positions: Float32Array): boolean {
    const wasm = this.#exports;
    const { triangles, vertices } = this.meshInfo(mesh);
    if (positions.length !== 3 * vertices) {
      const expected = `${3 * vertices} for its ${vertices} vertices`;
      throw new CollisionError('BAD_DATA', `the length of positions is ${positions.length}, expected ${expected}`);
    }
    // The scratch memory begins at a multiple of 16.
    const scratch = Math.ceil(positions.byteLength / 16) * 16;
    return this.#with(scratch + (wasm.refitScratch(mesh) >>> 0), (address) => {
      new Float32Array(wasm.memory.buffer, address, positions.length).set(positions);
      const fault = wasm.refitMesh(mesh, address, address + scratch);
      if (fault === REFIT_NOT_FINITE) throw notFinite(positions, wasm.refitCulprit() >>> 0);
      if (fault === REFIT_EMPTY) throw noArea(triangles);
      return fault !== REFIT_NOT_IN_TREE;
    });
  }

  replaceMesh(mesh: MeshAddress, by: MeshAddress): void {
    this.#exports.replaceMesh(mesh, by);
    this.freeMesh(mesh);
  }

  freeMesh(mesh: MeshAddress): void {
    if (this.#meshes.delete(mesh)) this.#exports.release(mesh);
  }

  meshesIntersect(a: MeshAddress, b: MeshAddress, matrix: ArrayLike<number>): boolean {
    setAffine(this.#memory(), this.#scratch, matrix);
    return this.#exports.meshPairs(a, b, this.#scratch, false) !== 0;
  }

  intersectingTriangles(a: MeshAddress, b: MeshAddress, matrix: ArrayLike<number>): Uint32Array {
    setAffine(this.#memory(), this.#scratch, matrix);
    const count = this.#exports.meshPairs(a, b, this.#scratch, true) >>> 0;
    return new Uint32Array(this.#exports.memory.buffer, this.#exports.foundPairs() >>> 0, count * 2).slice();
  }

  // --- objects and views ---

  addObjects(ids: Uint32Array, description: PlacedDescription): void {
    this.#describe(description);
    for (const id of ids) this.#exports.putObject(id, this.#scratch);
  }

  setObject(id: ObjectId, description: PlacedDescription): void {
    this.#describe(description);
    this.#exports.putObject(id, this.#scratch);
  }

  removeObject(id: ObjectId): void {
    this.#exports.removeObject(id);
  }

  removeView(slot: number): void {
    this.#exports.removeView(slot);
  }

  #describe(description: PlacedDescription): void {
    const view = this.#memory();
    const at = this.#scratch;
    const { matrix } = description;
    view.setUint32(at + layout.OBJECT_SHAPE, description.shape, true);
    view.setUint32(at + layout.OBJECT_MESH, description.mesh, true);
    view.setUint32(at + layout.OBJECT_FLAGS, description.flags | (matrix ? layout.FLAG_MATRIX : 0), true);
    view.setUint32(at + layout.OBJECT_LAYERS, description.layers, true);
    view.setUint32(at + layout.OBJECT_COLLIDES_WITH, description.collidesWith, true);
    view.setUint32(at + layout.OBJECT_GROUP, description.group, true);
    view.setUint32(at + layout.OBJECT_CONTACTS, description.contacts, true);
    setFloats(view, at + layout.OBJECT_CENTER, description.center, 3);
    setFloats(view, at + layout.OBJECT_EXTENT, description.extent, 3);
    setFloats(view, at + layout.OBJECT_ROTATION, description.rotation, 4);
    view.setFloat64(at + layout.OBJECT_RADIUS, description.radius, true);
    if (matrix) setAffine(view, at + layout.OBJECT_MATRIX, matrix);
  }

  // --- frames ---

  frame(input: ArrayBuffer, out: ArrayBuffer | undefined): ArrayBuffer {
    const used = new DataView(input).getUint32(layout.IN_BYTES, true);
    return this.#with(used, (address) => {
      this.#bytes(address, used).set(new Uint8Array(input, 0, used));
      const result = this.#exports.runFrame(address) >>> 0;
      const length = this.#memory().getUint32(result + layout.OUT_BYTES, true);
      // A buffer that is too small is replaced by one with room to grow, so that this stays rare.
      const target = out && out.byteLength >= length ? out : new ArrayBuffer(roomFor(length));
      new Uint8Array(target).set(this.#bytes(result, length));
      return target;
    });
  }

  // --- rays ---

  /** Writes the query; answers its address and frees what it needed after `work`. */
  #query<T>(ray: Ray | null, filter: RayFilter, work: (query: number, hit: number) => T): T {
    return this.#with(filter.ignore.byteLength, (ignore) => {
      const query = this.#scratch + layout.OBJECT_BYTES;
      const view = this.#memory();
      new Uint32Array(this.#exports.memory.buffer, ignore, filter.ignore.length).set(filter.ignore);
      if (ray) {
        setFloats(view, query + layout.RAY_ORIGIN, ray.origin, 3);
        setFloats(view, query + layout.RAY_DIRECTION, ray.direction, 3);
        view.setFloat64(query + layout.RAY_T_MIN, ray.tMin ?? 0, true);
        view.setFloat64(query + layout.RAY_T_MAX, ray.tMax ?? Number.POSITIVE_INFINITY, true);
      }
      view.setUint32(query + layout.RAY_LAYERS, filter.layers, true);
      view.setUint32(query + layout.RAY_SIDE, filter.side, true);
      view.setUint32(query + layout.RAY_IGNORE, ignore, true);
      view.setUint32(query + layout.RAY_IGNORE_COUNT, filter.ignore.length, true);
      return work(query, query + layout.RAY_BYTES);
    });
  }

  raycast(ray: Ray, filter: RayFilter): Omit<Hit, 'frame'> | null {
    return this.#query(ray, filter, (query, hit) => {
      return this.#exports.raycast(query, hit) ? hitAt(this.#memory(), hit) : null;
    });
  }

  raycastAll(ray: Ray, filter: RayFilter): Omit<Hit, 'frame'>[] {
    return this.#query(ray, filter, (query) => {
      const count = this.#exports.raycastAll(query) >>> 0;
      const start = this.#exports.foundHits() >>> 0;
      const view = this.#memory();
      const hits = Array.from({ length: count }, (_, i) => hitAt(view, start + i * layout.HIT_BYTES));
      return hits.sort((a, b) => a.distance - b.distance || a.object - b.object || a.triangle - b.triangle);
    });
  }

  anyHit(ray: Ray, filter: RayFilter): boolean {
    return this.#query(ray, filter, (query) => this.#exports.anyHit(query) !== 0);
  }

  raycastMany(rays: Float32Array, filter: RayFilter) {
    const count = rays.length / 8;
    return this.#query(null, filter, (query) =>
      this.#with(count * 64, (input) => {
        // 32 bytes of a ray, then 8 + 4 + 4 + 12 of its answer, the widest first.
        const distances = input + count * 32;
        const objects = distances + count * 8;
        const triangles = objects + count * 4;
        const barycentrics = triangles + count * 4;
        new Float32Array(this.#exports.memory.buffer, input, rays.length).set(rays);
        this.#exports.raycastMany(query, input, count, objects, triangles, distances, barycentrics);
        const { buffer } = this.#exports.memory;
        return {
          objects: new Uint32Array(buffer, objects, count).slice(),
          distances: new Float64Array(buffer, distances, count).slice(),
          triangles: new Int32Array(buffer, triangles, count).slice(),
          barycentrics: new Float32Array(buffer, barycentrics, count * 3).slice(),
        };
      }),
    );
  }

  // --- checks ---

  check(): string | null {
    for (const mesh of this.#meshes) {
      const fault = this.#exports.checkMeshTree(mesh);
      if (fault !== 0) return `mesh at ${mesh}: ${FAULTS[fault]}`;
    }
    const fault = this.#exports.check();
    return fault === 0 ? null : (FAULTS[fault] ?? `fault ${fault}`);
  }
}

function noArea(triangles: number): CollisionError {
  return new CollisionError(
    'BAD_DATA',
    `none of the ${triangles} triangles has an area and finite vertices, expected one at least`,
  );
}

function notFinite(positions: Float32Array, vertex: number): CollisionError {
  const found = positions.subarray(3 * vertex, 3 * vertex + 3).join(', ');
  return new CollisionError('BAD_DATA', `vertex ${vertex} of positions is (${found}), expected finite numbers`);
}

function setFloats(view: DataView, at: number, values: ArrayLike<number>, count: number): void {
  for (let i = 0; i < count; i++) view.setFloat64(at + i * 8, values[i] as number, true);
}

/** The upper three rows of a column-major matrix, column by column. */
function setAffine(view: DataView, at: number, matrix: ArrayLike<number>): void {
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 3; row++) {
      view.setFloat64(at + (column * 3 + row) * 8, matrix[column * 4 + row] as number, true);
    }
  }
}

function hitAt(view: DataView, at: number): Omit<Hit, 'frame'> {
  return {
    object: view.getUint32(at + layout.HIT_OBJECT, true),
    distance: view.getFloat64(at + layout.HIT_DISTANCE, true),
    point: vectorAt(view, at + layout.HIT_POINT),
    normal: vectorAt(view, at + layout.HIT_NORMAL),
    triangle: view.getInt32(at + layout.HIT_TRIANGLE, true),
    barycentric: vectorAt(view, at + layout.HIT_BARYCENTRIC),
  };
}

function vectorAt(view: DataView, at: number): Vec3 {
  return [view.getFloat64(at, true), view.getFloat64(at + 8, true), view.getFloat64(at + 16, true)];
}

/** A half more than is needed now, in whole kilobytes. */
function roomFor(bytes: number): number {
  return Math.ceil((bytes * 1.5) / 1024) * 1024;
}
