import { type Intersection, type IntersectionOptions, ScreenRayIntersector } from '@pmndrs/pointer-events';
import type { Camera, Object3D, Raycaster, Intersection as ThreeIntersection, Vector2 } from 'three';
import type { SceneTracker } from '../three/scene-tracker.js';
import { isRaycastByThree } from './raycast-by-three.js';

/** What is known of an event, for the rules that find its target. */
export interface Answer {
  /** Name of the view in which it is seen; undefined for the tracker's own. */
  readonly view: string | undefined;
  /** That view's camera; null if there is none yet. */
  readonly eye: Camera | null;
  /** A copy of the camera that stays as it was while the answer is on its way. */
  readonly camera: Camera | null;
  /** Whether it is within the view's rectangle, outside of which nothing is hit. */
  readonly isInside: boolean;
  /** From -1 to 1, y up. */
  readonly x: number;
  readonly y: number;
  /** The worker's hits by object; null if it could not be asked. */
  readonly hits: ReadonlyMap<Object3D, readonly ThreeIntersection[]> | null;
}

/**
 * Finds the target of a pointer on a screen by the library's own rules, from the worker's answer. Objects with a `raycast` of
 * their own, and those that the worker does not have, are tested here.
 */
export class WorkerRay extends ScreenRayIntersector {
  readonly #tracker: SceneTracker;
  readonly #readAnswer: () => Answer;

  /** `readAnswer` returns what is known of the event that is being handled. */
  constructor(tracker: SceneTracker, readAnswer: () => Answer, options: IntersectionOptions) {
    super((_, coords: Vector2) => {
      const { camera, x, y } = readAnswer();
      coords.set(x, y);
      return camera ?? undefined;
    }, options);
    this.#tracker = tracker;
    this.#readAnswer = readAnswer;
  }

  override executeIntersection(object: Object3D, order: number | undefined): void {
    const raycast = (raycaster: Raycaster, intersections: ThreeIntersection[]): void =>
      this.#collect(object, raycaster, intersections);
    super.executeIntersection({ raycast } as Object3D, order);
  }

  #collect(object: Object3D, raycaster: Raycaster, intersections: ThreeIntersection[]): void {
    const { camera, isInside, hits } = this.#readAnswer();
    if (camera === null || !isInside || (object.raycast as unknown) === null || !object.layers.test(camera.layers))
      return;
    if (hits !== null && isRaycastByThree(object) && this.#tracker.standingOf(object) !== 'no') {
      // The rules write to the hits that they choose.
      for (const hit of hits.get(object) ?? []) intersections.push({ ...hit });
      return;
    }
    object.raycast(raycaster, intersections);
  }
}

/** Returns a camera with the present matrices of another, which does not change afterwards. */
export function cameraSnapshot(camera: Camera): Camera {
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

/** Returns whether an object of the scene is hit, and not the void object that represents nothing. */
export function isObjectHit(intersection: Intersection | undefined): intersection is Intersection {
  return intersection !== undefined && intersection.object.isVoidObject !== true;
}
