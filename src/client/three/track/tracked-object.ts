import type { Mesh } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { NamedBox, ObjectId } from '../../../shared/types.js';
import { isDeformedBy, RIGID } from '../geometry/deformers.js';
import { AppearanceSnapshot } from './appearance-snapshot.js';
import { IndexSet } from './index-set.js';
import { isValidTransform } from './is-valid-transform.js';
import { planStandIn, planThinObject } from './material-plan.js';
import { MeshPose } from './mesh-pose.js';
import type { MeshTable, TableOwner } from './mesh-table.js';
import { type ObjectSettings, objectErrorOf, type SceneDrawable } from './object-settings.js';
import { isOccluder } from './opacity.js';
import { primitiveOf } from './primitive-of.js';
import { ResolvedOptions } from './resolved-options.js';
import {
  type CullableObject,
  MAX_BLOCK_SIZE,
  StandIn,
  type StandInOptions,
  type StandInOwner,
  type TrackerContext,
} from './stand-in.js';
import { warnLeftOut } from './warn-left-out.js';

const NO_IDS = new Uint32Array(0);

/** How an object is checked: as a line of a table, or as a whole, in turn or in every frame. */
type CheckMode = MeshTable | 'by turns' | 'always';

/**
 * A Mesh or SkinnedMesh in the service, or any object that a shape represents. `update` compares it with what was sent before
 * and sends what has changed. Its id stays the same while it is in the scene: an object that is not to be seen is in no layer.
 */
export class TrackedObject implements StandInOwner, TableOwner, CullableObject {
  // The fields that `show` uses are side by side: an ancestor hides thousands of objects, which are far apart in memory.
  place = -1;
  /** The layers that it is in now, and those that it is in while it is visible. */
  protected layers = 0;
  #visibleLayers = 0;
  #checkMode: CheckMode = 'by turns';
  /** Queries from this id on see the last change that was sent. */
  #firstQueryAfterChange = 0;
  readonly #context: TrackerContext;
  /** How bones and morph targets move it; null if none do. */
  #pose: MeshPose | null = null;

  readonly object: SceneDrawable;
  drawn: Mesh;
  /** Null until the first check. */
  standIn: StandIn | null = null;
  /** Why the object is not in the service. */
  error: CollisionError | null = null;

  readonly #appearance = new AppearanceSnapshot();
  /** How many ids it should have by now; those of an InstancedMesh are added in slices. */
  #expectedCount = 0;
  /** How many of the first instances, or of the object itself, were checked for a valid matrix, and sent. */
  protected placed = 0;
  /** Whether a mesh that it uses was built since the last check. */
  #isStale = true;
  /** Why the object could not be planned as it is now. */
  #failure: CollisionError | null = null;
  /** Whether the caller's functions are to be called again. */
  #mustAskShape = false;
  /** The last message about it in the console. */
  #lastWarning = '';
  /** Instances whose matrix the service does not accept: three does not show those without an inverse either. */
  #hiddenInstances: IndexSet | null = null;
  readonly #resolved: ResolvedOptions;

  /** Throws what the caller's functions throw. */
  constructor(context: TrackerContext, object: SceneDrawable, settings: ObjectSettings, drawn: Mesh) {
    this.#context = context;
    this.object = object;
    this.drawn = drawn;
    this.#resolved = new ResolvedOptions(object, settings);
  }

  /** Whether a part of it is still to be built. */
  get pending(): boolean {
    return this.standIn?.pending ?? false;
  }

  get boxes(): readonly NamedBox[] {
    return this.#resolved.options.boxes ?? [];
  }

  get isInstanced(): boolean {
    return false;
  }

  /** How many public ids it has; 0 until it is built. */
  get count(): number {
    return this.standIn === null ? 0 : this.standIn.count;
  }

  get ids(): Uint32Array {
    return this.standIn?.ids ?? NO_IDS;
  }

  idAt(instanceId: number): ObjectId {
    return this.standIn!.idAt(instanceId);
  }

  get isStatic(): boolean {
    return this.#resolved.isStatic;
  }

  get cullable(): boolean | undefined {
    return this.#resolved.options.cullable;
  }

  get isRigid(): boolean {
    return this.#appearance.deformers === RIGID && this.#resolved.shape === null;
  }

  get occluder(): boolean | undefined {
    return this.#resolved.options.occluder;
  }

  wasSeenAsItIs(_update: number, _layers: number): boolean {
    return false;
  }

  wasSeenInShape(update: number, layers: number): boolean {
    return this.count === 1 && this.wasSeen(update, layers);
  }

  /** Returns whether an update has seen it in one of these layers, with the triangles that three draws now. */
  protected wasSeen(update: number, layers: number): boolean {
    if (this.#firstQueryAfterChange > update || (this.layers & layers) === 0) return false;
    if (!this.#appearance.isDrawn || !this.#isPlanned || this.standIn?.standsOn(this.drawn.geometry) !== true)
      return false;
    return !this.#hasHiddenInstances;
  }

  /** Whether an instance is hidden, because its matrix is not accepted. */
  get #hasHiddenInstances(): boolean {
    return this.#hiddenInstances !== null && this.#hiddenInstances.size > 0;
  }

  /** Whether nothing has to be planned again. */
  get #isPlanned(): boolean {
    return !this.#mustAskShape && this.#appearance.isOf(this.drawn);
  }

  get #isOccluder(): boolean {
    const { object, drawn } = this;
    return this.occluder ?? (drawn === object && drawn.isMesh === true && this.isRigid && isOccluder(drawn));
  }

  protected get weld(): number {
    return this.#resolved.weld;
  }

  /**
   * Sends what has changed; `visible`: the object and all its ancestors are. An error of the object leaves it out, and nothing
   * else. Throws errors of the service.
   */
  update(visible: boolean): void {
    try {
      this.look(visible);
    } catch (thrown) {
      this.#leaveOut(objectErrorOf(this.object, thrown), !CollisionError.is(thrown));
      this.#updateCheckMode();
    }
    this.#lastWarning = warnLeftOut(this.object, this.error, this.#lastWarning);
  }

  /** Implements `update`. Throws errors of the object. */
  protected look(visible: boolean): void {
    this.#visibleLayers = (this.#resolved.options.layers ?? this.drawn.layers.mask) >>> 0;
    const layers = visible ? this.#visibleLayers : 0;
    const isPlanned = this.#isPlanned;
    const count = this.nextCount();
    if (!isPlanned) this.#plan();
    if (layers !== this.layers) this.#setLayers(layers);
    if (!isPlanned || this.#isStale || count !== this.#expectedCount) this.#reconcile(count);
    this.send();
    this.#updateCheckMode();
  }

  /** Returns how many ids it should have by now. */
  protected nextCount(): number {
    return 1;
  }

  /** Sends its pose, or the matrices of its instances, and checks those of new instances. */
  protected send(): void {
    if (this.#pose !== null) this.#sendPose(this.#pose);
    this.review();
  }

  /** Does what `update` does if only the visibility of its ancestors has changed. */
  show(visible: boolean): void {
    const layers = visible ? this.#visibleLayers : 0;
    if (layers === this.layers) return;
    const checkMode = this.#checkMode;
    this.#setLayers(layers);
    if (this.#pose !== null) this.#sendPose(this.#pose); // poses are not sent while nobody sees them
    if (typeof checkMode === 'string') return;
    if (layers === 0) checkMode.rest(this.place);
    else checkMode.wake();
  }

  /** Returns whether `update` should check it, now that its turn has come. */
  isDue(): boolean {
    const checkMode = this.#checkMode;
    const isUnreadable = this.#appearance.takeTurn();
    try {
      // No frame reads all of a material.
      if (this.count > 0 && this.#isOccluder !== this.standIn!.occluder) this.onMeshChange();
    } catch {
      return true; // `update` reports what is wrong with it
    }
    if (typeof checkMode === 'string') return isUnreadable || checkMode === 'by turns';
    return !checkMode.isInPlace(this) || !isDeformedBy(this.drawn, this.#appearance.deformers);
  }

  /** Calls the caller's functions again, for the next `update`. Throws what they throw. */
  askAgain(): void {
    const { isStatic, weld } = this.#resolved;
    const isChanged = this.#resolved.ask();
    this.#mustAskShape = true; // `update` asks for the shape, too
    if (!isChanged) return;
    this.#isStale = true;
    this.standIn?.forgetOptions(isStatic !== this.isStatic || weld !== this.weld);
  }

  leave(): void {
    this.#setCheckMode('by turns');
  }

  onRestore(): void {
    // Borrowed matrices were read again; an object that has no matrix any more is where it began.
  }

  onMeshChange(): void {
    this.#isStale = true;
    this.#context.stale.add(this);
  }

  onMeshMove(): void {
    this.speak();
  }

  reject(index: number): void {
    if (index >= this.#expectedCount || this.isHidden(index)) return;
    try {
      if (this.isPlaceable(index)) return;
    } catch {} // it cannot even be read
    this.hide(index);
  }

  remove(): boolean {
    this.#setCheckMode('by turns');
    this.#context.stale.delete(this);
    this.#context.thin.delete(this);
    this.#context.instanced.delete(this);
    if (this.standIn?.remove(MAX_BLOCK_SIZE) === false) return false;
    this.standIn = null;
    return true;
  }

  /** Makes the next `update` plan it in any case. */
  protected planAgain(): void {
    this.#appearance.forget();
  }

  /** Removes it from the service until `update` is called again. */
  protected withdraw(): void {
    this.remove();
    this.error = this.#failure = null;
    this.planAgain();
    this.#hiddenInstances = null;
    this.#expectedCount = this.placed = 0;
    this.#isStale = true;
  }

  /** Decides how it is checked from now on, and sends its matrix unless a table does. */
  #updateCheckMode(): void {
    const { drawn, count } = this;
    const { moving, still, moved } = this.#context;
    const isSingle = !this.isInstanced && !this.#hasHiddenInstances;
    if (isSingle && this.#appearance.hasOneMaterial && this.#pose === null && count === 1) {
      const table = this.isStatic ? still : moving;
      this.#setCheckMode(table);
      table.set(this, this.idAt(0), this.#appearance.geometry!, this.#appearance.kindOf(drawn));
      if (table === moving) return;
    } else {
      // An object that is not built yet is checked once it is, in a slice: 50,000 at once that share a geometry took 100 ms.
      const isBeingBuilt = count === 0 && this.standIn?.pending === true;
      // An object that cannot be read throws each time.
      this.#setCheckMode(this.isStatic || isBeingBuilt || this.#appearance.isForgotten ? 'by turns' : 'always');
    }
    if (isSingle && count > 0) moved.add(this.idAt(0), drawn.matrixWorld.elements);
  }

  #setCheckMode(checkMode: CheckMode): void {
    const previous = this.#checkMode;
    if (checkMode === previous) return;
    const { always } = this.#context;
    if (previous === 'always') always.delete(this);
    else if (typeof previous !== 'string') previous.remove(this);
    if (checkMode === 'always') always.add(this);
    this.#checkMode = checkMode;
  }

  #leaveOut(error: CollisionError, isUnreadable: boolean): void {
    this.pose(true);
    this.standIn?.remove(Number.POSITIVE_INFINITY);
    this.standIn = null;
    this.#context.thin.delete(this);
    this.#context.instanced.delete(this);
    this.#appearance.noteFailed(this.drawn, isUnreadable);
    this.#resolved.shape = null;
    this.#mustAskShape = false;
    this.#failure = error;
    this.error = error;
  }

  /** Plans its representation, when it is first checked or its geometry or materials have changed. */
  #plan(): void {
    const { geometry, material } = this.drawn;
    this.#resolved.askShape();
    const { shape, weld } = this.#resolved;
    const primitive = primitiveOf(this.drawn);
    const isThin = primitive !== 'triangles';
    const plan = isThin ? planThinObject(primitive, material) : planStandIn(geometry, material);
    if (isThin && shape === null) this.#context.thin.add(this);
    else this.#context.thin.delete(this);
    this.#appearance.note(this.drawn, plan.cut);
    const { deformers } = this.#appearance;
    this.#mustAskShape = false;
    this.#failure = null;
    this.standIn ??= new StandIn(this.#context, this, plan);
    this.standIn.retarget(plan, geometry, shape, weld, deformers);
    this.pose(deformers === RIGID || shape !== null);
  }

  /** Makes it be posed from now on, unless it is rigid. */
  protected pose(isRigid: boolean): void {
    if (isRigid) this.#pose = null;
    else this.#pose ??= new MeshPose(this.#context.service, this.#context.skeletons);
  }

  #sendPose(pose: MeshPose): void {
    const builtMesh = this.standIn?.standing ?? null;
    if (builtMesh !== pose.standing) pose.standing = null; // also if it gets its previous mesh again
    // Nobody hits an object in no layer; the previous mesh may have another number of bones, or nothing that moves it.
    if (builtMesh === null || this.count === 0 || this.layers === 0) return;
    if (builtMesh.bones !== this.#appearance.deformers.bones || builtMesh.bones + builtMesh.morphs === 0) return;
    const { fault } = pose;
    pose.send(this.drawn, builtMesh, this.idAt(0));
    if (this.error === null || this.error === fault) this.error = pose.fault;
    if (pose.fault !== null && !this.isHidden(0)) this.hide(0);
  }

  /** Brings its stand-in into line with what is built. */
  #reconcile(count: number): void {
    this.speak();
    this.error = this.#failure;
    this.#isStale = false;
    this.#hiddenInstances?.deleteFrom(count);
    this.#expectedCount = count;
    const { standIn } = this;
    if (standIn === null) return; // it is left out
    if (standIn.isReady) standIn.advance();
    const previousCount = standIn.count;
    standIn.reconcile(count, this.#standInOptions(), this.#resolved.isSolid);
    if (standIn.count !== previousCount) this.placed = Math.min(this.placed, previousCount, standIn.count);
    this.error ??= standIn.error;
  }

  #standInOptions(): StandInOptions {
    const { options: callerOptions } = this.#resolved;
    const { cullable = true } = callerOptions;
    const ownOptions: StandInOptions = {
      layers: this.layers,
      cullable: this.#appearance.isDrawn && cullable,
      occluder: this.#isOccluder,
    };
    if (!this.isInstanced && this.isPlaceable(0)) ownOptions.matrix = this.drawn.matrixWorld.elements;
    return Object.assign({}, callerOptions, ownOptions); // spread syntax takes 8 µs in Node 20, and this 0.1
  }

  /** Hides new instances that have no valid matrix, and shows hidden ones that have one now. */
  protected review(): void {
    for (let i = this.placed; i < this.#expectedCount; i++) {
      if (!this.isPlaceable(i)) this.hide(i);
    }
    this.placed = this.#expectedCount;
    this.#hiddenInstances?.forEach(0, this.#expectedCount, (i) => {
      if (this.isPlaceable(i)) this.#show(i);
    });
  }

  /** Returns whether the service accepts the matrix of the object, or of an instance. */
  protected isPlaceable(_index: number): boolean {
    const { elements } = this.drawn.matrixWorld;
    return isValidTransform(elements, 0) && !this.#pose?.fault;
  }

  /** Returns whether an instance is hidden, or any of [first, end). */
  protected isHidden(first: number, end = first + 1): boolean {
    let isAnyHidden = false;
    this.#hiddenInstances?.forEach(first, end, () => {
      isAnyHidden = true;
    });
    return isAnyHidden;
  }

  protected hide(index: number): void {
    this.#hiddenInstances ??= new IndexSet();
    this.#hiddenInstances.add(index);
    this.setLayersOf(index, 0);
    if (typeof this.#checkMode !== 'string') this.#updateCheckMode();
  }

  #show(index: number): void {
    this.#hiddenInstances!.delete(index);
    this.setLayersOf(index, this.layers);
  }

  /** Notes that a change is sent, which the next query sees, or the update under way. */
  protected speak(): void {
    this.#firstQueryAfterChange = this.#context.objects.newestQuery + 1;
  }

  #setLayers(layers: number): void {
    this.layers = layers;
    const checkMode = this.#checkMode;
    if (typeof checkMode === 'string') {
      this.setAllLayers(layers);
      return;
    }
    // The lines of thousands that an ancestor hides are contiguous, and everything else of them is far apart in memory.
    this.speak();
    this.#context.layers.set(checkMode.idIn(this.place), layers);
  }

  /** Puts all instances that are not hidden into layers. */
  protected setAllLayers(layers: number): void {
    if (!this.isHidden(0)) this.setLayersOf(0, layers);
  }

  protected setLayersOf(index: number, layers: number): void {
    if (index >= this.count) return;
    this.speak();
    this.#context.layers.set(this.idAt(index), layers);
  }
}
