import type { BatchedMesh, InstancedMesh, LOD, Mesh, Object3D } from 'three';
import { MAX_OBJECTS } from '../../shared/layout.js';
import { checkInteger, guardRead, throwInvalid } from '../check/validate.js';
import { isBelow } from './track/is-below.js';
import type { SceneObject } from './track/scene-objects.js';

/**
 * An object of the scene, an InstancedMesh or BatchedMesh with all of its instances; or one of its instances, as hits and all
 * other results name it: `{ object, instanceId }`, for a BatchedMesh also `{ object, batchId }`. Descendants of the object are
 * not part of the target.
 */
export type SceneTarget =
  | Object3D
  | { readonly object: Object3D; readonly instanceId?: number | undefined; readonly batchId?: number | undefined };

/** Returns whether a value of the caller's is an object of a scene. */
export function isObject(given: unknown): given is Object3D {
  return (given as Partial<Object3D> | null | undefined)?.isObject3D === true;
}

/** Checks the argument `object` of an operation. Throws INVALID_ARGUMENT. */
export function checkObject(operation: string, object: Object3D): void {
  guardRead(operation, 'object', () => {
    if (!isObject(object)) throwInvalid(operation, 'object', object, 'an Object3D of three');
  });
}

/** Returns whether an object consists of numbered instances. */
export function hasInstances(object: Object3D): boolean {
  return (object as InstancedMesh).isInstancedMesh === true || (object as BatchedMesh).isBatchedMesh === true;
}

/** Reads a target, each property once. Without an `instanceId`, the target is the object with all of its instances. */
export function readTarget(operation: string, argument: string, given: SceneTarget): SceneObject {
  return guardRead(operation, argument, () => {
    if (typeof given === 'object' && given !== null) {
      if ('isObject3D' in given && given.isObject3D === true) return { object: given, instanceId: undefined };
      const { object, instanceId: givenInstanceId, batchId } = given as Exclude<SceneTarget, Object3D>;
      if (typeof object === 'object' && object?.isObject3D === true) {
        const instanceId = givenInstanceId ?? batchId;
        if (instanceId === undefined) return { object, instanceId };
        const name = `${argument}.${instanceId === givenInstanceId ? 'instanceId' : 'batchId'}`;
        if (!hasInstances(object)) {
          throwInvalid(operation, name, instanceId, 'none, as its object is no InstancedMesh or BatchedMesh');
        }
        return { object, instanceId: checkInteger(operation, name, instanceId, 0, MAX_OBJECTS) };
      }
    }
    return throwInvalid(operation, argument, given, 'an Object3D or { object, instanceId }');
  });
}

/** Returns whether two objects are the same, or `object` is a LOD with `other` in one of its levels: contacts are the LOD's. */
export function isOrHasLevel(object: Object3D, other: Object3D): boolean {
  return object === other || ((object as LOD).isLOD === true && isBelow(other, object));
}

/** Reads a target that is drawn itself, unlike a Group, which only has descendants. */
export function readDrawnTarget(operation: string, argument: string, given: SceneTarget): SceneObject {
  return guardRead(operation, argument, () => {
    const target = readTarget(operation, argument, given);
    const { geometry, type } = target.object as Mesh;
    if (geometry === undefined && (target.object as LOD).isLOD !== true) {
      throwInvalid(operation, argument, type, 'a Mesh, or { object, instanceId } of an InstancedMesh or BatchedMesh');
    }
    return target;
  });
}

/** Reads an array of targets with `read`; an error names the index of the invalid one. */
export function readTargets(
  operation: string,
  argument: string,
  given: readonly SceneTarget[],
  read: typeof readTarget,
): SceneObject[] {
  return guardRead(operation, argument, () => {
    if (!Array.isArray(given)) throwInvalid(operation, argument, given, 'an array of objects of the scene');
    const { length } = given;
    checkInteger(operation, `the length of ${argument}`, length, 0, MAX_OBJECTS);
    return Array.from({ length }, (_, i) => read(operation, `${argument}[${i}]`, given[i]));
  });
}
