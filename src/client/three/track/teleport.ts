import { type BatchedMesh, type InstancedMesh, Matrix4, type Mesh, type Object3D } from 'three';
import type { CollisionService } from '../../service.js';
import { readBatchMatrix } from './batch-contents.js';
import { isPlace } from './is-place.js';
import type { SceneEntry } from './scene-entry.js';

type Entry = SceneEntry & { readonly drawn?: Mesh };

const instance = new Matrix4();

/** Puts an object's ids in the service to where three has the object, so that nothing lies between the old and the new place. */
export function teleport(service: CollisionService, object: Object3D, entry: Entry | undefined): void {
  bindAgain(object);
  if (entry?.object !== object) return; // it is not represented itself, or is a level of a LOD
  const isMany = 'getMatrixAt' in object;
  const { ids, drawn = object } = entry;
  for (let i = 0; i < ids.length; i++) {
    if ('isBatchedMesh' in object) readBatchMatrix(object as BatchedMesh, i, instance);
    else if (isMany) (object as InstancedMesh).getMatrixAt(i, instance);
    const { elements } = isMany ? instance.premultiply(drawn.matrixWorld) : drawn.matrixWorld;
    if (isPlace(elements, 0)) service.setObject(ids[i], { matrix: elements });
  }
}

/** Rebinds a SkinnedMesh at the world matrix that was just set: three does so only in `updateMatrixWorld`. */
export function bindAgain(object: Object3D): void {
  if ('isSkinnedMesh' in object) object.updateMatrixWorld();
}
