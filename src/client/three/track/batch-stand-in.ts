import type { BatchedMesh, Material } from 'three';
import { addTo } from '../../../shared/lists-by-key.js';
import { concatenate, grown } from '../../../shared/typed-arrays.js';
import type { MixedObjectOptions, Side } from '../../scene/object-description.js';
import type { BuiltMesh } from '../geometry/shared-mesh.js';
import { type BatchContents, DELETED } from './batch-contents.js';
import { type BatchShapes, CALLER_SHAPE, geometryIdOf, NO_GEOMETRY } from './batch-shapes.js';
import { FormerMeshes } from './former-meshes.js';
import { isValidTransform } from './is-valid-transform.js';
import { cutOf } from './material-cut.js';
import { sideOf } from './material-plan.js';
import type { ResolvedOptions } from './resolved-options.js';
import type { RepresentedObject, StandInLike } from './scene-objects.js';
import { sendBlocks } from './send-blocks.js';
import { SentMatrices } from './sent-matrices.js';
import { DEFAULTS, MAX_BLOCK_SIZE, type TrackerContext } from './stand-in.js';

const NO_IDS = new Uint32Array(0);
const NO_GEOMETRY_IDS = new Int32Array(0);

/** The options that depend on the material. */
interface DrawnOptions {
  readonly side: Side;
  readonly cullable: boolean;
  readonly clipSet: number;
}

const UNDRAWN: DrawnOptions = { side: 'double', cullable: true, clipSet: 0 };

/**
 * Represents a BatchedMesh in the service: one id per instance number. Ids of deleted instances stay, in no layer, until the
 * number is reused: matrices are sent as they are in the texture.
 */
export class BatchStandIn implements StandInLike {
  readonly owner: RepresentedObject;
  /** One per instance. Changes make a new array: an array is never written once it is here. */
  ids: Uint32Array = NO_IDS;
  /** The state of each instance in three (batch-contents.ts). */
  states = NO_GEOMETRY_IDS;
  /** Whether more instances are to be added in the next slices. */
  pending = false;
  /** Queries from this id on see the last change that was sent. */
  #firstQueryAfterChange = 0;
  readonly #context: TrackerContext;
  readonly #object: BatchedMesh;
  readonly #resolved: ResolvedOptions;
  readonly #shapes: BatchShapes;
  readonly #contents: BatchContents;
  #blocks: readonly Uint32Array[] = [];
  /** For each instance, the geometry whose mesh is its shape, and whether the instance is in its layers. */
  #shownGeometryIds = NO_GEOMETRY_IDS;
  #isShown = new Uint8Array(0);
  readonly #formerMeshes: FormerMeshes;
  /** How many of the first instances were checked and sent. */
  #placedCount = 0;
  readonly #sent = new SentMatrices();
  /** Instances whose matrix the service does not accept. */
  readonly #hiddenInstances = new Set<number>();

  // As the service has them.
  #layers = 0;
  #drawn = UNDRAWN;
  #areOptionsSent = true;

  /** Reads what it should be from the other arguments; the owner calls it when that changes. */
  constructor(
    context: TrackerContext,
    owner: RepresentedObject & { readonly object: BatchedMesh },
    resolved: ResolvedOptions,
    shapes: BatchShapes,
    contents: BatchContents,
  ) {
    this.#context = context;
    this.owner = owner;
    this.#object = owner.object;
    this.#resolved = resolved;
    this.#shapes = shapes;
    this.#contents = contents;
    this.#formerMeshes = new FormerMeshes(context.objects);
  }

  seenBy(queryId: number, instanceId: number): BuiltMesh | null {
    const formerMesh = this.#formerMeshes.seenBy(queryId, instanceId);
    return formerMesh === undefined ? this.#shapes.standingOn(this.#shownGeometryIds[instanceId]) : formerMesh;
  }

  /** Returns whether an update has seen all instances, in one of these layers and at the places where three draws them now. */
  wasSeen(update: number, layers: number): boolean {
    const { texture, matrices } = this.#contents;
    return (
      this.#firstQueryAfterChange <= update &&
      (this.#layers & layers) !== 0 &&
      texture !== null &&
      matrices !== null &&
      this.#sent.areThose(texture, texture.version, matrices) &&
      this.#sent.areBelow(this.#object.matrixWorld.elements)
    );
  }

  standsOnGeometry(instanceId: number, geometryId: number): boolean {
    return this.states[instanceId] === geometryId && this.#shownGeometryIds[instanceId] === geometryId;
  }

  /** Makes room for the states of `count` instances. */
  reserve(count: number): void {
    const capacity = this.states.length;
    if (count <= capacity) return;
    this.states = grown(this.states, count).fill(DELETED, capacity);
    this.#shownGeometryIds = grown(this.#shownGeometryIds, count).fill(NO_GEOMETRY, capacity);
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
    const geometryIds = this.#shownGeometryIds;
    for (let i = 0; i < geometryIds.length; i++) if (geometryIds[i] === CALLER_SHAPE) geometryIds[i] = NO_GEOMETRY;
  }

  /** Takes the mesh of that geometry away from all its instances. */
  leave(geometryId: number): void {
    for (let i = 0; i < this.ids.length; i++) {
      if (this.#shownGeometryIds[i] !== geometryId) continue;
      this.#setShape(i, NO_GEOMETRY, this.#shapes.standingOn(geometryId));
      this.place(i);
    }
  }

  /** Gives the instances the meshes that are built now, if those of their geometries are new. */
  renew(): void {
    const { service } = this.#context;
    const shapes = this.#shapes;
    const previousMeshes = shapes.renew(({ id }) => service.meshInfo(id));
    if (previousMeshes.size === 0) return;
    for (let i = 0; i < this.ids.length; i++) {
      const geometryId = this.#shownGeometryIds[i];
      const previousMesh = previousMeshes.get(geometryId);
      if (previousMesh === undefined && !previousMeshes.has(geometryIdOf(this.states[i]))) continue;
      const nextGeometryId = this.#targetGeometryOf(i);
      if (nextGeometryId !== geometryId || previousMesh !== undefined) {
        this.#setShape(i, nextGeometryId, previousMesh === undefined ? shapes.standingOn(geometryId) : previousMesh);
      }
      this.place(i);
    }
  }

  /** Gives an instance the mesh of its geometry. */
  stand(i: number): void {
    if (i >= this.ids.length) return;
    const nextGeometryId = this.#targetGeometryOf(i);
    const currentGeometryId = this.#shownGeometryIds[i];
    if (nextGeometryId !== currentGeometryId)
      this.#setShape(i, nextGeometryId, this.#shapes.standingOn(currentGeometryId));
  }

  #targetGeometryOf(i: number): number {
    return this.#shapes.targetOf(this.states[i], this.#shownGeometryIds[i]);
  }

  /** Sets the shape of an instance to that of a geometry; `previousMesh` is the mesh that it had. */
  #setShape(i: number, geometryId: number, previousMesh: BuiltMesh | null): void {
    this.speak();
    this.#context.service.setObject(this.ids[i], { shape: this.#shapes.shapeOf(geometryId) });
    this.#shownGeometryIds[i] = geometryId;
    this.#formerMeshes.note(i, previousMesh);
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
    this.#grow(Math.min(count, length + MAX_BLOCK_SIZE - (length % MAX_BLOCK_SIZE)));
    this.pending = this.ids.length < count;
  }

  #grow(end: number): void {
    const { service, objects } = this.#context;
    const first = this.ids.length;
    const instancesByGeometry = new Map<number, number[]>();
    for (let i = first; i < end; i++) addTo(instancesByGeometry, this.#targetGeometryOf(i), i);
    const added = new Uint32Array(end - first);
    const options = {
      ...this.#resolved.options,
      ...this.#drawn,
      layers: 0,
      occluder: false, // each picture may draw other instances
    };
    try {
      for (const [geometryId, members] of instancesByGeometry) {
        const ids = service.addInstances({ ...options, shape: this.#shapes.shapeOf(geometryId) }, members.length);
        members.forEach((i, n) => {
          added[i - first] = ids[n];
          this.#shownGeometryIds[i] = geometryId;
        });
      }
    } catch (error) {
      service.removeObjects(added.filter((id) => id !== 0));
      throw error;
    }
    objects.add(this, added, first);
    const lastBlock = this.#blocks.at(-1);
    const fitsLastBlock = lastBlock !== undefined && lastBlock.length + added.length <= MAX_BLOCK_SIZE;
    this.#blocks = fitsLastBlock
      ? [...this.#blocks.slice(0, -1), concatenate([lastBlock, added])]
      : [...this.#blocks, added];
    this.ids = concatenate([this.ids, added]);
  }

  /** Removes all instances but the first `count`. */
  shrink(count: number): void {
    const { service, objects } = this.#context;
    const removed = this.ids.slice(count);
    if (removed.length === 0) return;
    for (let i = count; i < this.ids.length; i++)
      this.#formerMeshes.note(i, this.#shapes.standingOn(this.#shownGeometryIds[i]));
    service.removeObjects(removed);
    objects.remove(this, removed, count);
    this.ids = this.ids.slice(0, count);
    this.#blocks = Array.from({ length: Math.ceil(count / MAX_BLOCK_SIZE) }, (_, n) =>
      this.ids.slice(n * MAX_BLOCK_SIZE, (n + 1) * MAX_BLOCK_SIZE),
    );
    this.#placedCount = Math.min(this.#placedCount, count);
    this.#isShown.fill(0, count);
    this.#shownGeometryIds.fill(NO_GEOMETRY, count);
    for (const i of this.#hiddenInstances) if (i >= count) this.#hiddenInstances.delete(i);
  }

  /** Removes all instances and forgets their states. */
  clear(): void {
    this.shrink(0);
    this.states.fill(DELETED);
    this.#sent.forget();
    this.#context.clips.release(this.#drawn.clipSet);
    this.#drawn = UNDRAWN;
    this.pending = false;
  }

  // --- what is sent to the service ---

  /** Makes the next `reconcile` send all options. */
  forgetOptions(): void {
    this.#areOptionsSent = false;
  }

  #setOptions(): void {
    const { clips } = this.#context;
    const { options } = this.#resolved;
    const material = this.#object.material as Material;
    const { side = sideOf(material), cullable = true } = options;
    const previous = this.#drawn;
    const drawn = { side, cullable: cullable && material.visible, clipSet: clips.hold(cutOf(material)) };
    clips.release(previous.clipSet);
    this.#drawn = drawn;
    if (!this.#areOptionsSent) {
      const { layers, matrix, ...others }: Partial<MixedObjectOptions> = options;
      this.#setAllObjects({ ...DEFAULTS, ...others, ...drawn });
    } else if (side !== previous.side || drawn.cullable !== previous.cullable || drawn.clipSet !== previous.clipSet) {
      this.#setAllObjects(drawn);
    }
    this.#areOptionsSent = true;
  }

  #setAllObjects(options: Partial<MixedObjectOptions>): void {
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
    const hasTargetShape =
      this.#shownGeometryIds[i] === CALLER_SHAPE ||
      (this.#shownGeometryIds[i] >= 0 && this.#shownGeometryIds[i] === this.states[i]);
    const isShown =
      this.states[i] >= 0 && hasTargetShape && i < this.#placedCount && !this.#hiddenInstances.has(i) ? 1 : 0;
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
    const first = isSame && this.#sent.areBelow(parent) ? this.#placedCount : 0;
    if (first === this.ids.length) return;
    this.#sent.note(texture, texture.version, array, parent);
    this.speak();
    const placed = this.#placedCount;
    this.#reviewHidden();
    const blocks = this.#blocks;
    const matrices = this.#sent.blocks.of(array, blocks);
    sendBlocks(this.#context.service, blocks, matrices, parent, first, placed, this.#hiddenInstances.size > 0);
  }

  /** Hides new instances that have no valid matrix, and shows hidden ones that have one now. */
  #reviewHidden(): void {
    const firstNew = this.#placedCount;
    this.#placedCount = this.ids.length;
    for (let i = firstNew; i < this.#placedCount; i++) {
      if (!this.#hasValidMatrix(i)) this.#hiddenInstances.add(i);
      this.place(i);
    }
    for (const i of this.#hiddenInstances) {
      if (!this.#hasValidMatrix(i)) continue;
      this.#hiddenInstances.delete(i);
      this.place(i);
    }
  }

  /** Hides an instance whose matrix the service did not accept, unless it has a valid one by now. */
  reject(index: number): void {
    if (index >= this.ids.length || this.#hiddenInstances.has(index) || this.#hasValidMatrix(index)) return;
    this.#hiddenInstances.add(index);
    this.place(index);
  }

  /** Hides the instances for which another worker has no valid matrix. */
  onRestore(): void {
    for (let i = 0; i < this.#placedCount; i++) this.reject(i);
  }

  /** Notes that a change is sent. */
  speak(): void {
    this.#firstQueryAfterChange = this.#context.objects.newestQuery + 1;
  }

  #hasValidMatrix(i: number): boolean {
    return isValidTransform(this.#object.matrixWorld.elements, 0) && isValidTransform(this.#sent.matrices, 16 * i);
  }
}
