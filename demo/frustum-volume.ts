import {
  BufferAttribute,
  BufferGeometry,
  type Camera,
  DoubleSide,
  Frustum,
  Group,
  LineBasicMaterial,
  LineSegments,
  Matrix3,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Plane,
  Vector3,
} from 'three';

// Corner i lies on the right or left (bit 1), top or bottom (bit 2), and far or near plane (bit 4), in the order of three's
// planes.
const EDGES = [0, 1, 1, 3, 3, 2, 2, 0, 4, 5, 5, 7, 7, 6, 6, 4, 0, 4, 1, 5, 2, 6, 3, 7];
const FACES = [0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3, 2, 3, 7, 2, 7, 6, 0, 4, 5, 0, 5, 1, 4, 6, 7, 4, 7, 5];

/** Draws a camera's frustum, expanded by a margin. */
export class FrustumVolume {
  readonly root = new Group();
  readonly #corners = new BufferAttribute(new Float32Array(24), 3);
  readonly #frustum = new Frustum();
  readonly #matrix = new Matrix4();

  constructor(color: number, fillOpacity: number) {
    const faces = new BufferGeometry().setAttribute('position', this.#corners).setIndex(FACES);
    const edges = new BufferGeometry().setAttribute('position', this.#corners).setIndex(EDGES);
    const transparent = { color, transparent: true, depthWrite: false };
    this.root.add(
      new Mesh(faces, new MeshBasicMaterial({ ...transparent, opacity: fillOpacity, side: DoubleSide })),
      new LineSegments(edges, new LineBasicMaterial({ ...transparent, opacity: 0.7 })),
    );
    for (const part of this.root.children) part.frustumCulled = false;
  }

  update(camera: Camera, margin: number): void {
    this.#matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    const { planes } = this.#frustum.setFromProjectionMatrix(this.#matrix);
    for (const plane of planes) plane.constant += margin;
    const [right, left, bottom, top, far, near] = planes;
    for (let i = 0; i < 8; i++) {
      const { x, y, z } = planeIntersection(i & 1 ? right : left, i & 2 ? top : bottom, i & 4 ? far : near);
      this.#corners.setXYZ(i, x, y, z);
    }
    this.#corners.needsUpdate = true;
  }
}

/** The intersection of three planes. */
function planeIntersection(a: Plane, b: Plane, c: Plane): Vector3 {
  const rows = new Matrix3().set(...a.normal.toArray(), ...b.normal.toArray(), ...c.normal.toArray());
  return new Vector3(-a.constant, -b.constant, -c.constant).applyMatrix3(rows.invert());
}
