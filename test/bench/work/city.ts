import { Matrix4, Vector3 } from 'three';
import { Random } from '../../oracle/random.js';

/** Number of small objects per house. */
const SMALL_OBJECTS = 9;
/** Units from one house to the next. */
export const STREET = 10;

/** Returns whether the i-th part of a city is a house. */
export function isHouse(i: number): boolean {
  return i % (1 + SMALL_OBJECTS) === 0;
}

/** Makes the matrices of a city of unit cubes: houses in rows, and small objects around them. */
export function cityOf(count: number): Float32Array {
  const random = new Random(1);
  const matrices = new Float32Array(16 * count);
  const side = Math.ceil(Math.sqrt(count / (1 + SMALL_OBJECTS)));
  const matrix = new Matrix4();
  for (let i = 0; i < count; i++) {
    const block = Math.floor(i / (1 + SMALL_OBJECTS));
    const [x, z] = [STREET * ((block % side) - side / 2), STREET * (Math.floor(block / side) - side / 2)];
    if (isHouse(i)) {
      const height = random.range(8, 48);
      matrix.compose(
        new Vector3(x, height / 2, z),
        random.rotation().set(0, 0, 0, 1),
        new Vector3(random.range(6, 8), height, random.range(6, 8)),
      );
    } else {
      const position = new Vector3(x + random.range(-5, 5), random.range(0, 2), z + random.range(-5, 5));
      matrix.compose(position, random.rotation(), new Vector3(0.6, 0.6, 0.6));
    }
    matrix.toArray(matrices, 16 * i);
  }
  return matrices;
}
