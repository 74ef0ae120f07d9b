import type { SceneObject } from 'collision-worker/three';
import type { Object3D } from 'three';

/** Names from the model down to its part, for example "Robot A / gripper / palm" or "dragon 3". */
export function labelOf({ object, instanceId }: SceneObject): string {
  const path = pathOf(object).join(' / ');
  return instanceId === undefined ? path : `${path} ${instanceId + 1}`;
}

function pathOf({ name, parent }: Object3D): string[] {
  const ancestors = parent === null ? [] : pathOf(parent);
  return name === '' ? ancestors : [...ancestors, name];
}
