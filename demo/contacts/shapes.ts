import type { Shape } from 'collision-worker';
import type { SceneDrawable } from 'collision-worker/three';
import { closedForm } from '../closed-form.js';
import { CRATE } from './work-cell.js';

/** Fingers and the crate with all its beams have closed forms, and are tested as these instead of triangle by triangle. */
export function shapeOf(object: SceneDrawable): Shape | undefined {
  if (object.name === 'crate') return { type: 'box', halfExtents: [CRATE / 2, CRATE / 2, CRATE / 2] };
  return closedForm(object);
}
