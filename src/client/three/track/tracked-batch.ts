import { BackSide, type BatchedMesh, type BufferGeometry, DoubleSide, type Material, type Texture } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import { grown, joined } from '../../../shared/typed-arrays.js';
import type { ObjectId, ObjectOptions } from '../../../shared/types.js';
import { isAffine, isInvertibleAt } from '../../check/affine.js';
import type { Side } from '../../scene/object-description.js';
import type { BuiltMesh, MeshUser } from '../geometry/mesh-pool.js';
import { Turns } from '../turns.js';
import { AskedOptions } from './asked-options.js';
import { BatchChanges } from './batch-changes.js';
import { BatchBuffers, BatchContents, DELETED } from './batch-contents.js';
import { BatchPart } from './batch-part.js';
import { BatchShapes, GIVEN, geometryOf, NOTHING } from './batch-shapes.js';
import { nameOf } from './name-of.js';
import { faultOf, isAboutOneObject, type ObjectWishes } from './object-wishes.js';
import { PastStandings } from './past-standings.js';
import type { SceneEntry } from './scene-entry.js';
import type { Placed, PlacedOwner } from './scene-objects.js';
import { SentMatrices } from './sent-matrices.js';
import { type CullableObject, DEFAULTS, MOST_IN_BLOCK, type TrackerContext } from './stand-in.js';

const NO_IDS = new Uint32Array(0);
const NO_NUMBERS = new Int32Array(0);

/** What is looked at again once one of these is another. */
interface Failed {
  readonly geometry: BufferGeometry;
  readonly material: unknown;
  readonly texture: Texture | null;
}

/**
 * A BatchedMesh in the service: a mesh for each of its geometries, an id for each number of an instance. Those of
 * deleted ones stay, in no layer, until the number is given to another: matrices go as they are in the texture.
 */
export class TrackedBatch implements SceneEntry, Placed, PlacedOwner, MeshUser, CullableObject {
  readonly object: BatchedMesh;
  readonly isInstanced = true;
  readonly isRigid = true;
  error: CollisionError | null = null;

  readonly #context: TrackerContext;
  readonly #asked: AskedOptions;
  readonly #shapes: BatchShapes;
  readonly #contents: BatchContents;
  readonly #buffers = new BatchBuffers();
  /** What three says of its instances; null where it does not. */
  #changes: BatchChanges | null;
  /** So often it had said something, of instances in that array, when all were looked at. */
  #seenChanges = -1;
  #seenIn: readonly unknown[] | null = null;
  /** The turns of those of which nothing was said. */
  readonly #turns = new Turns();
  /** Each instance has one. Others come in another array: none is written after it is here. */
  #ids: Uint32Array = NO_IDS;
  #blocks: readonly Uint32Array[] = [];
  /** They say of each instance what it is in three, on which geometry's mesh it stands, and whether it is in its layers. */
  #states = NO_NUMBERS;
  #standing = NO_NUMBERS;
  #isShown = new Uint8Array(0);
  /** Counts the instances that three has. */
  #count = 0;
  #changed: Uint32Array = NO_IDS;
  readonly #past: PastStandings;

  // The service knows them so.
  #layers = 0;
  #side: Side | null = null;
  #cullable = true;
  #isTold = true;
  /** So many of the first instances were looked at and sent. */
  #placed = 0;
  readonly #sent = new SentMatrices();
  /** Instances whose matrix the service does not take. */
  readonly #hidden = new Set<number>();

  /** The first query that sees what was said of it last has this number, or a lower one. */
  #settledBy = 0;
  /** Some mesh was built since, or some option is another. */
  #isStale = true;
  #isUnasked = true;
  #isMoreToCome = false;
  /** It was left out with these. */
  #failed: Failed | null = null;
  #complaint = '';

  /** Throws what the caller's functions throw. */
  constructor(context: TrackerContext, object: BatchedMesh, wishes: ObjectWishes) {
    this.#context = context;
    this.object = object;
    this.#asked = new AskedOptions(object, wishes);
    this.#shapes = new BatchShapes(object, this.#asked);
    this.#past = new PastStandings(context.objects);
    this.#contents = new BatchContents(object);
    this.#changes = BatchChanges.listenTo(object);
    this.#attend();
  }

  get owner(): this {
    return this;
  }

  get ids(): Uint32Array {
    return this.#ids;
  }

  get count(): number {
    return this.#ids.length;
  }

  idAt(instance: number): ObjectId {
    return this.#ids[instance];
  }

  get isStatic(): boolean {
    return this.#asked.isStatic;
  }

  get cullable(): boolean | undefined {
    return this.#asked.options.cullable;
  }

  get occluder(): boolean | undefined {
    return this.#asked.options.occluder;
  }

  wasSeenInShape(): boolean {
    return false;
  }

  wasSeenAsItIs(update: number, layers: number): boolean {
    const { texture, matrices } = this.#contents;
    const isSaid = this.#settledBy <= update && (this.#layers & layers) !== 0 && this.error === null && !this.pending;
    return (
      isSaid &&
      this.#asked.shape === null &&
      texture !== null &&
      matrices !== null &&
      this.#sent.areThose(texture, texture.version, matrices) &&
      this.#sent.areBelow(this.object.matrixWorld.elements) &&
      this.#buffers.areThose(this.object.geometry)
    );
  }

  standsOnGeometry(instance: number, geometry: number): boolean {
    return this.#states[instance] === geometry && this.#standing[instance] === geometry;
  }

  get pending(): boolean {
    return this.#isMoreToCome || this.#shapes.areBuilding;
  }

  isDue(): boolean {
    return this.isStatic;
  }

  seenBy(query: number, instance: number): BuiltMesh | null {
    const past = this.#past.seenBy(query, instance);
    return past === undefined ? this.#shapes.standingOn(this.#standing[instance]) : past;
  }

  update(visible: boolean): void {
    try {
      this.#update(visible);
    } catch (thrown) {
      this.#leaveOut(faultOf(this.object, thrown));
    }
    this.#complain();
  }

  show(visible: boolean): void {
    const layers = this.#layersIn(visible);
    if (layers !== this.#layers) this.#setLayers(layers);
  }

  askAgain(): void {
    const { options, isSolid, weld } = this.#asked;
    const isOther = this.#asked.ask();
    this.#attend();
    this.#isUnasked = true; // the shape, too, by `update`
    this.#isStale = true;
    this.#lookAtAll();
    this.#failed = null;
    const { motion } = this.#asked.options;
    if (weld !== this.#asked.weld || isSolid !== this.#asked.isSolid || options.motion !== motion) this.#removeAll();
    else if (isOther) this.#isTold = false;
  }

  onMeshChange(): void {
    this.#speak();
    this.#isStale = true;
    this.#context.stale.add(this);
  }

  reject(index: number): void {
    if (index >= this.#ids.length || this.#hidden.has(index) || this.#isPlaceable(index)) return;
    this.#hidden.add(index);
    this.#place(index);
  }

  onRestore(): void {
    for (let i = 0; i < this.#placed; i++) this.reject(i);
  }

  remove(): boolean {
    this.#changes?.release();
    this.#changes = null;
    const { always, instanced, stale } = this.#context;
    always.delete(this);
    instanced.delete(this);
    stale.delete(this);
    const { count } = this;
    if (count <= MOST_IN_BLOCK) {
      this.#removeAll();
      return true;
    }
    if (this.#layers !== 0) this.#setLayers(0);
    this.#shrink(count - MOST_IN_BLOCK);
    return false;
  }

  #attend(): void {
    const { always, instanced } = this.#context;
    instanced.add(this);
    if (this.isStatic) always.delete(this);
    else always.add(this);
  }

  #update(visible: boolean): void {
    const { object } = this;
    if (this.#failed !== null && this.#isAsFailed(this.#failed)) return;
    this.#failed = null;
    this.error = null;
    this.#contents.check();
    if (this.#isUnasked) this.#askShape();
    const layers = this.#layersIn(visible);
    this.#seeGeometries();
    const changed = this.#seeInstances();
    if (this.#isStale) this.#renew();
    for (let n = 0; n < changed; n++) this.#stand(this.#changed[n]);
    this.#dropParts();
    try {
      this.#resize();
      this.#setOptions();
    } catch (cause) {
      // A shape or an option that the service refuses.
      if (!isAboutOneObject(cause)) throw cause;
      this.error = cause;
    }
    if (layers !== this.#layers) this.#setLayers(layers);
    for (let n = 0; n < changed; n++) this.#place(this.#changed[n]);
    this.#moveInstances(object.matrixWorld.elements);
    this.error ??= this.#shapes.error;
    if (this.#isMoreToCome) this.#context.stale.add(this);
  }

  #isAsFailed({ geometry, material, texture }: Failed): boolean {
    const { object } = this;
    return geometry === object.geometry && material === object.material && texture === this.#contents.texture;
  }

  #layersIn(visible: boolean): number {
    return visible ? (this.#asked.options.layers ?? this.object.layers.mask) >>> 0 : 0;
  }

  #askShape(): void {
    const isOther = this.#asked.askShape();
    this.#isUnasked = false;
    if (!isOther) return;
    // All of them are others.
    this.#lookAtAll();
    for (let i = 0; i < this.#count; i++) this.#become(i, DELETED);
    for (let i = 0; i < this.#standing.length; i++) if (this.#standing[i] === GIVEN) this.#standing[i] = NOTHING;
  }

  // --- what three has ---

  /** Has the geometries built that three has, and looks at those of which something may have changed. */
  #seeGeometries(): void {
    const contents = this.#contents;
    const { geometry } = this.object;
    const count = this.#asked.shape === null ? contents.geometryCount : 0;
    const isOther = this.#buffers.haveChanged(geometry);
    const { parts } = this.#shapes;
    if (count > parts.length) parts.length = count;
    for (let number = 0; number < count; number++) {
      const part = parts[number];
      const isThere = contents.hasGeometry(number);
      if (part !== undefined) {
        part.isDropped = !isThere;
        if (isThere && isOther) part.review(geometry, contents.rangeOf(number));
      } else if (isThere) {
        const { meshes } = this.#context;
        const name = `geometry ${number} of the ${nameOf(this.object)}`;
        parts[number] = new BatchPart(meshes, this, this.#asked.weld, name, geometry, contents.rangeOf(number));
        this.#isStale = true;
      }
    }
    for (let number = count; number < parts.length; number++) {
      const part = parts[number];
      if (part !== undefined) part.isDropped = true;
    }
    if (!isOther) return;
    this.#speak();
    this.#isStale = true;
  }

  /** Looks at the instances; answers how many of `#changed` are others than before. */
  #seeInstances(): number {
    const contents = this.#contents;
    const { count } = contents;
    if (count > this.#states.length) {
      const known = this.#states.length;
      this.#states = grown(this.#states, count).fill(DELETED, known);
      this.#standing = grown(this.#standing, count).fill(NOTHING, known);
      this.#isShown = grown(this.#isShown, count);
      this.#changed = new Uint32Array(this.#states.length);
    }
    if (count !== this.#count) this.#lookAtAll();
    for (let i = count; i < this.#count; i++) this.#become(i, DELETED);
    this.#count = count;
    let changed = 0;
    const look = (first: number, end: number): void => {
      changed = contents.findChanged(this.#states, first, end, this.#changed, changed);
    };
    if (this.#isAsSeen()) this.#turns.take(count, look);
    else look(0, count);
    for (let n = 0; n < changed; n++) this.#become(this.#changed[n], contents.stateOf(this.#changed[n]));
    return changed;
  }

  /** Tells whether three has said of no instance that it is another since all were looked at, which this notes. */
  #isAsSeen(): boolean {
    const { instances } = this.#contents;
    const changes = this.#changes?.count ?? -1;
    const isAsSeen = changes >= 0 && changes === this.#seenChanges && instances === this.#seenIn && !this.isStatic;
    this.#seenChanges = changes;
    this.#seenIn = instances;
    return isAsSeen;
  }

  /** Has all instances looked at by the next `update`. */
  #lookAtAll(): void {
    this.#seenIn = null;
  }

  /** Notes what an instance is. */
  #become(i: number, state: number): void {
    this.#speak();
    this.#shapes.count(this.#states[i], state);
    this.#states[i] = state;
  }

  /** Lets go of the geometries that three does not have any more. */
  #dropParts(): void {
    const { parts } = this.#shapes;
    parts.forEach((part, number) => {
      if (part === undefined || !part.isDropped) return;
      for (let i = 0; i < this.#ids.length; i++) {
        if (this.#standing[i] !== number) continue;
        this.#setShape(i, NOTHING, this.#shapes.standingOn(number));
        this.#place(i);
      }
      parts[number] = undefined;
      part.release();
    });
  }

  // --- what stands in the service ---

  /** Has the instances of those geometries stand on what is built now of which that is another mesh. */
  #renew(): void {
    this.#isStale = false;
    const { service } = this.#context;
    const before = this.#shapes.renew(({ id }) => service.meshInfo(id));
    if (before.size === 0) return;
    for (let i = 0; i < this.#ids.length; i++) {
      const number = this.#standing[i];
      const old = before.get(number);
      if (old === undefined && !before.has(geometryOf(this.#states[i]))) continue;
      const next = this.#targetOf(i);
      if (next !== number || old !== undefined) {
        this.#setShape(i, next, old === undefined ? this.#shapes.standingOn(number) : old);
      }
      this.#place(i);
    }
  }

  /** Has an instance stand on the mesh of its geometry. */
  #stand(i: number): void {
    if (i >= this.#ids.length) return;
    const next = this.#targetOf(i);
    const before = this.#standing[i];
    if (next !== before) this.#setShape(i, next, this.#shapes.standingOn(before));
  }

  #targetOf(i: number): number {
    return this.#shapes.targetOf(this.#states[i], this.#standing[i]);
  }

  /** Has an instance stand on the mesh of that number; `before` is on what it stood. */
  #setShape(i: number, number: number, before: BuiltMesh | null): void {
    this.#speak();
    this.#context.service.setObject(this.#ids[i], { shape: this.#shapes.shapeOf(number) });
    this.#standing[i] = number;
    this.#past.note(i, before);
  }

  #resize(): void {
    const count = this.#count;
    if (count < this.#ids.length) this.#shrink(count);
    const { length } = this.#ids;
    this.#isMoreToCome = false;
    // Objects come with their meshes: each that is set one by one afterwards is a command of its own.
    if (count === length || (length === 0 && this.#shapes.areBuilding)) return;
    this.#grow(Math.min(count, length + MOST_IN_BLOCK - (length % MOST_IN_BLOCK)));
    this.#isMoreToCome = this.#ids.length < count;
  }

  #grow(end: number): void {
    const { service, objects } = this.#context;
    const first = this.#ids.length;
    const members = new Map<number, number[]>();
    for (let i = first; i < end; i++) {
      const target = this.#targetOf(i);
      const own = members.get(target);
      if (own === undefined) members.set(target, [i]);
      else own.push(i);
    }
    const added = new Uint32Array(end - first);
    const options = {
      ...this.#asked.options,
      layers: 0,
      side: this.#sideNow,
      cullable: this.#cullableNow,
      occluder: false, // its instances may be others in each picture
    };
    try {
      for (const [number, own] of members) {
        const ids = service.addInstances({ ...options, shape: this.#shapes.shapeOf(number) }, own.length);
        own.forEach((i, n) => {
          added[i - first] = ids[n];
          this.#standing[i] = number;
        });
      }
    } catch (error) {
      service.removeObjects(added.filter((id) => id !== 0));
      throw error;
    }
    objects.add(this, added, first);
    const last = this.#blocks.at(-1);
    const isRoom = last !== undefined && last.length + added.length <= MOST_IN_BLOCK;
    this.#blocks = isRoom ? [...this.#blocks.slice(0, -1), joined(last, added)] : [...this.#blocks, added];
    this.#ids = joined(this.#ids, added);
  }

  #shrink(count: number): void {
    const { service, objects } = this.#context;
    const removed = this.#ids.slice(count);
    if (removed.length === 0) return;
    service.removeObjects(removed);
    objects.remove(this, removed, count);
    this.#ids = this.#ids.slice(0, count);
    this.#blocks = Array.from({ length: Math.ceil(count / MOST_IN_BLOCK) }, (_, n) =>
      this.#ids.slice(n * MOST_IN_BLOCK, (n + 1) * MOST_IN_BLOCK),
    );
    this.#placed = Math.min(this.#placed, count);
    this.#isShown.fill(0, count);
    this.#standing.fill(NOTHING, count);
    for (const i of this.#hidden) if (i >= count) this.#hidden.delete(i);
  }

  #removeAll(): void {
    this.#shrink(0);
    this.#shapes.release();
    this.#buffers.forget();
    this.#states.fill(DELETED);
    this.#lookAtAll();
    this.#count = 0;
    this.#sent.forget();
    this.#isStale = true;
    this.#isMoreToCome = false;
  }

  #leaveOut(error: CollisionError): void {
    this.#removeAll();
    try {
      const { geometry, material } = this.object;
      this.#failed = { geometry, material, texture: this.#contents.texture };
    } catch {} // it is looked at each time
    this.#isUnasked = false;
    this.error = error;
  }

  #complain(): void {
    if (this.error === null || this.error.message === this.#complaint) return;
    this.#complaint = this.error.message;
    console.warn(`trackScene: the ${nameOf(this.object)} is left out, or a part of it: ${this.error.message}`);
  }

  // --- what the service is told of them ---

  get #sideNow(): Side {
    const { side } = this.object.material as Material;
    return this.#asked.options.side ?? (side === BackSide ? 'back' : side === DoubleSide ? 'double' : 'front');
  }

  get #cullableNow(): boolean {
    const { cullable = true } = this.#asked.options;
    return cullable && (this.object.material as Material).visible;
  }

  #setOptions(): void {
    const [side, cullable] = [this.#sideNow, this.#cullableNow];
    if (!this.#isTold) {
      const { layers, matrix, ...options }: Partial<ObjectOptions> = this.#asked.options;
      this.#setAll({ ...DEFAULTS, ...options, side, cullable });
    } else if (side !== this.#side || cullable !== this.#cullable) {
      this.#setAll({ side, cullable });
    }
    this.#isTold = true;
    this.#side = side;
    this.#cullable = cullable;
  }

  #setAll(options: Partial<ObjectOptions>): void {
    this.#speak();
    for (let i = 0; i < this.#ids.length; i++) this.#context.service.setObject(this.#ids[i], options);
  }

  #setLayers(layers: number): void {
    this.#speak();
    this.#layers = layers;
    for (let i = 0; i < this.#ids.length; i++) {
      if (this.#isShown[i] === 1) this.#context.layers.set(this.#ids[i], layers);
    }
  }

  /** Puts an instance into its layers, or into none. */
  #place(i: number): void {
    if (i >= this.#ids.length) return;
    const stands = this.#standing[i] === GIVEN || (this.#standing[i] >= 0 && this.#standing[i] === this.#states[i]);
    const isShown = this.#states[i] >= 0 && stands && i < this.#placed && !this.#hidden.has(i) ? 1 : 0;
    if (isShown === this.#isShown[i]) return;
    this.#speak();
    this.#isShown[i] = isShown;
    this.#context.layers.set(this.#ids[i], isShown === 1 ? this.#layers : 0);
  }

  #moveInstances(parent: ArrayLike<number>): void {
    const texture = this.#contents.texture!;
    const array = this.#contents.matrices!;
    const count = this.#ids.length;
    const isSame = this.#sent.areThose(texture, texture.version, array);
    // Where nothing else is new, those are sent that have come.
    const first = isSame && this.#sent.areBelow(parent) ? this.#placed : 0;
    if (first === count) return;
    this.#sent.note(texture, texture.version, array, parent);
    this.#speak();
    this.#review();
    const blocks = this.#blocks;
    const matrices = this.#sent.blocks.of(array, blocks);
    let end = 0;
    for (let i = 0; i < blocks.length; i++) {
      end += blocks[i].length;
      if (end > first) this.#context.service.moveInstances(blocks[i], matrices[i], parent);
    }
  }

  /** Hides what is new and has no place yet, and shows what has one now. */
  #review(): void {
    const isNew = this.#placed;
    this.#placed = this.#ids.length;
    for (let i = isNew; i < this.#placed; i++) {
      if (!this.#isPlaceable(i)) this.#hidden.add(i);
      this.#place(i);
    }
    for (const i of this.#hidden) {
      if (!this.#isPlaceable(i)) continue;
      this.#hidden.delete(i);
      this.#place(i);
    }
  }

  /** Notes that something is said of it. */
  #speak(): void {
    this.#settledBy = this.#context.objects.newestQuery + 1;
  }

  #isPlaceable(i: number): boolean {
    return isPlace(this.object.matrixWorld.elements, 0) && isPlace(this.#sent.matrices, 16 * i);
  }
}

/** Answers whether the service takes the matrix at `at`. */
function isPlace(m: ArrayLike<number>, at: number): boolean {
  return isInvertibleAt(m, at) && isAffine(m, at);
}
