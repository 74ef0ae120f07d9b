import { BackSide, type BatchedMesh, DoubleSide, type Material } from 'three';
import { addTo } from '../../../shared/lists-by-key.js';
import { grown, joined } from '../../../shared/typed-arrays.js';
import type { ObjectOptions } from '../../../shared/types.js';
import type { Side } from '../../scene/object-description.js';
import type { BuiltMesh } from '../geometry/shared-mesh.js';
import type { AskedOptions } from './asked-options.js';
import { type BatchContents, DELETED } from './batch-contents.js';
import { type BatchShapes, GIVEN, geometryOf, NOTHING } from './batch-shapes.js';
import { isPlace } from './is-place.js';
import { PastStandings } from './past-standings.js';
import type { Placed, PlacedOwner } from './scene-objects.js';
import { SentMatrices } from './sent-matrices.js';
import { DEFAULTS, MOST_IN_BLOCK, type TrackerContext } from './stand-in.js';

const NO_IDS = new Uint32Array(0);
const NO_NUMBERS = new Int32Array(0);

/**
 * Represents a BatchedMesh in the service: one id per instance number. Ids of deleted instances stay, in no layer, until the
 * number is reused: matrices are sent as they are in the texture.
 */
export class BatchStandIn implements Placed {
  readonly owner: PlacedOwner;
  /** One per instance. Changes make a new array: an array is never written once it is here. */
  ids: Uint32Array = NO_IDS;
  /** The state of each instance in three (batch-contents.ts). */
  states = NO_NUMBERS;
  /** Whether more instances are to be added in the next slices. */
  pending = false;
  /** Queries from this number on see the last change that was sent. */
  #settledBy = 0;
  readonly #context: TrackerContext;
  readonly #object: BatchedMesh;
  readonly #asked: AskedOptions;
  readonly #shapes: BatchShapes;
  readonly #contents: BatchContents;
  #blocks: readonly Uint32Array[] = [];
  /** For each instance, the geometry whose mesh is its shape, and whether the instance is in its layers. */
  #standing = NO_NUMBERS;
  #isShown = new Uint8Array(0);
  readonly #past: PastStandings;
  /** How many of the first instances were checked and sent. */
  #placed = 0;
  readonly #sent = new SentMatrices();
  /** Instances whose matrix the service does not accept. */
  readonly #hidden = new Set<number>();

  // As the service has them.
  #layers = 0;
  #side: Side | null = null;
  #cullable = true;
  #isTold = true;

  /** Reads what it should be from the other arguments; the owner calls it when that changes. */
  constructor(
    context: TrackerContext,
    owner: PlacedOwner & { readonly object: BatchedMesh },
    asked: AskedOptions,
    shapes: BatchShapes,
    contents: BatchContents,
  ) {
    this.#context = context;
    this.owner = owner;
    this.#object = owner.object;
    this.#asked = asked;
    this.#shapes = shapes;
    this.#contents = contents;
    this.#past = new PastStandings(context.objects);
  }

  seenBy(query: number, instance: number): BuiltMesh | null {
    const past = this.#past.seenBy(query, instance);
    return past === undefined ? this.#shapes.standingOn(this.#standing[instance]) : past;
  }

  /** Returns whether an update has seen all instances, in one of these layers and at the places where three draws them now. */
  wasSeen(update: number, layers: number): boolean {
    const { texture, matrices } = this.#contents;
    return (
      this.#settledBy <= update &&
      (this.#layers & layers) !== 0 &&
      texture !== null &&
      matrices !== null &&
      this.#sent.areThose(texture, texture.version, matrices) &&
      this.#sent.areBelow(this.#object.matrixWorld.elements)
    );
  }

  standsOnGeometry(instance: number, geometry: number): boolean {
    return this.states[instance] === geometry && this.#standing[instance] === geometry;
  }

  /** Makes room for the states of `count` instances. */
  reserve(count: number): void {
    const known = this.states.length;
    if (count <= known) return;
    this.states = grown(this.states, count).fill(DELETED, known);
    this.#standing = grown(this.#standing, count).fill(NOTHING, known);
    this.#isShown = grown(this.#isShown, count);
  }

  /** Notes the state of an instance. */
  note(i: number, state: number): void {
    this.speak();
    this.#shapes.count(this.states[i], state);
    this.states[i] = state;
  }

  /** Notes that all `count` instances change, because the caller's shape is another one: no instance keeps the previous one. */
  forget(count: number): void {
    for (let i = 0; i < count; i++) this.note(i, DELETED);
    const standing = this.#standing;
    for (let i = 0; i < standing.length; i++) if (standing[i] === GIVEN) standing[i] = NOTHING;
  }

  /** Takes the mesh of that geometry away from all its instances. */
  leave(number: number): void {
    for (let i = 0; i < this.ids.length; i++) {
      if (this.#standing[i] !== number) continue;
      this.#setShape(i, NOTHING, this.#shapes.standingOn(number));
      this.place(i);
    }
  }

  /** Gives the instances the meshes that are built now, if those of their geometries are new. */
  renew(): void {
    const { service } = this.#context;
    const shapes = this.#shapes;
    const before = shapes.renew(({ id }) => service.meshInfo(id));
    if (before.size === 0) return;
    for (let i = 0; i < this.ids.length; i++) {
      const number = this.#standing[i];
      const old = before.get(number);
      if (old === undefined && !before.has(geometryOf(this.states[i]))) continue;
      const next = this.#targetOf(i);
      if (next !== number || old !== undefined) {
        this.#setShape(i, next, old === undefined ? shapes.standingOn(number) : old);
      }
      this.place(i);
    }
  }

  /** Gives an instance the mesh of its geometry. */
  stand(i: number): void {
    if (i >= this.ids.length) return;
    const next = this.#targetOf(i);
    const before = this.#standing[i];
    if (next !== before) this.#setShape(i, next, this.#shapes.standingOn(before));
  }

  #targetOf(i: number): number {
    return this.#shapes.targetOf(this.states[i], this.#standing[i]);
  }

  /** Sets the shape of an instance by its number; `before` is the mesh that it had. */
  #setShape(i: number, number: number, before: BuiltMesh | null): void {
    this.speak();
    this.#context.service.setObject(this.ids[i], { shape: this.#shapes.shapeOf(number) });
    this.#standing[i] = number;
    this.#past.note(i, before);
  }

  /** Brings the service's objects into line: `count` of them, or one more block if many are to be added. */
  reconcile(count: number): void {
    this.#setOptions(); // objects that are added have them
    this.#resize(count);
  }

  #resize(count: number): void {
    if (count < this.ids.length) this.shrink(count);
    const { length } = this.ids;
    this.pending = false;
    // Objects are added once their meshes are built: to set each one's shape afterwards would take a command each.
    if (count === length || (length === 0 && this.#shapes.areBuilding)) return;
    this.#grow(Math.min(count, length + MOST_IN_BLOCK - (length % MOST_IN_BLOCK)));
    this.pending = this.ids.length < count;
  }

  #grow(end: number): void {
    const { service, objects } = this.#context;
    const first = this.ids.length;
    const members = new Map<number, number[]>();
    for (let i = first; i < end; i++) addTo(members, this.#targetOf(i), i);
    const added = new Uint32Array(end - first);
    const options = {
      ...this.#asked.options,
      layers: 0,
      side: this.#sideNow,
      cullable: this.#cullableNow,
      occluder: false, // each picture may draw other instances
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
    this.#blocks = isRoom ? [...this.#blocks.slice(0, -1), joined([last, added])] : [...this.#blocks, added];
    this.ids = joined([this.ids, added]);
  }

  /** Removes all instances but the first `count`. */
  shrink(count: number): void {
    const { service, objects } = this.#context;
    const removed = this.ids.slice(count);
    if (removed.length === 0) return;
    service.removeObjects(removed);
    objects.remove(this, removed, count);
    this.ids = this.ids.slice(0, count);
    this.#blocks = Array.from({ length: Math.ceil(count / MOST_IN_BLOCK) }, (_, n) =>
      this.ids.slice(n * MOST_IN_BLOCK, (n + 1) * MOST_IN_BLOCK),
    );
    this.#placed = Math.min(this.#placed, count);
    this.#isShown.fill(0, count);
    this.#standing.fill(NOTHING, count);
    for (const i of this.#hidden) if (i >= count) this.#hidden.delete(i);
  }

  /** Removes all instances and forgets their states. */
  clear(): void {
    this.shrink(0);
    this.states.fill(DELETED);
    this.#sent.forget();
    this.pending = false;
  }

  // --- what is sent to the service ---

  get #sideNow(): Side {
    const { side } = this.#object.material as Material;
    return this.#asked.options.side ?? (side === BackSide ? 'back' : side === DoubleSide ? 'double' : 'front');
  }

  get #cullableNow(): boolean {
    const { cullable = true } = this.#asked.options;
    return cullable && (this.#object.material as Material).visible;
  }

  /** Makes the next `reconcile` send all options. */
  forgetOptions(): void {
    this.#isTold = false;
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
    this.speak();
    for (let i = 0; i < this.ids.length; i++) this.#context.service.setObject(this.ids[i], options);
  }

  setLayers(layers: number): void {
    if (layers === this.#layers) return;
    this.speak();
    this.#layers = layers;
    for (let i = 0; i < this.ids.length; i++) {
      if (this.#isShown[i] === 1) this.#context.layers.set(this.ids[i], layers);
    }
  }

  /** Puts an instance into its layers, or into none. */
  place(i: number): void {
    if (i >= this.ids.length) return;
    const stands = this.#standing[i] === GIVEN || (this.#standing[i] >= 0 && this.#standing[i] === this.states[i]);
    const isShown = this.states[i] >= 0 && stands && i < this.#placed && !this.#hidden.has(i) ? 1 : 0;
    if (isShown === this.#isShown[i]) return;
    this.speak();
    this.#isShown[i] = isShown;
    this.#context.layers.set(this.ids[i], isShown === 1 ? this.#layers : 0);
  }

  /** Sends the matrices if they have changed. */
  move(): void {
    const parent = this.#object.matrixWorld.elements;
    const texture = this.#contents.texture!;
    const array = this.#contents.matrices!;
    const isSame = this.#sent.areThose(texture, texture.version, array);
    // If nothing else is new, only those of added instances are sent.
    const first = isSame && this.#sent.areBelow(parent) ? this.#placed : 0;
    if (first === this.ids.length) return;
    this.#sent.note(texture, texture.version, array, parent);
    this.speak();
    this.#review();
    const blocks = this.#blocks;
    const matrices = this.#sent.blocks.of(array, blocks);
    let end = 0;
    for (let i = 0; i < blocks.length; i++) {
      end += blocks[i].length;
      if (end > first) this.#context.service.moveInstances(blocks[i], matrices[i], parent);
    }
  }

  /** Hides new instances that have no valid matrix, and shows hidden ones that have one now. */
  #review(): void {
    const isNew = this.#placed;
    this.#placed = this.ids.length;
    for (let i = isNew; i < this.#placed; i++) {
      if (!this.#isPlaceable(i)) this.#hidden.add(i);
      this.place(i);
    }
    for (const i of this.#hidden) {
      if (!this.#isPlaceable(i)) continue;
      this.#hidden.delete(i);
      this.place(i);
    }
  }

  /** Hides an instance whose matrix the service did not accept, unless it has a valid one by now. */
  reject(index: number): void {
    if (index >= this.ids.length || this.#hidden.has(index) || this.#isPlaceable(index)) return;
    this.#hidden.add(index);
    this.place(index);
  }

  /** Hides the instances for which another worker has no valid matrix. */
  onRestore(): void {
    for (let i = 0; i < this.#placed; i++) this.reject(i);
  }

  /** Notes that a change is sent. */
  speak(): void {
    this.#settledBy = this.#context.objects.newestQuery + 1;
  }

  #isPlaceable(i: number): boolean {
    return isPlace(this.#object.matrixWorld.elements, 0) && isPlace(this.#sent.matrices, 16 * i);
  }
}
