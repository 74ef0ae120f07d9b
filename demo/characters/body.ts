import { Box3, BufferAttribute, type BufferGeometry, Vector3 } from 'three';
import type { Quality } from '../quality.js';
import { bodyDistance, LIMBS, limbDistances } from './figure.js';
import { surfaceNets } from './surface-nets.js';

/** Metres: about the length of an edge. */
const CELL_SIZES: Record<Quality, number> = { high: 0.014, low: 0.026 };
/** Metres of falloff: limbs that are this much farther away than the nearest hardly move a vertex. */
const SOFTNESS = 0.022;

/** Creates a body skinned to its bones. */
export function createBody(quality: Quality): BufferGeometry {
  const geometry = surfaceNets(
    bodyDistance,
    new Box3(new Vector3(-0.6, -0.05, -0.3), new Vector3(0.6, 1.85, 0.3)),
    CELL_SIZES[quality],
  );
  const { position } = geometry.attributes;
  const bones = new Uint16Array(4 * position.count);
  const weights = new Float32Array(4 * position.count);
  const distances = new Float64Array(LIMBS.length);
  for (let i = 0; i < position.count; i++) {
    limbDistances(new Vector3().fromBufferAttribute(position, i), distances);
    const nearest = [...distances.keys()].sort((a, b) => distances[a] - distances[b]).slice(0, 4);
    const boneWeights = nearest.map((bone) => Math.exp(-(((distances[bone] - distances[nearest[0]]) / SOFTNESS) ** 2)));
    const sum = boneWeights.reduce((a, b) => a + b);
    bones.set(nearest, 4 * i);
    weights.set(
      boneWeights.map((weight) => weight / sum),
      4 * i,
    );
  }
  return geometry
    .setAttribute('skinIndex', new BufferAttribute(bones, 4))
    .setAttribute('skinWeight', new BufferAttribute(weights, 4));
}
