import type { BatchedMesh, BufferGeometry, Texture } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { ObjectId } from '../../../shared/types.js';
import type { MeshUser } from '../geometry/shared-mesh.js';
import { Turns } from '../turns.js';
import { BatchChanges } from './batch-changes.js';
import { BatchBuffers, BatchContents, DELETED } from './batch-contents.js';
import { BatchPart } from './batch-part.js';
import { BatchShapes } from './batch-shapes.js';
import { BatchStandIn } from './batch-stand-in.js';
import { nameOf } from './name-of.js';
import { type ObjectSettings, objectErrorOf } from './object-settings.js';
import { ResolvedOptions } from './resolved-options.js';
import type { SceneEntry } from './scene-entry.js';
import type { RepresentedObject } from './scene-objects.js';
import { type CullableObject, MAX_BLOCK_SIZE, type TrackerContext } from './stand-in.js';
import { warnLeftOut } from './warn-left-out.js';

/** The state in which it was left out: it is checked again once one of these has changed. */
interface FailedState {
  readonly geometry: BufferGeometry;
  readonly material: unknown;
  readonly texture: Texture | null;
}

/**
 * A BatchedMesh in the service. It checks three's geometries and instances, and gives each instance (batch-stand-in.ts) the
 * mesh of its geometry (batch-shapes.ts).
 */
export class TrackedBatch implements SceneEntry, RepresentedObject, MeshUser, CullableObject {
  readonly object: BatchedMesh;
  readonly isInstanced = true;
  readonly isRigid = true;
  error: CollisionError | null = null;

  readonly #context: TrackerContext;
  readonly #resolved: ResolvedOptions;
  readonly #shapes: BatchShapes;
  readonly #contents: BatchContents;
  readonly #standIn: BatchStandIn;
  readonly #buffers = new BatchBuffers();
  /** three's reports of changed instances; null if there are none. */
  #changes: BatchChanges | null;
  /** The count of reports, and three's array of instances, when all instances were last checked. */
  #checkedChangeCount = -1;
  #checkedInstances: readonly unknown[] | null = null;
  /** The turns of instances whose changes were not reported. */
  readonly #turns = new Turns();
  /** How many instances three has. */
  #count = 0;
  #changedInstances = new Uint32Array(0);

  /** Whether a mesh was built since the last check, or an option has changed. */
  #isStale = true;
  #mustAskShape = true;
  /** The state in which it was left out. */
  #failedState: FailedState | null = null;
  /** The last message about it in the console. */
  #lastWarning = '';

  /** Throws what the caller's functions throw. */
  constructor(context: TrackerContext, object: BatchedMesh, settings: ObjectSettings) {
    this.#context = context;
    this.object = object;
    this.#resolved = new ResolvedOptions(object, settings);
    this.#shapes = new BatchShapes(object, this.#resolved);
    this.#contents = new BatchContents(object);
    this.#standIn = new BatchStandIn(context, this, this.#resolved, this.#shapes, this.#contents);
    this.#changes = BatchChanges.listenTo(object);
    this.#register();
  }

  get ids(): Uint32Array {
    return this.#standIn.ids;
  }

  get count(): number {
    return this.ids.length;
  }

  idAt(instanceId: number): ObjectId {
    return this.ids[instanceId];
  }

  get isStatic(): boolean {
    return this.#resolved.isStatic;
  }

  get cullable(): boolean | undefined {
    return this.#resolved.options.cullable;
  }

  get occluder(): boolean | undefined {
    return this.#resolved.options.occluder;
  }

  wasSeenInShape(): boolean {
    return false;
  }

  wasSeenAsItIs(update: number, layers: number): boolean {
    const showsGeometry = this.error === null && !this.pending && this.#resolved.shape === null;
    return showsGeometry && this.#standIn.wasSeen(update, layers) && this.#buffers.areThose(this.object.geometry);
  }

  standsOnGeometry(instanceId: number, geometryId: number): boolean {
    return this.#standIn.standsOnGeometry(instanceId, geometryId);
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
      this.#leaveOut(objectErrorOf(this.object, thrown));
    }
    this.#lastWarning = warnLeftOut(this.object, this.error, this.#lastWarning, ', or a part of it');
  }

  show(visible: boolean): void {
    this.#standIn.setLayers(this.#layersIn(visible));
  }

  askAgain(): void {
    const { options, isSolid, weld } = this.#resolved;
    const isChanged = this.#resolved.ask();
    this.#register();
    this.#mustAskShape = true; // `update` asks for the shape, too
    this.#isStale = true;
    this.#recheckAll();
    this.#failedState = null;
    const { motion } = this.#resolved.options;
    if (weld !== this.#resolved.weld || isSolid !== this.#resolved.isSolid || options.motion !== motion)
      this.#removeAll();
    else if (isChanged) this.#standIn.forgetOptions();
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
    if (count <= MAX_BLOCK_SIZE) {
      this.#removeAll();
      return true;
    }
    this.#standIn.setLayers(0);
    this.#standIn.shrink(count - MAX_BLOCK_SIZE);
    return false;
  }

  #register(): void {
    this.#context.instanced.add(this);
    if (this.isStatic) this.#context.always.delete(this);
    else this.#context.always.add(this);
  }

  #update(visible: boolean): void {
    if (this.#failedState !== null && this.#isSameAsFailed(this.#failedState)) return;
    this.#failedState = null;
    this.error = null;
    this.#contents.check();
    if (this.#mustAskShape) this.#updateShape();
    const layers = this.#layersIn(visible);
    this.#checkGeometries();
    const changedCount = this.#checkInstances();
    const standIn = this.#standIn;
    if (this.#isStale) {
      this.#isStale = false;
      standIn.renew();
    }
    for (let n = 0; n < changedCount; n++) standIn.stand(this.#changedInstances[n]);
    this.#dropParts();
    standIn.reconcile(this.#count);
    standIn.setLayers(layers);
    for (let n = 0; n < changedCount; n++) standIn.place(this.#changedInstances[n]);
    standIn.move();
    this.error ??= this.#shapes.error;
    if (standIn.pending) this.#context.stale.add(this);
  }

  #isSameAsFailed({ geometry, material, texture }: FailedState): boolean {
    const { object } = this;
    return geometry === object.geometry && material === object.material && texture === this.#contents.texture;
  }

  #layersIn(visible: boolean): number {
    return visible ? (this.#resolved.options.layers ?? this.object.layers.mask) >>> 0 : 0;
  }

  #updateShape(): void {
    const isChanged = this.#resolved.askShape();
    this.#mustAskShape = false;
    if (!isChanged) return;
    // All instances change.
    this.#recheckAll();
    this.#standIn.forget(this.#count);
  }

  /** Builds the geometries that three has, and checks those that may have changed. */
  #checkGeometries(): void {
    const contents = this.#contents;
    const { geometry } = this.object;
    const count = this.#resolved.shape === null ? contents.geometryCount : 0;
    const isChanged = this.#buffers.haveChanged(geometry);
    const { parts } = this.#shapes;
    if (count > parts.length) parts.length = count;
    for (let geometryId = 0; geometryId < count; geometryId++) {
      const part = parts[geometryId];
      const isPresent = contents.hasGeometry(geometryId);
      if (part !== undefined) {
        part.isDropped = !isPresent;
        if (isPresent && isChanged) part.review(geometry, contents.rangeOf(geometryId));
      } else if (isPresent) {
        const { meshes } = this.#context;
        const name = `geometry ${geometryId} of the ${nameOf(this.object)}`;
        parts[geometryId] = new BatchPart(
          meshes,
          this,
          this.#resolved.weld,
          name,
          geometry,
          contents.rangeOf(geometryId),
        );
        this.#isStale = true;
      }
    }
    for (let geometryId = count; geometryId < parts.length; geometryId++) {
      const part = parts[geometryId];
      if (part !== undefined) part.isDropped = true;
    }
    if (!isChanged) return;
    this.#standIn.speak();
    this.#isStale = true;
  }

  /** Drops the geometries that three no longer has. */
  #dropParts(): void {
    const { parts } = this.#shapes;
    parts.forEach((part, geometryId) => {
      if (part === undefined || !part.isDropped) return;
      this.#standIn.leave(geometryId);
      parts[geometryId] = undefined;
      part.release();
    });
  }

  /** Checks the instances; returns how many have changed, which are listed first in `#changedInstances`. */
  #checkInstances(): number {
    const contents = this.#contents;
    const { count } = contents;
    const standIn = this.#standIn;
    standIn.reserve(count);
    const { states } = standIn;
    if (states.length !== this.#changedInstances.length) this.#changedInstances = new Uint32Array(states.length);
    if (count !== this.#count) this.#recheckAll();
    for (let i = count; i < this.#count; i++) standIn.note(i, DELETED);
    this.#count = count;
    let changedCount = 0;
    const checkRange = (first: number, end: number): void => {
      changedCount = contents.findChanged(states, first, end, this.#changedInstances, changedCount);
    };
    if (this.#hasNoReports()) this.#turns.take(count, checkRange);
    else checkRange(0, count);
    for (let n = 0; n < changedCount; n++)
      standIn.note(this.#changedInstances[n], contents.stateOf(this.#changedInstances[n]));
    return changedCount;
  }

  /** Returns whether three has reported no change since all instances were last checked; notes this check. */
  #hasNoReports(): boolean {
    const { instances } = this.#contents;
    const changes = this.#changes?.count ?? -1;
    const hasNoReports =
      changes >= 0 && changes === this.#checkedChangeCount && instances === this.#checkedInstances && !this.isStatic;
    this.#checkedChangeCount = changes;
    this.#checkedInstances = instances;
    return hasNoReports;
  }

  /** Makes the next `update` check all instances. */
  #recheckAll(): void {
    this.#checkedInstances = null;
  }

  #removeAll(): void {
    this.#standIn.clear();
    this.#shapes.release();
    this.#buffers.forget();
    this.#recheckAll();
    this.#count = 0;
    this.#isStale = true;
  }

  #leaveOut(error: CollisionError): void {
    this.#removeAll();
    try {
      const { geometry, material } = this.object;
      this.#failedState = { geometry, material, texture: this.#contents.texture };
    } catch {} // it is checked each time
    this.#mustAskShape = false;
    this.error = error;
  }
}
