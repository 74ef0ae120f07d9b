import { type BatchedMesh, type InstancedMesh, Matrix4, type Mesh, type Object3D } from 'three';
import type { CollisionService } from '../../service.js';
import { readBatchMatrix } from './batch-contents.js';
import { isPlace } from './is-place.js';
import type { SceneEntry } from './scene-entry.js';

type Entry = SceneEntry & { readonly drawn?: Mesh };

const instance = new Matrix4();

/** Puts the service's objects of an object to where three has it, so that nothing lies between there and where they were. */
export function teleport(service: CollisionService, object: Object3D, entry: Entry | undefined): void {
  bindAgain(object);
  if (entry?.object !== object) return; // it is nothing by itself, or a level of a LOD
  const isMany = 'getMatrixAt' in object;
  const { ids, drawn = object } = entry;
  for (let i = 0; i < ids.length; i++) {
    if ('isBatchedMesh' in object) readBatchMatrix(object as BatchedMesh, i, instance);
    else if (isMany) (object as InstancedMesh).getMatrixAt(i, instance);
    const { elements } = isMany ? instance.premultiply(drawn.matrixWorld) : drawn.matrixWorld;
    if (isPlace(elements, 0)) service.setObject(ids[i], { matrix: elements });
  }
}

/** Binds a SkinnedMesh to where its world matrix has just been put, as three does in `updateMatrixWorld` alone. */
export function bindAgain(object: Object3D): void {
  if ('isSkinnedMesh' in object) object.updateMatrixWorld();
}
