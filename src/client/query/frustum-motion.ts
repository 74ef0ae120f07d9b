import { VIEW_MATRIX, VIEW_PROJECTION, VIEW_VIEWPORT } from '../../shared/layout.js';
import type { ViewOptions } from '../../shared/types.js';
import { checkPositive, throwInvalid } from '../check/validate.js';
import { readView, type View } from '../frame/view-table.js';
import { pickRay } from './pick-ray.js';

/**
 * Computes the farthest that any point of a view's frustum moves from one view to another, in world units: with this
 * `margin`, `before` sees all the objects that `after` sees. The motion of the objects themselves must be added.
 *
 * ```ts
 * const margin = frustumMotion(viewNow, viewOfTheNextFrame) + farthestMotionOfAnObject;
 * service.setView({ ...viewNow, margin });
 * ```
 *
 * It is the largest displacement of the eight corners. (Each point is a weighted mean of them, and moves by the mean of
 * their displacements.) The far corners of a camera that turns move far. If everything that is drawn is nearer to the eye
 * than the far plane, `reach` limits how far from the eye these corners count. The motion is 0 if one of the views
 * has no pixels: that view sees nothing.
 *
 * Throws INVALID_ARGUMENT for a view whose far plane is at infinity, without a `reach`.
 */
export function frustumMotion(before: ViewOptions, after: ViewOptions, reach?: number): number {
  if (reach !== undefined) checkPositive('frustumMotion', 'reach', reach);
  return motionBetween(frustumCornersOf(before), frustumCornersOf(after), reach);
}

/** Computes the corners of a view's frustum once: an adapter asks about each view twice, and keeps it meanwhile. */
export class FrustumCorners {
  readonly #view: View;
  #corners: Float64Array | null = null;

  constructor(view: View) {
    this.#view = view;
  }

  /** Whether the view has no pixels. */
  get isEmpty(): boolean {
    return this.#view.isEmpty;
  }

  /** Returns x, y and z of each, the far ones no farther than a reach. Throws INVALID_ARGUMENT if a corner is at infinity. */
  within(reach: number | undefined): Float64Array {
    if (reach !== undefined) return computeCorners(this.#view, reach);
    this.#corners ??= computeCorners(this.#view, undefined);
    return this.#corners;
  }
}

/** Returns the corners of a view's frustum. Throws INVALID_ARGUMENT for an invalid view. */
export function frustumCornersOf(options: ViewOptions): FrustumCorners {
  return new FrustumCorners(readView('frustumMotion', options));
}

/** Computes the result of `frustumMotion` from the corners. */
export function motionBetween(from: FrustumCorners, to: FrustumCorners, reach?: number): number {
  if (from.isEmpty || to.isEmpty) return 0;
  const motion = maxDistance(from.within(reach), to.within(reach));
  if (!Number.isFinite(motion)) throwInvalid('frustumMotion', 'the motion', motion, 'views whose corners are finite');
  return motion;
}

/** Returns the greatest distance between two points with the same index. */
function maxDistance(a: Float64Array, b: Float64Array): number {
  let max = 0;
  for (let i = 0; i < a.length; i += 3) {
    max = Math.max(max, Math.hypot(a[i] - b[i], a[i + 1] - b[i + 1], a[i + 2] - b[i + 2]));
  }
  return max;
}

/** Returns the eight corners of a view's frustum, x, y and z of each. */
function computeCorners(view: View, reach: number | undefined): Float64Array {
  const { floats } = view;
  const left = floats[VIEW_VIEWPORT / 8];
  const top = floats[VIEW_VIEWPORT / 8 + 1];
  const width = floats[VIEW_VIEWPORT / 8 + 2];
  const height = floats[VIEW_VIEWPORT / 8 + 3];
  // Maps the world to the depth in front of the eye: a row of the view matrix.
  const mx = floats[VIEW_MATRIX / 8 + 2];
  const my = floats[VIEW_MATRIX / 8 + 6];
  const mz = floats[VIEW_MATRIX / 8 + 10];
  const rowLength = Math.hypot(mx, my, mz);
  const corners = new Float64Array(24);
  let at = 0;
  for (let edge = 0; edge < 4; edge++) {
    const ray = pickRay(view, edge < 2 ? left : left + width, edge % 2 === 0 ? top : top + height);
    if (!ray) {
      const projection = floats.subarray(VIEW_PROJECTION / 8, VIEW_PROJECTION / 8 + 16);
      throwInvalid('frustumMotion', 'projection', projection, 'one whose near plane meets the edges of the picture');
    }
    const { origin, direction, tMin = 0, tMax = 0 } = ray;
    const length = Math.hypot(direction[0], direction[1], direction[2]);
    const slope = -(mx * direction[0] + my * direction[1] + mz * direction[2]) / (rowLength * length);
    const tEnd = reach === undefined ? tMax : Math.min(tMax, reach / slope);
    if (tEnd === Number.POSITIVE_INFINITY) {
      throwInvalid(
        'frustumMotion',
        'reach',
        reach,
        'how far from the eye anything is, as the far plane is at infinity',
      );
    }
    for (let k = 0; k < 3; k++) {
      corners[at + k] = origin[k] + (tMin / length) * direction[k];
      corners[at + 3 + k] = origin[k] + (tEnd / length) * direction[k];
    }
    at += 6;
  }
  return corners;
}
