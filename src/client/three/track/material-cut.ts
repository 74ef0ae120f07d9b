import type { Material, Plane } from 'three';

/** How the planes of a material cut what it draws. */
export interface MaterialCut {
  readonly planes: readonly Plane[];
  /** Only what is behind all of the planes is cut away. */
  readonly isIntersection: boolean;
  /** A custom shader that does not ask for clipping: nothing cuts it, not even the renderer's planes. */
  readonly isExempt: boolean;
}

type MaybeShader = Material & { readonly isShaderMaterial?: boolean; readonly clipping?: boolean };

const EXEMPT: MaterialCut = { planes: [], isIntersection: false, isExempt: true };

/** Returns how a material cuts; undefined if it has no planes. */
export function cutOf(material: Material | null | undefined): MaterialCut | undefined {
  if (!material) return undefined;
  if (isExempt(material)) return EXEMPT;
  const { clippingPlanes, clipIntersection } = material;
  if (!Array.isArray(clippingPlanes) || clippingPlanes.length === 0) return undefined;
  return { planes: clippingPlanes.slice(), isIntersection: clipIntersection, isExempt: false };
}

/** Returns whether `cutOf` would return the same again. */
export function isCutUnchanged(material: Material, cut: MaterialCut | undefined): boolean {
  if (isExempt(material)) return cut?.isExempt === true;
  const { clippingPlanes } = material;
  if (!Array.isArray(clippingPlanes) || clippingPlanes.length === 0) return cut === undefined;
  return (
    cut !== undefined &&
    !cut.isExempt &&
    cut.isIntersection === material.clipIntersection &&
    areSamePlanes(cut.planes, clippingPlanes)
  );
}

/** Returns whether two cuts are equal. */
export function isSameCut(a: MaterialCut | undefined, b: MaterialCut | undefined): boolean {
  if (a === undefined || b === undefined || a === b) return a === b;
  return a.isExempt === b.isExempt && a.isIntersection === b.isIntersection && areSamePlanes(a.planes, b.planes);
}

function isExempt(material: MaybeShader): boolean {
  return material.isShaderMaterial === true && material.clipping !== true;
}

function areSamePlanes(a: readonly Plane[], b: readonly Plane[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
