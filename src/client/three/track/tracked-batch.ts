import type { BatchedMesh, BufferGeometry, Texture } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { ObjectId } from '../../../shared/types.js';
import type { MeshUser } from '../geometry/shared-mesh.js';
import { Turns } from '../turns.js';
import { AskedOptions } from './asked-options.js';
import { BatchChanges } from './batch-changes.js';
import { BatchBuffers, BatchContents, DELETED } from './batch-contents.js';
import { BatchPart } from './batch-part.js';
import { BatchShapes } from './batch-shapes.js';
import { BatchStandIn } from './batch-stand-in.js';
import { complain } from './complain.js';
import { nameOf } from './name-of.js';
import { faultOf, isAboutOneObject, type ObjectWishes } from './object-wishes.js';
import type { SceneEntry } from './scene-entry.js';
import type { PlacedOwner } from './scene-objects.js';
import { type CullableObject, MOST_IN_BLOCK, type TrackerContext } from './stand-in.js';

/** The state in which it was left out: it is checked again once one of these has changed. */
interface Failed {
  readonly geometry: BufferGeometry;
  readonly material: unknown;
  readonly texture: Texture | null;
}

/**
 * A BatchedMesh in the service. It checks three's geometries and instances, and gives each instance (batch-stand-in.ts) the
 * mesh of its geometry (batch-shapes.ts).
 */
export class TrackedBatch implements SceneEntry, PlacedOwner, MeshUser, CullableObject {
  readonly object: BatchedMesh;
  readonly isInstanced = true;
  readonly isRigid = true;
  error: CollisionError | null = null;

  readonly #context: TrackerContext;
  readonly #asked: AskedOptions;
  readonly #shapes: BatchShapes;
  readonly #contents: BatchContents;
  readonly #standIn: BatchStandIn;
  readonly #buffers = new BatchBuffers();
  /** three's reports of changed instances; null if there are none. */
  #changes: BatchChanges | null;
  /** The count of reports, and three's array of instances, when all instances were last checked. */
  #seenChanges = -1;
  #seenIn: readonly unknown[] | null = null;
  /** The turns of instances whose changes were not reported. */
  readonly #turns = new Turns();
  /** How many instances three has. */
  #count = 0;
  #changed = new Uint32Array(0);

  /** Whether a mesh was built since the last check, or an option has changed. */
  #isStale = true;
  #isUnasked = true;
  /** The state in which it was left out. */
  #failed: Failed | null = null;
  /** The last message about it in the console. */
  #said = '';

  /** Throws what the caller's functions throw. */
  constructor(context: TrackerContext, object: BatchedMesh, wishes: ObjectWishes) {
    this.#context = context;
    this.object = object;
    this.#asked = new AskedOptions(object, wishes);
    this.#shapes = new BatchShapes(object, this.#asked);
    this.#contents = new BatchContents(object);
    this.#standIn = new BatchStandIn(context, this, this.#asked, this.#shapes, this.#contents);
    this.#changes = BatchChanges.listenTo(object);
    this.#attend();
  }

  get ids(): Uint32Array {
    return this.#standIn.ids;
  }

  get count(): number {
    return this.ids.length;
  }

  idAt(instance: number): ObjectId {
    return this.ids[instance];
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
    const stands = this.error === null && !this.pending && this.#asked.shape === null;
    return stands && this.#standIn.wasSeen(update, layers) && this.#buffers.areThose(this.object.geometry);
  }

  standsOnGeometry(instance: number, geometry: number): boolean {
    return this.#standIn.standsOnGeometry(instance, geometry);
  }

  get pending(): boolean {
    return this.#standIn.pending || this.#shapes.areBuilding;
  }

  isDue(): boolean {
    return this.isStatic;
  }

  update(visible: boolean): void {
    try {
      this.#update(visible);
    } catch (thrown) {
      this.#leaveOut(faultOf(this.object, thrown));
    }
    this.#said = complain(this.object, this.error, this.#said, ', or a part of it');
  }

  show(visible: boolean): void {
    this.#standIn.setLayers(this.#layersIn(visible));
  }

  askAgain(): void {
    const { options, isSolid, weld } = this.#asked;
    const isOther = this.#asked.ask();
    this.#attend();
    this.#isUnasked = true; // `update` asks for the shape, too
    this.#isStale = true;
    this.#lookAtAll();
    this.#failed = null;
    const { motion } = this.#asked.options;
    if (weld !== this.#asked.weld || isSolid !== this.#asked.isSolid || options.motion !== motion) this.#removeAll();
    else if (isOther) this.#standIn.forgetOptions();
  }

  onMeshChange(): void {
    this.#standIn.speak();
    this.#isStale = true;
    this.#context.stale.add(this);
  }

  onMeshMove(): void {
    this.#standIn.speak();
  }

  reject(index: number): void {
    this.#standIn.reject(index);
  }

  onRestore(): void {
    this.#standIn.onRestore();
  }

  leave(): void {} // there are few

  remove(): boolean {
    this.#changes?.release();
    this.#changes = null;
    this.#context.always.delete(this);
    this.#context.stale.delete(this);
    this.#context.instanced.delete(this);
    const { count } = this;
    if (count <= MOST_IN_BLOCK) {
      this.#removeAll();
      return true;
    }
    this.#standIn.setLayers(0);
    this.#standIn.shrink(count - MOST_IN_BLOCK);
    return false;
  }

  #attend(): void {
    this.#context.instanced.add(this);
    if (this.isStatic) this.#context.always.delete(this);
    else this.#context.always.add(this);
  }

  #update(visible: boolean): void {
    if (this.#failed !== null && this.#isAsFailed(this.#failed)) return;
    this.#failed = null;
    this.error = null;
    this.#contents.check();
    if (this.#isUnasked) this.#askShape();
    const layers = this.#layersIn(visible);
    this.#seeGeometries();
    const changed = this.#seeInstances();
    const standIn = this.#standIn;
    if (this.#isStale) {
      this.#isStale = false;
      standIn.renew();
    }
    for (let n = 0; n < changed; n++) standIn.stand(this.#changed[n]);
    this.#dropParts();
    try {
      standIn.reconcile(this.#count);
    } catch (cause) {
      // A shape or an option that the service refuses.
      if (!isAboutOneObject(cause)) throw cause;
      this.error = cause;
    }
    standIn.setLayers(layers);
    for (let n = 0; n < changed; n++) standIn.place(this.#changed[n]);
    standIn.move();
    this.error ??= this.#shapes.error;
    if (standIn.pending) this.#context.stale.add(this);
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
    // All instances change.
    this.#lookAtAll();
    this.#standIn.forget(this.#count);
  }

  /** Builds the geometries that three has, and checks those that may have changed. */
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
    this.#standIn.speak();
    this.#isStale = true;
  }

  /** Drops the geometries that three no longer has. */
  #dropParts(): void {
    const { parts } = this.#shapes;
    parts.forEach((part, number) => {
      if (part === undefined || !part.isDropped) return;
      this.#standIn.leave(number);
      parts[number] = undefined;
      part.release();
    });
  }

  /** Checks the instances; returns how many have changed, which are listed first in `#changed`. */
  #seeInstances(): number {
    const contents = this.#contents;
    const { count } = contents;
    const standIn = this.#standIn;
    standIn.reserve(count);
    const { states } = standIn;
    if (states.length !== this.#changed.length) this.#changed = new Uint32Array(states.length);
    if (count !== this.#count) this.#lookAtAll();
    for (let i = count; i < this.#count; i++) standIn.note(i, DELETED);
    this.#count = count;
    let changed = 0;
    const look = (first: number, end: number): void => {
      changed = contents.findChanged(states, first, end, this.#changed, changed);
    };
    if (this.#isAsSeen()) this.#turns.take(count, look);
    else look(0, count);
    for (let n = 0; n < changed; n++) standIn.note(this.#changed[n], contents.stateOf(this.#changed[n]));
    return changed;
  }

  /** Returns whether three has reported no change since all instances were last checked; notes this check. */
  #isAsSeen(): boolean {
    const { instances } = this.#contents;
    const changes = this.#changes?.count ?? -1;
    const isAsSeen = changes >= 0 && changes === this.#seenChanges && instances === this.#seenIn && !this.isStatic;
    this.#seenChanges = changes;
    this.#seenIn = instances;
    return isAsSeen;
  }

  /** Makes the next `update` check all instances. */
  #lookAtAll(): void {
    this.#seenIn = null;
  }

  #removeAll(): void {
    this.#standIn.clear();
    this.#shapes.release();
    this.#buffers.forget();
    this.#lookAtAll();
    this.#count = 0;
    this.#isStale = true;
  }

  #leaveOut(error: CollisionError): void {
    this.#removeAll();
    try {
      const { geometry, material } = this.object;
      this.#failed = { geometry, material, texture: this.#contents.texture };
    } catch {} // it is checked each time
    this.#isUnasked = false;
    this.error = error;
  }
}
