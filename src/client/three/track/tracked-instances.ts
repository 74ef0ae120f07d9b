import type { InstancedMesh } from 'three';
import { isAffine } from '../../check/affine.js';
import { tryMultiplyAffine } from '../../transforms/affine.js';
import { drawnCountOf, nextCount } from './instance-count.js';
import { InstanceMorphs } from './instance-morphs.js';
import type { ObjectSettings } from './object-settings.js';
import { sendBlocks } from './send-blocks.js';
import { SentMatrices } from './sent-matrices.js';
import { MAX_BLOCK_SIZE, type StandIn, type TrackerContext } from './stand-in.js';
import { TrackedObject } from './tracked-object.js';

/** Instances whose influences are checked in one go: 1 to 2 ms if all of them have changed. */
const MAX_MORPHED = 2048;

/** Scratch memory of one function. */
const PRODUCT = new Float64Array(12);

/**
 * An InstancedMesh in the service: an object with an id for each of its instances, which are added and removed in slices, in
 * blocks.
 */
export class TrackedInstances extends TrackedObject {
  readonly #context: TrackerContext;
  readonly #instanced: InstancedMesh;
  readonly #sent = new SentMatrices();
  /** How morph targets move its instances; null if none do. */
  #morphs: InstanceMorphs | null = null;
  /** How many instances there should be by now. */
  #expectedCount = 0;
  /** Whether more instances are to be added, or removed, in the next slices. */
  #isResizing = false;
  /** Instances from this number on are to be removed, and are in no layer until then. */
  #firstConcealed = Number.POSITIVE_INFINITY;

  /** Throws what the caller's functions throw. */
  constructor(context: TrackerContext, object: InstancedMesh, settings: ObjectSettings) {
    super(context, object, settings, object);
    this.#context = context;
    this.#instanced = object;
  }

  override get pending(): boolean {
    return this.#isResizing || super.pending;
  }

  override get isInstanced(): boolean {
    return true;
  }

  override wasSeenAsItIs(update: number, layers: number): boolean {
    if (!this.wasSeen(update, layers) || this.count !== drawnCountOf(this.#instanced)) return false;
    return this.#areSent() && this.#sent.areBelow(this.#instanced.matrixWorld.elements);
  }

  override wasSeenInShape(): boolean {
    return false;
  }

  /** Returns whether the matrices of its instances are those that were sent last. */
  #areSent(): boolean {
    const { instanceMatrix } = this.#instanced;
    return this.#sent.areThose(instanceMatrix, instanceMatrix.version, instanceMatrix.array);
  }

  override onRestore(): void {
    for (let i = 0; i < this.placed; i++) if (!this.isHidden(i) && !this.isPlaceable(i)) this.hide(i);
  }

  override remove(): boolean {
    if (this.count > MAX_BLOCK_SIZE) this.#conceal(0);
    return super.remove();
  }

  protected override nextCount(): number {
    const drawnCount = drawnCountOf(this.#instanced);
    const { service, objects, isInSlice } = this.#context;
    this.#expectedCount = nextCount(this.count, drawnCount, isInSlice);
    // Many are added in slices: without room for all, each growth of the tables would copy all that is in them.
    if (this.#expectedCount - this.count >= MAX_BLOCK_SIZE)
      objects.reserve(service.reserveObjects(drawnCount - this.count));
    return this.#expectedCount;
  }

  protected override pose(isRigid: boolean): void {
    this.#context.instanced.add(this);
    if (!isRigid) {
      this.#morphs ??= new InstanceMorphs(this.#context.service);
      return;
    }
    if (this.#morphs !== null) this.#sent.forget(); // instances that it hid are checked again
    this.#morphs = null;
  }

  protected override send(): void {
    this.#sendMatrices();
    if (this.#morphs !== null) this.#sendMorphs(this.#morphs);
    const drawnCount = drawnCountOf(this.#instanced);
    this.#isResizing = this.count > 0 && drawnCount !== this.#expectedCount;
    if (this.#isResizing) this.#context.stale.add(this);
    this.#conceal(drawnCount < this.count ? drawnCount : Number.POSITIVE_INFINITY);
  }

  /** Sends the matrices if they have changed. */
  #sendMatrices(): void {
    const { instanceMatrix, matrixWorld } = this.#instanced;
    const { elements } = matrixWorld;
    const { array, version } = instanceMatrix;
    const sent = this.#sent;
    const isSame = this.#areSent();
    // If nothing else is new, only those of added instances are sent.
    const first = isSame && sent.areBelow(elements) ? this.placed : 0;
    if (first > 0 && first === this.#expectedCount) return;
    const hasSameLength = isSame && sent.matrices.length === 16 * this.#expectedCount;
    const sentArray = hasSameLength ? sent.matrices : (array as Float32Array).subarray(0, 16 * this.#expectedCount);
    sent.note(instanceMatrix, version, sentArray, elements);
    const { placed } = this;
    this.speak();
    this.review();
    const { blocks } = this.standIn ?? NO_STAND_IN;
    const matricesByBlock = sent.blocks.of(array as Float32Array, blocks);
    const hasInvalid = this.isHidden(placed, this.#expectedCount);
    sendBlocks(this.#context.service, blocks, matricesByBlock, elements, first, placed, hasInvalid);
  }

  #sendMorphs(morphs: InstanceMorphs): void {
    const builtMesh = this.standIn?.standing ?? null;
    morphs.keep(this.count);
    if (builtMesh === null || this.layers === 0) return;
    if (morphs.send(this.#instanced, builtMesh, this.count, MAX_MORPHED, (i) => this.idAt(i)))
      this.#reviewMorphs(morphs);
    if (morphs.isBehind) this.#context.stale.add(this);
  }

  /** Hides instances that have no valid influences any more, and shows those that have them again. */
  #reviewMorphs({ faults }: InstanceMorphs): void {
    faults.forEach(0, this.#expectedCount, (i) => {
      if (!this.isHidden(i)) this.hide(i);
    });
    this.review();
  }

  protected override isPlaceable(index: number): boolean {
    if (this.#morphs?.faults.has(index) === true) return false;
    const { elements } = this.#instanced.matrixWorld;
    return isAffine(elements, 0) && tryMultiplyAffine(PRODUCT, 0, elements, this.#sent.matrices, 16 * index);
  }

  /**
   * Puts all instances from a number on into no layer, because they are to be removed, and shows those again that are to stay.
   */
  #conceal(first: number): void {
    const previous = this.#firstConcealed;
    this.#firstConcealed = first;
    if (this.layers === 0) return;
    if (first < previous) this.#setLayersBetween(first, previous, 0);
    else if (first > previous) this.#setLayersBetween(previous, first, this.layers);
  }

  protected override setAllLayers(layers: number): void {
    this.#setLayersBetween(0, this.#firstConcealed, layers);
  }

  /** Puts all instances of [first, end) that are not hidden into layers. */
  #setLayersBetween(first: number, end: number, layers: number): void {
    this.speak();
    const { blocks } = this.standIn ?? NO_STAND_IN;
    const changes = this.#context.layers;
    let begin = 0;
    for (const ids of blocks) {
      const [from, to] = [Math.max(0, first - begin), Math.min(ids.length, end - begin)];
      if (from < to && !this.isHidden(begin + from, begin + to)) changes.setAll(ids.subarray(from, to), layers);
      else for (let i = from; i < to; i++) if (!this.isHidden(begin + i)) changes.set(ids[i], layers);
      begin += ids.length;
    }
  }

  protected override setLayersOf(index: number, layers: number): void {
    if (index < this.#firstConcealed) super.setLayersOf(index, layers);
  }
}

const NO_STAND_IN: Pick<StandIn, 'blocks'> = { blocks: [] };
