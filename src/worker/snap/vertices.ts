import { hashOf } from './hash.js';

/** Steps between two rests: some 0.3 ms. */
const STEPS = 8192;

/** Vertices that are one, by their positions. */
export interface Vertices {
  /** The vertex of each corner. */
  of: Uint32Array;
  /** The first corner that is each vertex. */
  corners: Uint32Array;
  count: number;
}

/** Finds which corners are at one place, to the last bit; both zeros are one number. */
export function* weldCorners(positions: Float32Array): Generator<void, Vertices> {
  const cornerCount = positions.length / 3;
  // Zeros lose their signs.
  for (let i = 0; i < positions.length; i++) positions[i] += 0;
  const bits = new Uint32Array(positions.buffer, positions.byteOffset, positions.length);
  const of = new Uint32Array(cornerCount);
  const corners = new Uint32Array(cornerCount);
  let table = new Uint32Array(1024); // a vertex and 1, or 0
  let count = 0;
  const placeOf = (corner: number): number => {
    const mask = table.length - 1;
    let place = hashOf(bits[3 * corner], bits[3 * corner + 1], bits[3 * corner + 2]) & mask;
    for (; table[place] !== 0; place = (place + 1) & mask) {
      const other = 3 * corners[table[place] - 1];
      const isSame =
        bits[other] === bits[3 * corner] &&
        bits[other + 1] === bits[3 * corner + 1] &&
        bits[other + 2] === bits[3 * corner + 2];
      if (isSame) break;
    }
    return place;
  };
  for (let corner = 0; corner < cornerCount; corner++) {
    const place = placeOf(corner);
    if (table[place] === 0) {
      corners[count++] = corner;
      table[place] = count;
      if (2 * count > table.length) {
        table = new Uint32Array(4 * table.length);
        for (let i = 0; i < count; i++) {
          table[placeOf(corners[i])] = i + 1;
          if (i % STEPS === STEPS - 1) yield;
        }
      }
      of[corner] = count - 1;
    } else {
      of[corner] = table[place] - 1;
    }
    if (corner % STEPS === STEPS - 1) yield;
  }
  return { of, corners: corners.slice(0, count), count };
}
