import type { BufferGeometry, Material, Mesh } from 'three';
import { type Deformers, deformersOf, isDeformedBy, RIGID } from '../geometry/deformers.js';
import { cutOf, isCutAs, type MaterialCut } from './material-cut.js';
import { isDrawn, MaterialLook } from './material-plan.js';
import type { UnchangedKind } from './mesh-table.js';
import { surfaceOf } from './opacity.js';

/** How an object looked at its last check: its representation in the service is planned from that. */
export class SeenLook {
  geometry: BufferGeometry | null = null;
  material: Mesh['material'] | null = null;
  isDrawn = true;
  deformers: Deformers = RIGID;
  #surface = -1;
  /** How its one material cuts it. */
  #cut: MaterialCut | undefined;
  /** How an array of materials looked; null if there is one material. */
  #look: MaterialLook | null = null;
  /** Nothing is known of how it looks: it is planned in any case. */
  isForgotten = true;
  /** It could not be read: its look is forgotten whenever its turn comes. */
  #isUnread = false;

  get hasOneMaterial(): boolean {
    return this.#look === null;
  }

  /** Returns whether an object looks as noted. */
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

  /**
   * Notes a look that could not be planned: the object is compared with it, whatever it is, and planned again once it differs.
   */
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
    } catch {} // then it is planned again at each check
  }

  /** Returns whether the object could not be read; called when its turn comes. */
  takeTurn(): boolean {
    this.isForgotten ||= this.#isUnread;
    return this.#isUnread;
  }

  /** Makes the next `update` plan it in any case. */
  forget(): void {
    this.isForgotten = true;
  }

  /** Returns the kind of an object with one material, whatever its geometry, for a line of a table. */
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
