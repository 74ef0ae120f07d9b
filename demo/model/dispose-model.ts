import { type Material, type Mesh, type Object3D, type SkinnedMesh, Texture } from 'three';

/** Frees the GPU resources of a model that is no longer shown. */
export function disposeModel(root: Object3D): void {
  root.traverse((each) => {
    const { geometry, material } = each as Partial<Mesh>;
    geometry?.dispose();
    for (const entry of [material ?? []].flat()) disposeMaterial(entry);
    (each as Partial<SkinnedMesh>).skeleton?.dispose();
    // Instances have their own buffers.
    if ('isInstancedMesh' in each) (each as Object3D & { dispose(): void }).dispose();
  });
}

function disposeMaterial(material: Material): void {
  for (const value of Object.values(material)) if (value instanceof Texture) value.dispose();
  material.dispose();
}
