// Each view that was set or removed copied the names of all views: 20,000 of them, set and removed in one task, blocked the main
// thread for 9 seconds.
import { PerspectiveCamera } from 'three';
import { expect, test } from 'vitest';
import { ViewTable } from '../../src/client/frame/view-table.js';

/** Quadratic work on this many would take minutes. */
const MANY = 50_000;
const TIMEOUT = 20_000;

const VIEW = {
  projection: new PerspectiveCamera().projectionMatrix.elements,
  view: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
  viewport: { width: 100, height: 100 },
};

test(`${MANY} views are set and removed in one task`, { timeout: TIMEOUT }, () => {
  const views = new ViewTable();
  const names = Array.from({ length: MANY }, (_, i) => `view ${i}`);
  for (const name of names) views.set('test', name, VIEW);
  const first = views.names;
  expect(first.findIndex((name, i) => name !== names[i])).toBe(-1);
  expect(first.length).toBe(MANY);
  for (const name of names) views.delete('test', name);
  const second = views.names;
  for (const name of names) views.set('test', name, VIEW);
  // A frame that has kept the names of its time still has them.
  expect(first.findIndex((name, i) => name !== names[i])).toBe(-1);
  expect(second.findIndex((name) => name !== undefined)).toBe(-1);
  expect([...views.names].sort()).toEqual(names.sort());
});
