import type { ContactSet } from './contact.js';
import type { VisibleSet } from './view.js';

/**
 * The parts of the worker's time for a frame, in milliseconds. The time for queries that are answered between the slices of
 * its contacts is not counted.
 */
export interface FrameTimes {
  /** The sum of `update`, `cull`, `contacts` and `answer`. */
  total: number;
  /** Applying views and transforms, and updating the index. */
  update: number;
  /** Finding what the views see. */
  cull: number;
  /** The part of `cull` that finds objects that nearer ones hide. */
  occlusion: number;
  /** The sum of `broadPhase` and `narrowPhase`. */
  contacts: number;
  /** Finding the pairs whose bounds overlap. */
  broadPhase: number;
  /** Testing these pairs; without a budget, pairs without a mesh are counted in the broad phase. */
  narrowPhase: number;
  /** Writing the answer. */
  answer: number;
  /** Adding, changing and removing objects before the frame; not in `total`. */
  commands: number;
}

/** Its typed arrays are views on a recycled buffer: valid until the next update() resolves; `copy()` keeps them. */
export interface FrameResult {
  /** The number of the frame, from 1 on. */
  frame: number;
  /** What the view 'main' sees; empty if there is no such view. */
  visible: VisibleSet;
  /** What each view sees, by its name. */
  views: ReadonlyMap<string, VisibleSet>;
  contacts: ContactSet;
  /**
   * Objects whose new transform was not affine (in `setTransforms`), not finite or not invertible; they keep the old one.
   * If several transforms of an object wait for the worker, only the newest is checked.
   */
  rejected: Uint32Array;
  /** The worker's time. */
  ms: FrameTimes;
  /** Returns a copy in a buffer of its own. Throws DISPOSED once this one's buffer was recycled. */
  copy(): FrameResult;
}
