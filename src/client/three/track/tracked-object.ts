import type { Mesh } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { NamedBox, ObjectId } from '../../../shared/types.js';
import { isDeformedBy, RIGID } from '../geometry/deformers.js';
import { AskedOptions } from './asked-options.js';
import { complain } from './complain.js';
import { IndexSet } from './index-set.js';
import { isPlace } from './is-place.js';
import { planStandIn, planThin } from './material-plan.js';
import { MeshPose } from './mesh-pose.js';
import type { MeshTable, TableOwner } from './mesh-table.js';
import { faultOf, isAboutOneObject, type ObjectWishes, type SceneDrawable } from './object-wishes.js';
import { hidesOthers } from './opacity.js';
import { primitiveOf } from './primitive-of.js';
import { SeenLook } from './seen-look.js';
import {
  type CullableObject,
  MOST_IN_BLOCK,
  StandIn,
  type StandInOptions,
  type StandInOwner,
  type TrackerContext,
} from './stand-in.js';

const NO_IDS = new Uint32Array(0);

/** How an object is checked: as a line of a table, or as a whole, in turn or in every frame. */
type Attention = MeshTable | 'by turns' | 'always';

/**
 * A Mesh or SkinnedMesh in the service, or any object that a shape represents. `update` compares it with what was sent before
 * and sends what has changed. Its id stays the same while it is in the scene: an object that is not to be seen is in no layer.
 */
export class TrackedObject implements StandInOwner, TableOwner, CullableObject {
  // The fields that `show` uses are side by side: an ancestor hides thousands of objects, which are far apart in memory.
  place = -1;
  /** The layers that it is in now, and those that it is in while it is visible. */
  protected layers = 0;
  #ownLayers = 0;
  #attention: Attention = 'by turns';
  /** Queries from this number on see the last change that was sent. */
  #settledBy = 0;
  readonly #context: TrackerContext;
  /** How bones and morph targets move it; null if none do. */
  #pose: MeshPose | null = null;

  readonly object: SceneDrawable;
  drawn: Mesh;
  /** Null until the first check. */
  standIn: StandIn | null = null;
  /** Why the object is not in the service. */
  error: CollisionError | null = null;

  readonly #look = new SeenLook();
  /** How many ids it should have by now; those of an InstancedMesh are added in slices. */
  #expected = 0;
  /** How many of the first instances, or of the object itself, were checked for a valid matrix, and sent. */
  protected placed = 0;
  /** Whether a mesh that it uses was built since the last check. */
  #isStale = true;
  /** Why the object could not be planned as it is now. */
  #failure: CollisionError | null = null;
  /** Whether the caller's functions are to be called again. */
  #isUnasked = false;
  /** The last message about it in the console. */
  #said = '';
  /** Instances whose matrix the service does not accept: three does not show those without an inverse either. */
  #hidden: IndexSet | null = null;
  readonly #asked: AskedOptions;

  /** Throws what the caller's functions throw. */
  constructor(context: TrackerContext, object: SceneDrawable, wishes: ObjectWishes, drawn: Mesh) {
    this.#context = context;
    this.object = object;
    this.drawn = drawn;
    this.#asked = new AskedOptions(object, wishes);
  }

  /** Whether a part of it is still to be built. */
  get pending(): boolean {
    return this.standIn?.pending ?? false;
  }

  get boxes(): readonly NamedBox[] {
    return this.#asked.options.boxes ?? [];
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

  idAt(instance: number): ObjectId {
    return this.standIn!.idAt(instance);
  }

  get isStatic(): boolean {
    return this.#asked.isStatic;
  }

  get cullable(): boolean | undefined {
    return this.#asked.options.cullable;
  }

  get isRigid(): boolean {
    return this.#look.deformers === RIGID && this.#asked.shape === null;
  }

  get occluder(): boolean | undefined {
    return this.#asked.options.occluder;
  }

  wasSeenAsItIs(_update: number, _layers: number): boolean {
    return false;
  }

  wasSeenInShape(update: number, layers: number): boolean {
    return this.count === 1 && this.wasSeen(update, layers);
  }

  /** Returns whether an update has seen it in one of these layers, with the triangles that three draws now. */
  protected wasSeen(update: number, layers: number): boolean {
    if (this.#settledBy > update || (this.layers & layers) === 0) return false;
    if (!this.#look.isDrawn || !this.#isPlanned || this.standIn?.standsOn(this.drawn.geometry) !== true) return false;
    return !this.#hidesSome;
  }

  /** Whether an instance is hidden, because its matrix is not accepted. */
  get #hidesSome(): boolean {
    return this.#hidden !== null && this.#hidden.size > 0;
  }

  /** Whether nothing has to be planned again. */
  get #isPlanned(): boolean {
    return !this.#isUnasked && this.#look.isOf(this.drawn);
  }

  get #hidesOthers(): boolean {
    const { object, drawn } = this;
    return this.occluder ?? (drawn === object && drawn.isMesh === true && this.isRigid && hidesOthers(drawn));
  }

  protected get weld(): number {
    return this.#asked.weld;
  }

  /**
   * Sends what has changed; `visible`: the object and all its ancestors are. An error of the object leaves it out, and nothing
   * else. Throws errors of the service.
   */
  update(visible: boolean): void {
    try {
      this.look(visible);
    } catch (thrown) {
      this.#leaveOut(faultOf(this.object, thrown), !CollisionError.is(thrown));
      this.#attend();
    }
    this.#said = complain(this.object, this.error, this.#said);
  }

  /** Implements `update`. Throws errors of the object. */
  protected look(visible: boolean): void {
    this.#ownLayers = (this.#asked.options.layers ?? this.drawn.layers.mask) >>> 0;
    const layers = visible ? this.#ownLayers : 0;
    const isPlanned = this.#isPlanned;
    const count = this.nextCount();
    if (!isPlanned) this.#plan();
    if (layers !== this.layers) this.#setLayers(layers);
    if (!isPlanned || this.#isStale || count !== this.#expected) this.#reconcile(count);
    this.send();
    this.#attend();
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
    const layers = visible ? this.#ownLayers : 0;
    if (layers === this.layers) return;
    const attention = this.#attention;
    this.#setLayers(layers);
    if (this.#pose !== null) this.#sendPose(this.#pose); // poses are not sent while nobody sees them
    if (typeof attention === 'string') return;
    if (layers === 0) attention.rest(this.place);
    else attention.wake();
  }

  /** Returns whether `update` should check it, now that its turn has come. */
  isDue(): boolean {
    const attention = this.#attention;
    const isUnread = this.#look.takeTurn();
    try {
      // No frame reads all of a material.
      if (this.count > 0 && this.#hidesOthers !== this.standIn!.occluder) this.onMeshChange();
    } catch {
      return true; // `update` reports what is wrong with it
    }
    if (typeof attention === 'string') return isUnread || attention === 'by turns';
    return !attention.isInPlace(this) || !isDeformedBy(this.drawn, this.#look.deformers);
  }

  /** Calls the caller's functions again, for the next `update`. Throws what they throw. */
  askAgain(): void {
    const { isStatic, weld } = this.#asked;
    const isOther = this.#asked.ask();
    this.#isUnasked = true; // `update` asks for the shape, too
    if (!isOther) return;
    this.#isStale = true;
    this.standIn?.forgetOptions(isStatic !== this.isStatic || weld !== this.weld);
  }

  leave(): void {
    this.#pay('by turns');
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
    if (index >= this.#expected || this.isHidden(index)) return;
    try {
      if (this.isPlaceable(index)) return;
    } catch {} // it cannot even be read
    this.hide(index);
  }

  remove(): boolean {
    this.#pay('by turns');
    this.#context.stale.delete(this);
    this.#context.thin.delete(this);
    this.#context.instanced.delete(this);
    if (this.standIn?.remove(MOST_IN_BLOCK) === false) return false;
    this.standIn = null;
    return true;
  }

  /** Makes the next `update` plan it in any case. */
  protected planAgain(): void {
    this.#look.forget();
  }

  /** Removes it from the service until `update` is called again. */
  protected withdraw(): void {
    this.remove();
    this.error = this.#failure = null;
    this.planAgain();
    this.#hidden = null;
    this.#expected = this.placed = 0;
    this.#isStale = true;
  }

  /** Decides how it is checked from now on, and sends its matrix unless a table does. */
  #attend(): void {
    const { drawn, count } = this;
    const { moving, still, moved } = this.#context;
    const isSingle = !this.isInstanced && !this.#hidesSome;
    if (isSingle && this.#look.hasOneMaterial && this.#pose === null && count === 1) {
      const table = this.isStatic ? still : moving;
      this.#pay(table);
      table.set(this, this.idAt(0), this.#look.geometry!, this.#look.kindOf(drawn));
      if (table === moving) return;
    } else {
      // An object that is not built yet is checked once it is, in a slice: 50,000 at once that share a geometry took 100 ms.
      const isToCome = count === 0 && this.standIn?.pending === true;
      // An object that cannot be read throws each time.
      this.#pay(this.isStatic || isToCome || this.#look.isForgotten ? 'by turns' : 'always');
    }
    if (isSingle && count > 0) moved.add(this.idAt(0), drawn.matrixWorld.elements);
  }

  #pay(attention: Attention): void {
    const before = this.#attention;
    if (attention === before) return;
    const { always } = this.#context;
    if (before === 'always') always.delete(this);
    else if (typeof before !== 'string') before.remove(this);
    if (attention === 'always') always.add(this);
    this.#attention = attention;
  }

  #leaveOut(error: CollisionError, isUnread: boolean): void {
    this.pose(true);
    this.standIn?.remove(Number.POSITIVE_INFINITY);
    this.standIn = null;
    this.#context.thin.delete(this);
    this.#context.instanced.delete(this);
    this.#look.noteFailed(this.drawn, isUnread);
    this.#asked.shape = null;
    this.#isUnasked = false;
    this.#failure = error;
    this.error = error;
  }

  /** Plans its representation, when it is first checked or its geometry or materials have changed. */
  #plan(): void {
    const { geometry, material } = this.drawn;
    this.#asked.askShape();
    const { shape, weld } = this.#asked;
    const primitive = primitiveOf(this.drawn);
    const isThin = primitive !== 'triangles';
    const plan = isThin ? planThin(primitive, material) : planStandIn(geometry, material);
    if (isThin && shape === null) this.#context.thin.add(this);
    else this.#context.thin.delete(this);
    this.#look.note(this.drawn, plan.cut);
    const { deformers } = this.#look;
    this.#isUnasked = false;
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
    const standing = this.standIn?.standing ?? null;
    if (standing !== pose.standing) pose.standing = null; // also if it gets its previous mesh again
    // Nobody hits an object in no layer; the previous mesh may have another number of bones, or nothing that moves it.
    if (standing === null || this.count === 0 || this.layers === 0) return;
    if (standing.bones !== this.#look.deformers.bones || standing.bones + standing.morphs === 0) return;
    const { fault } = pose;
    pose.send(this.drawn, standing, this.idAt(0));
    if (this.error === null || this.error === fault) this.error = pose.fault;
    if (pose.fault !== null && !this.isHidden(0)) this.hide(0);
  }

  /** Brings its stand-in into line with what is built. */
  #reconcile(count: number): void {
    this.speak();
    this.error = this.#failure;
    this.#isStale = false;
    this.#hidden?.deleteFrom(count);
    this.#expected = count;
    const { standIn } = this;
    if (standIn === null) return; // it is left out
    if (standIn.isReady) standIn.advance();
    try {
      const standing = standIn.count;
      standIn.reconcile(count, this.#standInOptions(), this.#asked.isSolid);
      if (standIn.count !== standing) this.placed = Math.min(this.placed, standing, standIn.count);
    } catch (cause) {
      // The service refuses the shape or an option.
      if (!isAboutOneObject(cause)) throw cause;
      this.error = cause;
    }
    this.error ??= standIn.error;
  }

  #standInOptions(): StandInOptions {
    const { options: asked } = this.#asked;
    const { cullable = true } = asked;
    const own: StandInOptions = {
      layers: this.layers,
      cullable: this.#look.isDrawn && cullable,
      occluder: this.#hidesOthers,
    };
    if (!this.isInstanced && this.isPlaceable(0)) own.matrix = this.drawn.matrixWorld.elements;
    return Object.assign({}, asked, own); // spread syntax takes 8 µs in Node 20, and this 0.1
  }

  /** Hides new instances that have no valid matrix, and shows hidden ones that have one now. */
  protected review(): void {
    for (let i = this.placed; i < this.#expected; i++) {
      if (!this.isPlaceable(i)) this.hide(i);
    }
    this.placed = this.#expected;
    this.#hidden?.forEach(0, this.#expected, (i) => {
      if (this.isPlaceable(i)) this.#show(i);
    });
  }

  /** Returns whether the service accepts the matrix of the object, or of an instance. */
  protected isPlaceable(_index: number): boolean {
    const { elements } = this.drawn.matrixWorld;
    return isPlace(elements, 0) && !this.#pose?.fault;
  }

  /** Returns whether an instance is hidden, or any of [first, end). */
  protected isHidden(first: number, end = first + 1): boolean {
    let isAny = false;
    this.#hidden?.forEach(first, end, () => {
      isAny = true;
    });
    return isAny;
  }

  protected hide(index: number): void {
    this.#hidden ??= new IndexSet();
    this.#hidden.add(index);
    this.setLayersOf(index, 0);
    if (typeof this.#attention !== 'string') this.#attend();
  }

  #show(index: number): void {
    this.#hidden!.delete(index);
    this.setLayersOf(index, this.layers);
  }

  /** Notes that a change is sent, which the next query sees, or the update under way. */
  protected speak(): void {
    this.#settledBy = this.#context.objects.newestQuery + 1;
  }

  #setLayers(layers: number): void {
    this.layers = layers;
    const attention = this.#attention;
    if (typeof attention === 'string') {
      this.setAllLayers(layers);
      return;
    }
    // The lines of thousands that an ancestor hides are contiguous, and everything else of them is far apart in memory.
    this.speak();
    this.#context.layers.set(attention.idIn(this.place), layers);
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
