import { Matrix4, type Ray, type SkinnedMesh, Vector3 } from 'three';
import type { Rig } from './rigs.js';

/** The oriented box of the vertices that a bone dominates: the cube [-1, 1]³ under `matrix`, in world space. */
export interface BoneBox {
  bone: number;
  matrix: Matrix4;
  /** World positions of the vertices that only this bone moves. */
  vertices: Vector3[];
  /** Whether two of its axes are ambiguous, because the vertices spread equally along all directions between them. */
  isAmbiguous: boolean;
}

/** The bone with the greatest sum of a vertex's weights, the lowest one of several; -1 if there is none. */
function dominantBone({ bones, weights }: { bones: ArrayLike<number>; weights: ArrayLike<number> }, i: number): number {
  const sums = new Map<number, number>();
  for (let k = 4 * i; k < 4 * i + 4; k++) {
    if (weights[k] !== 0) sums.set(bones[k], (sums.get(bones[k]) ?? 0) + weights[k]);
  }
  let best = -1;
  for (const [bone, sum] of sums) {
    const bestSum = sums.get(best) ?? Number.NEGATIVE_INFINITY;
    if (sum > bestSum || (sum === bestSum && bone < best)) best = bone;
  }
  return best;
}

/** Finds the boxes of a posed rig's bones, except for bones that collapse their vertices to a plane or less. */
export function boneBoxes({ mesh, data }: Rig): BoneBox[] {
  const { skeleton, bindMatrix, bindMatrixInverse, matrixWorld } = mesh as SkinnedMesh;
  const skin = data.skin!;
  const positionsByBone = new Map<number, Vector3[]>();
  for (const i of new Set(data.indices!)) {
    const bone = dominantBone(skin, i);
    if (!positionsByBone.has(bone)) positionsByBone.set(bone, []);
    positionsByBone.get(bone)!.push(new Vector3().fromArray(data.positions, 3 * i));
  }
  positionsByBone.delete(-1);
  return [...positionsByBone].flatMap(([bone, restPositions]) => {
    const boneMatrix = new Matrix4()
      .fromArray(skeleton.boneMatrices as Float32Array, 16 * bone)
      .premultiply(bindMatrixInverse)
      .multiply(bindMatrix)
      .premultiply(matrixWorld);
    if (Math.abs(boneMatrix.determinant()) < 1e-12) return [];
    const { axes, spreads } = principalAxes(restPositions);
    const [min, max] = [new Vector3().setScalar(Infinity), new Vector3().setScalar(-Infinity)];
    for (const position of restPositions) {
      const coordinates = new Vector3(...axes.map((axis) => axis.dot(position)));
      min.min(coordinates);
      max.max(coordinates);
    }
    const halfSize = max.clone().sub(min).multiplyScalar(0.5);
    const center = min.add(halfSize);
    const frame = new Matrix4().makeBasis(axes[0], axes[1], axes[2]);
    const matrix = boneMatrix
      .clone()
      .multiply(frame)
      .multiply(new Matrix4().makeTranslation(center))
      .multiply(
        new Matrix4().makeScale(
          ...(halfSize.toArray().map((extent) => Math.max(extent, 1e-7)) as [number, number, number]),
        ),
      );
    const largest = Math.max(...spreads);
    const isAmbiguous = [0, 1, 2].some((i) => {
      const a = spreads[i];
      const b = spreads[(i + 1) % 3];
      return Math.max(a, b) > 1e-12 * largest && Math.abs(a - b) < 1e-3 * largest;
    });
    return {
      bone,
      matrix,
      vertices: restPositions.map((position) => position.clone().applyMatrix4(boneMatrix)),
      isAmbiguous,
    };
  });
}

/** Eigenvectors of the covariance of positions, by Jacobi rotations, and the spread along each. */
function principalAxes(positions: Vector3[]): { axes: Vector3[]; spreads: number[] } {
  const mean = positions.reduce((sum, position) => sum.add(position), new Vector3()).divideScalar(positions.length);
  const a = [0, 1, 2].map((i) =>
    [0, 1, 2].map((j) => {
      const sum = positions.reduce((total, position) => {
        return (
          total + (position.getComponent(i) - mean.getComponent(i)) * (position.getComponent(j) - mean.getComponent(j))
        );
      }, 0);
      return sum / positions.length;
    }),
  );
  const v = [0, 1, 2].map((i) => [0, 1, 2].map((j) => Number(i === j)));
  for (let step = 0; step < 60; step++) {
    for (const [p, q] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ]) {
      if (a[p][q] === 0) continue;
      const angle = 0.5 * Math.atan2(2 * a[p][q], a[q][q] - a[p][p]);
      const c = Math.cos(angle);
      const s = Math.sin(angle);
      for (let k = 0; k < 3; k++) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
      for (let k = 0; k < 3; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      for (let k = 0; k < 3; k++) [v[k][p], v[k][q]] = [c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]];
    }
  }
  return {
    axes: [0, 1, 2].map((j) => new Vector3(v[0][j], v[1][j], v[2][j])),
    spreads: [0, 1, 2].map((j) => Math.abs(a[j][j])),
  };
}

/** Where a line enters and leaves a box that is expanded by this much on every side, in world space; null if it misses. */
export function crossBox({ origin, direction }: Ray, matrix: Matrix4, margin: number): [number, number] | null {
  const inverse = matrix.clone().invert();
  const localOrigin = origin.clone().applyMatrix4(inverse);
  const localEnd = origin.clone().add(direction).applyMatrix4(inverse);
  const localDirection = localEnd.sub(localOrigin);
  let [near, far] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let i = 0; i < 3; i++) {
    // The distance of a face from the centre is one over the length of the inverse's row.
    const e = inverse.elements;
    const halfWidth = 1 + margin * Math.hypot(e[i], e[i + 4], e[i + 8]);
    if (halfWidth <= 0) return null;
    const o = localOrigin.getComponent(i);
    const d = localDirection.getComponent(i);
    const t0 = (-halfWidth - o) / d;
    const t1 = (halfWidth - o) / d;
    near = Math.max(near, Math.min(t0, t1));
    far = Math.min(far, Math.max(t0, t1));
  }
  return near <= far ? [near, far] : null;
}
