import type { ObjectId } from '../../../shared/types.js';
import type { SceneObject } from '../track/scene-objects.js';
import type { SceneWalk } from '../track/scene-walk.js';

/**
 * Lists all ids under which queries may see a target, those of its faces, too; none of what is not in the scene, or
 * not built yet.
 */
export function allIdsOf(walk: SceneWalk, { object, instanceId }: SceneObject): ObjectId[] {
  const found: ObjectId[] = [];
  for (const { ids } of walk.entryOf(object)?.standIns ?? []) {
    if (instanceId === undefined) for (const id of ids) found.push(id);
    else if (instanceId < ids.length) found.push(ids[instanceId]);
  }
  return found;
}

/** Lists the ids that a target has in public, by instance; none of what is not in the scene, or not built yet. */
export function publicIdsOf(walk: SceneWalk, { object, instanceId }: SceneObject): ArrayLike<ObjectId> {
  const ids = walk.entryOf(object)?.ids ?? [];
  if (instanceId === undefined) return ids;
  return instanceId < ids.length ? [ids[instanceId]] : [];
}

/** Counts all ids that the scene has in the service. */
export function countIds(walk: SceneWalk): number {
  let count = 0;
  for (const { standIns } of walk.entries) for (const { ids } of standIns) count += ids.length;
  return count;
}
