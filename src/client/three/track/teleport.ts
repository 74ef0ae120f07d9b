import { type InstancedMesh, Matrix4, type Mesh, type Object3D } from 'three';
import type { CollisionService } from '../../service.js';
import { readInstanceMatrix } from './batch-contents.js';
import { isValidTransform } from './is-valid-transform.js';
import type { SceneEntry } from './scene-entry.js';

type Entry = SceneEntry & { readonly drawn?: Mesh };

const instanceMatrix = new Matrix4();

/** Puts an object's ids in the service to where three has the object, so that nothing lies between the old and the new place. */
export function teleport(service: CollisionService, object: Object3D, entry: Entry | undefined): void {
  rebind(object);
  if (entry?.object !== object) return; // it is not represented itself, or is a level of a LOD
  const isInstanced = 'getMatrixAt' in object;
  const { ids, drawn = object } = entry;
  for (let i = 0; i < ids.length; i++) {
    if (isInstanced) readInstanceMatrix(object as InstancedMesh, i, instanceMatrix);
    const { elements } = isInstanced ? instanceMatrix.premultiply(drawn.matrixWorld) : drawn.matrixWorld;
    if (isValidTransform(elements, 0)) service.setObject(ids[i], { matrix: elements });
  }
}

/** Rebinds a SkinnedMesh at the world matrix that was just set: three does so only in `updateMatrixWorld`. */
export function rebind(object: Object3D): void {
  if ('isSkinnedMesh' in object) object.updateMatrixWorld();
}
