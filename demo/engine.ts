import type { ViewSize } from 'collision-worker/three';
import type { Camera, Intersection } from 'three';
import type { Outcome } from './outcome.js';

/** Who looks, and who decides what is drawn: the same camera, unless that one is frozen. */
export interface Viewer {
  camera: Camera;
  culler: Camera;
  size: ViewSize;
}

/** Does the collision work of the demo. */
export interface Engine {
  /** The newest answers. */
  readonly outcome: Outcome;
  /** Does the work of a frame, or has it done. */
  step(viewer: Viewer): void;
  /** What lies under a pixel. `latest`: a newer pick may answer it. */
  pick(x: number, y: number, latest: boolean): Promise<Intersection | null>;
}
