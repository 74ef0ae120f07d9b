import { BufferAttribute, BufferGeometry } from 'three';
import { dragon } from '../oracle/dragon.js';

/** The dragon that the pages draw with a software renderer. */
export function dragonGeometry(): BufferGeometry {
  const { positions, indices } = dragon(11102);
  const geometry = new BufferGeometry()
    .setAttribute('position', new BufferAttribute(positions, 3))
    .setIndex(new BufferAttribute(indices, 1));
  geometry.computeVertexNormals();
  geometry.computeBoundingBox();
  return geometry;
}
