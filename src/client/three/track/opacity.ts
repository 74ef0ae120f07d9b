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

/** Returns a number that encodes which sides of a material are drawn, and whether it is opaque. */
export function surfaceKeyOf(material: Material | null): number {
  return (material?.side ?? 0) + (material?.transparent ? 4 : 0);
}

/** Returns whether the app does nothing right before the Mesh is drawn, such as turn it, or clear depths. */
export function isDrawnUnmodified({ onBeforeRender }: Mesh): boolean {
  return onBeforeRender === Object3D.prototype.onBeforeRender;
}

/** Returns whether three draws its triangles opaque, whole and in place, so that they occlude what is behind them. */
export function isOccluder(mesh: Mesh): boolean {
  if (Array.isArray(mesh.material) || !isDrawnUnmodified(mesh)) return false;
  // A picture may show another level of a LOD than the one before, and a ClippingGroup cuts.
  for (let ancestor: AnyParent | null = mesh.parent; ancestor !== null; ancestor = ancestor.parent) {
    if (ancestor.isLOD || ancestor.isClippingGroup) return false;
  }
  const material = mesh.material as AnyMaterial;
  return (
    hasTriangleDepths(material) &&
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
 * Returns whether three draws nothing of a Mesh where something else is nearer. `isCullable`: the caller declares that its
 * shaders do not change its vertices and depths, and its `onBeforeRender` neither the Mesh nor any depths.
 */
export function isOccludable(mesh: Mesh, isCullable: boolean): boolean {
  if (!isCullable && !('isBatchedMesh' in mesh || isDrawnUnmodified(mesh))) return false; // three sets that of a BatchedMesh
  const { material } = mesh;
  const isMaterialOccludable = isCullable ? isDepthTested : hasTriangleDepths;
  // three draws nothing for a missing material.
  return Array.isArray(material)
    ? material.every((item) => !item || isMaterialOccludable(item))
    : isMaterialOccludable(material);
}

/** Returns whether its depths are tested, and it leaves no trace where it is hidden. */
function isDepthTested(material: AnyMaterial): boolean {
  return (
    material.depthTest &&
    (material.depthFunc === LessEqualDepth || material.depthFunc === LessDepth) &&
    !material.polygonOffset &&
    !material.stencilWrite
  );
}

/** Returns whether, in addition, its depths are those of its triangles. */
function hasTriangleDepths(material: AnyMaterial): boolean {
  return (
    isDepthTested(material) &&
    material.displacementMap == null &&
    material.isShaderMaterial !== true &&
    // Nobody knows what nodes and changed shaders do to vertices and depths.
    material.isNodeMaterial !== true &&
    material.onBeforeCompile === Material.prototype.onBeforeCompile
  );
}
