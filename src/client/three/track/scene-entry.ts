import type { Object3D } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { ObjectId } from '../../../shared/types.js';
import type { Updatable } from './stand-in.js';

/** What the tracker knows of one object that three draws. */
export interface SceneEntry extends Updatable {
  readonly object: Object3D;
  /** These are the ids that it has in public, by instance. */
  readonly ids: Uint32Array;
  readonly pending: boolean;
  /** It says why the object is not in the service. */
  readonly error: CollisionError | null;
  /** It is promised not to move, or nothing is done for it. */
  readonly isStatic: boolean;
  /** Does `update` where nothing but the visibility of its ancestors is another. */
  show(visible: boolean): void;
  /** Tells whether `update` is to look at it now that it is its turn. */
  isDue(): boolean;
  /** Is about to go: it need not be looked at in every frame any more, before `update` is called again. */
  leave(): void;
  /** Hides what another worker knows no place of. */
  onRestore(): void;
  /** Asks the caller's functions again, for the next `update`. Throws what they throw. */
  askAgain(): void;
  /** Answers the id of an instance that it has. */
  idAt(instance: number): ObjectId;
  /** Removes it from the service, or as much of it as goes at once; tells whether all of it is gone. */
  remove(): boolean;
}
