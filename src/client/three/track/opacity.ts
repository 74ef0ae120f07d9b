import { LessDepth, LessEqualDepth, Material, type Mesh, NoBlending, NormalBlending, Object3D } from 'three';

/** What is read of materials of any class. */
type AnyMaterial = Material & {
  wireframe?: boolean;
  transmission?: number;
  displacementMap?: unknown;
  isNodeMaterial?: boolean;
  isShaderMaterial?: boolean;
  alphaHash?: boolean;
};

type AnyParent = Object3D & { isLOD?: boolean; isClippingGroup?: boolean };

/** Answers a number that says which sides of a material are drawn, and whether it is opaque. */
export function surfaceOf(material: Material | null): number {
  return (material?.side ?? 0) + (material?.transparent ? 4 : 0);
}

/** Tells whether the app does nothing right before it is drawn, as to turn it, or to clear depths. */
export function isDrawnAsItIs({ onBeforeRender }: Mesh): boolean {
  return onBeforeRender === Object3D.prototype.onBeforeRender;
}

/** Tells whether three draws its triangles opaque, whole and where they are, so that they hide what is behind them. */
export function hidesOthers(mesh: Mesh): boolean {
  if (Array.isArray(mesh.material) || !isDrawnAsItIs(mesh)) return false;
  // A picture may show another level than the one before, and a ClippingGroup cuts.
  for (let each: AnyParent | null = mesh.parent; each !== null; each = each.parent) {
    if (each.isLOD || each.isClippingGroup) return false;
  }
  const material = mesh.material as AnyMaterial;
  return (
    isPlain(material) &&
    material.visible &&
    !material.transparent &&
    material.depthWrite &&
    material.colorWrite &&
    material.alphaTest === 0 &&
    material.alphaHash !== true &&
    !material.alphaToCoverage &&
    (material.blending === NormalBlending || material.blending === NoBlending) &&
    (material.transmission ?? 0) === 0 &&
    material.wireframe !== true &&
    (material.clippingPlanes?.length ?? 0) === 0
  );
}

/**
 * Tells whether three draws nothing of it where something else is nearer; `isCullable`: the caller says that its shaders leave
 * its vertices and its depths where they are, and its `onBeforeRender` it and all depths.
 */
export function canBeHidden(mesh: Mesh, isCullable: boolean): boolean {
  if (!isCullable && !('isBatchedMesh' in mesh || isDrawnAsItIs(mesh))) return false; // three has a callback in a BatchedMesh
  const { material } = mesh;
  const isHidden = isCullable ? isTested : isPlain;
  // three draws nothing where there is none.
  return Array.isArray(material) ? material.every((own) => !own || isHidden(own)) : isHidden(material);
}

/** Tells whether its depths are compared, and where it is hidden it leaves no trace. */
function isTested(material: AnyMaterial): boolean {
  return (
    material.depthTest &&
    (material.depthFunc === LessEqualDepth || material.depthFunc === LessDepth) &&
    !material.polygonOffset &&
    !material.stencilWrite
  );
}

/** Tells the same, and that its depths are those of its triangles. */
function isPlain(material: AnyMaterial): boolean {
  return (
    isTested(material) &&
    material.displacementMap == null &&
    material.isShaderMaterial !== true &&
    // What nodes and changed shaders do to vertices and depths nobody knows.
    material.isNodeMaterial !== true &&
    material.onBeforeCompile === Material.prototype.onBeforeCompile
  );
}
