import { type BufferGeometry, type Group, type Mesh, Vector3 } from 'three';

/** Sets the vertices of `points` to the centres of the objects' oriented bounds, which screen picks measure to. */
export function centresOf(root: Group, points: BufferGeometry): void {
  const centres = (root.children as Mesh[]).map(({ geometry, matrixWorld }) => {
    return geometry.boundingBox!.getCenter(new Vector3()).applyMatrix4(matrixWorld);
  });
  points.setFromPoints(centres);
  points.computeBoundingSphere();
}
