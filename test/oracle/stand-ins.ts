import { Box3, Matrix3, Matrix4, Quaternion, Vector3 } from 'three';
import { boundsOf, type Triangles } from './meshes.js';
import { type RegionBody, worldTriangles } from './screen-region.js';

/** A shape in its object's space. A capsule's `to` is not below its `from`. */
export type Form =
  | { type: 'mesh'; triangles: Triangles }
  | { type: 'box'; halfExtents: Vector3; center: Vector3; rotation: Quaternion }
  | { type: 'sphere'; radius: number; center: Vector3 }
  | { type: 'capsule'; radius: number; from: Vector3; to: Vector3 };

export type Precision = 'sphere' | 'aabb' | 'obb' | 'mesh';

const Z = new Vector3(0, 0, 1);

/** Matrix from the cube of half size 1 to the form's own bounds, and half the length of a capsule's segment, in radii. */
function boundsOfForm(form: Form): { map: Matrix4; half: number } {
  const map = new Matrix4();
  if (form.type === 'box') return { map: map.compose(form.center, form.rotation, form.halfExtents), half: 0 };
  if (form.type === 'mesh') {
    const box = boundsOf(form.triangles.positions);
    const size = box.getSize(new Vector3()).multiplyScalar(0.5);
    return { map: map.compose(box.getCenter(new Vector3()), new Quaternion(), size), half: 0 };
  }
  if (form.type === 'sphere') {
    return { map: map.compose(form.center, new Quaternion(), new Vector3().setScalar(form.radius)), half: 0 };
  }
  const { radius, from, to } = form;
  const length = from.distanceTo(to);
  const rotation = new Quaternion().setFromUnitVectors(Z, to.clone().sub(from).normalize());
  const size = new Vector3(radius, radius, radius + length / 2);
  return { map: map.compose(from.clone().add(to).multiplyScalar(0.5), rotation, size), half: length / 2 / radius };
}

/** Matrix from the cube of half size 1 to the oriented bounds. */
export function orientedBounds(form: Form, matrix: Matrix4): Matrix4 {
  return matrix.clone().multiply(boundsOfForm(form).map);
}

/** The stand-in for an object in a query of that precision. */
export function standIn(form: Form, matrix: Matrix4, precision: Precision): RegionBody {
  const { map, half } = boundsOfForm(form);
  const bounds = matrix.clone().multiply(map);
  const center = new Vector3().setFromMatrixPosition(bounds);
  const worldBox = (size: Vector3) => new Matrix4().compose(center, new Quaternion(), size);
  if (precision === 'obb') return { shape: 'cube', matrix: bounds };
  if (precision === 'aabb') return { shape: 'cube', matrix: worldBox(aabbHalfSize(form, bounds, half)) };
  if (precision === 'sphere') {
    return { shape: { half: 0 }, matrix: worldBox(new Vector3().setScalar(radiusOf(form, matrix))) };
  }
  if (form.type === 'mesh') return { corners: worldTriangles(form.triangles, matrix) };
  if (form.type === 'box') return { shape: 'cube', matrix: bounds };
  return { shape: { half }, matrix: bounds.multiply(new Matrix4().makeScale(1, 1, 1 / (1 + half))) };
}

function aabbHalfSize(form: Form, bounds: Matrix4, half: number): Vector3 {
  const m = bounds.elements;
  return new Vector3(
    ...[0, 1, 2].map((row) => {
      if (form.type === 'mesh' || form.type === 'box')
        return Math.abs(m[row]) + Math.abs(m[4 + row]) + Math.abs(m[8 + row]);
      const end = m[8 + row] / (1 + half);
      return Math.abs(end) * half + Math.hypot(m[row], m[4 + row], end);
    }),
  );
}

function radiusOf(form: Form, matrix: Matrix4): number {
  if (form.type === 'box') return form.halfExtents.length() * maxStretch(matrix);
  if (form.type === 'sphere') return form.radius * maxStretch(matrix);
  if (form.type === 'capsule') return (form.radius + form.from.distanceTo(form.to) / 2) * maxStretch(matrix);
  const { positions } = form.triangles;
  const center = new Box3().setFromArray(positions).getCenter(new Vector3());
  let maxDistance = 0;
  for (let i = 0; i < positions.length; i += 3) {
    maxDistance = Math.max(maxDistance, new Vector3().fromArray(positions, i).distanceTo(center));
  }
  return maxDistance * maxStretch(matrix);
}

/** The largest singular value, by powers of MᵀM. */
function maxStretch(matrix: Matrix4): number {
  const m = new Matrix3().setFromMatrix4(matrix);
  let gram = m.clone().transpose().multiply(m);
  let scale = 1;
  for (let i = 0; i < 60; i++) {
    const largest = Math.max(...gram.elements.map(Math.abs));
    scale *= largest ** (1 / 2 ** i);
    gram = gram.multiplyScalar(1 / largest);
    gram = gram.clone().multiply(gram);
  }
  const trace = gram.elements[0] + gram.elements[4] + gram.elements[8];
  return Math.sqrt(scale * trace ** (1 / 2 ** 60));
}
