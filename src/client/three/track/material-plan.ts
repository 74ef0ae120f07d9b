import { BackSide, type BufferGeometry, DoubleSide, type Material } from 'three';
import type { FaceRun, Side } from '../../scene/object-description.js';
import type { Primitive, TriangleRun } from '../geometry/geometry.js';
import { cutOf, isCutAs, isSameCut, type MaterialCut } from './material-cut.js';

/** What stands for an object in the service. */
export interface StandInPlan {
  /** What its geometry is drawn as; absent: triangles. */
  readonly primitive?: Primitive;
  /** Numbers of the geometry's groups, or null for its whole draw range. */
  readonly groups: readonly number[] | null;
  /** The side that can be hit; where the materials of the groups differ in it, 'double'. */
  readonly side: Side;
  /** The sides of an array of materials, by their numbers; null where there is one material. */
  readonly sides: readonly Side[] | null;
  /** How its materials cut it; where they differ in it, not at all. Absent: without planes. */
  readonly cut?: MaterialCut | undefined;
  /** How each of an array of materials cuts, by their numbers; absent where they do not differ in it. */
  readonly cuts?: readonly (MaterialCut | undefined)[] | undefined;
}

/**
 * Plans what stands for an object with `material`. As in three, one material covers the draw range, and an array of
 * materials only what lies in groups.
 */
export function planStandIn(geometry: BufferGeometry, material: Material | readonly Material[]): StandInPlan {
  if (!isArray(material)) {
    return { groups: null, side: sideOf(material), sides: null, cut: cutOf(material) };
  }
  const materials = material.slice(); // it is read by its indices, as what iterates over it may have no end
  const groups: number[] = [];
  const shown = new Set<Side>();
  const cuts: (MaterialCut | undefined)[] = [];
  geometry.groups.forEach(({ materialIndex }, number) => {
    const own = materials[materialIndex ?? 0];
    if (own === undefined) return; // three draws nothing there
    shown.add(sideOf(own));
    cuts.push(cutOf(own));
    groups.push(number);
  });
  const [side = 'front'] = shown;
  const plan = { groups, side: shown.size > 1 ? 'double' : side, sides: Array.from(materials, sideOf) };
  if (cuts.every((cut) => isSameCut(cut, cuts[0]))) return { ...plan, cut: cuts[0] };
  // What cuts them all is the renderer's, unless one of them is not cut at all.
  return { ...plan, cut: cuts.find((cut) => cut?.isExempt), cuts: Array.from(materials, cutOf) };
}

/**
 * Plans what stands for lines or points: three's Raycaster takes the whole draw range, whatever their groups. Without an
 * array of materials, their planes cut it.
 */
export function planThin(primitive: Primitive, material: Material | readonly Material[]): StandInPlan {
  const plan: StandInPlan = { primitive, groups: null, side: 'double', sides: null };
  return isArray(material) ? plan : { ...plan, cut: cutOf(material) };
}

/** Tells whether two plans say the same. */
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
  readonly #cuts: readonly (MaterialCut | undefined)[];
  readonly #ofGroups: readonly (number | undefined)[];

  constructor(materials: readonly Material[], { groups }: BufferGeometry) {
    this.#materials = materials.slice();
    this.#sides = materials.map((own) => own?.side);
    this.#visible = materials.map((own) => own?.visible);
    this.#cuts = materials.map(cutOf);
    this.#ofGroups = groups.map(({ materialIndex }) => materialIndex);
  }

  /** Answers whether `material` is the array of the same materials, and they and the groups look as they did. */
  equals(material: Material | readonly Material[], { groups }: BufferGeometry): boolean {
    if (!isArray(material) || material.length !== this.#materials.length) return false;
    for (let i = 0; i < material.length; i++) {
      const own = material[i];
      if (own !== this.#materials[i] || own?.side !== this.#sides[i] || own?.visible !== this.#visible[i]) return false;
      if (own !== undefined && !isCutAs(own, this.#cuts[i])) return false;
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
