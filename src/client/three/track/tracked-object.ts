import type { InstancedMesh, Mesh } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { NamedBox, ObjectId } from '../../../shared/types.js';
import { isAffine, isInvertibleAt } from '../../check/affine.js';
import { multiplyToPlace } from '../../transforms/affine.js';
import { isDeformedBy, RIGID } from '../geometry/deformers.js';
import { AskedOptions } from './asked-options.js';
import { IndexSet } from './index-set.js';
import { nextCount, wantedOf } from './instance-count.js';
import { InstanceMorphs } from './instance-morphs.js';
import { planStandIn, planThin } from './material-plan.js';
import { MeshPose } from './mesh-pose.js';
import type { MeshTable, TableOwner } from './mesh-table.js';
import { nameOf } from './name-of.js';
import { faultOf, isAboutOneObject, type ObjectWishes, type SceneDrawable } from './object-wishes.js';
import { hidesOthers } from './opacity.js';
import { primitiveOf } from './primitive-of.js';
import { SeenLook } from './seen-look.js';
import { SentMatrices } from './sent-matrices.js';
import {
  type CullableObject,
  MOST_IN_BLOCK,
  StandIn,
  type StandInOptions,
  type StandInOwner,
  type TrackerContext,
} from './stand-in.js';

/** Instances whose influences are looked at in one go: 1 to 2 ms where all of them are others. */
const MOST_MORPHED = 2048;

const NO_IDS = new Uint32Array(0);
/** Written and read by one function. */
const PRODUCT = new Float64Array(12);

/** How an object is looked at: as a line of a table, or as a whole, by turns or in every frame. */
type Attention = MeshTable | 'by turns' | 'always';

/**
 * A Mesh, SkinnedMesh or InstancedMesh in the service, or whatever a shape stands for. `update` compares it with what was sent before and sends what changed.
 * Its ids stay the same while it is in the scene: what is not to be seen is in no layer.
 */
export class TrackedObject implements StandInOwner, TableOwner, CullableObject {
  // What `show` takes is side by side: an ancestor hides thousands, which are far apart in memory.
  place = -1;
  /** It is in these layers, and is in those where it is to be seen. */
  #layers = 0;
  #ownLayers = 0;
  #attention: Attention = 'by turns';
  /** The first query that sees what was said of it last has this number, or a lower one. */
  #settledBy = 0;
  readonly #context: TrackerContext;
  /** It says how bones and morph targets move it; null where none do. */
  #pose: MeshPose | null = null;

  readonly object: SceneDrawable;
  drawn: Mesh;
  /** There is none before it is first seen. */
  standIn: StandIn | null = null;
  /** It says why the object is not in the service. */
  error: CollisionError | null = null;

  readonly #instanced: InstancedMesh | null;

  readonly #look = new SeenLook();
  /** It does so for instances. */
  #morphs: InstanceMorphs | null = null;
  #count = 0;
  /** So many of the first instances, or the object, were looked at for where they are, and sent. */
  #placed = 0;
  /** More instances are to come, or to go, in the next slices. */
  #isResizing = false;
  /** Instances from this number on are to go, and are in no layer until then. */
  #concealed = Number.POSITIVE_INFINITY;
  /** Something that it stands on was built since. */
  #isStale = true;
  /** It says why the object could not be planned as it is now. */
  #failure: CollisionError | null = null;
  /** It could not even be read: it is tried again by turns, whatever it is. */
  #isUnread = false;
  /** The caller's functions are to be asked anew. */
  #isUnasked = false;
  /** This was said of it in the console. */
  #complaint = '';
  /** Those of an InstancedMesh. */
  readonly #sent: SentMatrices | null;

  /** Instances whose matrix the service does not take: three does not show those without an inverse either. */
  #hidden: IndexSet | null = null;
  readonly #asked: AskedOptions;

  /** Throws what the caller's functions throw. */
  constructor(context: TrackerContext, object: SceneDrawable, wishes: ObjectWishes, drawn: Mesh) {
    this.#context = context;
    this.#instanced = 'isInstancedMesh' in drawn ? (drawn as InstancedMesh) : null;
    this.#sent = this.#instanced === null ? null : new SentMatrices();
    this.object = object;
    this.drawn = drawn;
    this.#asked = new AskedOptions(object, wishes);
  }

  /** Tells whether something of it is still to be built. */
  get pending(): boolean {
    return this.#isResizing || (this.standIn?.pending ?? false);
  }

  get boxes(): readonly NamedBox[] {
    return this.#asked.options.boxes ?? [];
  }

  get isInstanced(): boolean {
    return this.#instanced !== null;
  }

  /** Answers how many ids it has in public; none until it is built. */
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

  wasSeenAsItIs(update: number, layers: number): boolean {
    const instanced = this.#instanced;
    if (instanced === null || !this.#wasSeen(update, layers)) return false;
    return this.count === wantedOf(instanced) && this.#isPlacedAs(instanced);
  }

  wasSeenInShape(update: number, layers: number): boolean {
    return this.#instanced === null && this.count === 1 && this.#wasSeen(update, layers);
  }

  /** Tells whether an update has seen it in one of these layers, with the triangles that three draws now. */
  #wasSeen(update: number, layers: number): boolean {
    if (this.#settledBy > update || (this.#layers & layers) === 0) return false;
    if (!this.#look.isDrawn || !this.#isPlanned || this.standIn?.standsOn(this.drawn.geometry) !== true) return false;
    return this.#hidden === null || this.#hidden.size === 0;
  }

  /** Tells whether nothing has to be planned anew. */
  get #isPlanned(): boolean {
    return !this.#isUnasked && this.#look.isOf(this.drawn);
  }

  /** Tells whether the matrices of its instances are those that were sent last. */
  #hasSent({ array, version }: InstancedMesh['instanceMatrix']): boolean {
    return this.#sent!.areThose(null, version, array);
  }

  #isPlacedAs({ instanceMatrix, matrixWorld }: InstancedMesh): boolean {
    return this.#hasSent(instanceMatrix) && this.#sent!.areBelow(matrixWorld.elements);
  }

  get #hidesOthers(): boolean {
    const { object, drawn } = this;
    return drawn === object && drawn.isMesh === true && this.isRigid && hidesOthers(drawn);
  }

  protected get weld(): number {
    return this.#asked.weld;
  }

  /**
   * Sends what changed; `visible`: the object and all its ancestors are. What is wrong with the object leaves it out, and
   * nothing else. Throws what is wrong with the service.
   */
  update(visible: boolean): void {
    try {
      this.look(visible);
    } catch (thrown) {
      this.#leaveOut(faultOf(this.object, thrown));
      this.#isUnread = !CollisionError.is(thrown);
      this.#attend();
    }
    this.#complain();
  }

  /** Does `update`. Throws what is wrong with the object. */
  protected look(visible: boolean): void {
    this.#update(visible);
    this.#attend();
  }

  #update(visible: boolean): void {
    this.#ownLayers = (this.#asked.options.layers ?? this.drawn.layers.mask) >>> 0;
    const layers = visible ? this.#ownLayers : 0;
    const isPlanned = this.#isPlanned;
    const instanced = this.#instanced;
    const count = instanced === null ? 1 : nextCount(this.count, wantedOf(instanced), this.#context.isInSlice);
    if (count - this.count >= MOST_IN_BLOCK) this.#makeRoom(wantedOf(instanced!) - this.count);
    if (!isPlanned) this.#plan();
    if (layers !== this.#layers) this.#setLayers(layers);
    if (!isPlanned || this.#isStale || count !== this.#count) this.#reconcile(count);
    if (instanced === null) {
      if (this.#pose !== null) this.#sendPose(this.#pose);
      this.#review();
      return;
    }
    this.#moveInstances(instanced);
    if (this.#morphs !== null) this.#sendMorphs(instanced, this.#morphs);
    const wanted = wantedOf(instanced);
    this.#isResizing = this.count > 0 && wanted !== this.#count;
    if (this.#isResizing) this.#context.stale.add(this);
    this.#conceal(wanted < this.count ? wanted : Number.POSITIVE_INFINITY);
  }

  /** Makes room for many that come in slices: the tables would grow by a copy of all that is in them. */
  #makeRoom(count: number): void {
    const { service, objects } = this.#context;
    objects.reserve(service.reserveObjects(count));
  }

  /** Puts all instances from a number on into no layer, as they are to go, and shows those again that are to stay. */
  #conceal(first: number): void {
    const before = this.#concealed;
    this.#concealed = first;
    if (this.#layers === 0) return;
    if (first < before) this.#setLayersBetween(first, before, 0);
    else if (first > before) this.#setLayersBetween(before, first, this.#layers);
  }

  /** Does `update` where nothing but the visibility of its ancestors is another. */
  show(visible: boolean): void {
    const layers = visible ? this.#ownLayers : 0;
    if (layers === this.#layers) return;
    const attention = this.#attention;
    this.#setLayers(layers);
    if (this.#pose !== null) this.#sendPose(this.#pose); // what nobody saw was left as it was
    if (typeof attention === 'string') return;
    if (layers === 0) attention.rest(this.place);
    else attention.wake();
  }

  /** Tells whether `update` is to look at it now that it is its turn. */
  isDue(): boolean {
    const attention = this.#attention;
    if (this.#isUnread) this.planAgain();
    if (typeof attention === 'string') return this.#isUnread || attention === 'by turns';
    return !attention.isInPlace(this) || !isDeformedBy(this.drawn, this.#look.deformers);
  }

  /** Asks the caller's functions again, for the next `update`. Throws what they throw. */
  askAgain(): void {
    const { isStatic, weld } = this.#asked;
    const isOther = this.#asked.ask();
    this.#isUnasked = true; // the shape, too, by `update`
    if (!isOther) return;
    this.#isStale = true;
    this.standIn?.forgetOptions(isStatic !== this.isStatic || weld !== this.weld);
  }

  onRestore(): void {
    // What is borrowed was read again, and is where it began where there was no matrix any more.
    if (this.#instanced === null) return;
    for (let i = 0; i < this.#placed; i++) {
      if (this.#hidden?.has(i) !== true && !this.#isPlaceable(i)) this.#hide(i);
    }
  }

  onMeshChange(): void {
    this.#isStale = true;
    this.#context.stale.add(this);
  }

  reject(index: number): void {
    if (index >= this.#count || this.#hidden?.has(index) === true) return;
    try {
      if (this.#isPlaceable(index)) return;
    } catch {} // it cannot even be read
    this.#hide(index);
  }

  remove(): boolean {
    this.#pay('by turns');
    this.#context.stale.delete(this);
    this.#context.thin.delete(this);
    this.#context.instanced.delete(this);
    if (this.count > MOST_IN_BLOCK) this.#conceal(0);
    if (this.standIn?.remove(MOST_IN_BLOCK) === false) return false;
    this.standIn = null;
    return true;
  }

  /** Has it planned by the next `update`, whatever it is. */
  protected planAgain(): void {
    this.#look.isUnread = true;
  }

  /** Removes it from the service, for as long as `update` is not called again. */
  protected withdraw(): void {
    this.remove();
    this.error = this.#failure = null;
    this.#look.forget();
    this.#hidden = null;
    this.#count = this.#placed = 0;
    this.#isStale = true;
  }

  /** Decides how it is looked at from now on, and says where it is unless a table does. */
  #attend(): void {
    const { drawn, count } = this;
    const { moving, still, moved } = this.#context;
    const isSingle = this.#instanced === null && (this.#hidden === null || this.#hidden.size === 0);
    if (isSingle && this.#look.hasOneMaterial && this.#pose === null && count === 1) {
      const table = this.isStatic ? still : moving;
      this.#pay(table);
      table.set(this, this.idAt(0), this.#look.geometry!, this.#look.kindOf(drawn));
      if (table === moving) return;
    } else {
      // What is not built yet is looked at when it is, in a slice: 50,000 at once that share a geometry took 100 ms.
      const isToCome = count === 0 && this.standIn?.pending === true;
      // What cannot be read throws each time.
      this.#pay(this.isStatic || isToCome || this.#look.isUnread ? 'by turns' : 'always');
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

  #leaveOut(error: CollisionError): void {
    this.standIn?.remove(Number.POSITIVE_INFINITY);
    this.standIn = null;
    this.#context.thin.delete(this);
    this.#context.instanced.delete(this);
    this.#look.noteFailed(this.drawn);
    this.#pose = null;
    this.#morphs = null;
    this.#asked.shape = null;
    this.#isUnasked = false;
    this.#failure = error;
    this.error = error;
  }

  /** Says once why it is not in the service. */
  #complain(): void {
    if (this.error === null || this.error.message === this.#complaint) return;
    this.#complaint = this.error.message;
    console.warn(`trackScene: the ${nameOf(this.object)} is left out: ${this.error.message}`);
  }

  /** Plans what it takes in the service, when it is first seen or its geometry or materials are others than before. */
  #plan(): void {
    const { geometry, material } = this.drawn;
    this.#asked.askShape();
    const { shape, weld } = this.#asked;
    const primitive = primitiveOf(this.drawn);
    const isThin = primitive !== 'triangles';
    const plan = isThin ? planThin(primitive, material) : planStandIn(geometry, material);
    if (isThin && shape === null) this.#context.thin.add(this);
    else if (isThin) this.#context.thin.delete(this);
    if (this.#instanced !== null) this.#context.instanced.add(this);
    this.#look.note(this.drawn, plan.cut);
    const { deformers } = this.#look;
    this.#isUnasked = this.#isUnread = false;
    this.#failure = null;
    this.standIn ??= new StandIn(this.#context, this, plan);
    this.standIn.retarget(plan, geometry, shape, weld, deformers);
    const isRigid = deformers === RIGID || shape !== null;
    if (isRigid || this.#instanced !== null) this.#pose = null;
    else this.#pose ??= new MeshPose(this.#context.service, this.#context.skeletons);
    if (isRigid || this.#instanced === null) {
      if (this.#morphs !== null) this.#sent!.forget(); // what it hid is looked at again
      this.#morphs = null;
    } else this.#morphs ??= new InstanceMorphs(this.#context.service);
  }

  #sendMorphs(instanced: InstancedMesh, morphs: InstanceMorphs): void {
    const standing = this.standIn?.standing ?? null;
    morphs.keep(this.count);
    if (standing === null || this.#layers === 0) return;
    if (morphs.send(instanced, standing, this.count, MOST_MORPHED, (i) => this.idAt(i))) this.#reviewAll();
    if (morphs.isBehind) this.#context.stale.add(this);
  }

  #sendPose(pose: MeshPose): void {
    const standing = this.standIn?.standing ?? null;
    // Nobody meets what is in no layer; what stood before may have another number of bones, or nothing that moves it.
    if (standing === null || this.count === 0 || this.#layers === 0) return;
    if (standing.bones !== this.#look.deformers.bones || standing.bones + standing.morphs === 0) return;
    const { fault } = pose;
    pose.send(this.drawn, standing, this.idAt(0));
    if (this.error === null || this.error === fault) this.error = pose.fault;
    if (pose.fault !== null && this.#hidden?.has(0) !== true) this.#hide(0);
  }

  /** Brings its stand-in in line with what is built. */
  #reconcile(count: number): void {
    this.#speak();
    this.error = this.#failure;
    this.#isStale = false;
    this.#hidden?.deleteFrom(count);
    this.#count = count;
    const { standIn } = this;
    if (standIn === null) return; // it is left out
    if (standIn.isReady) standIn.advance();
    try {
      const standing = standIn.count;
      standIn.reconcile(count, this.#standInOptions(), this.#asked.isSolid);
      if (standIn.count !== standing) this.#placed = Math.min(this.#placed, standing, standIn.count);
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
    const options: StandInOptions = {
      ...asked,
      layers: this.#layers,
      cullable: this.#look.isDrawn && cullable,
      occluder: asked.occluder ?? this.#hidesOthers,
    };
    if (this.#instanced === null && this.#isPlaceable(0)) options.matrix = this.drawn.matrixWorld.elements;
    return options;
  }

  #moveInstances({ instanceMatrix, matrixWorld }: InstancedMesh): void {
    const { elements } = matrixWorld;
    const { array, version } = instanceMatrix;
    const sent = this.#sent!;
    const isSame = this.#hasSent(instanceMatrix);
    // Where nothing else is new, those are sent that have come.
    const first = isSame && sent.areBelow(elements) ? this.#placed : 0;
    if (first > 0 && first === this.#count) return;
    const isAsLong = isSame && sent.matrices.length === 16 * this.#count;
    const own = isAsLong ? sent.matrices : (array as Float32Array).subarray(0, 16 * this.#count);
    sent.note(null, version, own, elements);
    const { service } = this.#context;
    const placed = this.#placed;
    this.#speak();
    this.#review();
    const { blocks } = this.standIn ?? NO_STAND_IN;
    const all = sent.blocks.of(array as Float32Array, blocks);
    let end = 0;
    for (let i = 0; i < blocks.length; i++) {
      const ids = blocks[i];
      const begin = end;
      end += ids.length;
      if (end <= first) continue;
      const matrices = all[i];
      // Those that have just come are there at once; what the worker refuses goes with a frame, which tells so.
      const from = Math.max(0, first - begin);
      if (begin + from < placed || this.#isHidden(begin + from, end)) service.moveInstances(ids, matrices, elements);
      else if (from === 0) service.placeInstances(ids, matrices, elements);
      else service.placeInstances(ids.subarray(from), matrices.subarray(16 * from), elements);
    }
  }

  /** Hides what is new and has no place yet, and shows what has one now. */
  #review(): void {
    for (let i = this.#placed; i < this.#count; i++) {
      if (!this.#isPlaceable(i)) this.#hide(i);
    }
    this.#placed = this.#count;
    this.#hidden?.forEach(0, this.#count, (i) => {
      if (this.#isPlaceable(i)) this.#show(i);
    });
  }

  /** Hides instances whose influences are none any more, and shows those that have some again. */
  #reviewAll(): void {
    this.#morphs?.faults.forEach(0, this.#count, (i) => {
      if (this.#hidden?.has(i) !== true) this.#hide(i);
    });
    this.#review();
  }

  /** Tells whether the service takes where the object is, or an instance. */
  #isPlaceable(index: number): boolean {
    const { elements } = this.drawn.matrixWorld;
    if (this.#instanced === null) {
      return isInvertibleAt(elements, 0) && isAffine(elements, 0) && (this.#pose?.fault ?? null) === null;
    }
    if (this.#morphs?.faults.has(index) === true) return false;
    return isAffine(elements, 0) && multiplyToPlace(PRODUCT, 0, elements, this.#sent!.matrices, 16 * index);
  }

  #isHidden(first: number, end: number): boolean {
    let isAny = false;
    this.#hidden?.forEach(first, end, () => {
      isAny = true;
    });
    return isAny;
  }

  #hide(index: number): void {
    this.#hidden ??= new IndexSet();
    this.#hidden.add(index);
    this.#setLayersOf(index, 0);
    if (typeof this.#attention !== 'string') this.#attend();
  }

  #show(index: number): void {
    this.#hidden!.delete(index);
    this.#setLayersOf(index, this.#layers);
  }

  /** Notes that something is said of it, which the next query sees, or the update under way. */
  #speak(): void {
    this.#settledBy = this.#context.objects.newestQuery + 1;
  }

  #setLayers(layers: number): void {
    this.#layers = layers;
    const attention = this.#attention;
    if (this.#instanced !== null) this.#setLayersBetween(0, this.#concealed, layers);
    else if (typeof attention !== 'string') {
      // Thousands that an ancestor hides have their lines in a row, and all else of them far apart.
      this.#speak();
      this.#context.layers.set(attention.idIn(this.place), layers);
    } else if (this.#hidden?.has(0) !== true) this.#setLayersOf(0, layers);
  }

  /** Puts all instances from `first` to before `end` that are not hidden into layers. */
  #setLayersBetween(first: number, end: number, layers: number): void {
    this.#speak();
    const { blocks } = this.standIn ?? NO_STAND_IN;
    const changes = this.#context.layers;
    let begin = 0;
    for (const ids of blocks) {
      const [from, to] = [Math.max(0, first - begin), Math.min(ids.length, end - begin)];
      if (from < to && !this.#isHidden(begin + from, begin + to)) changes.setAll(ids.subarray(from, to), layers);
      else for (let i = from; i < to; i++) if (!this.#hidden!.has(begin + i)) changes.set(ids[i], layers);
      begin += ids.length;
    }
  }

  #setLayersOf(index: number, layers: number): void {
    if (index >= this.count || index >= this.#concealed) return;
    this.#speak();
    this.#context.layers.set(this.idAt(index), layers);
  }
}

const NO_STAND_IN: Pick<StandIn, 'blocks'> = { blocks: [] };
