import { type Box3, type Camera, Frustum, Matrix4, type Plane, type Sphere, Vector4 } from 'three';
import type { ViewOptions } from '../../../shared/types.js';
import { isSameMatrix } from '../../transforms/affine.js';

/** Numbers that differ by less than this fraction of their operands may be equal. */
export const ROUNDING = 1e-6;

/** The volume that a camera draws, by its planes: six times four numbers, n · x + d ≥ 0 inside, n of length 1. */
export class ViewVolume {
  readonly planes = new Float64Array(24);
  /** World to clip space. */
  readonly clip = new Matrix4();
  readonly frustum = new Frustum();

  /** Takes over the volume of a camera, as three's renderers compute it. */
  set(camera: Camera): this {
    this.clip.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    this.frustum.setFromProjectionMatrix(this.clip, camera.coordinateSystem, camera.reversedDepth);
    writePlanes(this.frustum, this.planes);
    return this;
  }

  /** Returns whether a box that a matrix places is entirely behind one of the planes. */
  isOutside({ min, max }: Box3, { elements: m }: Matrix4): boolean {
    const { planes } = this;
    const [x, y, z] = [(min.x + max.x) / 2, (min.y + max.y) / 2, (min.z + max.z) / 2];
    const [a, b, c] = [(max.x - min.x) / 2, (max.y - min.y) / 2, (max.z - min.z) / 2];
    const px = m[0] * x + m[4] * y + m[8] * z + m[12];
    const py = m[1] * x + m[5] * y + m[9] * z + m[13];
    const pz = m[2] * x + m[6] * y + m[10] * z + m[14];
    for (let at = 0; at < 24; at += 4) {
      const [nx, ny, nz, d] = [planes[at], planes[at + 1], planes[at + 2], planes[at + 3]];
      const radius =
        a * Math.abs(nx * m[0] + ny * m[1] + nz * m[2]) +
        b * Math.abs(nx * m[4] + ny * m[5] + nz * m[6]) +
        c * Math.abs(nx * m[8] + ny * m[9] + nz * m[10]);
      const slack = ROUNDING * (Math.abs(nx * px) + Math.abs(ny * py) + Math.abs(nz * pz) + Math.abs(d) + radius);
      if (nx * px + ny * py + nz * pz + d < -radius - slack) return true;
    }
    return false;
  }

  /** Returns how many pixels across a sphere of the world is drawn, if a unit has `pixels` where clip w is 1; Infinity at the eye. */
  pixelsOf({ center: { x, y, z }, radius }: Sphere, pixels: number): number {
    const c = this.clip.elements;
    const w = c[3] * x + c[7] * y + c[11] * z + c[15];
    return w > 0 ? (2 * radius * pixels) / w : Number.POSITIVE_INFINITY;
  }

  /** Returns whether a frustum is this volume's: the renderer tests against it, and it is not a light's. */
  isSame({ planes }: Frustum): boolean {
    const volumePlanes = this.planes;
    for (let i = 0; i < 6; i++) {
      const { normal, constant } = planes[i];
      const at = 4 * i;
      if (isAtInfinity(planes[i])) {
        if (volumePlanes[at] !== 0 || volumePlanes[at + 1] !== 0 || volumePlanes[at + 2] !== 0) return false;
        continue;
      }
      if (
        normal.x !== volumePlanes[at] ||
        normal.y !== volumePlanes[at + 1] ||
        normal.z !== volumePlanes[at + 2] ||
        constant !== volumePlanes[at + 3]
      ) {
        return false;
      }
    }
    return true;
  }
}

/**
 * Returns whether the volume that a camera draws is contained in that of the view that was asked about, with its margin: what the
 * view did not see is then not drawn. True for views that differ by rounding alone.
 */
export function isContained(camera: Camera, askedView: ViewOptions): boolean {
  const { projection, view, margin = 0 } = askedView;
  const { projectionMatrix, matrixWorldInverse } = camera;
  if (isSameMatrix(projectionMatrix.elements, projection) && isSameMatrix(matrixWorldInverse.elements, view))
    return true;
  if (!(margin > 0)) return false;
  const toWorld = new Matrix4().multiplyMatrices(projectionMatrix, matrixWorldInverse).invert();
  const askedClip = new Matrix4().fromArray(projection as number[]).multiply(new Matrix4().fromArray(view as number[]));
  const planes = new Float64Array(24);
  const frustum = new Frustum().setFromProjectionMatrix(askedClip, camera.coordinateSystem, camera.reversedDepth);
  writePlanes(frustum, planes);
  // three may reverse the depth of a camera that was asked about before. Depths of -1 are then behind the eye.
  const minDepth = askedView.depth === 'webgpu' || camera.reversedDepth ? 0 : -1;
  const corner = new Vector4();
  for (let i = 0; i < 8; i++) {
    corner.set(i & 1 || -1, (i & 2) - 1, i & 4 ? 1 : minDepth, 1).applyMatrix4(toWorld);
    for (let at = 0; at < 24; at += 4) if (!isInside(corner, planes, at, margin)) return false;
  }
  return true;
}

/** Returns whether a homogeneous corner is certainly inside of a plane and its margin; w is 0 for a point at infinity. */
function isInside({ x, y, z, w }: Vector4, planes: Float64Array, at: number, margin: number): boolean {
  const n = planes[at] * x;
  const m = planes[at + 1] * y;
  const o = planes[at + 2] * z;
  const d = planes[at + 3] * w;
  const slack = ROUNDING * (Math.abs(n) + Math.abs(m) + Math.abs(o) + Math.abs(d));
  const height = n + m + o + d + margin * w;
  return (w >= 0 ? height : -height) >= slack;
}

/** Writes the planes. A plane at infinity has everything in front of it. */
function writePlanes({ planes }: Frustum, target: Float64Array): void {
  for (let i = 0; i < 6; i++) {
    const { normal, constant } = planes[i];
    normal.toArray(target, 4 * i);
    target[4 * i + 3] = constant;
    if (isAtInfinity(planes[i])) target.set([0, 0, 0, 1], 4 * i);
  }
}

/** Returns whether a plane has no normal. In three, a far plane at infinity has NaN. */
function isAtInfinity({ normal }: Plane): boolean {
  return Number.isNaN(normal.x);
}
