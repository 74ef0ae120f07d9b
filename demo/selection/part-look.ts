import { Color, type Mesh, type MeshPhongMaterial } from 'three';

const SELECTED = new Color(0xff8a3c);
const GLOW = new Color(0x5a2400);
const BLACK = new Color(0);

/** How a part looks while it is selected, and while one can see through those that are not. */
export class PartLook {
  readonly #material: MeshPhongMaterial;
  readonly #color: Color;

  constructor(part: Mesh) {
    this.#material = part.material as MeshPhongMaterial;
    this.#color = this.#material.color.clone();
  }

  show(isSelected: boolean, seeThrough: boolean): void {
    const isGlass = seeThrough && !isSelected;
    this.#material.color.copy(isSelected ? SELECTED : this.#color);
    this.#material.emissive.copy(isSelected ? GLOW : BLACK);
    this.#material.transparent = isGlass;
    this.#material.opacity = isGlass ? 0.1 : 1;
    this.#material.depthWrite = !isGlass;
  }
}
