import type { Object3D } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { ObjectId } from '../../../shared/types.js';
import type { SceneEntry } from './scene-entry.js';

const NO_IDS = new Uint32Array(0);

/**
 * A drawn object that is not tracked: the caller's functions failed, or it cannot be read, in which case it is tried again in
 * turn.
 */
export class UntrackedObject implements SceneEntry {
  readonly object: Object3D;
  readonly count = 0;
  readonly ids = NO_IDS;
  readonly pending = false;
  readonly error: CollisionError;
  readonly isStatic = true;
  readonly #isUnreadable: boolean;

  constructor(object: Object3D, error: CollisionError, isUnreadable: boolean) {
    this.object = object;
    this.error = error;
    this.#isUnreadable = isUnreadable;
  }

  update(): void {}

  show(): void {}

  isDue(): boolean {
    return this.#isUnreadable;
  }

  leave(): void {}

  onRestore(): void {}

  askAgain(): void {}

  idAt(): ObjectId {
    return 0;
  }

  remove(): boolean {
    return true;
  }
}
