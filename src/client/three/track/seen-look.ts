import type { BufferGeometry, Material, Mesh } from 'three';
import { type Deformers, deformersOf, isDeformedBy, RIGID } from '../geometry/deformers.js';
import { cutOf, isCutAs, type MaterialCut } from './material-cut.js';
import { isDrawn, MaterialLook } from './material-plan.js';
import type { UnchangedKind } from './mesh-table.js';
import { surfaceOf } from './opacity.js';

/** How an object looked when it was seen last: by that it is planned what it takes in the service. */
export class SeenLook {
  geometry: BufferGeometry | null = null;
  material: Mesh['material'] | null = null;
  isDrawn = true;
  deformers: Deformers = RIGID;
  #surface = -1;
  /** How its one material cuts it. */
  #cut: MaterialCut | undefined;
  /** It says how an array of materials looked; null where there is one material. */
  #look: MaterialLook | null = null;
  /** Nobody knows how it looks: it is planned whatever it is. */
  isForgotten = true;
  /** It could not be read: it is forgotten whenever it is its turn. */
  #isUnread = false;

  get hasOneMaterial(): boolean {
    return this.#look === null;
  }

  /** Tells whether an object looks as it was noted. */
  isOf(drawn: Mesh): boolean {
    return (
      !this.isForgotten &&
      drawn.geometry === this.geometry &&
      this.#isOfMaterial(drawn.material, drawn.geometry) &&
      isDeformedBy(drawn, this.deformers)
    );
  }

  #isOfMaterial(material: Mesh['material'], geometry: BufferGeometry): boolean {
    if (this.#look !== null) return this.#look.equals(material, geometry);
    if (material !== this.material) return false;
    const own = material as Material;
    return surfaceOf(own) === this.#surface && own.visible === this.isDrawn && isCutAs(own, this.#cut);
  }

  /** Notes how an object looks, with how its one material cuts it. */
  note(drawn: Mesh, cut: MaterialCut | undefined): void {
    const { geometry, material } = drawn;
    this.isForgotten = this.#isUnread = false;
    this.geometry = geometry;
    this.material = material;
    this.isDrawn = isDrawn(material);
    this.deformers = deformersOf(drawn);
    this.#look = Array.isArray(material) ? new MaterialLook(material, geometry) : null;
    if (Array.isArray(material)) return;
    this.#surface = surfaceOf(material);
    this.#cut = cut;
  }

  /** Notes what could not be planned: it is compared with that, whatever it is, and planned again when it is another one. */
  noteFailed(drawn: Mesh, isUnread: boolean): void {
    this.#look = null;
    this.isForgotten = true;
    this.#isUnread = isUnread;
    try {
      const material = drawn.material as Material | null;
      this.geometry = drawn.geometry;
      this.material = material;
      this.#surface = surfaceOf(material);
      this.isDrawn = material?.visible as boolean;
      this.#cut = material === null ? undefined : cutOf(material);
      this.deformers = deformersOf(drawn);
      this.isForgotten = false;
    } catch {} // then it is planned again whenever it is looked at
  }

  /** Tells whether it could not be read, as it is its turn. */
  takeTurn(): boolean {
    this.isForgotten ||= this.#isUnread;
    return this.#isUnread;
  }

  /** Has it planned by the next `update`, whatever it is. */
  forget(): void {
    this.isForgotten = true;
  }

  /** Answers of what kind an object of one material is, whatever its geometry, for a line of a table. */
  kindOf({ visible, layers }: Mesh): UnchangedKind {
    return {
      material: this.material as Material,
      surface: this.#surface,
      isDrawn: this.isDrawn,
      cut: this.#cut,
      isVisible: visible,
      layers: layers.mask,
    };
  }
}
