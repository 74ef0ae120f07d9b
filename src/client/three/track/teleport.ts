import { type BatchedMesh, type InstancedMesh, Matrix4, type Object3D } from 'three';
import { isInvertibleAt } from '../../check/affine.js';
import type { CollisionService } from '../../service.js';

const instance = new Matrix4();

/** Puts the service's objects of an object to where three has it, so that nothing lies between there and where they were. */
export function teleport(service: CollisionService, object: Object3D, ids: Uint32Array): void {
  const many = object as Partial<InstancedMesh & BatchedMesh>;
  const isMany = many.isInstancedMesh === true || many.isBatchedMesh === true;
  for (let i = 0; i < ids.length; i++) {
    if (isMany) {
      many.getMatrixAt!(i, instance);
      instance.premultiply(object.matrixWorld);
    }
    const { elements } = isMany ? instance : object.matrixWorld;
    if (isInvertibleAt(elements, 0)) service.setObject(ids[i], { matrix: elements });
  }
}
