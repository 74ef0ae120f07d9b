import { Vector3 } from 'three';
import type { Random } from './random.js';

type VertexChange = (vertex: Vector3) => Vector3;

/** Ways to move a mesh's vertices, each with its own random numbers. */
export const DEFORMATIONS: readonly [name: string, make: (random: Random) => VertexChange][] = [
  ['left alone', () => (vertex) => vertex],
  [
    'in waves',
    (random) => {
      const [waveVector, amplitude, phase] = [
        random.direction().multiplyScalar(5),
        random.point(0.3),
        random.range(0, 6),
      ];
      return (vertex) => vertex.addScaledVector(amplitude, Math.sin(waveVector.dot(vertex) + phase));
    },
  ],
  [
    'twisted',
    (random) => {
      const [axis, turns] = [random.direction(), random.range(-4, 4)];
      return (vertex) => vertex.applyAxisAngle(axis, turns * axis.dot(vertex));
    },
  ],
  [
    'shaken',
    (random) => {
      const size = random.logRange(1e-3, 1);
      return (vertex) => vertex.add(random.point(size));
    },
  ],
  ['a thousandth', () => (vertex) => vertex.multiplyScalar(1e-3)],
  ['a thousand times', () => (vertex) => vertex.multiplyScalar(1e3)],
  ['mirrored', () => (vertex) => vertex.setX(-vertex.x)],
  ['drawn out', () => (vertex) => vertex.multiply(new Vector3(10, 1, 0.1))],
  // There, float32 leaves only a few distinct positions, and many triangles with zero area.
  ['far away', (random) => (vertex) => vertex.add(random.pick([new Vector3(1e6, 0, 0), new Vector3(1e6, 1e6, -1e6)]))],
  ['large and far away', () => (vertex) => vertex.multiplyScalar(1e3).addScalar(1e6)],
  ['flattened', () => (vertex) => vertex.setY(0)],
  ['half flattened', () => (vertex) => vertex.setY(Math.max(vertex.y, 0))],
  ['one vertex far out', (random) => (vertex) => (random.chance(0.01) ? vertex.multiplyScalar(1e4) : vertex)],
];
