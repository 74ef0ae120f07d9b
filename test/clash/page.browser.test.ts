import { clash } from 'collision-worker/clash';
import { expect, test } from 'vitest';
import { building } from '../fixtures/building.js';
import { clashParts } from '../fixtures/clash-parts.js';

test('a page finds clashes in workers, and hears how far it is', async () => {
  const parts = clashParts(building({ parts: 600 }));
  const pipes = parts.filter(({ layer }) => layer === 'Water');
  const others = parts.filter(({ layer }) => layer !== 'Water');
  const fractions: number[] = [];
  const {
    clashes,
    groups,
    unread,
    parts: counts,
  } = await clash(pipes, others, [{ name: 'pipes', kind: 'hard' }], {
    workers: 2,
    onProgress: ({ fraction }) => fractions.push(fraction),
  });
  expect(counts).toEqual({ a: pipes.length, b: others.length });
  expect(clashes.length).toBeGreaterThan(20);
  expect(clashes.every(({ a, b, depth }) => a.layer === 'Water' && b.layer !== 'Water' && depth! > 0.001)).toBe(true);
  expect(groups.flatMap((group) => group.clashes)).toEqual(clashes.map(({ id }) => id));
  expect(unread).toEqual([]);
  expect(fractions.at(-1)).toBe(1);
});
