import { VIEW_MATRIX, VIEW_PROJECTION, VIEW_VIEWPORT } from '../../shared/layout.js';
import type { Vec3, ViewOptions } from '../../shared/types.js';
import { checkPositive, invalid } from '../check/validate.js';
import { readView, type View } from '../frame/view-table.js';
import { pickRay } from './pick-ray.js';

/**
 * The farthest that any point of a view's frustum moves from one view to another, in world units: the `margin` with
 * which the objects that `before` sees hold all that `after` sees. What moves between the two itself must be added.
 *
 * ```ts
 * const margin = frustumMotion(viewNow, viewOfTheNextFrame) + farthestMotionOfAnObject;
 * service.setView({ ...viewNow, margin });
 * ```
 *
 * It is the largest displacement of the eight corners. (Each point is a weighted mean of them, and moves by the mean of
 * their displacements.) The far corners of a camera that turns move far. Where all that is drawn is nearer to the eye
 * than the far plane, `reach` says how near, and these corners count only up to there.
 *
 * Throws INVALID_ARGUMENT for a view whose far plane is at infinity, without a `reach`.
 */
export function frustumMotion(before: ViewOptions, after: ViewOptions, reach?: number): number {
  const operation = 'frustumMotion';
  if (reach !== undefined) checkPositive(operation, 'reach', reach);
  const from = cornersOf(readView(operation, before), reach);
  const to = cornersOf(readView(operation, after), reach);
  const motion = Math.max(...from.map((a, i) => Math.hypot(a[0] - to[i][0], a[1] - to[i][1], a[2] - to[i][2])));
  if (!Number.isFinite(motion)) invalid(operation, 'the motion', motion, 'views whose corners are finite');
  return motion;
}

function cornersOf(view: View, reach: number | undefined): Vec3[] {
  const left = view.floats[VIEW_VIEWPORT / 8];
  const top = view.floats[VIEW_VIEWPORT / 8 + 1];
  const width = view.floats[VIEW_VIEWPORT / 8 + 2];
  const height = view.floats[VIEW_VIEWPORT / 8 + 3];
  const p = view.floats.subarray(VIEW_PROJECTION / 8, VIEW_PROJECTION / 8 + 16);
  // World to the depth in front of the eye: a row of the view matrix.
  const m = view.floats.subarray(VIEW_MATRIX / 8, VIEW_MATRIX / 8 + 16);
  const unit = Math.hypot(m[2], m[6], m[10]);
  return [left, left + width].flatMap((x) =>
    [top, top + height].flatMap((y) => {
      const ray = pickRay(view, x, y);
      if (!ray) invalid('frustumMotion', 'projection', p, 'one whose near plane meets the edges of the picture');
      const { origin, direction, tMin = 0, tMax = 0 } = ray;
      const length = Math.hypot(direction[0], direction[1], direction[2]);
      const slope = -(m[2] * direction[0] + m[6] * direction[1] + m[10] * direction[2]) / (unit * length);
      const end = reach === undefined ? tMax : Math.min(tMax, reach / slope);
      if (end === Number.POSITIVE_INFINITY) {
        invalid('frustumMotion', 'reach', reach, 'how far from the eye anything is, as the far plane is at infinity');
      }
      return [tMin, end].map((t): Vec3 => {
        const s = t / length;
        return [origin[0] + s * direction[0], origin[1] + s * direction[1], origin[2] + s * direction[2]];
      });
    }),
  );
}
