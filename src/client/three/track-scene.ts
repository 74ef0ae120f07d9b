import type { Object3D } from 'three';
import { guardRead, throwInvalid } from '../check/validate.js';
import type { CollisionService } from '../service.js';
import { isObject } from './scene-target.js';
import { SceneTracker } from './scene-tracker.js';
import { readTrackOptions, type TrackOptions } from './track-options.js';

/**
 * Tracks what three draws under `root`, including objects that are added later: builds their meshes, and resolves when the
 * service has them. From then on, one `update` per frame keeps the service in step.
 *
 * ```ts
 * const tracker = await trackScene(service, scene);
 * renderer.setAnimationLoop(() => {
 *   renderer.render(scene, camera);
 *   tracker.update(camera, { width: innerWidth, height: innerHeight }).catch(console.error);
 * });
 * ```
 */
export async function trackScene(
  service: CollisionService,
  root: Object3D,
  options: TrackOptions = {},
): Promise<SceneTracker> {
  const operation = 'trackScene';
  const given = readTrackOptions(operation, options);
  guardRead(operation, 'the arguments', () => {
    if (typeof service?.addMesh !== 'function') throwInvalid(operation, 'service', service, 'a CollisionService');
    if (!isObject(root)) throwInvalid(operation, 'root', root, 'an Object3D of three');
  });
  return SceneTracker.track(service, root, given);
}
