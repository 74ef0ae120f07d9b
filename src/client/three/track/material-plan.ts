import { BackSide, type BufferGeometry, DoubleSide, type Material } from 'three';

/** Which sides of its faces a ray can hit. */
export type Side = 'front' | 'back' | 'double';

/** What one stand-in of an object is to be in the service. */
export interface StandInPlan {
  /** Numbers of the geometry's groups, or null for its whole draw range. */
  readonly groups: readonly number[] | null;
  readonly side: Side;
  /** False for the stand-in that is the object; true for those that are its faces of one side. */
  readonly isFaces: boolean;
}

/**
 * Plans what stands for an object with `material`: first what is the object for views, contacts and all questions but
 * one. As in three, one material covers the draw range, and an array of materials only what lies in groups. Almost
 * always that is all. Only where the groups' materials differ in side, rays that ask for each material's own side need
 * one more stand-in for the faces of each side: a mesh in the service is hit from the same sides everywhere.
 *
 * Where the caller has given a shape, there are no faces: the shape is hit from all sides that any material shows.
 */
export function planStandIns(
  geometry: BufferGeometry,
  material: Material | readonly Material[],
  hasShape: boolean,
): StandInPlan[] {
  if (!isArray(material)) return [{ groups: null, side: sideOf(material), isFaces: false }];
  const bySide = new Map<Side, number[]>();
  const all: number[] = [];
  geometry.groups.forEach(({ materialIndex }, number) => {
    const own = material[materialIndex ?? 0];
    if (own === undefined) return; // three draws nothing there
    const side = sideOf(own);
    const groups = bySide.get(side);
    if (groups === undefined) bySide.set(side, [number]);
    else groups.push(number);
    all.push(number);
  });
  if (bySide.size < 2) {
    const [side = 'front'] = bySide.keys();
    return [{ groups: all, side, isFaces: false }];
  }
  const whole: StandInPlan = { groups: all, side: 'double', isFaces: false };
  return hasShape ? [whole] : [whole, ...Array.from(bySide, ([side, groups]) => ({ groups, side, isFaces: true }))];
}

/** Answers whether three would draw anything with `material`. */
export function isDrawn(material: Material | readonly Material[]): boolean {
  return isArray(material) ? material.some((own) => own?.visible) : material.visible;
}

/** What `planStandIns` and `isDrawn` depend on in an array of materials, to notice a change by comparing. */
export class MaterialLook {
  readonly #materials: readonly Material[];
  readonly #sides: readonly number[];
  readonly #visible: readonly boolean[];

  constructor(materials: readonly Material[]) {
    this.#materials = [...materials];
    this.#sides = materials.map((own) => own?.side);
    this.#visible = materials.map((own) => own?.visible);
  }

  /** Answers whether `material` is the array of the same materials, which look as they did. */
  equals(material: Material | readonly Material[]): boolean {
    if (!isArray(material) || material.length !== this.#materials.length) return false;
    for (let i = 0; i < material.length; i++) {
      const own = material[i];
      if (own !== this.#materials[i] || own?.side !== this.#sides[i] || own?.visible !== this.#visible[i]) return false;
    }
    return true;
  }
}

function sideOf(material: Material): Side {
  return material.side === BackSide ? 'back' : material.side === DoubleSide ? 'double' : 'front';
}

// Array.isArray does not narrow a union with a readonly array.
function isArray(material: Material | readonly Material[]): material is readonly Material[] {
  return Array.isArray(material);
}
