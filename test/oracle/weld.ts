import type { MeshData } from 'collision-worker';

/** For each vertex, the first vertex that a chain of steps shorter than `distance` connects to it, by comparing all with all. */
export function clustersOf(positions: ArrayLike<number>, distance: number): Uint32Array {
  const count = positions.length / 3;
  const first = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < i; k++) {
      const distanceSquared = [0, 1, 2].reduce(
        (sum, axis) => sum + (positions[3 * i + axis] - positions[3 * k + axis]) ** 2,
        0,
      );
      if (distanceSquared >= distance * distance || first[i] === first[k]) continue;
      const [lower, higher] = [Math.min(first[i], first[k]), Math.max(first[i], first[k])];
      for (let j = 0; j <= i; j++) if (first[j] === higher) first[j] = lower;
    }
  }
  return first;
}

/** The edges with more triangles on one side than on the other, as the positions of their ends. */
export function openEdgesOf({ positions, indices }: MeshData): Set<string> {
  const corners = indices ?? Uint32Array.from({ length: positions.length / 3 }, (_, i) => i);
  const surplus = new Map<string, number>();
  // As text, both zeros are equal.
  const positionKey = (i: number) => `${positions.subarray(3 * corners[i], 3 * corners[i] + 3)}`;
  for (let i = 0; i < corners.length; i += 3) {
    for (let k = 0; k < 3; k++) {
      const [from, to] = [positionKey(i + k), positionKey(i + ((k + 1) % 3))];
      if (from === to) continue;
      const [edge, side] = from < to ? [`${from} ${to}`, 1] : [`${to} ${from}`, -1];
      surplus.set(edge, (surplus.get(edge) ?? 0) + side);
    }
  }
  return new Set([...surplus].filter(([, count]) => count !== 0).map(([edge]) => edge));
}
