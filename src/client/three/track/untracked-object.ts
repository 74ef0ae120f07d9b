import type { Object3D } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { ObjectId } from '../../../shared/types.js';
import type { SceneEntry } from './scene-entry.js';

const NO_IDS = new Uint32Array(0);

/** It is drawn, but is not tracked, as the caller's functions failed. */
export class UntrackedObject implements SceneEntry {
  readonly object: Object3D;
  readonly count = 0;
  readonly ids = NO_IDS;
  readonly pending = false;
  readonly error: CollisionError;
  readonly isStatic = true;

  constructor(object: Object3D, error: CollisionError) {
    this.object = object;
    this.error = error;
  }

  update(): void {}

  show(): void {}

  isDue(): boolean {
    return false;
  }

  onRestore(): void {}

  askAgain(): void {}

  idAt(): ObjectId {
    return 0;
  }

  remove(): boolean {
    return true;
  }
}
