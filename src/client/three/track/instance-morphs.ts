// How morph targets move the instances of an InstancedMesh, each by its own influences, in the form that the service takes.
import type { DataTexture, InstancedMesh } from 'three';
import type { ObjectId } from '../../../shared/types.js';
import type { CollisionService } from '../../service.js';
import type { BuiltMesh } from '../geometry/shared-mesh.js';
import { IndexSet } from './index-set.js';

const NOTHING = new Float32Array(0);

/** The influences of instances as sent last. */
export class InstanceMorphs {
  /** Instances of which three draws nothing: their influences are not finite, or were never set, which draws a point. */
  readonly faults = new IndexSet();

  readonly #service: CollisionService;
  #texture: DataTexture | null = null;
  #version = -1;
  #standing: BuiltMesh | null = null;
  /** How many instances have been sent, and their influences, contiguous. */
  #count = 0;
  #sent = NOTHING;
  /** How many of them are still to be checked since the texture changed, from which index on, wrapping around at the end. */
  #left = 0;
  #next = 0;

  constructor(service: CollisionService) {
    this.#service = service;
  }

  /** Whether `send` has more to check. */
  get isBehind(): boolean {
    return this.#left > 0;
  }

  /** Notes that there are at most `count` instances: those that are added later are new. */
  keep(count: number): void {
    if (count >= this.#count) return;
    this.#count = count;
    this.#left = Math.min(this.#left, count);
    if (this.#next >= count) this.#next = 0;
    this.faults.deleteFrom(count);
  }

  /**
   * Sends the influences of the first `count` instances that have changed: three has them in a texture, whose version tells of
   * changes. New instances are sent at once, because they are added in blocks; of the others, at most `most` are checked per
   * call, so that all are sent in turn if the app changes all of them in every frame. Returns whether there was anything to
   * check.
   */
  send(
    instanced: InstancedMesh,
    standing: BuiltMesh,
    count: number,
    most: number,
    idAt: (instance: number) => ObjectId,
  ): boolean {
    const texture = instanced.morphTexture;
    // The mesh with these targets, or without any, is still being built.
    if (texture === null || standing.morphs === 0) return false;
    const { morphs } = standing;
    if (standing !== this.#standing) {
      // What was sent for this mesh is unknown: NaN differs from every finite influence.
      this.#standing = standing;
      this.#sent = new Float32Array(this.#count * morphs).fill(Number.NaN);
      this.#left = this.#count;
    } else if (texture !== this.#texture || texture.version !== this.#version) {
      this.#left = this.#count;
    }
    this.#texture = texture;
    this.#version = texture.version;
    if (this.#left === 0 && count === this.#count) return false;
    if (this.#sent.length < count * morphs) {
      const sent = new Float32Array(Math.max(count * morphs, 2 * this.#sent.length));
      sent.set(this.#sent);
      this.#sent = sent;
    }
    const { data, width } = texture.image as { data: ArrayLike<number>; width: number };
    const look = (i: number, isNew: boolean): void => {
      const isOther = this.#read(i, data, width, morphs);
      const isNothing = data[i * width] === 0 && !this.#influencesOf(i, morphs).some((influence) => influence !== 0);
      if (isOther || isNew || isNothing !== this.faults.has(i)) this.#sendOne(i, morphs, isNothing, idAt);
    };
    for (let done = 0; done < most && this.#left > 0; done++) {
      look(this.#next, false);
      this.#left--;
      this.#next = this.#next + 1 === this.#count ? 0 : this.#next + 1;
    }
    for (let i = this.#count; i < count; i++) look(i, true);
    this.#count = count;
    return true;
  }

  /** Reads the influences of an instance; returns whether they have changed. */
  #read(instance: number, data: ArrayLike<number>, width: number, morphs: number): boolean {
    // A row begins with the influence of the base vertices.
    const row = instance * width + 1;
    let isOther = false;
    for (let k = 0; k < morphs; k++) {
      const influence = k < width - 1 ? (data[row + k] ?? 0) : 0;
      const at = instance * morphs + k;
      if (Object.is(influence, this.#sent[at])) continue;
      this.#sent[at] = influence;
      isOther = true;
    }
    return isOther;
  }

  #sendOne(instance: number, morphs: number, isNothing: boolean, idAt: (instance: number) => ObjectId): void {
    const influences = this.#influencesOf(instance, morphs);
    if (isNothing || !influences.every(Number.isFinite)) {
      this.faults.add(instance);
      return;
    }
    this.faults.delete(instance);
    this.#service.setPose(idAt(instance), { morphs: influences });
  }

  #influencesOf(instance: number, morphs: number): Float32Array {
    return this.#sent.subarray(instance * morphs, (instance + 1) * morphs);
  }
}
