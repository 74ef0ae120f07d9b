import type { BufferGeometry, Material, Mesh } from 'three';
import { type Deformers, deformersOf, isDeformedBy, RIGID } from '../geometry/deformers.js';
import { cutOf, isCutUnchanged, type MaterialCut } from './material-cut.js';
import { isDrawn, MaterialsSnapshot } from './material-plan.js';
import type { MeshKind } from './mesh-table.js';
import { surfaceKeyOf } from './opacity.js';

/** How an object looked at its last check: its representation in the service is planned from that. */
export class AppearanceSnapshot {
  geometry: BufferGeometry | null = null;
  material: Mesh['material'] | null = null;
  isDrawn = true;
  deformers: Deformers = RIGID;
  #surfaceKey = -1;
  /** How its one material cuts it. */
  #cut: MaterialCut | undefined;
  /** How an array of materials looked; null if there is one material. */
  #materials: MaterialsSnapshot | null = null;
  /** Nothing is known of how it looks: it is planned in any case. */
  isForgotten = true;
  /** It could not be read: its look is forgotten whenever its turn comes. */
  #isUnreadable = false;

  get hasOneMaterial(): boolean {
    return this.#materials === null;
  }

  /** Returns whether an object looks as noted. */
  isOf(drawn: Mesh): boolean {
    return (
      !this.isForgotten &&
      drawn.geometry === this.geometry &&
      this.#hasMaterial(drawn.material, drawn.geometry) &&
      isDeformedBy(drawn, this.deformers)
    );
  }

  #hasMaterial(material: Mesh['material'], geometry: BufferGeometry): boolean {
    if (this.#materials !== null) return this.#materials.equals(material, geometry);
    if (material !== this.material) return false;
    const single = material as Material;
    return (
      surfaceKeyOf(single) === this.#surfaceKey && single.visible === this.isDrawn && isCutUnchanged(single, this.#cut)
    );
  }

  /** Notes how an object looks, with how its one material cuts it. */
  note(drawn: Mesh, cut: MaterialCut | undefined): void {
    const { geometry, material } = drawn;
    this.isForgotten = this.#isUnreadable = false;
    this.geometry = geometry;
    this.material = material;
    this.isDrawn = isDrawn(material);
    this.deformers = deformersOf(drawn);
    this.#materials = Array.isArray(material) ? new MaterialsSnapshot(material, geometry) : null;
    if (Array.isArray(material)) return;
    this.#surfaceKey = surfaceKeyOf(material);
    this.#cut = cut;
  }

  /**
   * Notes a look that could not be planned: the object is compared with it, whatever it is, and planned again once it differs.
   */
  noteFailed(drawn: Mesh, isUnreadable: boolean): void {
    this.#materials = null;
    this.isForgotten = true;
    this.#isUnreadable = isUnreadable;
    try {
      const material = drawn.material as Material | null;
      this.geometry = drawn.geometry;
      this.material = material;
      this.#surfaceKey = surfaceKeyOf(material);
      this.isDrawn = material?.visible as boolean;
      this.#cut = cutOf(material);
      this.deformers = deformersOf(drawn);
      this.isForgotten = false;
    } catch {} // then it is planned again at each check
  }

  /** Returns whether the object could not be read; called when its turn comes. */
  takeTurn(): boolean {
    this.isForgotten ||= this.#isUnreadable;
    return this.#isUnreadable;
  }

  /** Makes the next `update` plan it in any case. */
  forget(): void {
    this.isForgotten = true;
  }

  /** Returns the kind of an object with one material, whatever its geometry, for a line of a table. */
  kindOf({ visible, layers }: Mesh): MeshKind {
    return {
      material: this.material as Material,
      surface: this.#surfaceKey,
      isDrawn: this.isDrawn,
      cut: this.#cut,
      isVisible: visible,
      layers: layers.mask,
    };
  }
}
