import type {
  AddMeshOptions,
  BakeOptions,
  BoxCheck,
  MeshBoxesOptions,
  MeshData,
  MeshId,
  MeshInfo,
  NamedBox,
  UpdateMeshOptions,
} from '../shared/types.js';
import { readOptions } from './check/validate.js';
import type { Queries } from './query/queries.js';
import type { MeshStore } from './scene/mesh-store.js';
import { ServiceQueries } from './service-queries.js';

/** The part of a service that builds, loads, bakes, moves and removes meshes, and gives information about them. */
export class ServiceMeshes extends ServiceQueries {
  readonly #meshesFor: (operation: string) => MeshStore;

  /**
   * Takes a function that returns the meshes for an operation, and throws if there is no worker any more.
   *
   * @internal
   */
  constructor(meshesFor: (operation: string) => MeshStore, queriesFor: (operation: string) => Queries) {
    super(queriesFor);
    this.#meshesFor = meshesFor;
  }

  /**
   * Builds the tree of a mesh, of oriented boxes around triangles or of boxes around lines or points (`topology`), or loads
   * a baked one, and resolves with its id. Without `transfer` the data are copied before the call returns.
   *
   * Rejects with BAD_DATA if no triangle has an area, or no line or point has finite vertices, for indices out of range and
   * for damaged baked meshes; with ABORTED by the signal.
   */
  async addMesh(data: MeshData | ArrayBuffer, options?: AddMeshOptions): Promise<MeshId> {
    return this.#meshesFor('addMesh').add('addMesh', data, options);
  }

  /**
   * Resolves with the mesh's tree as one relocatable buffer, which `addMesh` loads without building; its features and its
   * boxes are included.
   */
  async bakeMesh(mesh: MeshId, options?: BakeOptions): Promise<ArrayBuffer> {
    return this.#meshesFor('bakeMesh').bake('bakeMesh', mesh, options);
  }

  /**
   * Resolves with the top boxes of the mesh's own tree, named 'box 1' and so on: those of a level, and leaves above it.
   * They hold all of the mesh, and are a list to start from for `boxes` of addMesh and addObject.
   *
   * ```ts
   * const boxes = await service.meshBoxes(mesh, { level: 1 }); // four at most
   * boxes[0].name = 'handle';
   * const { conservative, farthest } = await service.checkBoxes(mesh, boxes);
   * const baked = await service.bakeMesh(mesh, { boxes });
   * ```
   *
   * A posed mesh is listed as it is at rest. Rejects with UNSUPPORTED for lines and points.
   */
  async meshBoxes(mesh: MeshId, options?: MeshBoxesOptions): Promise<NamedBox[]> {
    return this.#meshesFor('meshBoxes').boxes('meshBoxes', mesh, options);
  }

  /**
   * Checks whether boxes, by default the mesh's own, hold all of a mesh as its vertices are now, and how far it sticks out
   * if they do not. The worker cuts the boxes away from each triangle, in float64: several boxes may hold a triangle
   * together. Rejects with UNSUPPORTED for lines and points.
   */
  async checkBoxes(
    mesh: MeshId,
    boxes?: readonly NamedBox[],
    options?: { signal?: AbortSignal | undefined },
  ): Promise<BoxCheck> {
    const meshes = this.#meshesFor('checkBoxes');
    const { signal } = readOptions<{ signal?: AbortSignal | undefined }>('checkBoxes', 'options', options, ['signal']);
    return meshes.check('checkBoxes', mesh, boxes, signal);
  }

  /**
   * Moves a mesh's vertices: xyz of each, as many as it was added with. They are copied, or handed over with
   * `transfer: true`: a copy of 9 million vertices takes some 50 ms of the calling thread. Triangles and objects stay. The
   * next update() and every later query see them.
   *
   * ```ts
   * for (let i = 1; i < positions.length; i += 3) positions[i] = Math.sin(time + positions[i - 1]);
   * service.updateMesh(mesh, positions);
   * const { contacts } = await service.update(); // of the mesh as it is now
   * ```
   *
   * A mesh of more than 8 MiB (100,000 triangles) is moved in slices, beside everything else: until the promise resolves,
   * frames and queries see it as it was. Meanwhile it takes twice the memory; if there is not enough, it is moved in one
   * piece.
   *
   * The tree is refitted: its boxes hold the new vertices exactly, but the farther these are from where it was built, the
   * more the boxes overlap. `meshInfo(mesh).cost` says how much; at 2, a new tree is built beside the service and replaces
   * the old one when it is ready. A tree has no place for a triangle that had no area when it was built; if it has one now,
   * the old vertices stay until a new tree is built, and the promise waits for that.
   * Whether the mesh is closed is what it was when the tree was built: keep vertices that were in one place together, or points
   * near the openings count as inside or outside at random.
   *
   * A mesh with a skin or morph targets keeps them: weights stay with their vertices, targets that were given as positions
   * stay where they are, and relative ones move along. Its objects keep their poses, applied to the new vertices; an object
   * whose pose would reach farther than float32 does has no pose until the next `setPose`.
   *
   * Rejects with UNKNOWN_ID; with BAD_DATA for another number of vertices, for a vertex of a triangle, line or point in the
   * tree that is not finite, and if no triangle has an area; with OUT_OF_MEMORY; and with ABORTED when the mesh is removed
   * before its vertices are moved. Whenever it rejects, the mesh is as it was.
   */
  async updateMesh(mesh: MeshId, positions: Float32Array, options?: UpdateMeshOptions): Promise<void> {
    return this.#meshesFor('updateMesh').update('updateMesh', mesh, positions, options);
  }

  /** Returns counts, bytes and cost of a mesh, as of the worker's last answer. Throws UNKNOWN_ID. */
  meshInfo(mesh: MeshId): MeshInfo {
    return { ...this.#meshesFor('meshInfo').info('meshInfo', mesh) };
  }

  /** Removes a mesh. Throws INVALID_ARGUMENT as long as it is the shape of any object. */
  removeMesh(mesh: MeshId): void {
    this.#meshesFor('removeMesh').remove('removeMesh', mesh);
  }
}
