import type { SceneContact, SceneObject } from 'collision-worker/three';
import { Color, InstancedMesh, Mesh, type MeshPhongMaterial } from 'three';
import type { Hall } from './hall.js';

const GLOW_COLOR = new Color(0x7a2c00);
const TOUCH_COLOR = new Color(0xe89a5a);
/** Variation in brightness between the instances of a mesh. */
const SHADES = [0, 0.06, -0.05, 0.03, -0.02];

/** Highlights the objects that touch. */
export class Highlight {
  readonly #instanced: readonly InstancedMesh[];
  /** The materials that are highlighted. */
  #litMaterials: MeshPhongMaterial[] = [];

  constructor({ heap }: Hall) {
    this.#instanced = [heap.dragons, heap.teapots];
  }

  show(contacts: readonly SceneContact[]): void {
    for (const material of this.#litMaterials) material.emissive.set(0);
    this.#litMaterials = [];
    for (const mesh of this.#instanced) {
      for (let i = 0; i < mesh.count; i++) mesh.setColorAt(i, shadeOf(mesh, i));
      mesh.instanceColor!.needsUpdate = true;
    }
    for (const { a, b } of contacts) {
      this.#light(a);
      this.#light(b);
    }
  }

  #light({ object, instanceId }: SceneObject): void {
    if (object instanceof InstancedMesh) {
      object.setColorAt(instanceId!, shadeOf(object, instanceId!).lerp(TOUCH_COLOR, 0.6));
    } else if (object instanceof Mesh) {
      object.material.emissive.copy(GLOW_COLOR);
      this.#litMaterials.push(object.material);
    }
  }
}

const COLOR = new Color();

/** The instance's own colour, used while it is not highlighted. */
function shadeOf({ userData }: InstancedMesh, instance: number): Color {
  return COLOR.set(userData.color).offsetHSL(0, 0, SHADES[instance % SHADES.length]);
}
