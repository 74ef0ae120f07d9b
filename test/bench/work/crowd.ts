import type { MeshData } from 'collision-worker';
import { CylinderGeometry, Matrix4, Vector3 } from 'three';
import { trianglesOf } from '../../oracle/meshes.js';

const HEIGHT = 2;
const RADIUS = 0.3;

/** An upright figure of 2 · rings · 50 triangles; its bones are stacked, and up to three of them move a vertex. */
export function figure(rings: number, boneCount: number): MeshData & { indices: Uint32Array } {
  const geometry = new CylinderGeometry(RADIUS, RADIUS, HEIGHT, 50, rings, true);
  const triangles = trianglesOf(geometry);
  const count = triangles.positions.length / 3;
  const bones = new Uint16Array(4 * count);
  const weights = new Float32Array(4 * count);
  for (let i = 0; i < count; i++) {
    const bonePosition = (triangles.positions[3 * i + 1] / HEIGHT + 0.5) * (boneCount - 1);
    const bone = Math.floor(bonePosition);
    const fraction = bonePosition - bone;
    bones.set([bone, Math.min(bone + 1, boneCount - 1), Math.max(bone - 1, 0), 0], 4 * i);
    weights.set([0.5 + 0.25 * (1 - fraction), 0.25 * fraction, 0.25, 0], 4 * i);
  }
  return { ...triangles, skin: { bones, weights, boneCount } };
}

/** The bone matrices of a swaying figure, 16 numbers each, as in three's `skeleton.boneMatrices`. */
export function sway(bones: Float32Array, figureIndex: number, round: number): void {
  const count = bones.length / 16;
  const matrix = new Matrix4();
  const rotation = new Matrix4();
  for (let bone = 0; bone < count; bone++) {
    const relativeHeight = bone / (count - 1);
    const angle = 0.5 * relativeHeight * Math.sin(0.7 * figureIndex + 0.3 * round + 2 * relativeHeight);
    const y = (relativeHeight - 0.5) * HEIGHT;
    matrix.makeTranslation(
      0.3 * relativeHeight * Math.sin(angle),
      y,
      0.1 * relativeHeight * Math.cos(figureIndex + round),
    );
    matrix.multiply(rotation.makeRotationZ(angle)).multiply(rotation.makeTranslation(0, -y, 0));
    matrix.toArray(bones, 16 * bone);
  }
}

/** Positions of figures in a square grid. */
export function gridTransforms(count: number, spacing: number): Float32Array {
  const side = Math.ceil(Math.sqrt(count));
  const transforms = new Float32Array(16 * count);
  for (let i = 0; i < count; i++) {
    new Matrix4().makeTranslation(spacing * (i % side), 0, spacing * Math.floor(i / side)).toArray(transforms, 16 * i);
  }
  return transforms;
}

/** One ray at each of three figures, eight numbers each; the figures change every round. */
export function raysAtFigures(transforms: Float32Array, round: number): Float32Array {
  const count = transforms.length / 16;
  const rays = new Float32Array(24);
  for (let k = 0; k < 3; k++) {
    const at = 16 * ((17 * round + 31 * k) % count);
    const target = new Vector3(transforms[at + 12], -0.4 + 0.1 * k, transforms[at + 14]);
    rays.set([target.x + 0.02, target.y + 5, target.z + 1, 0, 0, -5, -1, Number.POSITIVE_INFINITY], 8 * k);
  }
  return rays;
}
