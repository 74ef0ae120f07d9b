// How morph targets move the instances of an InstancedMesh, each by its own influences, in the form that the service takes.
import type { DataTexture, InstancedMesh } from 'three';
import type { ObjectId } from '../../../shared/types.js';
import type { CollisionService } from '../../service.js';
import type { BuiltMesh } from '../geometry/shared-mesh.js';
import { IndexSet } from './index-set.js';

const NO_INFLUENCES = new Float32Array(0);

/** The influences of instances as sent last. */
export class InstanceMorphs {
  /** Instances of which three draws nothing: their influences are not finite, or were never set, which draws a point. */
  readonly faults = new IndexSet();

  readonly #service: CollisionService;
  #texture: DataTexture | null = null;
  #version = -1;
  #mesh: BuiltMesh | null = null;
  /** How many instances have been sent, and their influences, contiguous. */
  #count = 0;
  #sent = NO_INFLUENCES;
  /** How many of them are still to be checked since the texture changed, from which index on, wrapping around at the end. */
  #remaining = 0;
  #next = 0;

  constructor(service: CollisionService) {
    this.#service = service;
  }

  /** Whether `send` has more to check. */
  get isBehind(): boolean {
    return this.#remaining > 0;
  }

  /** Notes that there are at most `count` instances: those that are added later are new. */
  keep(count: number): void {
    if (count >= this.#count) return;
    this.#count = count;
    this.#remaining = Math.min(this.#remaining, count);
    if (this.#next >= count) this.#next = 0;
    this.faults.deleteFrom(count);
  }

  /**
   * Sends the influences of the first `count` instances that have changed: three has them in a texture, whose version tells of
   * changes. New instances are sent at once, because they are added in blocks; of the others, at most `maxChecked` are
   * checked per call, so that all are sent in turn if the app changes all of them in every frame. Returns whether there was
   * anything to check.
   */
  send(
    instanced: InstancedMesh,
    mesh: BuiltMesh,
    count: number,
    maxChecked: number,
    idAt: (instanceId: number) => ObjectId,
  ): boolean {
    const texture = instanced.morphTexture;
    // The mesh with these targets, or without any, is still being built.
    if (texture === null || mesh.morphs === 0) return false;
    const { morphs } = mesh;
    if (mesh !== this.#mesh) {
      // What was sent for this mesh is unknown: NaN differs from every finite influence.
      this.#mesh = mesh;
      this.#sent = new Float32Array(this.#count * morphs).fill(Number.NaN);
      this.#remaining = this.#count;
    } else if (texture !== this.#texture || texture.version !== this.#version) {
      this.#remaining = this.#count;
    }
    this.#texture = texture;
    this.#version = texture.version;
    if (this.#remaining === 0 && count === this.#count) return false;
    if (this.#sent.length < count * morphs) {
      const sent = new Float32Array(Math.max(count * morphs, 2 * this.#sent.length));
      sent.set(this.#sent);
      this.#sent = sent;
    }
    const { data, width } = texture.image as { data: ArrayLike<number>; width: number };
    const checkInstance = (i: number, isNew: boolean): void => {
      const isChanged = this.#readInfluences(i, data, width, morphs);
      const isUnset = data[i * width] === 0 && !this.#influencesOf(i, morphs).some((influence) => influence !== 0);
      if (isChanged || isNew || isUnset !== this.faults.has(i)) this.#sendInstance(i, morphs, isUnset, idAt);
    };
    for (let checked = 0; checked < maxChecked && this.#remaining > 0; checked++) {
      checkInstance(this.#next, false);
      this.#remaining--;
      this.#next = this.#next + 1 === this.#count ? 0 : this.#next + 1;
    }
    for (let i = this.#count; i < count; i++) checkInstance(i, true);
    this.#count = count;
    return true;
  }

  /** Reads the influences of an instance; returns whether they have changed. */
  #readInfluences(instanceId: number, data: ArrayLike<number>, width: number, morphs: number): boolean {
    // A row begins with the influence of the base vertices.
    const row = instanceId * width + 1;
    let isChanged = false;
    for (let k = 0; k < morphs; k++) {
      const influence = k < width - 1 ? (data[row + k] ?? 0) : 0;
      const at = instanceId * morphs + k;
      if (Object.is(influence, this.#sent[at])) continue;
      this.#sent[at] = influence;
      isChanged = true;
    }
    return isChanged;
  }

  #sendInstance(instanceId: number, morphs: number, isUnset: boolean, idAt: (instance: number) => ObjectId): void {
    const influences = this.#influencesOf(instanceId, morphs);
    if (isUnset || !influences.every(Number.isFinite)) {
      this.faults.add(instanceId);
      return;
    }
    this.faults.delete(instanceId);
    this.#service.setPose(idAt(instanceId), { morphs: influences });
  }

  #influencesOf(instanceId: number, morphs: number): Float32Array {
    return this.#sent.subarray(instanceId * morphs, (instanceId + 1) * morphs);
  }
}
