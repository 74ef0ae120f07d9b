import { Color, type Mesh, type MeshLambertMaterial } from 'three';

const SELECTED_COLOR = new Color(0xff8a3c);
const GLOW_COLOR = new Color(0x5a2400);
const BLACK = new Color(0);

/** Sets the appearance of a part: selected, or see-through while it is not. */
export class PartLook {
  readonly #material: MeshLambertMaterial;
  readonly #color: Color;

  constructor(part: Mesh) {
    this.#material = part.material as MeshLambertMaterial;
    this.#color = this.#material.color.clone();
  }

  show(isSelected: boolean, seeThrough: boolean): void {
    const material = this.#material;
    material.color.copy(isSelected ? SELECTED_COLOR : this.#color);
    material.emissive.copy(isSelected ? GLOW_COLOR : BLACK);
    material.opacity = seeThrough ? (isSelected ? 0.5 : 0.06) : 1;
    material.depthWrite = !seeThrough;
    if (material.transparent === seeThrough) return;
    material.transparent = seeThrough;
    material.needsUpdate = true; // the shader of an opaque material ignores opacity
  }
}
