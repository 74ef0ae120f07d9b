import type { MeshData } from 'collision-worker';

/**
 * Returns whether every edge has as many triangles on one side as on the other, counted edge by edge. Triangles with a non-finite
 * corner do not count, those with zero area do.
 */
export function isClosed({ positions, indices }: MeshData): boolean {
  const surplus = new Map<string, number>();
  const corners = indices ?? Uint32Array.from({ length: positions.length / 3 }, (_, i) => i);
  // As text, both zeros are equal.
  const positionAt = (corner: number) => positions.subarray(3 * corners[corner], 3 * corners[corner] + 3);
  for (let i = 0; i < corners.length; i += 3) {
    const cornerPositions = [positionAt(i), positionAt(i + 1), positionAt(i + 2)];
    if (!cornerPositions.every((xyz) => xyz.every(Number.isFinite))) continue;
    const keys = cornerPositions.map((xyz) => `${xyz}`);
    keys.forEach((from, k) => {
      const to = keys[(k + 1) % 3];
      const [edge, side] = from < to ? [`${from} ${to}`, 1] : [`${to} ${from}`, -1];
      if (from !== to) surplus.set(edge, (surplus.get(edge) ?? 0) + side);
    });
  }
  return [...surplus.values()].every((count) => count === 0);
}
