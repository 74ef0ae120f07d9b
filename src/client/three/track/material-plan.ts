import { BackSide, type BufferGeometry, DoubleSide, type Material } from 'three';
import type { FaceRun, Side } from '../../scene/object-description.js';
import type { TriangleRun } from '../geometry/geometry.js';

/** What stands for an object in the service. */
export interface StandInPlan {
  /** Numbers of the geometry's groups, or null for its whole draw range. */
  readonly groups: readonly number[] | null;
  /** The side that can be hit; where the materials of the groups differ in it, 'double'. */
  readonly side: Side;
  /** The sides of an array of materials, by their numbers; null where there is one material. */
  readonly sides: readonly Side[] | null;
}

/**
 * Plans what stands for an object with `material`. As in three, one material covers the draw range, and an array of
 * materials only what lies in groups.
 */
export function planStandIn(geometry: BufferGeometry, material: Material | readonly Material[]): StandInPlan {
  if (!isArray(material)) return { groups: null, side: sideOf(material), sides: null };
  const groups: number[] = [];
  const shown = new Set<Side>();
  geometry.groups.forEach(({ materialIndex }, number) => {
    const own = material[materialIndex ?? 0];
    if (own === undefined) return; // three draws nothing there
    shown.add(sideOf(own));
    groups.push(number);
  });
  const [side = 'front'] = shown;
  return { groups, side: shown.size > 1 ? 'double' : side, sides: Array.from(material, sideOf) };
}

/** Tells whether two plans say the same. */
export function isSamePlan(a: StandInPlan, b: StandInPlan): boolean {
  return a.side === b.side && a.groups?.join() === b.groups?.join() && a.sides?.join() === b.sides?.join();
}

/** Answers from which sides the triangles of `meshDataOfRuns` can be hit. */
export function sidesOfRuns(
  { side, sides }: StandInPlan,
  runs: readonly TriangleRun[],
): { side: Side; faceSides: FaceRun[] | null } {
  if (sides === null) return { side, faceSides: null };
  let next = 0;
  const faceSides = runs.map(({ start, end, materialIndex }) => {
    const count = (end - start) / 3;
    const first = next;
    next += count;
    return { start: first, count, side: sides[materialIndex] };
  });
  const isMixed = faceSides.some((run) => run.side !== faceSides[0].side);
  return isMixed ? { side: 'double', faceSides } : { side: faceSides[0].side, faceSides: null };
}

/** Answers whether three would draw anything with `material`. */
export function isDrawn(material: Material | readonly Material[]): boolean {
  return isArray(material) ? material.some((own) => own?.visible) : material.visible;
}

/**
 * What `planStandIn` and `isDrawn` depend on where there is an array of materials, to notice a change by comparing: the
 * materials, and of the geometry which of them its groups have.
 */
export class MaterialLook {
  readonly #materials: readonly Material[];
  readonly #sides: readonly number[];
  readonly #visible: readonly boolean[];
  readonly #ofGroups: readonly (number | undefined)[];

  constructor(materials: readonly Material[], { groups }: BufferGeometry) {
    this.#materials = [...materials];
    this.#sides = materials.map((own) => own?.side);
    this.#visible = materials.map((own) => own?.visible);
    this.#ofGroups = groups.map(({ materialIndex }) => materialIndex);
  }

  /** Answers whether `material` is the array of the same materials, and they and the groups look as they did. */
  equals(material: Material | readonly Material[], { groups }: BufferGeometry): boolean {
    if (!isArray(material) || material.length !== this.#materials.length) return false;
    for (let i = 0; i < material.length; i++) {
      const own = material[i];
      if (own !== this.#materials[i] || own?.side !== this.#sides[i] || own?.visible !== this.#visible[i]) return false;
    }
    if (groups.length !== this.#ofGroups.length) return false;
    for (let i = 0; i < groups.length; i++) if (groups[i].materialIndex !== this.#ofGroups[i]) return false;
    return true;
  }
}

function sideOf(material: Material | undefined): Side {
  return material?.side === BackSide ? 'back' : material?.side === DoubleSide ? 'double' : 'front';
}

// Array.isArray does not narrow a union with a readonly array.
function isArray(material: Material | readonly Material[]): material is readonly Material[] {
  return Array.isArray(material);
}
