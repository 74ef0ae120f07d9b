import type { Mesh, Object3D } from 'three';
import type { Shape } from '../../shared/types.js';
import { checkBoolean, invalid, reading, readOptions } from '../check/validate.js';
import { checkSignal } from '../link/abort.js';
import type { CollisionService } from '../service.js';
import { SceneTracker } from './scene-tracker.js';
import type { SceneObjectOptions } from './track/tracked-object.js';

const KEYS = ['onProgress', 'signal', 'view', 'updateMatrixWorld', 'shapeOf', 'objectOptions'];

export interface TrackOptions {
  /** Called while the meshes are built, with the done part of them all, rising from 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** Aborting before the promise resolves rejects it with ABORTED and leaves nothing behind. */
  signal?: AbortSignal;
  /** Name of the view that `update` sets from its camera. Default 'main'. */
  view?: string;
  /**
   * Whether `update` brings the world matrices below the root up to date, as three's renderers do when they draw.
   * Default true. False saves the time where the caller did so just before.
   */
  updateMatrixWorld?: boolean;
  /** A shape to stand for an object instead of its triangles. Asked again when its geometry is replaced. */
  shapeOf?: (object: Mesh) => Shape | undefined;
  /** What the service shall know of an object beyond what the scene says. Asked once per object. */
  objectOptions?: (object: Mesh) => SceneObjectOptions | undefined;
}

/**
 * Tracks the Meshes and InstancedMeshes under `root`, those that are added later included: builds their meshes,
 * and resolves when they stand in the service. Then `update` once a frame keeps the service in step.
 *
 * ```ts
 * const tracker = await trackScene(service, scene);
 * renderer.setAnimationLoop(() => {
 *   renderer.render(scene, camera);
 *   tracker.update(camera, { width: innerWidth, height: innerHeight });
 * });
 * ```
 */
export async function trackScene(
  service: CollisionService,
  root: Object3D,
  options: TrackOptions = {},
): Promise<SceneTracker> {
  const operation = 'trackScene';
  const given = readOptions(operation, 'options', options, KEYS);
  const { onProgress, shapeOf, objectOptions, signal, view = 'main', updateMatrixWorld = true } = given;
  for (const [name, value] of Object.entries({ onProgress, shapeOf, objectOptions })) {
    if (value !== undefined && typeof value !== 'function') invalid(operation, name, value, 'a function');
  }
  checkSignal(operation, signal);
  checkBoolean(operation, 'updateMatrixWorld', updateMatrixWorld);
  if (typeof view !== 'string' || view === '') invalid(operation, 'view', view, 'a name');
  reading(operation, 'the arguments', () => {
    if (typeof service?.addMesh !== 'function') invalid(operation, 'service', service, 'a CollisionService');
    if (root?.isObject3D !== true) invalid(operation, 'root', root, 'an Object3D of three');
  });
  return SceneTracker.track(service, root, given);
}
