import { Matrix4, PerspectiveCamera } from 'three';
import { expect, test } from 'vitest';
import { readView } from '../../src/client/frame/view-table.js';
import { checkRegion } from '../../src/client/query/query-options.js';

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
