import { concatenate } from '../../../shared/typed-arrays.js';
import type { ObjectId } from '../../../shared/types.js';
import type { SceneObject } from '../track/scene-objects.js';
import type { SceneWalk } from '../track/scene-walk.js';

/** Lists the ids of a target, by instance; none for objects that are not in the scene, or not built yet. */
export function idsOf(walk: SceneWalk, { object, instanceId }: SceneObject): ArrayLike<ObjectId> {
  const entry = walk.entryOf(object);
  if (entry === undefined) return [];
  if (instanceId === undefined) return entry.ids;
  return instanceId < entry.count ? [entry.idAt(instanceId)] : [];
}

/** Lists the ids of all targets. */
export function idsOfAll(walk: SceneWalk, targets: readonly SceneObject[]): Uint32Array {
  return concatenate(targets.map((target) => idsOf(walk, target)));
}
