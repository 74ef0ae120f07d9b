import type { ViewSize } from 'collision-worker/three';
import type { Camera, Intersection } from 'three';
import type { Outcome } from './outcome.js';

/** The camera that renders, and the camera that culls: they are the same, unless the view is frozen. */
export interface Viewer {
  camera: Camera;
  culler: Camera;
  size: ViewSize;
}

/** Does the collision work of the demo. */
export interface Engine {
  /** The latest results. */
  readonly outcome: Outcome;
  /** Does the work of a frame, or requests it. */
  step(viewer: Viewer): void;
  /** Picks at a pixel. `latest`: a newer pick may answer it. */
  pick(x: number, y: number, latest: boolean): Promise<Intersection | null>;
}
