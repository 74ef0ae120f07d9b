import { BackSide, type BufferGeometry, DoubleSide, type Material } from 'three';
import type { FaceRun, Side } from '../../scene/object-description.js';
import type { Primitive, TriangleRun } from '../geometry/geometry.js';
import { cutOf, isCutUnchanged, isSameCut, type MaterialCut } from './material-cut.js';

/** How an object is represented in the service. */
export interface StandInPlan {
  /** How its geometry is drawn; absent: as triangles. */
  readonly primitive?: Primitive;
  /** Indices of the geometry's groups, or null for its whole draw range. */
  readonly groups: readonly number[] | null;
  /** The side that can be hit; 'double' if the materials of the groups differ in it. */
  readonly side: Side;
  /** The sides of an array of materials, by index; null if there is one material. */
  readonly sides: readonly Side[] | null;
  /** How its materials cut it; if they differ in it, not at all. Absent: without planes. */
  readonly cut?: MaterialCut | undefined;
  /** How each of an array of materials cuts, by index; absent if they do not differ in it. */
  readonly cuts?: readonly (MaterialCut | undefined)[] | undefined;
}

/**
 * Plans how an object with `material` is represented. As in three, one material covers the draw range, and an array of
 * materials only what lies in groups.
 */
export function planStandIn(geometry: BufferGeometry, material: Material | readonly Material[]): StandInPlan {
  if (!isArray(material)) {
    return { groups: null, side: sideOf(material), sides: null, cut: cutOf(material) };
  }
  const materials = material.slice(); // for access by index: iteration over the caller's array may never end
  const groups: number[] = [];
  const sides = new Set<Side>();
  const cuts: (MaterialCut | undefined)[] = [];
  geometry.groups.forEach(({ materialIndex }, groupIndex) => {
    const groupMaterial = materials[materialIndex ?? 0];
    if (!groupMaterial) return; // three draws nothing there
    sides.add(sideOf(groupMaterial));
    cuts.push(cutOf(groupMaterial));
    groups.push(groupIndex);
  });
  const [side = 'front'] = sides;
  const plan = { groups, side: sides.size > 1 ? 'double' : side, sides: Array.from(materials, sideOf) };
  if (cuts.every((cut) => isSameCut(cut, cuts[0]))) return { ...plan, cut: cuts[0] };
  // Only the renderer's planes cut all of them, unless one material is exempt.
  return { ...plan, cut: cuts.find((cut) => cut?.isExempt), cuts: Array.from(materials, cutOf) };
}

/**
 * Plans how lines or points are represented: three's Raycaster takes the whole draw range, whatever their groups. The planes of
 * a single material cut them, those of an array of materials do not.
 */
export function planThinObject(primitive: Primitive, material: Material | readonly Material[]): StandInPlan {
  const plan: StandInPlan = { primitive, groups: null, side: 'double', sides: null };
  return isArray(material) ? plan : { ...plan, cut: cutOf(material) };
}

/** Returns whether two plans are equal. */
export function isSamePlan(a: StandInPlan, b: StandInPlan): boolean {
  return (
    a.side === b.side &&
    a.groups?.join() === b.groups?.join() &&
    a.sides?.join() === b.sides?.join() &&
    isSameCut(a.cut, b.cut) &&
    a.cuts?.length === b.cuts?.length &&
    (a.cuts === undefined || a.cuts.every((cut, i) => isSameCut(cut, b.cuts![i])))
  );
}

/** Returns from which sides the triangles of `meshDataOfRuns` can be hit. */
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

/** Returns whether three would draw anything with `material`. */
export function isDrawn(material: Material | readonly Material[]): boolean {
  return isArray(material) ? material.some((item) => item?.visible) : material.visible;
}

/**
 * The state of an array of materials that `planStandIn` and `isDrawn` depend on, to detect changes by comparison: the
 * materials, and which of them the groups of the geometry have.
 */
export class MaterialsSnapshot {
  readonly #materials: readonly Material[];
  readonly #sides: readonly number[];
  readonly #visible: readonly boolean[];
  readonly #cuts: readonly (MaterialCut | undefined)[];
  readonly #groupMaterialIndices: readonly (number | undefined)[];

  constructor(materials: readonly Material[], { groups }: BufferGeometry) {
    this.#materials = materials.slice();
    this.#sides = materials.map((material) => material?.side);
    this.#visible = materials.map((material) => material?.visible);
    this.#cuts = materials.map(cutOf);
    this.#groupMaterialIndices = groups.map(({ materialIndex }) => materialIndex);
  }

  /** Returns whether `material` is an array of the same materials, and they and the groups look as before. */
  equals(material: Material | readonly Material[], { groups }: BufferGeometry): boolean {
    if (!isArray(material) || material.length !== this.#materials.length) return false;
    for (let i = 0; i < material.length; i++) {
      const current = material[i];
      if (current !== this.#materials[i] || current?.side !== this.#sides[i] || current?.visible !== this.#visible[i])
        return false;
      if (current && !isCutUnchanged(current, this.#cuts[i])) return false;
    }
    if (groups.length !== this.#groupMaterialIndices.length) return false;
    for (let i = 0; i < groups.length; i++) if (groups[i].materialIndex !== this.#groupMaterialIndices[i]) return false;
    return true;
  }
}

/** Returns the side that three's Raycaster hits of what has that material. */
export function sideOf(material: Material | undefined): Side {
  return material?.side === BackSide ? 'back' : material?.side === DoubleSide ? 'double' : 'front';
}

// Array.isArray does not narrow a union with a readonly array.
function isArray(material: Material | readonly Material[]): material is readonly Material[] {
  return Array.isArray(material);
}
