import type { BufferGeometry, LOD, Material, Matrix4, Mesh, Object3D } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import { joined } from '../../../shared/typed-arrays.js';
import type { MeshInfo, ObjectId, ObjectOptions, Shape } from '../../../shared/types.js';
import { invalidArgument } from '../../check/validate.js';
import type { MixedObjectOptions, Side } from '../../scene/object-description.js';
import { whatIsOpen } from '../../scene/open-mesh.js';
import type { CollisionService } from '../../service.js';
import { areSameDeformers, type Deformers } from '../geometry/deformers.js';
import type { MeshPool } from '../geometry/mesh-pool.js';
import type { BuiltMesh, MeshUse, MeshUser, SharedMesh } from '../geometry/shared-mesh.js';
import type { ClipSetTable } from './clip-sets.js';
import type { LayerChanges } from './layer-changes.js';
import { isSamePlan, type StandInPlan, sidesOfRuns } from './material-plan.js';
import type { SkeletonTable } from './mesh-pose.js';
import type { MeshTable } from './mesh-table.js';
import type { MovedTransforms } from './moved-transforms.js';
import type { Placed, PlacedOwner, SceneObjects } from './scene-objects.js';

/** What is turned to the camera of each `update`. */
export interface Facing {
  /** Turns it to a camera, of which `view` is the inverse of its world matrix. */
  face(camera: Matrix4, view: Matrix4, isPerspective: boolean): void;
}

/** Lines or points, which rays hit within a threshold. */
export interface ThinObject {
  readonly object: Object3D;
  /** Its only id, where `count` is 1. */
  readonly count: number;
  idAt(instance: number): ObjectId;
}

/** It may be left out of a picture by what the service says of it. */
export interface CullableObject extends PlacedOwner {
  /** What the caller says of it; undefined where nothing is said. */
  readonly cullable: boolean | undefined;
  /** Has the next `update` say again what it is. */
  onMeshChange(): void;
  /** Its triangles stand as they are in its geometry, and nothing moves single vertices. */
  readonly isRigid: boolean;
  /**
   * Tells whether an update has seen all of its instances in one of these layers, and as three draws them now. Where it has
   * not, the answer need not name what is in view.
   */
  wasSeenAsItIs(update: number, layers: number): boolean;
  /** Tells of an instance of a BatchedMesh whether it stands in the service on the triangles of that geometry. */
  standsOnGeometry?(instance: number, geometry: number): boolean;
  /** What the caller says of whether it hides others; undefined where nothing is said. */
  readonly occluder: boolean | undefined;
  /** What is drawn of an object of one id: itself, or the Mesh of a level of a LOD; undefined for others. */
  readonly drawn?: Mesh;
  /** Tells the same of what is drawn of an object of one id, whose matrix does not count. */
  wasSeenInShape(update: number, layers: number): boolean;
  /** Its only id, where `count` is 1. */
  readonly count: number;
  idAt(instance: number): ObjectId;
}

/** A LineSegments2 or Line2 of three's addons, of which nothing is imported. */
export type FatLine = Mesh & {
  readonly isLineSegments2: true;
  material: Material & { linewidth: number; worldUnits: boolean; resolution: { x: number; y: number } };
};

/** Tells whether it is a LineSegments2 or Line2 of three's addons. */
export function isFatLine(object: object): object is FatLine {
  return (object as Partial<FatLine>).isLineSegments2 === true;
}

/** All tracked objects of a tracker share this. */
export interface TrackerContext {
  readonly service: CollisionService;
  readonly meshes: MeshPool;
  readonly objects: SceneObjects;
  /** The Meshes of which nothing is to be done but to send their matrices: those that move, and those that do not. */
  readonly moving: MeshTable;
  readonly still: MeshTable;
  /** These are looked at as a whole in every frame. */
  readonly always: Set<Updatable>;
  /** It has the matrices of what is in neither table, for the next update(). */
  readonly moved: MovedTransforms;
  readonly layers: LayerChanges;
  /** What is drawn as lines or points. */
  readonly thin: Set<ThinObject>;
  /** The InstancedMeshes and BatchedMeshes. */
  readonly instanced: Set<CullableObject>;
  /** All LODs, those of which the levels are tracked apart included. */
  readonly lods: Set<LOD>;
  /** Those of the thin ones that have a width: their geometries are not looked at by themselves. */
  readonly fat: Set<{ refresh(): void }>;
  /** What is turned to the camera in every frame. */
  readonly sprites: Set<Facing>;
  readonly skeletons: SkeletonTable;
  readonly clips: ClipSetTable;
  /** These stand on meshes that were built since they were looked at. */
  readonly stale: Set<Updatable>;
  /** Whether a slice is under way of what comes and goes: what has many instances more, or less, waits for one. */
  isInSlice: boolean;
}

/** It is looked at in frames; `visible` says that it and all its ancestors are. */
export interface Updatable {
  readonly object: Object3D;
  /** How many ids it has. */
  readonly count: number;
  update(visible: boolean): void;
}

/** A `side` goes before those of the materials. */
export type StandInOptions = Omit<ObjectOptions, 'shape'>;

/** The object that a stand-in stands for. */
export interface StandInOwner extends PlacedOwner, MeshUser {
  readonly object: Object3D;
}

/** The service takes these where nobody says anything. */
export const DEFAULTS = {
  ...({ motion: 'moving', collidesWith: 0xffffffff, group: 0, pickable: true } as const),
  ...{ clearance: 0, continuous: false, boxes: [] },
} as const;

/** Instances in a block, of which no slice has more than one: 8,192 matrices are half a megabyte. */
export const MOST_IN_BLOCK = 8_192;

const NO_BLOCKS: readonly Uint32Array[] = [];
const NO_PAST: readonly { standing: BuiltMesh | null; asked: number }[] = [];

/** What stands for an object in the service: an id for each of its instances, or one. */
export class StandIn implements Placed {
  readonly owner: StandInOwner;
  plan: StandInPlan;
  /**
   * The ids, in parts that are sent as one; all but the last have MOST_IN_BLOCK. Others are in another array: none is
   * written after it is here.
   */
  blocks = NO_BLOCKS;
  /** How many ids there are. */
  count = 0;

  readonly #context: TrackerContext;
  #use: MeshUse | null = null;
  /** Takes over from `#use` when it is built. */
  #nextUse: MeshUse | null = null;
  /** The mesh is to be asked for anew, as its options are others. */
  #isOther = false;
  #nextPlan: StandInPlan;
  /** The shape that the caller wishes instead of triangles. */
  #given: Shape | null = null;

  // The service knows it so.
  #shape: Shape | null = null;
  #standing: BuiltMesh | null = null;
  #isTold = true;
  #pickable: boolean | undefined;
  #cullable: boolean | undefined;
  occluder: boolean | undefined;
  /** It knows the sides of this plan. */
  #sidesOf: StandInPlan | null = null;
  /** Whose clip sets it holds: its own, and where its materials differ those of each. */
  #cutsOf: StandInPlan | null = null;
  #clipSet = 0;
  /** Another array where they are others. */
  materialClipSets: readonly number[] | null = null;
  /** It shall be solid and is open. */
  #refusal: CollisionError | null = null;
  /** It lists what stood before, with the newest query that may have seen it. */
  #past = NO_PAST;

  constructor(context: TrackerContext, owner: StandInOwner, plan: StandInPlan) {
    this.#context = context;
    this.owner = owner;
    this.plan = plan;
    this.#nextPlan = plan;
  }

  /** Lists the ids. */
  get ids(): Uint32Array {
    const { blocks, count } = this;
    if (blocks.length === 1) return blocks[0];
    const ids = new Uint32Array(count);
    for (let i = 0; i < blocks.length; i++) ids.set(blocks[i], MOST_IN_BLOCK * i);
    return ids;
  }

  idAt(i: number): ObjectId {
    return this.blocks[Math.floor(i / MOST_IN_BLOCK)][i % MOST_IN_BLOCK];
  }

  get #mesh(): SharedMesh | null {
    return this.#use === null ? null : this.#use.mesh;
  }

  get #next(): SharedMesh | null {
    return this.#nextUse === null ? null : this.#nextUse.mesh;
  }

  /** Answers why it does not stand. */
  get error(): CollisionError | null {
    return this.#mesh?.error ?? this.#refusal;
  }

  /** Tells whether what it shall be is still being built. */
  get pending(): boolean {
    const mesh = this.#mesh;
    if (this.#next !== null || mesh?.isBuilding === true) return true;
    return mesh !== null && mesh.built !== this.#standing && this.#refusal === null;
  }

  /** Tells whether what it was retargeted to last can stand now, or never will. */
  get isReady(): boolean {
    const next = this.#next;
    return this.#given !== null || next === null || next.built !== null || next.error !== null;
  }

  /** Answers what stands in the service; null where that is a shape. */
  get standing(): BuiltMesh | null {
    return this.#standing;
  }

  /** Tells whether the triangles of a geometry stand, all of them where they are now. */
  standsOn(geometry: BufferGeometry): boolean {
    const mesh = this.#mesh;
    return !this.pending && mesh !== null && mesh.geometry === geometry && mesh.isUnchanged;
  }

  seenBy(query: number): BuiltMesh | null {
    const past = this.#past.find(({ asked }) => query <= asked);
    return past === undefined ? this.#standing : past.standing;
  }

  /** Sets what it shall be: `shape`, or else the plan's groups of `geometry`. It is the old one until `advance`. */
  retarget(plan: StandInPlan, geometry: BufferGeometry, shape: Shape | null, weld: number, deformers: Deformers): void {
    const { meshes } = this.#context;
    if (!isSamePlan(plan, this.#nextPlan)) this.#nextPlan = plan;
    this.#given = shape;
    const target = this.#next ?? this.#mesh;
    const isSame =
      target?.geometry === geometry &&
      target.groups?.join() === plan.groups?.join() &&
      areSameDeformers(target.deformers, deformers);
    if (shape === null && isSame && !this.#isOther) return;
    const { groups, primitive } = plan;
    const next =
      shape === null ? meshes.acquire(geometry, groups, primitive ? 0 : weld, this.owner, primitive, deformers) : null;
    this.#isOther = false;
    if (this.#nextUse !== null) meshes.release(this.#nextUse);
    this.#nextUse = next;
  }

  /** Tells the service all options again; `isOther`: some of them are the mesh's. */
  forgetOptions(isOther: boolean): void {
    this.#isTold = false;
    this.#isOther ||= isOther;
  }

  /** Lets what it was retargeted to take over, once it is ready. */
  advance(): void {
    this.plan = this.#nextPlan;
    if (this.#given === null && this.#nextUse === null) return;
    if (this.#use !== null) this.#context.meshes.release(this.#use);
    this.#use = this.#nextUse;
    this.#nextUse = null;
  }

  /** Brings the service's objects in line with what is built: so many of them. New ones are not yet in their places. */
  reconcile(count: number, options: StandInOptions, isSolid: boolean): void {
    const { service } = this.#context;
    const built = this.#mesh?.built ?? null;
    const info = isSolid && built !== null ? service.meshInfo(built.id) : null;
    this.#refusal = info !== null && !info.closed ? isOpen(this.owner.object, info) : null;
    if (this.#refusal !== null) this.#setShape(null, null);
    else
      this.#setShape(built, this.#given ?? (built === null ? null : { type: 'mesh', mesh: built.id, solid: isSolid }));
    this.#holdClipSets();
    this.#setOptions(options);
    this.#resize(this.#shape === null ? 0 : count, options);
  }

  /**
   * Removes it from the service when no more than `most` of its objects are left, else so many of them; tells whether it
   * is gone. What it was stays known, for the answers that are on their way.
   */
  remove(most: number): boolean {
    const { meshes } = this.#context;
    this.#shrink(Math.max(0, this.count - most));
    if (this.count > 0) return false;
    this.#releaseClipSets();
    if (this.#use !== null) meshes.release(this.#use);
    if (this.#nextUse !== null) meshes.release(this.#nextUse);
    this.#use = this.#nextUse = null;
    return true;
  }

  #setShape(built: BuiltMesh | null, shape: Shape | null): void {
    if (built === this.#standing && (built !== null || shape === this.#shape)) return;
    const { objects } = this.#context;
    if (shape !== null) this.#set({ shape });
    this.#sidesOf = null; // those of faces went with the shape
    if (this.count > 0) {
      const past = this.#past.filter(({ asked }) => asked >= objects.oldestQuery);
      this.#past = [...past, { standing: this.#standing, asked: objects.newestQuery }];
    }
    this.#standing = built;
    this.#shape = shape;
  }

  #setOptions(given: StandInOptions): void {
    const { pickable = true, cullable = true, occluder = false, side } = given;
    const isSame = pickable === this.#pickable && cullable === this.#cullable && occluder === this.occluder;
    if (!this.#isTold) {
      const { matrix, layers, ...options } = given; // which say of each where and whether it is
      this.#set({ ...DEFAULTS, ...options, ...this.#sides(side), clipSet: this.#clipSet });
    } else if (!isSame || this.plan !== this.#sidesOf) {
      this.#set({ pickable, cullable, occluder, ...this.#sides(side), clipSet: this.#clipSet });
    }
    this.#isTold = true;
    this.#pickable = pickable;
    this.#cullable = cullable;
    this.occluder = occluder;
    this.#sidesOf = this.plan;
  }

  #holdClipSets(): void {
    const { plan } = this;
    if (plan === this.#cutsOf) return;
    const { clips } = this.#context;
    const clipSet = clips.hold(plan.cut);
    const sets = plan.cuts?.map((cut) => clips.hold(cut)) ?? null;
    this.#releaseClipSets();
    this.#cutsOf = plan;
    this.#clipSet = clipSet;
    this.materialClipSets = sets;
    if (sets !== null) clips.mixedCount++;
  }

  /** Lets go of its clip sets; which they were stays known, for the answers that are on their way. */
  #releaseClipSets(): void {
    if (this.#cutsOf === null) return;
    const { clips } = this.#context;
    clips.release(this.#clipSet);
    for (const number of this.materialClipSets ?? []) clips.release(number);
    if (this.materialClipSets !== null) clips.mixedCount--;
    this.#cutsOf = null;
  }

  #sides(side: Side | undefined): Pick<MixedObjectOptions, 'side' | 'faceSides'> {
    const { plan } = this;
    const isOwn = side === undefined && this.#standing !== null;
    return isOwn ? sidesOfRuns(plan, this.#standing!.runs) : { side: side ?? plan.side, faceSides: null };
  }

  #set(options: Partial<MixedObjectOptions>): void {
    for (const ids of this.blocks) {
      for (let i = 0; i < ids.length; i++) this.#context.service.setObject(ids[i], options);
    }
  }

  #resize(count: number, options: StandInOptions): void {
    const { service, objects } = this.#context;
    const shape = this.#shape;
    if (count <= this.count || shape === null) {
      this.#shrink(count);
      return;
    }
    const own = { shape, clipSet: this.#clipSet };
    const described: MixedObjectOptions = Object.assign({}, options, this.#sides(options.side), own);
    const blocks = [...this.blocks];
    while (this.count < count) {
      const begin = this.count % MOST_IN_BLOCK; // where the last one is not full
      const added = service.addInstances(described, Math.min(count - this.count, MOST_IN_BLOCK - begin));
      objects.add(this, added, this.count);
      blocks.push(begin === 0 ? added : joined([blocks.pop()!, added]));
      this.count += added.length;
      this.blocks = blocks.slice(); // without the room that an array gets that grows: thousands of objects have one block
    }
  }

  #shrink(count: number): void {
    if (this.count <= count) return;
    const { service, objects, moved } = this.#context;
    const blocks = [...this.blocks];
    while (this.count > count) {
      const last = blocks.pop()!;
      const first = this.count - last.length;
      const kept = Math.max(0, count - first);
      const removed = last.subarray(kept);
      service.removeObjects(removed);
      moved.forget(removed);
      objects.remove(this, removed, first + kept);
      if (kept > 0) blocks.push(last.slice(0, kept));
      this.count = first + kept;
      this.blocks = blocks;
    }
  }
}

function isOpen({ name, type }: Object3D, info: Readonly<MeshInfo>): CollisionError {
  return invalidArgument(
    `trackScene: the triangles of ${type} '${name}' are open, expected closed ones as it shall be solid: ${whatIsOpen(info)}`,
  );
}
