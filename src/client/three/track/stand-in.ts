import type { BufferGeometry, Camera, LOD, Material, Matrix4, Mesh, Object3D } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import { concatenate } from '../../../shared/typed-arrays.js';
import type { MeshInfo, ObjectId, ObjectOptions, Shape } from '../../../shared/types.js';
import { invalidArgumentError } from '../../check/validate.js';
import type { MixedObjectOptions, Side } from '../../scene/object-description.js';
import { describeOpenEdges } from '../../scene/open-mesh.js';
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
import type { RepresentedObject, SceneObjects, StandInLike } from './scene-objects.js';

/** An object that is turned to the camera of each `update`. */
export interface CameraFacing {
  /** Turns it to a camera with that world matrix; `view` is the inverse of it. */
  face(camera: Matrix4, view: Matrix4, isPerspective: boolean): void;
}

/** Lines or points, which rays hit within a threshold. */
export interface ThinObject {
  readonly object: Object3D;
  /** How many ids it has; `idAt(0)` is its only id if it is 1. */
  readonly count: number;
  idAt(instanceId: number): ObjectId;
}

/** An object that may be left out of a picture because of the service's answers. */
export interface CullableObject extends RepresentedObject {
  /** The caller's `cullable`; undefined if not given. */
  readonly cullable: boolean | undefined;
  /** Makes the next `update` send its state again. */
  onMeshChange(): void;
  /** Whether its triangles are those of its geometry, and nothing moves single vertices. */
  readonly isRigid: boolean;
  /**
   * Returns whether an update has seen all of its instances, in one of these layers and as three draws them now. If not, its
   * answer may lack some that are in view.
   */
  wasSeenAsItIs(update: number, layers: number): boolean;
  /** Returns whether an instance of a BatchedMesh has the triangles of that geometry in the service. */
  standsOnGeometry?(instanceId: number, geometryId: number): boolean;
  /** The caller's `occluder`; undefined if not given. */
  readonly occluder: boolean | undefined;
  /** What is drawn of an object with one id: itself, or the Mesh of a level of a LOD; undefined for others. */
  readonly drawn?: Mesh;
  /** Returns the same for what is drawn of an object with one id, regardless of its matrix. */
  wasSeenInShape(update: number, layers: number): boolean;
  /** How many ids it has; `idAt(0)` is its only id if it is 1. */
  readonly count: number;
  idAt(instanceId: number): ObjectId;
}

/** A LineSegments2 or Line2 of three's addons, from which nothing is imported. */
export type FatLine = Mesh & {
  readonly isLineSegments2: true;
  material: Material & { linewidth: number; worldUnits: boolean; resolution: { x: number; y: number } };
};

/** Returns whether an object is a LineSegments2 or Line2 of three's addons. */
export function isFatLine(object: object): object is FatLine {
  return (object as Partial<FatLine>).isLineSegments2 === true;
}

/** Shared by all tracked objects of a tracker. */
export interface TrackerContext {
  readonly service: CollisionService;
  readonly meshes: MeshPool;
  readonly objects: SceneObjects;
  /** The Meshes for which only matrices have to be sent: those that move, and those that do not. */
  readonly moving: MeshTable;
  readonly still: MeshTable;
  /** Objects that are checked as a whole in every frame. */
  readonly always: Set<Updatable>;
  /** The matrices of objects in neither table, for the next update(). */
  readonly moved: MovedTransforms;
  readonly layers: LayerChanges;
  /** Objects that are drawn as lines or points. */
  readonly thin: Set<ThinObject>;
  /** The InstancedMeshes and BatchedMeshes. */
  readonly instanced: Set<CullableObject>;
  /** All LODs, including those whose levels are tracked apart. */
  readonly lods: Set<LOD>;
  /** The thin objects that have a width: nothing else checks their geometries. */
  readonly fat: Set<{ refresh(): void }>;
  /** Objects that are turned to the camera in every frame. */
  readonly sprites: Set<CameraFacing>;
  /** The camera of the last `update`. */
  camera?: Camera;
  readonly skeletons: SkeletonTable;
  readonly clips: ClipSetTable;
  /** Objects whose meshes were built since their last check. */
  readonly stale: Set<Updatable>;
  /** Whether a slice of additions and removals is under way: objects gain or lose many instances only in one. */
  isInSlice: boolean;
}

/** An object that frames check; `visible`: it and all its ancestors are visible. */
export interface Updatable {
  readonly object: Object3D;
  /** How many ids it has. */
  readonly count: number;
  update(visible: boolean): void;
}

/** A `side` takes precedence over those of the materials. */
export type StandInOptions = Omit<ObjectOptions, 'shape'>;

/** The object that a stand-in represents. */
export interface StandInOwner extends RepresentedObject, MeshUser {
  readonly object: Object3D;
}

/** The service's defaults for options that nobody gave. */
export const DEFAULTS = {
  ...({ motion: 'moving', collidesWith: 0xffffffff, group: 0, pickable: true } as const),
  ...{ clearance: 0, continuous: false, boxes: [] },
} as const;

/** Instances per block; a slice handles at most one: 8,192 matrices are half a megabyte. */
export const MAX_BLOCK_SIZE = 8_192;

const NO_BLOCKS: readonly Uint32Array[] = [];
const NO_FORMER_MESHES: readonly { standing: BuiltMesh | null; asked: number }[] = [];

/** Represents an object in the service: one id for each of its instances, or a single one. */
export class StandIn implements StandInLike {
  readonly owner: StandInOwner;
  plan: StandInPlan;
  /**
   * The ids, in parts that are sent as one; all but the last have MAX_BLOCK_SIZE. Changes make a new array: an array is never
   * written once it is here.
   */
  blocks = NO_BLOCKS;
  /** How many ids there are. */
  count = 0;

  readonly #context: TrackerContext;
  #use: MeshUse | null = null;
  /** Takes over from `#use` once it is built. */
  #nextUse: MeshUse | null = null;
  /** The mesh must be acquired again, because its options have changed. */
  #mustReacquire = false;
  #nextPlan: StandInPlan;
  /** The shape that the caller wants instead of triangles. */
  #callerShape: Shape | null = null;

  // As the service has it.
  #shape: Shape | null = null;
  #currentMesh: BuiltMesh | null = null;
  #areOptionsSent = true;
  #pickable: boolean | undefined;
  #cullable: boolean | undefined;
  occluder: boolean | undefined;
  /** The plan whose sides the service has. */
  #sentSidesPlan: StandInPlan | null = null;
  /** The plan whose clip sets it holds: its own, and those of each material if these differ. */
  #heldClipPlan: StandInPlan | null = null;
  #clipSet = 0;
  /** Another array if they change. */
  materialClipSets: readonly number[] | null = null;
  /** Set if it should be solid and is open. */
  #refusal: CollisionError | null = null;
  /** Former meshes, each with the newest query that may have seen it. */
  #formerMeshes = NO_FORMER_MESHES;

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
    for (let i = 0; i < blocks.length; i++) ids.set(blocks[i], MAX_BLOCK_SIZE * i);
    return ids;
  }

  idAt(i: number): ObjectId {
    return this.blocks[Math.floor(i / MAX_BLOCK_SIZE)][i % MAX_BLOCK_SIZE];
  }

  get #mesh(): SharedMesh | null {
    return this.#use === null ? null : this.#use.mesh;
  }

  get #nextMesh(): SharedMesh | null {
    return this.#nextUse === null ? null : this.#nextUse.mesh;
  }

  /** Why it is not in the service, if so; null while the mesh that is to replace a failed one is built. */
  get error(): CollisionError | null {
    return (this.#nextUse ?? this.#use)?.mesh.error ?? this.#refusal;
  }

  /** Whether what it should become is still being built. */
  get pending(): boolean {
    const mesh = this.#mesh;
    if (this.#nextMesh !== null || mesh?.isBuilding === true) return true;
    return mesh !== null && mesh.built !== this.#currentMesh && this.#refusal === null;
  }

  /** Whether the target of the last `retarget` can take over now, or never will. */
  get isReady(): boolean {
    const next = this.#nextMesh;
    return this.#callerShape !== null || next === null || next.built !== null || next.error !== null;
  }

  /** The mesh that is its shape in the service; null if that is another kind of shape. */
  get standing(): BuiltMesh | null {
    return this.#currentMesh;
  }

  /** Returns whether its shape is the triangles of a geometry, all of them where they are now. */
  standsOn(geometry: BufferGeometry): boolean {
    const mesh = this.#mesh;
    return !this.pending && mesh !== null && mesh.geometry === geometry && mesh.isUnchanged;
  }

  seenBy(queryId: number): BuiltMesh | null {
    const formerMesh = this.#formerMeshes.find(({ asked }) => queryId <= asked);
    return formerMesh === undefined ? this.#currentMesh : formerMesh.standing;
  }

  /** Sets what it should become: `shape`, or else the plan's groups of `geometryId`. It stays the old one until `advance`. */
  retarget(plan: StandInPlan, geometry: BufferGeometry, shape: Shape | null, weld: number, deformers: Deformers): void {
    const { meshes } = this.#context;
    if (!isSamePlan(plan, this.#nextPlan)) this.#nextPlan = plan;
    this.#callerShape = shape;
    const target = this.#nextMesh ?? this.#mesh;
    const isSame =
      target?.geometry === geometry &&
      target.groups?.join() === plan.groups?.join() &&
      areSameDeformers(target.deformers, deformers);
    if (shape === null && isSame && !this.#mustReacquire) return;
    const { groups, primitive } = plan;
    const next =
      shape === null ? meshes.acquire(geometry, groups, primitive ? 0 : weld, this.owner, primitive, deformers) : null;
    this.#mustReacquire = false;
    if (this.#nextUse !== null) meshes.release(this.#nextUse);
    this.#nextUse = next;
  }

  /** Makes the next `reconcile` send all options again; `isMeshAffected`: some of them are the mesh's. */
  forgetOptions(isMeshAffected: boolean): void {
    this.#areOptionsSent = false;
    this.#mustReacquire ||= isMeshAffected;
  }

  /** Lets the target of `retarget` take over; call it once that is ready. */
  advance(): void {
    this.plan = this.#nextPlan;
    if (this.#callerShape === null && this.#nextUse === null) return;
    if (this.#use !== null) this.#context.meshes.release(this.#use);
    this.#use = this.#nextUse;
    this.#nextUse = null;
  }

  /** Brings the service's objects into line with what is built: `count` of them. New ones are not yet at their places. */
  reconcile(count: number, options: StandInOptions, isSolid: boolean): void {
    const { service } = this.#context;
    const built = this.#mesh?.built ?? null;
    const info = isSolid && built !== null ? service.meshInfo(built.id) : null;
    this.#refusal = info !== null && !info.closed ? openMeshError(this.owner.object, info) : null;
    if (this.#refusal !== null) this.#setShape(null, null);
    else
      this.#setShape(
        built,
        this.#callerShape ?? (built === null ? null : { type: 'mesh', mesh: built.id, solid: isSolid }),
      );
    this.#holdClipSets();
    this.#setOptions(options);
    this.#resize(this.#shape === null ? 0 : count, options);
  }

  /**
   * Removes it from the service if no more than `maxCount` of its objects are left, else that many of them; returns whether it is
   * gone. What it was stays known, for the answers that are on their way.
   */
  remove(maxCount: number): boolean {
    const { meshes } = this.#context;
    this.#shrink(Math.max(0, this.count - maxCount));
    if (this.count > 0) return false;
    this.#releaseClipSets();
    if (this.#use !== null) meshes.release(this.#use);
    if (this.#nextUse !== null) meshes.release(this.#nextUse);
    this.#use = this.#nextUse = null;
    return true;
  }

  #setShape(built: BuiltMesh | null, shape: Shape | null): void {
    if (built === this.#currentMesh && (built !== null || shape === this.#shape)) return;
    const { objects } = this.#context;
    if (shape !== null) this.#setAllObjects({ shape });
    this.#sentSidesPlan = null; // the sides of faces are lost with the shape
    if (this.count > 0) {
      const formerMeshes = this.#formerMeshes.filter(({ asked }) => asked >= objects.oldestQuery);
      this.#formerMeshes = [...formerMeshes, { standing: this.#currentMesh, asked: objects.newestQuery }];
    }
    this.#currentMesh = built;
    this.#shape = shape;
  }

  #setOptions(given: StandInOptions): void {
    const { pickable = true, cullable = true, occluder = false, side } = given;
    const isSame = pickable === this.#pickable && cullable === this.#cullable && occluder === this.occluder;
    if (!this.#areOptionsSent) {
      const { matrix, layers, ...options } = given; // these two are per instance
      this.#setAllObjects({ ...DEFAULTS, ...options, ...this.#sideOptions(side), clipSet: this.#clipSet });
    } else if (!isSame || this.plan !== this.#sentSidesPlan) {
      this.#setAllObjects({ pickable, cullable, occluder, ...this.#sideOptions(side), clipSet: this.#clipSet });
    }
    this.#areOptionsSent = true;
    this.#pickable = pickable;
    this.#cullable = cullable;
    this.occluder = occluder;
    this.#sentSidesPlan = this.plan;
  }

  #holdClipSets(): void {
    const { plan } = this;
    if (plan === this.#heldClipPlan) return;
    const { clips } = this.#context;
    const clipSet = clips.hold(plan.cut);
    const materialSets = plan.cuts?.map((cut) => clips.hold(cut)) ?? null;
    this.#releaseClipSets();
    this.#heldClipPlan = plan;
    this.#clipSet = clipSet;
    this.materialClipSets = materialSets;
    if (materialSets !== null) clips.mixedCount++;
  }

  /** Releases its clip sets; their numbers stay known, for the answers that are on their way. */
  #releaseClipSets(): void {
    if (this.#heldClipPlan === null) return;
    const { clips } = this.#context;
    clips.release(this.#clipSet);
    for (const setId of this.materialClipSets ?? []) clips.release(setId);
    if (this.materialClipSets !== null) clips.mixedCount--;
    this.#heldClipPlan = null;
  }

  #sideOptions(side: Side | undefined): Pick<MixedObjectOptions, 'side' | 'faceSides'> {
    const { plan } = this;
    const usesMaterialSides = side === undefined && this.#currentMesh !== null;
    return usesMaterialSides
      ? sidesOfRuns(plan, this.#currentMesh!.runs)
      : { side: side ?? plan.side, faceSides: null };
  }

  #setAllObjects(options: Partial<MixedObjectOptions>): void {
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
    const ownOptions = { shape, clipSet: this.#clipSet };
    const described: MixedObjectOptions = Object.assign({}, options, this.#sideOptions(options.side), ownOptions);
    const blocks = [...this.blocks];
    while (this.count < count) {
      const filled = this.count % MAX_BLOCK_SIZE; // not 0 if the last block is not full
      const added = service.addInstances(described, Math.min(count - this.count, MAX_BLOCK_SIZE - filled));
      objects.add(this, added, this.count);
      blocks.push(filled === 0 ? added : concatenate([blocks.pop()!, added]));
      this.count += added.length;
      this.blocks = blocks.slice(); // without the spare capacity of a grown array: thousands of objects have one block
    }
  }

  #shrink(count: number): void {
    if (this.count <= count) return;
    const { service, objects, moved } = this.#context;
    const blocks = [...this.blocks];
    while (this.count > count) {
      const lastBlock = blocks.pop()!;
      const first = this.count - lastBlock.length;
      const keptCount = Math.max(0, count - first);
      const removed = lastBlock.subarray(keptCount);
      service.removeObjects(removed);
      moved.forget(removed);
      objects.remove(this, removed, first + keptCount);
      if (keptCount > 0) blocks.push(lastBlock.slice(0, keptCount));
      this.count = first + keptCount;
      this.blocks = blocks;
    }
  }
}

function openMeshError({ name, type }: Object3D, info: Readonly<MeshInfo>): CollisionError {
  return invalidArgumentError(
    `trackScene: the triangles of ${type} '${name}' are open, expected closed ones as it shall be solid: ${describeOpenEdges(info)}`,
  );
}
