import type { SceneContact, SceneObject } from 'collision-worker/three';
import { Color, InstancedMesh, Mesh, type MeshPhongMaterial } from 'three';
import type { Hall } from './hall.js';

const GLOW = new Color(0x7a2c00);
const TOUCHING = new Color(0xd09a62);

/** Lights up what touches. */
export class Highlight {
  readonly #instanced: readonly InstancedMesh[];
  /** Those that are lit. */
  #lit: MeshPhongMaterial[] = [];

  constructor({ heap }: Hall) {
    this.#instanced = [heap.dragons, heap.teapots];
  }

  show(contacts: readonly SceneContact[]): void {
    for (const material of this.#lit) material.emissive.set(0);
    this.#lit = [];
    for (const mesh of this.#instanced) {
      for (let i = 0; i < mesh.count; i++) mesh.setColorAt(i, COLOR.set(mesh.userData.color));
      mesh.instanceColor!.needsUpdate = true;
    }
    for (const { a, b } of contacts) {
      this.#light(a);
      this.#light(b);
    }
  }

  #light({ object, instanceId }: SceneObject): void {
    if (object instanceof InstancedMesh) {
      object.setColorAt(instanceId!, TOUCHING);
    } else if (object instanceof Mesh) {
      object.material.emissive.copy(GLOW);
      this.#lit.push(object.material);
    }
  }
}

const COLOR = new Color();
