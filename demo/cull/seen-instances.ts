import type { InstancedMesh } from 'three';

/** What the worker says that is seen of an InstancedMesh: the numbers of its instances, the first `count`. */
export interface SeenInstances {
  mesh: InstancedMesh;
  numbers: Uint32Array;
  count: number;
  isCar: boolean;
}
