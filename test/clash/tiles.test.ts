// Every pair of boxes that intersect belongs to exactly one tile, which has both, wherever they are.
import { describe, expect, test } from 'vitest';
import { isInCell, makeTiles } from '../../src/clash/plan/tiles.js';
import { inSlices } from '../../src/clash/slices.js';
import { Random, SEED } from '../oracle/random.js';

interface Case {
  name: string;
  /** The largest size of a box, in a world of size 1. */
  size: number;
  count: number;
  /** All boxes have one of this many low corners; 0 for any. */
  corners: number;
}

const CASES: Case[] = [
  { name: 'small boxes', size: 0.3, count: 600, corners: 0 },
  { name: 'large and small ones', size: 1, count: 200, corners: 0 },
  { name: 'boxes of a grid, which share corners', size: 0.3, count: 300, corners: 4 },
  { name: 'all in one place', size: 0, count: 150, corners: 1 },
];

describe.each(CASES)(`Tiles of $name, seed ${SEED}`, ({ size, count, corners }) => {
  const random = new Random(SEED);
  const coordinate = () => (corners > 0 ? random.integer(corners) / corners : random.range(0, 1));
  const parts = Array.from({ length: count }, (_, mesh) => {
    const low = [coordinate(), coordinate(), coordinate()];
    const scale = random.logRange(0.01, 1);
    const high = low.map((each) => each + size * scale * (corners > 0 ? 1 : random.range(0, 1)));
    return { mesh, box: [...low, ...high] };
  });
  const padded = Float64Array.from(parts.flatMap(({ box }) => box));
  const list = parts.map((_, i) => i);
  const meets = (i: number, j: number) =>
    [0, 1, 2].every((axis) => {
      const [a, b] = [parts[i].box, parts[j].box];
      return a[axis] <= b[axis + 3] && b[axis] <= a[axis + 3];
    });

  test.each([
    { parts: 40, bytes: Number.POSITIVE_INFINITY },
    { parts: 1000, bytes: 2000 },
    { parts: 2, bytes: Number.POSITIVE_INFINITY },
  ])('of at most $parts parts and $bytes bytes', async (limits) => {
    const bytesOf = (mesh: number) => (mesh === 7 ? 5000 : 100);
    const tiles = await inSlices(makeTiles(list, parts, padded, bytesOf, limits));
    const seen = new Uint8Array(count * count);
    for (const { cell, parts: own, split } of tiles) {
      expect(own.length <= limits.parts).toBe(true);
      expect([...own].sort((a, b) => a - b)).toEqual(own);
      own.forEach((a, i) => {
        own.forEach((b, j) => {
          if (j <= i || (split > 0 && i < split === j < split)) return;
          if (isInCell(cell, padded, a, b) && meets(a, b)) seen[a * count + b]++;
        });
      });
    }
    let pairs = 0;
    for (let i = 0; i < count; i++) {
      for (let j = i + 1; j < count; j++) {
        const isMeeting = meets(i, j);
        if (isMeeting) pairs++;
        if (seen[i * count + j] !== (isMeeting ? 1 : 0))
          expect([i, j, seen[i * count + j]]).toEqual([i, j, isMeeting ? 1 : 0]);
      }
    }
    expect(pairs).toBeGreaterThan(count / 10);
  });
});

test('each part is of a tile, though no other is', async () => {
  const padded = Float64Array.from({ length: 60 }, (_, i) => 10 * Math.floor(i / 6) + Math.floor((i % 6) / 3));
  const parts = Array.from({ length: 10 }, (_, mesh) => ({ mesh }));
  for (const count of [1, 3, 9]) {
    const list = Array.from({ length: count }, (_, i) => i);
    const tiles = await inSlices(makeTiles(list, parts, padded, () => 1, { parts: 2, bytes: 100 }));
    expect(tiles.flatMap((tile) => [...tile.parts]).sort()).toEqual(list);
  }
});
