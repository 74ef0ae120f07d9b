import type { PackedBoxes } from './baked-boxes.js';
import type { BoxPalette } from './coloured-boxes.js';
import type { Command, ObjectDescription } from './commands.js';
import type { Failure } from './failure.js';
import type { PackedHit, PackedHits, PackedRay } from './packed.js';
import type {
  BoxCheck,
  ClosestPoint,
  ContactReport,
  Distance,
  Inspection,
  MeshData,
  MeshId,
  MeshInfo,
  ObjectId,
  Placement,
  RayHits,
  Section,
  Sight,
  SweepHits,
  Vec3,
  VisibleSet,
} from './types.js';

/** The worker's methods for calls (calls.ts): flat, without overloads or generics, which the other side's types lose. */
export interface WorkerApi {
  /**
   * Builds a baked mesh. Other messages are served between slices of the work; {@link AbortMessage} ends it. With `features`, an
   * angle in degrees, the features that picks snap to are found and baked, too. With a port, the worker at its other end is handed
   * the arrays, and hands back the second part of the tree.
   */
  buildMesh(
    build: number,
    positions: Float32Array,
    indices: Uint32Array | Uint16Array | undefined,
    weld: number,
    topology: MeshData['topology'],
    deform: MeshDeform,
    features: number | undefined,
    isFast: boolean,
    port: MessagePort | undefined,
    spare: ArrayBufferLike[] | undefined,
  ): Promise<ArrayBuffer | BakedChunks>;
  /** Builds the second part of a tree for the worker at the other end of a port; {@link AbortMessage} ends it. */
  buildSecond(build: number, port: MessagePort): Promise<void>;
  /**
   * Copies a mesh in, and checks it unless it is trusted. Other messages are served between slices of the work, as in
   * `updateMesh` and `replaceTree`.
   */
  loadMesh(mesh: MeshId, baked: ArrayBuffer, isKept: boolean, isTrusted: boolean): Promise<LoadedMesh>;
  /**
   * Does `loadMesh` for a mesh of this many bytes, which arrive in {@link ChunkMessage}s. Transferred chunks are handed back if
   * they are kept.
   */
  loadChunks(mesh: MeshId, bytes: number, isKept: boolean, isTrusted: boolean): Promise<LoadedChunks>;
  /** Builds small meshes, one after the other. A failing build does not affect the others. */
  buildMeshes(builds: SmallBuild[]): Outcome<ArrayBuffer>[];
  /** Does `loadMesh` for many meshes, without handing back their buffers. */
  loadMeshes(loads: SmallLoad[]): Outcome<LoadedMesh>[];
  /** Bakes the mesh as it is when this is called. Other messages are served between slices of the work. */
  bakeMesh(mesh: MeshId, boxes: PackedBoxes | undefined): Promise<ArrayBuffer>;
  /** Lists the top boxes of a mesh's tree: ten numbers each (baked-boxes.ts). Null if there are more than `maxCount` boxes. */
  meshBoxes(mesh: MeshId, level: number, maxCount: number): Promise<Float64Array | null>;
  /** Checks whether boxes hold all of a mesh of triangles. */
  checkBoxes(mesh: MeshId, records: Float64Array): Promise<BoxCheck>;
  /** Moves a mesh's vertices. If the answer asks for a build, `replaceTree` must follow. */
  updateMesh(mesh: MeshId, positions: Float32Array, isKept?: boolean): MeshUpdate | Promise<MeshUpdate>;
  /** Hands over the tree that was asked for; null if it could not be built, and the old one stays. */
  replaceTree(mesh: MeshId, baked: ArrayBuffer | null, isKept: boolean): Promise<MeshUpdate>;
  raycast(ray: PackedRay, filter: Filter): PackedHit | null;
  /** Finds the nearest hit of a pick's ray, and the feature near the cursor. If features must be found first, in slices. */
  pickSnap(ray: PackedRay, filter: Filter, request: SnapRequest): Soon<PackedHit | null>;
  /** Finds every hit of a ray, nearest first. */
  raycastAll(ray: PackedRay, filter: Filter): Soon<PackedHits>;
  /** Returns whether a ray hits nothing. */
  isClear(ray: PackedRay, filter: Filter): boolean;
  /** Finds the nearest hit of each ray: eight numbers per ray, origin, tMin, direction, tMax. */
  raycastMany(rays: Float32Array, filter: Filter): Promise<RayHits>;
  /** Finds the object whose centre is drawn nearest to the cursor. */
  pickScreen(view: ViewRecord, cursor: Cursor, filter: Filter): PackedHit | null;
  /** Finds all objects whose centre is drawn within the cursor's radius, nearest first. */
  pickScreenAll(view: ViewRecord, cursor: Cursor, filter: Filter): Soon<PackedHits>;
  /** Lists the ids of the objects in a region of the screen, ascending. */
  pickRegion(view: ViewRecord, region: Region, filter: Filter): Soon<Uint32Array>;
  /** Lists what a view sees, or what is on the inner side of all planes, four numbers each. */
  frustum(volume: ViewRecord | Float32Array, filter: Filter): Soon<VisibleSet>;
  sees(view: ViewRecord, targets: Uint32Array, filter: Filter): Promise<Sight>;
  /** Lists the ids of the objects that a shape meets, ascending. */
  overlap(shape: ObjectDescription, matrix: number[], filter: Filter): Soon<Uint32Array>;
  /** Lists the ids of the objects that are solid around a point, ascending. */
  containing(point: Vec3, filter: Filter): Soon<Uint32Array>;
  /** Finds what a shape that starts at a matrix meets first. */
  sweep(shape: ObjectDescription, matrix: number[], motion: Motion, filter: Filter): Soon<PackedHit | null>;
  /** Finds the first contact with each object, earliest first. */
  sweepAll(shape: ObjectDescription, matrix: number[], motion: Motion, filter: Filter): Soon<PackedHits>;
  /** Pushes a shape out of what it overlaps. */
  place(shape: ObjectDescription, matrix: number[], filter: Filter): Placement | Promise<Placement>;
  /**
   * Finds what shapes meet first, 14 numbers for each way; `shapeOf` is the index of the shape for each way, by default the
   * first. Other messages are served between slices of the work.
   */
  sweepMany(
    shapes: ObjectDescription[],
    ways: Float64Array,
    shapeOf: Uint32Array | undefined,
    tolerance: number,
    filter: Filter,
  ): Promise<SweepHits>;
  /** Finds the contact of two objects; null if they do not touch. `detail` is CONTACTS_*. */
  contact(a: ObjectId, b: ObjectId, detail: number): ContactReport | null | Promise<ContactReport | null>;
  /** Measures how far two objects are from each other; null if they are farther apart than `limit`. */
  distance(a: ObjectId, b: ObjectId, limit: number): Distance | null | Promise<Distance | null>;
  closestPoint(point: Vec3, maxDistance: number, filter: Filter): Soon<ClosestPoint | null>;
  /** Cuts objects with a plane. Other messages are served between slices of the work. */
  section(request: SectionRequest): Promise<Section>;
  /** Lists boxes of trees, octrees and objects. Other messages are served between slices of the work. */
  inspect(request: InspectRequest): Promise<Inspection>;
}

/** How a shape moves from its matrix. */
export interface Motion {
  /** How far the origin of the matrix moves. */
  way: Vec3;
  /** A unit quaternion, in the world, about that origin. */
  rotation: readonly [number, number, number, number];
  /** 0 for the default. */
  tolerance: number;
}

/** The request of a section. */
export interface SectionRequest {
  /** Four numbers: n · p + d. */
  plane: Float64Array;
  filter: Filter;
  /** The points of the outline of a round shape. */
  roundPoints: number;
  /** Distance within which open ends are joined; by default a fraction of the object's size. */
  weld: number | undefined;
  /** Whether the cut faces are triangulated. */
  caps: boolean;
}

/** The request of an inspection. */
export interface InspectRequest {
  octree: boolean;
  bounds: boolean;
  trees: Uint32Array;
  /** Both included. */
  fromLevel: number;
  toLevel: number;
  maxBoxes: number;
  views: ViewRecord[];
  lines: boolean;
  origin: Vec3 | undefined;
  /** With `lines`, colours for the lines, which the three adapter requests. */
  palette?: BoxPalette | undefined;
}

/** A view's record (layout.ts). */
export type ViewRecord = Uint32Array;

/** In pixels, like the view's viewport. */
export interface Cursor {
  x: number;
  y: number;
  radius: number;
}

/** The options of a snapping pick. */
export interface SnapRequest {
  /** SNAP_*, a bit each. */
  kinds: number;
  /**
   * How the world is drawn about the cursor: five functions of it, each with three factors and a constant. Where `w` is positive,
   * x / w and y / w are pixels from the cursor, to the right and up; `near` and `far` are positive between the planes of these
   * names. In this order: x, y, w, near, far. Then the viewport, low xy and high xy, and the radius, in pixels from the cursor.
   */
  drawing: number[];
}

/** In normalized device coordinates (clip space over w), in which the viewport is [-1, 1]². */
export interface Region {
  /** The low x and y, then the high x and y. */
  bounds: readonly [number, number, number, number];
  /** Two numbers for each vertex; empty for the whole rectangle. */
  polygon: Float64Array;
  /** REGION_TOUCH or REGION_ENCLOSE. */
  mode: number;
}

/** Skin and morph targets of a mesh. */
export type MeshDeform = Pick<MeshData, 'skin' | 'morphs'>;

/** The part of a mesh's info that the worker knows. */
export type TreeInfo = Omit<MeshInfo, 'rebuilds' | 'boxes'>;

/** A mesh of triangles without a skin or morph targets. */
export interface SmallBuild {
  positions: Float32Array;
  indices: Uint32Array | Uint16Array | undefined;
  weld: number;
  isFast: boolean;
}

export interface SmallLoad {
  mesh: MeshId;
  baked: ArrayBuffer;
  /** It comes from a builder of this page, or was loaded before, and nobody else has had it: it need not be checked. */
  isTrusted: boolean;
}

/** The result of one call of many: either a value or a failure. */
export interface Outcome<T> {
  value?: T;
  failure?: Failure;
}

export interface LoadedMesh {
  info: TreeInfo;
  /** The buffer that was loaded, if it is kept for another worker when this one is lost. */
  baked: ArrayBuffer | undefined;
}

/** A baked mesh in shared chunks (baked-source.ts), followed by the spare chunks that were not used. */
export interface BakedChunks {
  bytes: number;
  buffers: ArrayBufferLike[];
}

export interface LoadedChunks {
  info: TreeInfo;
  chunks: ArrayBuffer[];
}

/** The result of a change of a mesh. */
export interface MeshUpdate {
  info: TreeInfo;
  /** False while new vertices wait for a tree that was requested, and if a new tree was discarded. */
  isInEffect: boolean;
  /** The data to build a tree from; only one tree per mesh is requested at a time. */
  rebuild: MeshData | undefined;
  /** The replaced tree, as in {@link LoadedMesh}. */
  baked?: ArrayBuffer | undefined;
  /** The positions that were given, if the client keeps them for the next worker. */
  positions?: Float32Array | undefined;
}

/** Everything else is sent as plain messages, in order with the calls. */
export type ToWorker =
  | CommandsMessage
  | FrameMessage
  | AheadMessage
  | PlaceMessage
  | BaselineMessage
  | AbortMessage
  | DropMessage
  | ChunkMessage;

export interface CommandsMessage {
  type: 'commands';
  list: readonly Command[];
}

/**
 * A frame in (layout.ts), which is transferred unless both sides share its memory, and the transferred buffer of an older
 * result, to be reused for the new one.
 */
export interface FrameMessage {
  type: 'frame';
  input: ArrayBuffer;
  out: ArrayBuffer | undefined;
}

/**
 * A frame in (layout.ts), of which only the transforms are applied, so that queries see them: the frame itself waits
 * for a slow frame, and brings them again. It has no answer.
 */
export interface AheadMessage {
  type: 'ahead';
  input: ArrayBuffer;
}

/** A frame in (layout.ts), of which only the transforms and views are applied; it has no answer. */
export interface PlaceMessage {
  type: 'place';
  input: ArrayBuffer;
}

/** The answer of the last frame that another worker made: the events of the next frame are relative to it. */
export interface BaselineMessage {
  type: 'baseline';
  /** The ids of both objects of each pair, sorted. */
  a: Uint32Array;
  b: Uint32Array;
  groupA: Uint32Array;
  groupB: Uint32Array;
  /** Ids by view. */
  seen: { slot: number; ids: Uint32Array }[];
}

/** Ends a build that has begun. */
export interface AbortMessage {
  type: 'abort';
  build: number;
}

/** The numbers of calls that nobody waits for any more, as in their messages. Overtakes all waiting messages. */
export interface DropMessage {
  type: 'drop';
  calls: number[];
}

/** The next bytes of a mesh that is loaded in chunks (baked-source.ts), which are transferred unless both sides share them. */
export interface ChunkMessage {
  type: 'chunk';
  mesh: MeshId;
  chunk: ArrayBufferLike;
}

export type FromWorker = ReadyMessage | ResultMessage | BusyMessage | ProgressMessage | FaultMessage;

/** An answer that comes later if it takes long. */
export type Soon<T> = T | Promise<T>;

/** The first message: from now on the worker receives what is sent. */
export interface ReadyMessage extends MemoryUse {
  type: 'ready';
  /** The version of the package that the worker's script is from; the first versions did not send it. */
  version?: string;
  /** Whether the worker may share memory with the thread that has started it, if that thread may. */
  mayShare?: boolean;
  /** The compiled core, in Node, if it was not handed to the worker: the next worker is given it. */
  compiled?: WebAssembly.Module[];
}

/**
 * Answers a frame and returns what was transferred for it. The main thread still has the memory of a frame that both sides share:
 * handing back another object of it, and making views of that, took 15 µs, a fourteenth of a frame of 10,000 instances.
 */
export interface ResultMessage extends MemoryUse {
  type: 'result';
  /** IN_FRAME and IN_EPOCH of the frame. */
  frame: number;
  epoch: number;
  input: ArrayBuffer | undefined;
  /** A frame out (layout.ts), unless there is a failure. */
  out: ArrayBuffer | undefined;
  /** The error of the frame, or of a command before it. */
  failure: Failure | undefined;
  /** Whether the characters have made their moves, if there is a failure. */
  areMoved?: boolean | undefined;
}

/**
 * 'busy': a frame or a contact that takes long is under way. Meanwhile queries are answered, and messages that precede a
 * waiting frame take effect. 'alive': other long work is under way. Sent when that begins, and now and then.
 */
export interface BusyMessage {
  type: 'busy' | 'alive';
  frame: number;
}

export interface ProgressMessage {
  type: 'progress';
  build: number;
  fraction: number;
}

/** The worker could not start. */
export interface FaultMessage {
  type: 'fault';
  failure: Failure;
}

export interface MemoryUse {
  memoryBytes: number;
  usedBytes: number;
}

/** The objects that a query considers, and the bounds that stand for them. */
export interface Filter {
  layers: number;
  /** Which sides can be hit: SIDE_*; with SIDE_OWN, those that each object shows. */
  side: number;
  /** The bounds that stand for the objects: PRECISION_*. */
  precision: number;
  /**
   * Ascending. Ids that are not alive are skipped. Absent if there are none: in Chromium, an empty array
   * raises the 50 µs that an empty call and its answer take to 54.
   */
  ignore?: Uint32Array;
  /** How near to a ray points and lines are hit, in world units; default 0. */
  threshold?: number;
  own?: OwnThresholds;
  /** Planes that cut parts away. Absent for none. */
  clips?: Clips | undefined;
}

/**
 * Objects of points or lines that a ray hits within another threshold, measured in the object's own space, as in three's
 * Raycaster; `distanceToRay` of their hits is in that space, too. Ids ascend; those that are not alive are skipped.
 */
export interface OwnThresholds {
  ids: Uint32Array;
  thresholds: Float64Array;
}

/**
 * Sets of planes. Set 0 cuts everything, the others cut the objects that have their number: parts behind any union plane
 * are cut away, and parts behind all intersection planes.
 */
export interface Clips {
  /** Four words for each set, layout.ts's CLIP_SET_*. */
  sets: Uint32Array;
  /** 4 numbers each: n · p + d ≥ 0 is kept; the largest component of n is at least 1, and below 2. */
  planes: Float64Array;
}
