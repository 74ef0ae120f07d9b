import { Matrix4, PerspectiveCamera } from 'three';
import { expect, test } from 'vitest';
import { readView } from '../../src/client/frame/view-table.js';
import { readInspection } from '../../src/client/query/inspect-options.js';
import { checkRegion, checkSnap } from '../../src/client/query/query-options.js';
import { SNAP_EDGE, SNAP_FACE, SNAP_VERTEX } from '../../src/shared/layout.js';

test.each([
  [{ width: 100, height: 50 }, true],
  [{ width: 0, height: 50 }, false],
  [{ width: 100, height: 0 }, false],
])('the worker is asked about a region where the view has pixels: %o', (viewport, isAsked) => {
  const [projection, view] = [new PerspectiveCamera().projectionMatrix.elements, new Matrix4().elements];
  const { record } = readView('pickRegion', { projection, view, viewport });
  const around = { x: -10, y: -10, width: 200, height: 200 };
  expect(checkRegion('pickRegion', around, 'touch', record) !== null).toBe(isAsked);
  const lasso = Float32Array.of(-10, -10, 200, -10, 200, 200);
  expect(checkRegion('pickRegion', lasso, 'enclose', record) !== null).toBe(isAsked);
});

test.each([
  [[], 'screen', 'mesh', 0],
  [[], 'ray', 'obb', 0],
  [['face', 'face'], 'ray', 'mesh', SNAP_FACE],
  [['vertex', 'edge'], 'ray', 'mesh', SNAP_VERTEX | SNAP_EDGE],
] as const)('a pick snaps to %o, by method %s and precision %s', (snap, method, precision, kinds) => {
  expect(checkSnap('pick', { snap, method, precision })).toBe(kinds);
  if (snap.length === 0) return;
  expect(() => checkSnap('pick', { snap, method: 'screen' })).toThrow(/snap .* none with method 'screen'/);
  expect(() => checkSnap('pick', { snap, precision: 'obb' })).toThrow(/snap .* none with precision 'obb'/);
});

test('levels of trees are two, in their order', () => {
  const read = (levels: unknown) =>
    readInspection('inspect', { levels } as never, null as never, null as never).request;
  expect(read([1, 3])).toMatchObject({ fromLevel: 1, toLevel: 3 });
  expect(read([2, 2])).toMatchObject({ fromLevel: 2, toLevel: 2 });
  const bad = [
    [],
    [1],
    [1, 2, 3],
    'ab',
    { length: 2, 0: 1, 1: 2 },
    Uint8Array.of(1, 2),
    [2, 1],
    [-1, 2],
    [0.5, 2],
    [0, 2.5],
  ];
  for (const levels of [...bad, [Infinity, Infinity], [0, Number.NaN], ['0', 1], null]) {
    expect(() => read(levels), String(levels)).toThrow(/^inspect: levels is .*expected two whole numbers/);
  }
});
