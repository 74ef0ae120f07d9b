// A view without a width or a height, such as that of a hidden canvas, was an error in every frame. It sees nothing.
import { type CollisionService, createCollisionService, frustumMotion, type ViewOptions } from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

let service: CollisionService;
let id: number;

function viewOf(width: number, height: number): ViewOptions {
  return {
    projection: new PerspectiveCamera(60, width / height, 0.1, 100).projectionMatrix.elements,
    view: new Matrix4().makeTranslation(0, 0, -10).elements,
    viewport: { width, height },
  };
}

const SEEN = viewOf(100, 50);
const EMPTY: [number, number][] = [
  [0, 0], // whose aspect is NaN
  [0, 50],
  [100, 0], // and infinite
];

beforeEach(async () => {
  service = await createCollisionService({ builders: 0 });
  onTestFinished(() => service.dispose());
  id = service.addObject({ shape: { type: 'sphere', radius: 1 } });
});

test.each(EMPTY)('%d × %d pixels: nothing is seen or hit, and all of it again when there are some', async (w, h) => {
  const empty = viewOf(w, h);
  service.setView(SEEN);
  expect([...(await service.update()).visible.entered]).toEqual([id]);
  for (let frame = 0; frame < 2; frame++) {
    service.setView(empty);
    const { visible, rejected } = await service.update();
    expect([visible.ids.length, visible.inside, visible.entered.length, rejected.length]).toEqual([0, 0, 0, 0]);
    expect([...visible.left]).toEqual(frame === 0 ? [id] : []);
    expect(await service.pick(0, 0)).toBeNull();
    expect(await service.pick(0, 0, { method: 'screen' })).toBeNull();
    expect(await service.pickAll(0, 0)).toEqual([]);
    expect(await service.pickAll(0, 0, { method: 'screen' })).toEqual([]);
    expect(await service.pickRegion({ x: 0, y: 0, width: 100, height: 100 })).toHaveLength(0);
    expect(await service.pickRegion(new Float32Array([-9, -9, 9, -9, 0, 9]), { mode: 'enclose' })).toHaveLength(0);
    expect((await service.frustum('main')).ids).toHaveLength(0);
    expect((await service.frustum(empty)).ids).toHaveLength(0);
    expect(await service.sees('main', [id])).toMatchObject({ ids: new Uint32Array(), points: new Uint8Array(1) });
  }
  service.setView(SEEN);
  expect([...(await service.update()).visible.entered]).toEqual([id]);
  expect(await service.pick(50, 25)).toMatchObject({ object: id });
});

test.each(EMPTY)('no point of %d × %d pixels moves', (w, h) => {
  expect(frustumMotion(viewOf(w, h), SEEN)).toBe(0);
  expect(frustumMotion(SEEN, viewOf(w, h), 5)).toBe(0);
});

test('other sizes that are none stay errors, and so do other matrices', () => {
  const view = (viewport: object, more: object = {}) => ({ ...SEEN, ...more, viewport }) as ViewOptions;
  const set = (options: ViewOptions) => () => service.setView(options);
  expect(set(view({ width: -1, height: 5 }))).toThrow(/viewport.width is -1, expected a finite number >= 0/);
  expect(set(view({ width: 5, height: -0.5 }))).toThrow(/viewport.height is -0.5/);
  expect(set(view({ width: 0, height: Number.NaN }))).toThrow(/viewport.height is NaN/);
  expect(set(view({ width: Number.NaN, height: 0 }))).toThrow(/viewport.width is NaN/);
  expect(set(view({ width: 0, height: Number.POSITIVE_INFINITY }))).toThrow(/viewport.height is Infinity/);
  expect(set(view({ height: 0 }))).toThrow(/viewport.width is undefined/);
  expect(set(view({ width: 0, height: 0 }, { projection: [1] }))).toThrow(/projection/);
  expect(set(view({ width: 0, height: 0 }, { view: new Array(16).fill(Number.NaN) }))).toThrow(/view\[0\] is NaN/);
  expect(set(viewOf(1, 0))).not.toThrow();
  expect(set({ ...viewOf(1, 0), viewport: { width: 1, height: 1 } })).toThrow(/projection/);
});
