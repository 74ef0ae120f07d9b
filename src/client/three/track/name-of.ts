import type { Object3D } from 'three';

interface ClassFlags extends Object3D {
  readonly isInstancedMesh?: boolean;
  readonly isBatchedMesh?: boolean;
  readonly isSkinnedMesh?: boolean;
}

/** Returns the class of an object, which `type` does not always name. */
export function classOf(object: Object3D): string {
  const { isInstancedMesh, isBatchedMesh, isSkinnedMesh, type } = object as ClassFlags;
  return isInstancedMesh ? 'InstancedMesh' : isBatchedMesh ? 'BatchedMesh' : isSkinnedMesh ? 'SkinnedMesh' : type;
}

/** Names an object for messages: its class, and the name that it was given. */
export function nameOf(object: Object3D): string {
  try {
    const kind = classOf(object);
    return object.name === '' ? kind : `${kind} "${object.name}"`;
  } catch {
    return 'object that cannot be read';
  }
}
