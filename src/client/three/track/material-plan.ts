import { BackSide, type BufferGeometry, DoubleSide, type Material } from 'three';

/** Which sides of its faces a ray can hit. */
export type Side = 'front' | 'back' | 'double';

/** One stand-in of an object in the service. */
export interface PartPlan {
  /** Numbers of the geometry's groups, or null for its whole draw range. */
  groups: readonly number[] | null;
  side: Side;
  /** Whether rays hit it. */
  picks: boolean;
  /** Whether views and contacts know it. */
  stands: boolean;
}

/**
 * What stands for an object with `material`. As in three, one material covers the draw range, and an array of
 * materials only what lies in groups. Almost always that is one part. Only where the groups' materials differ
 * in side, there is one part for views and contacts, and one more per side for rays.
 */
export function planParts(geometry: BufferGeometry, material: Material | readonly Material[]): PartPlan[] {
  if (!isArray(material)) return [{ groups: null, side: sideOf(material), picks: true, stands: true }];
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
    return [{ groups: all, side, picks: true, stands: true }];
  }
  return [
    { groups: all, side: 'double', picks: false, stands: true },
    ...[...bySide].map(([side, groups]) => ({ groups, side, picks: true, stands: false })),
  ];
}

/** Whether three would draw anything with `material`. */
export function isDrawn(material: Material | readonly Material[]): boolean {
  return isArray(material) ? material.some((own) => own?.visible) : material.visible;
}

/** What `planParts` and `isDrawn` depend on in an array of materials, to notice a change by comparing. */
export class MaterialLook {
  readonly #materials: readonly Material[];
  readonly #sides: readonly number[];
  readonly #visible: readonly boolean[];

  constructor(materials: readonly Material[]) {
    this.#materials = [...materials];
    this.#sides = materials.map((own) => own?.side);
    this.#visible = materials.map((own) => own?.visible);
  }

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
