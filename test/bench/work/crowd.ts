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
    const place = (triangles.positions[3 * i + 1] / HEIGHT + 0.5) * (boneCount - 1);
    const bone = Math.floor(place);
    const share = place - bone;
    bones.set([bone, Math.min(bone + 1, boneCount - 1), Math.max(bone - 1, 0), 0], 4 * i);
    weights.set([0.5 + 0.25 * (1 - share), 0.25 * share, 0.25, 0], 4 * i);
  }
  return { ...triangles, skin: { bones, weights, boneCount } };
}

/** The bone matrices of a swaying figure, 16 numbers each, as in three's `skeleton.boneMatrices`. */
export function sway(bones: Float32Array, number: number, round: number): void {
  const count = bones.length / 16;
  const matrix = new Matrix4();
  const turn = new Matrix4();
  for (let bone = 0; bone < count; bone++) {
    const up = bone / (count - 1);
    const angle = 0.5 * up * Math.sin(0.7 * number + 0.3 * round + 2 * up);
    const y = (up - 0.5) * HEIGHT;
    matrix.makeTranslation(0.3 * up * Math.sin(angle), y, 0.1 * up * Math.cos(number + round));
    matrix.multiply(turn.makeRotationZ(angle)).multiply(turn.makeTranslation(0, -y, 0));
    matrix.toArray(bones, 16 * bone);
  }
}

/** Positions of figures in a square grid. */
export function placesOf(count: number, apart: number): Float32Array {
  const side = Math.ceil(Math.sqrt(count));
  const places = new Float32Array(16 * count);
  for (let i = 0; i < count; i++) {
    new Matrix4().makeTranslation(apart * (i % side), 0, apart * Math.floor(i / side)).toArray(places, 16 * i);
  }
  return places;
}

/** One ray at each of three figures, eight numbers each; the figures change every round. */
export function raysAtFigures(places: Float32Array, round: number): Float32Array {
  const count = places.length / 16;
  const rays = new Float32Array(24);
  for (let k = 0; k < 3; k++) {
    const at = 16 * ((17 * round + 31 * k) % count);
    const middle = new Vector3(places[at + 12], -0.4 + 0.1 * k, places[at + 14]);
    rays.set([middle.x + 0.02, middle.y + 5, middle.z + 1, 0, 0, -5, -1, Number.POSITIVE_INFINITY], 8 * k);
  }
  return rays;
}
