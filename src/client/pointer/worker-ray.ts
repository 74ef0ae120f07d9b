import { type Intersection, type IntersectionOptions, ScreenRayIntersector } from '@pmndrs/pointer-events';
import type { Camera, Object3D, Raycaster, Intersection as ThreeIntersection, Vector2 } from 'three';
import type { SceneTracker } from '../three/scene-tracker.js';
import { isThrees } from './threes.js';

/** What is known of an event, for the rules that find whom it concerns. */
export interface Answer {
  /** It is seen in the view of this name; undefined for the tracker's own. */
  readonly view: string | undefined;
  /** That view's camera; null where there is none yet. */
  readonly eye: Camera | null;
  /** The same, as it stays while the answer is on its way. */
  readonly camera: Camera | null;
  /** Whether it is within the view's rectangle, outside of which nothing is hit. */
  readonly isInside: boolean;
  /** They go from -1 to 1, y up. */
  readonly x: number;
  readonly y: number;
  /** The worker's hits; null where it could not be asked. */
  readonly hits: readonly ThreeIntersection[] | null;
}

/**
 * Finds what a pointer on a screen means by the library's own rules, from what the worker has answered. Objects with a
 * `raycast` of their own, and what the worker does not have, are asked here.
 */
export class WorkerRay extends ScreenRayIntersector {
  readonly #tracker: SceneTracker;
  readonly #read: () => Answer;

  /** `read` answers what is known of the event that is looked at. */
  constructor(tracker: SceneTracker, read: () => Answer, options: IntersectionOptions) {
    super((_, coords: Vector2) => {
      const { camera, x, y } = read();
      coords.set(x, y);
      return camera ?? undefined;
    }, options);
    this.#tracker = tracker;
    this.#read = read;
  }

  override executeIntersection(object: Object3D, order: number | undefined): void {
    const raycast = (raycaster: Raycaster, found: ThreeIntersection[]): void => this.#collect(object, raycaster, found);
    super.executeIntersection({ raycast } as Object3D, order);
  }

  #collect(object: Object3D, raycaster: Raycaster, found: ThreeIntersection[]): void {
    const { camera, isInside, hits } = this.#read();
    if (camera === null || !isInside || (object.raycast as unknown) === null || !object.layers.test(camera.layers))
      return;
    if (hits !== null && isThrees(object) && this.#tracker.standingOf(object) !== 'no') {
      // The rules write on what they choose.
      for (const hit of hits) if (hit.object === object) found.push({ ...hit });
      return;
    }
    object.raycast(raycaster, found);
  }
}

/** Answers a camera that is seen through as another is now, and stays so. */
export function keptCamera(camera: Camera): Camera {
  const matrix = camera.matrixWorld.clone();
  return Object.create(camera, {
    parent: { value: null },
    matrixAutoUpdate: { value: false },
    matrix: { value: matrix },
    matrixWorld: { value: matrix.clone() },
    matrixWorldInverse: { value: camera.matrixWorldInverse.clone() },
    projectionMatrix: { value: camera.projectionMatrix.clone() },
    projectionMatrixInverse: { value: camera.projectionMatrixInverse.clone() },
  }) as Camera;
}

/** Tells whether something of the scene is hit, and not the void that stands for nothing. */
export function isSomething(intersection: Intersection | undefined): intersection is Intersection {
  return intersection !== undefined && intersection.object.isVoidObject !== true;
}
