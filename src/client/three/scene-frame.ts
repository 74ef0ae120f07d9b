import type { InstancedMesh } from 'three';
import { CollisionError } from '../../shared/errors.js';
import type { FrameResult, VisibleSet } from '../../shared/types.js';
import type { SceneObject, SceneObjects } from './scene-objects.js';

/**
 * A frame's result in terms of the scene. Nothing is copied or made for it: ids are looked up as you walk. Like
 * `result`, it is valid until the next `update()` resolves. Objects that left the scene meanwhile, and those that
 * others added to the service, are passed over.
 */
export class SceneFrame {
  /** As the service gave it. */
  readonly result: FrameResult;
  readonly #objects: SceneObjects;
  readonly #view: string;

  constructor(result: FrameResult, objects: SceneObjects, view: string) {
    this.result = result;
    this.#objects = objects;
    this.#view = view;
  }

  get frame(): number {
    return this.result.frame;
  }

  /** Calls `visit` for all that a view (default: the tracked camera) sees: first what is wholly `inside`, then what crosses its border. */
  forEachVisible(visit: (seen: SceneObject, inside: boolean) => void, view = this.#view): void {
    const { ids, inside } = this.#seenBy(view);
    for (let i = 0; i < ids.length; i++) {
      const seen = this.#objects.get(ids[i]);
      if (seen !== undefined) visit(seen, i < inside);
    }
  }

  /**
   * Writes the numbers of the instances of `mesh` that a view sees into `target`, and answers how many they are:
   * a draw list. `target` must have room for all instances.
   */
  visibleInstances(mesh: InstancedMesh, target: Uint32Array, view = this.#view): number {
    const { ids } = this.#seenBy(view);
    let count = 0;
    for (let i = 0; i < ids.length; i++) {
      const seen = this.#objects.get(ids[i]);
      if (seen?.object === mesh) target[count++] = seen.instanceId!;
    }
    return count;
  }

  /** Calls `visit` for all pairs in contact; `index` is the pair's place in `result.contacts`. */
  forEachContact(visit: (a: SceneObject, b: SceneObject, index: number) => void): void {
    const { a, b, count } = this.result.contacts;
    for (let i = 0; i < count; i++) {
      const first = this.#objects.get(a[i]);
      const second = this.#objects.get(b[i]);
      if (first !== undefined && second !== undefined) visit(first, second, i);
    }
  }

  #seenBy(view: string): VisibleSet {
    const set = this.result.views.get(view);
    if (set === undefined) {
      const names = [...this.result.views.keys()].join(', ');
      throw new CollisionError('INVALID_ARGUMENT', `SceneFrame: view is "${view}", expected one of ${names}`);
    }
    return set;
  }
}
