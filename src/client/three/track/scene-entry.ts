import type { Object3D } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { ObjectId } from '../../../shared/types.js';
import type { Updatable } from './stand-in.js';

/** What the tracker knows of one object that three draws. */
export interface SceneEntry extends Updatable {
  readonly object: Object3D;
  /** Its public ids, by instance. */
  readonly ids: Uint32Array;
  readonly pending: boolean;
  /** Why the object is not in the service. */
  readonly error: CollisionError | null;
  /** Whether the caller promises that it does not move, or nothing is done for it. */
  readonly isStatic: boolean;
  /** Does what `update` does if only the visibility of its ancestors has changed. */
  show(visible: boolean): void;
  /** Returns whether `update` should check it, now that its turn has come. */
  isDue(): boolean;
  /** Called when it is about to be removed: it need not be checked in every frame, unless `update` is called again. */
  leave(): void;
  /** Hides the instances for which another worker has no valid matrix. */
  onRestore(): void;
  /** Calls the caller's functions again, for the next `update`. Throws what they throw. */
  askAgain(): void;
  /** Returns the id of an existing instance. */
  idAt(instanceId: number): ObjectId;
  /** Removes it from the service, or as much of it as can be removed at once; returns whether all of it is removed. */
  remove(): boolean;
}
