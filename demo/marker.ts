import {
  ArrowHelper,
  Box3,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  Group,
  InstancedMesh,
  type Intersection,
  LineBasicMaterial,
  LineLoop,
  LineSegments,
  Matrix3,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Vector3,
} from 'three';

const COLOR = 0xffe14d;
// Drawn on top of everything: a triangle within a surface would flicker through it (z-fighting).
const ON_TOP = { depthTest: false, transparent: true, fog: false } as const;
const BOX_EDGES = [0, 1, 1, 3, 3, 2, 2, 0, 4, 5, 5, 7, 7, 6, 6, 4, 0, 4, 1, 5, 2, 6, 3, 7];

/** The world matrix of an object, or of an instance of an InstancedMesh. */
export function matrixOf({ object, instanceId }: Pick<Intersection, 'object' | 'instanceId'>): Matrix4 {
  const matrix = object.matrixWorld.clone();
  if (!(object instanceof InstancedMesh) || instanceId === undefined) return matrix;
  const instance = new Matrix4();
  object.getMatrixAt(instanceId, instance);
  return matrix.multiply(instance);
}

/** The edges of the box from (0, 0, 0) to (1, 1, 1). */
export function boxEdges(material: LineBasicMaterial): LineSegments {
  const corners = Array.from({ length: 8 }, (_, i) => [i & 1, (i >> 1) & 1, i >> 2]).flat();
  const geometry = new BufferGeometry()
    .setAttribute('position', new BufferAttribute(new Float32Array(corners), 3))
    .setIndex(BOX_EDGES);
  return new LineSegments(geometry, material);
}

/** Draws a hit on its model: the triangle, the point, and the normal as an arrow. */
export class HitMarker {
  readonly root = new Group();
  readonly #corners = new BufferAttribute(new Float32Array(9), 3);
  readonly #triangle = new Group();
  readonly #arrow = new ArrowHelper(new Vector3(0, 1, 0), new Vector3(), 1, COLOR);

  constructor() {
    const geometry = new BufferGeometry().setAttribute('position', this.#corners);
    this.#triangle.add(
      new Mesh(geometry, new MeshBasicMaterial({ ...ON_TOP, color: COLOR, opacity: 0.35, side: DoubleSide })),
      new LineLoop(geometry, new LineBasicMaterial({ ...ON_TOP, color: COLOR })),
    );
    this.#triangle.matrixAutoUpdate = false;
    for (const part of this.#triangle.children) {
      part.renderOrder = 1;
      part.frustumCulled = false;
    }
    this.root.add(this.#triangle, this.#arrow);
    this.root.visible = false;
  }

  show(hit: Intersection | null): void {
    this.root.visible = hit !== null;
    if (hit === null) return;
    const matrix = matrixOf(hit);
    const normal = hit.face?.normal ?? hit.normal ?? new Vector3(0, 1, 0);
    const toWorld = new Matrix3().getNormalMatrix(matrix);
    this.#arrow.position.copy(hit.point);
    this.#arrow.setDirection(normal.clone().applyMatrix3(toWorld).normalize());
    const length = 0.07 * hit.distance;
    this.#arrow.setLength(length, 0.3 * length, 0.18 * length);

    const { face } = hit;
    this.#triangle.visible = face !== null && face !== undefined;
    if (face === null || face === undefined) return;
    const corner = new Vector3();
    [face.a, face.b, face.c].forEach((vertex, i) => {
      // The vertex in its current pose, with bones and morph targets applied.
      const { x, y, z } = (hit.object as Mesh).getVertexPosition(vertex, corner);
      this.#corners.setXYZ(i, x, y, z);
    });
    this.#corners.needsUpdate = true;
    this.#triangle.matrix.copy(matrix);
  }
}

/** Draws the box around the selected object in its rest pose. */
export class SelectionMarker {
  readonly root: LineSegments;
  #selected: Pick<Intersection, 'object' | 'instanceId'> | null = null;

  constructor(color = 0xffffff) {
    this.root = boxEdges(new LineBasicMaterial({ color, fog: false }));
    this.root.frustumCulled = false;
    this.root.matrixAutoUpdate = false;
    this.root.visible = false;
  }

  select(selected: Pick<Intersection, 'object' | 'instanceId'> | null): void {
    this.#selected = selected;
    this.root.visible = selected !== null;
  }

  /** Follows the object. */
  update(): void {
    if (this.#selected === null) return;
    const { geometry } = this.#selected.object as Mesh;
    if (geometry.boundingBox === null) geometry.computeBoundingBox();
    const { min, max } = new Box3().copy(geometry.boundingBox!);
    const size = new Vector3().subVectors(max, min);
    this.root.matrix.makeScale(size.x, size.y, size.z).setPosition(min).premultiply(matrixOf(this.#selected));
  }
}
