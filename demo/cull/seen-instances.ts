import type { InstancedMesh } from 'three';

/** The instances of an InstancedMesh that the worker reports as visible: the first `count` of `numbers`. */
export interface SeenInstances {
  mesh: InstancedMesh;
  numbers: Uint32Array;
  count: number;
  isCar: boolean;
}
