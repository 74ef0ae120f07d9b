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
  const many = object as Partial<InstancedMesh & BatchedMesh>;
  const { ids, drawn = object } = entry;
  for (let i = 0; i < ids.length; i++) {
    if (many.isBatchedMesh === true) readBatchMatrix(object as BatchedMesh, i, instance);
    else if (many.isInstancedMesh === true) (object as InstancedMesh).getMatrixAt(i, instance);
    else instance.identity();
    const { elements } = instance.premultiply(drawn.matrixWorld);
    if (isPlace(elements, 0)) service.setObject(ids[i], { matrix: elements });
  }
}

/** Binds a SkinnedMesh to where its world matrix has just been put, as three does in `updateMatrixWorld` alone. */
export function bindAgain(object: Object3D): void {
  if ('isSkinnedMesh' in object) object.updateMatrixWorld();
}
