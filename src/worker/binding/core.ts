import { BakedSource } from '../../shared/baked-source.js';
import type { CharacterDescription } from '../../shared/commands.js';
import * as layout from '../../shared/layout.js';
import type { BaselineMessage, MeshDeform, TreeInfo } from '../../shared/protocol.js';
import type { MeshData, ObjectId } from '../../shared/types.js';
import { readDeform } from './deform.js';
import { Derivations } from './derivations.js';
import { type MeshAddress, type PlacedDescription, writeCharacter, writeDescription } from './descriptions.js';
import { type CoreExports, FAULTS, instantiateCore } from './exports.js';
import { FrameResultCopy } from './frame-result-copy.js';
import { CoreInspector } from './inspector.js';
import { CoreMemory } from './memory.js';
import { beginBake, type MeshBake } from './mesh-bake.js';
import { type BakedBuild, beginBuild, beginSecond, type MeshBuild, type PartSource } from './mesh-build.js';
import { meshIndices, meshInfo } from './mesh-info.js';
import { beginLoad, type MeshLoad } from './mesh-load.js';
import { beginRefit, checkCount, isMoved, type MeshRefit, REFIT_OK } from './mesh-refit.js';
import { CorePairs } from './pairs.js';
import { QueryMemory } from './query-memory.js';
import { CoreRays } from './rays.js';
import { CoreSections } from './sections.js';
import { CoreSnaps } from './snaps.js';
import type { Steps } from './steps.js';
import { CoreSweeps } from './sweeps.js';
import { CoreVolumes } from './volumes.js';

export type { MeshAddress, PlacedDescription } from './descriptions.js';
export type { MeshBake } from './mesh-bake.js';
export type { MeshBuild, PartSource } from './mesh-build.js';
export type { MeshLoad } from './mesh-load.js';
export type { MeshRefit } from './mesh-refit.js';

type Baseline = Omit<BaselineMessage, 'type'>;

export interface Core {
  /** Bytes of linear memory, and how many of them are in use. */
  readonly memoryBytes: number;
  readonly usedBytes: number;

  /**
   * Begins to build a mesh. Vertices of triangles that are closer together than `weld` are merged. `second` returns the second
   * part of the tree, which another builder may make; `spare` are chunks to bake the mesh into.
   */
  beginBuild(
    positions: Float32Array,
    indices?: Uint32Array | Uint16Array,
    weld?: number,
    topology?: MeshData['topology'],
    deform?: MeshDeform,
    isFast?: boolean,
    second?: () => ArrayBuffer | undefined,
    spare?: ArrayBufferLike[],
  ): BakedBuild;
  /** Begins to make the second part of a mesh's tree. It is empty if the tree cannot be split. */
  beginSecond(source: PartSource): MeshBuild;
  /**
   * Begins to copy in a baked mesh, from the first bytes of a buffer or from chunks that are still to arrive, and to validate it
   * unless it is trusted. Throws OUT_OF_MEMORY.
   */
  beginLoad(baked: ArrayBuffer | BakedSource, bytes?: number, isTrusted?: boolean): MeshLoad;
  /** Copies a baked mesh in, if nothing in it can lead a traversal astray (else throws BAD_DATA). */
  loadMesh(baked: ArrayBuffer, bytes?: number): MeshAddress;
  /** Bakes a mesh in one go; `beginBake` does so in steps. */
  bakeMesh(mesh: MeshAddress): ArrayBuffer;
  /** Begins to bake a mesh, which must not change while the bake reads it. Throws OUT_OF_MEMORY. */
  beginBake(mesh: MeshAddress): MeshBake;
  /** Returns whether everything that a mesh has besides its tree was derived from its current vertices. */
  isFresh(mesh: MeshAddress): boolean;
  meshInfo(mesh: MeshAddress): TreeInfo;
  /**
   * Copies the data that a mesh was built from, except its positions, in steps; the mesh must not move between them. Indices are
   * as they were given, except for welded vertices; without indices, successive vertices form its triangles, lines or points.
   * Throws OUT_OF_MEMORY.
   */
  meshSource(mesh: MeshAddress): Steps<Omit<MeshData, 'positions'>>;
  /**
   * Moves the vertices, and refits the tree's boxes and the objects' bounds. Returns false if that is impossible, because a
   * triangle that was left out of the tree has an area now. Then the mesh is unchanged, as it is if this throws BAD_DATA or
   * OUT_OF_MEMORY.
   */
  refitMesh(mesh: MeshAddress, positions: Float32Array): boolean;
  /**
   * Begins to move the vertices of a copy of a mesh, which will replace it; or, if `isCopied` is false, of the mesh itself, which
   * nobody may read meanwhile. Throws BAD_DATA, OUT_OF_MEMORY.
   */
  beginRefit(mesh: MeshAddress, positions: Float32Array, isCopied: boolean): MeshRefit;
  /** Returns a copy of a mesh, to be moved and to replace it. Throws OUT_OF_MEMORY. */
  copyMesh(mesh: MeshAddress): MeshAddress;
  /**
   * Replaces `mesh` by `replacement` for all objects. Work that is under way may still read `mesh`, which must be freed
   * afterwards.
   */
  replaceMesh(mesh: MeshAddress, replacement: MeshAddress): void;
  freeMesh(mesh: MeshAddress): void;

  /** Whether contacts have asked for derived data that are outdated, so that `derive` has work to do. */
  readonly isDerivationPending: boolean;
  /**
   * Derives the data that contacts have asked for, for about `budget` milliseconds. Returns whether there is more to do. A mesh
   * for which there is no memory goes without them until its vertices move again: its contacts are those of a mesh that is not
   * convex.
   */
  derive(budget: number): boolean;

  /** Adds objects; the description's matrix is shared by all of them, or has 16 numbers per object. */
  addObjects(ids: Uint32Array, description: PlacedDescription): void;
  setObject(id: ObjectId, description: PlacedDescription): void;
  /** Changes an object's layers; does nothing if the object is not alive. */
  setLayers(id: ObjectId, layers: number): void;
  removeObject(id: ObjectId): void;
  /** Adds or changes a character. */
  putCharacter(id: number, description: CharacterDescription): void;
  removeCharacter(id: number): void;
  /** Whether the characters have made the moves of the last frame. */
  readonly areCharactersMoved: boolean;
  removeView(slot: number): void;

  /** Runs one frame (layout.ts): from the input `input` to an output in `out`, if that is large enough, else in a new buffer. */
  frame(input: ArrayBuffer, out: ArrayBuffer | undefined): ArrayBuffer;

  /** Begins a frame that is run in steps. Queries see it from then on; `input` is not needed any more. */
  beginFrame(input: ArrayBuffer): void;
  /**
   * Works on the frame for about `budget` milliseconds. Returns the output when it is done, else null. Between two steps there
   * may be queries and new meshes, and, if `goAhead` allows it, changes of objects. While a contact that takes long is under way,
   * `mayRunNarrowPhase` must be false: the narrow phase waits.
   */
  stepFrame(budget: number, out: ArrayBuffer | undefined, mayRunNarrowPhase?: boolean): ArrayBuffer | null;
  /**
   * Asks to change objects and views while a frame is under way: the frame keeps copies of what it still reads of them, while the
   * next frame and queries see the changes. Returns false as long as the frame needs the scene as it is.
   */
  goAhead(): boolean;
  /** Applies the transforms of a future frame, which must contain them again. `goAhead` must allow it. */
  placeAhead(input: ArrayBuffer): void;
  /** How many times a pair was suspended before it was finished. */
  readonly interruptions: number;
  /** How many pairs with overlapping boxes were tested one by one. */
  readonly considered: number;

  /** Applies the views and transforms of a frame's input, without a result. */
  place(input: ArrayBuffer): void;
  /** Makes the next frame's events relative to the result of another core. */
  setBaseline(baseline: Baseline): void;

  readonly rays: CoreRays;
  readonly volumes: CoreVolumes;
  readonly sweeps: CoreSweeps;
  readonly pairs: CorePairs;
  readonly inspector: CoreInspector;
  readonly sections: CoreSections;
  readonly snaps: CoreSnaps;

  /** Returns a description of the first broken invariant of any structure, or null. Slow; for tests. */
  check(): string | null;
}

/** Creates a core with its own memory. Rejects with UNSUPPORTED if WebAssembly SIMD is missing or forbidden. */
export async function createCore(wasm: BufferSource): Promise<Core> {
  return bindCore(await instantiateCore(wasm));
}

export function bindCore(exports: CoreExports): Core {
  return new WasmCore(exports);
}

class WasmCore implements Core {
  readonly rays: CoreRays;
  readonly volumes: CoreVolumes;
  readonly sweeps: CoreSweeps;
  readonly pairs: CorePairs;
  readonly inspector: CoreInspector;
  readonly sections: CoreSections;
  readonly snaps: CoreSnaps;
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  /** Room for one description. */
  readonly #scratch: number;
  readonly #meshes = new Set<MeshAddress>();
  /** The names of the boxes that stand for objects, for objects that have such boxes. */
  readonly #boxNames = new Map<ObjectId, readonly string[]>();
  readonly #derivations: Derivations;
  /** The result of a frame that is being copied out of the memory. */
  #resultCopy: FrameResultCopy | undefined;

  constructor(exports: CoreExports) {
    this.#exports = exports;
    this.#memory = new CoreMemory(exports);
    this.#scratch = this.#memory.allocate(Math.max(layout.OBJECT_BYTES, layout.CHARACTER_BYTES));
    this.#derivations = new Derivations(exports);
    const queryMemory = new QueryMemory(exports, this.#memory, this.#boxNames);
    this.rays = new CoreRays(exports, this.#memory, queryMemory);
    this.volumes = new CoreVolumes(exports, this.#memory, queryMemory);
    this.sweeps = new CoreSweeps(exports, this.#memory, queryMemory);
    this.pairs = new CorePairs(exports, this.#memory);
    this.inspector = new CoreInspector(exports, this.#memory, this.volumes);
    this.sections = new CoreSections(exports, this.#memory, queryMemory);
    this.snaps = new CoreSnaps(exports, this.#memory, queryMemory);
  }

  get memoryBytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  get usedBytes(): number {
    return this.#exports.usedBytes() >>> 0;
  }

  // --- meshes ---

  beginBuild(
    positions: Float32Array,
    indices?: Uint32Array | Uint16Array,
    weld = 0,
    topology: MeshData['topology'] = 'triangles',
    deform: MeshDeform = {},
    isFast = false,
    second?: () => ArrayBuffer | undefined,
    spare?: ArrayBufferLike[],
  ): BakedBuild {
    const source = { positions, indices, weld, topology, deform, isFast };
    return beginBuild(this.#exports, this.#memory, source, second, spare);
  }

  beginSecond(source: PartSource): MeshBuild {
    return beginSecond(this.#exports, this.#memory, { ...source, topology: 'triangles', deform: {} });
  }

  beginBake(mesh: MeshAddress): MeshBake {
    return beginBake(this.#exports, this.#memory, mesh);
  }

  isFresh(mesh: MeshAddress): boolean {
    return Boolean(this.#exports.isFresh(mesh));
  }

  get isDerivationPending(): boolean {
    return this.#derivations.isPending;
  }

  derive(budget: number): boolean {
    return this.#derivations.step(budget);
  }

  beginLoad(source: ArrayBuffer | BakedSource, bytes?: number, isTrusted = false): MeshLoad {
    const registerMesh = (mesh: MeshAddress) => this.#meshes.add(mesh);
    if (source instanceof BakedSource) {
      return beginLoad(
        this.#exports,
        this.#memory,
        { baked: source, givenBytes: source.bytes, isTrusted },
        registerMesh,
      );
    }
    const { byteLength } = source;
    const baked = new BakedSource(bytes ?? byteLength, [source], byteLength);
    return beginLoad(this.#exports, this.#memory, { baked, givenBytes: byteLength, isTrusted }, registerMesh);
  }

  loadMesh(baked: ArrayBuffer, bytes?: number): MeshAddress {
    const load = this.beginLoad(baked, bytes);
    while (!load.step(Infinity));
    return load.finish();
  }

  bakeMesh(mesh: MeshAddress): ArrayBuffer {
    const bake = this.beginBake(mesh);
    while (bake.step(Infinity) < 1);
    return bake.finish();
  }

  meshInfo(mesh: MeshAddress): TreeInfo {
    return meshInfo(this.#memory.view, mesh);
  }

  *meshSource(mesh: MeshAddress): Steps<Omit<MeshData, 'positions'>> {
    const info = this.meshInfo(mesh);
    const { topology } = info;
    const indices = yield* meshIndices(this.#memory, mesh);
    const deform = yield* readDeform(this.#exports, this.#memory, mesh, info);
    return indices ? { indices, topology, ...deform } : { topology, ...deform };
  }

  refitMesh(mesh: MeshAddress, positions: Float32Array): boolean {
    const wasm = this.#exports;
    const info = this.meshInfo(mesh);
    checkCount(info, positions);
    // The scratch memory begins at a multiple of 16.
    const scratch = Math.ceil(positions.byteLength / 16) * 16;
    return this.#memory.with(scratch + (wasm.refitScratch(mesh) >>> 0), (address) => {
      new Float32Array(wasm.memory.buffer, address, positions.length).set(positions);
      const fault = wasm.refitMesh(mesh, address, address + scratch);
      if (fault === REFIT_OK) this.#derivations.abort(mesh);
      return isMoved(fault, info, positions, () => wasm.refitCulprit() >>> 0);
    });
  }

  beginRefit(mesh: MeshAddress, positions: Float32Array, isCopied: boolean): MeshRefit {
    const info = this.meshInfo(mesh);
    checkCount(info, positions);
    const registerMesh = (copy: MeshAddress) => this.#meshes.add(copy);
    return beginRefit(this.#exports, this.#memory, info, mesh, positions, isCopied, registerMesh);
  }

  replaceMesh(mesh: MeshAddress, replacement: MeshAddress): void {
    this.#exports.replaceMesh(mesh, replacement);
  }

  copyMesh(mesh: MeshAddress): MeshAddress {
    const copy = this.#exports.copyMesh(mesh) >>> 0;
    this.#meshes.add(copy);
    return copy;
  }

  freeMesh(mesh: MeshAddress): void {
    if (!this.#meshes.delete(mesh)) return;
    this.#derivations.abort(mesh);
    this.#exports.freeMesh(mesh);
  }

  // --- objects and views ---

  addObjects(ids: Uint32Array, description: PlacedDescription): void {
    const { matrix } = description;
    this.#withDescription(description, (at) => {
      for (let i = 0; i < ids.length; i++) {
        if (matrix && i > 0 && matrix.length > 16) this.#memory.setAffine(at + layout.OBJECT_MATRIX, matrix, 16 * i);
        this.#putObject(ids[i], description, at);
      }
    });
  }

  setObject(id: ObjectId, description: PlacedDescription): void {
    this.#withDescription(description, (at) => this.#putObject(id, description, at));
  }

  #putObject(id: ObjectId, { boxes }: PlacedDescription, at: number): void {
    this.#exports.putObject(id, at);
    if (boxes) this.#boxNames.set(id, boxes.names);
    else this.#boxNames.delete(id);
  }

  #withDescription(description: PlacedDescription, work: (address: number) => void): void {
    const { faceSides, boxes } = description;
    const wasm = this.#exports;
    const sides = faceSides ? this.#withWords(faceSides, (at) => wasm.holdList(at, faceSides.byteLength) >>> 0) : 0;
    let list = 0;
    try {
      if (boxes) list = this.#withRecords(boxes.records, (at) => wasm.holdBoxes(at, boxes.names.length) >>> 0);
      writeDescription(this.#memory, this.#scratch, description);
      this.#memory.words[(this.#scratch + layout.OBJECT_FACE_SIDES) / 4] = sides;
      this.#memory.words[(this.#scratch + layout.OBJECT_BOXES) / 4] = list;
      work(this.#scratch);
    } finally {
      if (sides !== 0) wasm.dropList(sides);
      if (list !== 0) wasm.dropList(list);
    }
  }

  setLayers(id: ObjectId, layers: number): void {
    this.#exports.setLayers(id, layers);
  }

  removeObject(id: ObjectId): void {
    this.#boxNames.delete(id);
    this.#exports.removeObject(id);
  }

  putCharacter(id: number, description: CharacterDescription): void {
    const { ignore } = description;
    this.#withWords(ignore, (at) => {
      writeCharacter(this.#memory, this.#scratch, description, at);
      this.#exports.putCharacter(id, this.#scratch);
    });
  }

  removeCharacter(id: number): void {
    this.#exports.removeCharacter(id);
  }

  get areCharactersMoved(): boolean {
    return Boolean(this.#exports.areCharactersMoved());
  }

  removeView(slot: number): void {
    this.#exports.removeView(slot);
  }

  // --- frames ---

  frame(input: ArrayBuffer, out: ArrayBuffer | undefined): ArrayBuffer {
    this.beginFrame(input);
    return this.stepFrame(Number.POSITIVE_INFINITY, out)!;
  }

  beginFrame(input: ArrayBuffer): void {
    this.#resultCopy = undefined;
    this.#withFrame(input, (address) => this.#exports.beginFrame(address));
  }

  goAhead(): boolean {
    return Boolean(this.#exports.goAhead());
  }

  placeAhead(input: ArrayBuffer): void {
    this.#withFrame(input, (address) => this.#exports.placeAhead(address));
  }

  stepFrame(budget: number, out: ArrayBuffer | undefined, mayRunNarrowPhase = true): ArrayBuffer | null {
    const deadline = performance.now() + budget;
    if (!this.#resultCopy) {
      const resultAddress = this.#exports.stepFrame(deadline, mayRunNarrowPhase) >>> 0;
      if (resultAddress === 0) return null;
      this.#resultCopy = new FrameResultCopy(this.#memory, resultAddress, out);
    }
    const copied = this.#resultCopy.step(deadline);
    if (copied) this.#resultCopy = undefined;
    return copied;
  }

  place(input: ArrayBuffer): void {
    this.#withFrame(input, (address) => this.#exports.placeFrame(address));
  }

  #withFrame(input: ArrayBuffer, work: (address: number) => void): void {
    const byteCount = new DataView(input).getUint32(layout.IN_BYTES, true);
    this.#memory.with(byteCount, (address) => {
      this.#memory.bytes(address, byteCount).set(new Uint8Array(input, 0, byteCount));
      work(address);
    });
  }

  setBaseline({ a, b, groupA, groupB, seen }: Baseline): void {
    const { length } = a;
    const pairs = new Uint32Array(4 * length);
    for (const [i, part] of [a, b, groupA, groupB].entries()) pairs.set(part, i * length);
    this.#withWords(pairs, (at) => {
      const [first, second, third, fourth] = [0, 1, 2, 3].map((i) => at + 4 * i * length);
      this.#exports.setPairs(first, second, third, fourth, length);
    });
    for (const { slot, ids } of seen) this.#withWords(ids, (at) => this.#exports.setSeen(slot, at, ids.length));
  }

  #withRecords<T>(records: Float64Array, work: (address: number) => T): T {
    return this.#memory.with(records.byteLength, (address) => {
      this.#memory.setFloats(address, records, records.length);
      return work(address);
    });
  }

  #withWords<T>(words: Uint32Array, work: (address: number) => T): T {
    return this.#memory.with(words.byteLength, (address) => {
      new Uint32Array(this.#memory.buffer, address, words.length).set(words);
      return work(address);
    });
  }

  get interruptions(): number {
    return this.#exports.interruptions.value;
  }

  get considered(): number {
    return this.#exports.considered.value;
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
