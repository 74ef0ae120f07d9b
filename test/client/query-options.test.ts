import { Matrix4, PerspectiveCamera, Vector4 } from 'three';
import { describe, expect, test } from 'vitest';
import { readView } from '../../src/client/frame/view-table.js';
import { readInspection } from '../../src/client/query/inspect-options.js';
import {
  checkDetail,
  checkFilter,
  checkIds,
  checkPlanes,
  checkRay,
  checkRegion,
  checkSnap,
  checkWholeFilter,
} from '../../src/client/query/query-options.js';
import { snapDrawing } from '../../src/client/query/snap-drawing.js';
import type { ObjectStore } from '../../src/client/scene/object-store.js';
import { CONTACTS_MANIFOLD, SIDE_OWN, SNAP_EDGE, SNAP_FACE, SNAP_VERTEX } from '../../src/shared/layout.js';
import { Random, SEED } from '../oracle/random.js';

/** A store in which ids below 100 are alive. */
const check = (operation: string, argument: string, id: number, index?: number) => {
  const name = index === undefined ? argument : `${argument}[${index}]`;
  if (!(id < 100)) throw new Error(`${operation}: ${name} is ${id}`);
};
const OBJECTS = {
  check,
  checkAll(operation: string, argument: string, ids: Uint32Array) {
    ids.forEach((id, i) => {
      check(operation, argument, id, i);
    });
  },
} as unknown as ObjectStore;

test.each([
  [{ width: 100, height: 50 }, true],
  [{ width: 0, height: 50 }, false],
  [{ width: 100, height: 0 }, false],
])('the worker is asked about a region where the view has pixels: %o', (viewport, isAsked) => {
  const [projection, view] = [new PerspectiveCamera().projectionMatrix.elements, new Matrix4().elements];
  const { record } = readView('pickRegion', { projection, view, viewport });
  const around = { x: -10, y: -10, width: 200, height: 200 };
  expect(checkRegion('pickRegion', around, 'touch')(record) !== null).toBe(isAsked);
  const lasso = Float32Array.of(-10, -10, 200, -10, 200, 200);
  expect(checkRegion('pickRegion', lasso, 'enclose')(record) !== null).toBe(isAsked);
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

describe('of a region, what is in the viewport is asked about:', () => {
  const [projection, view] = [new PerspectiveCamera().projectionMatrix.elements, new Matrix4().elements];
  const { record } = readView('pickRegion', { projection, view, viewport: { x: 100, y: 50, width: 200, height: 100 } });
  const check = (region: unknown, mode?: 'touch' | 'enclose') =>
    checkRegion('pickRegion', region as DOMRect, mode)(record);

  test.each<[string, number[], number[] | null]>([
    ['all', [0, 0, 999, 999], [-1, -1, 1, 1]],
    ['a part', [150, 75, 100, 50], [-0.5, -0.5, 0.5, 0.5]],
    ['the upper left corner', [0, 0, 150, 75], [-1, 0.5, -0.5, 1]],
    ['the lower right corner', [250, 125, 100, 100], [0.5, -1, 1, -0.5]],
    ['a corner alone', [0, 0, 100, 50], [-1, 1, -1, 1]],
    ['what is drawn from right to left, and up', [250, 125, -100, -50], [-0.5, -0.5, 0.5, 0.5]],
    ['nothing to the left', [0, 0, 99, 999], null],
    ['nothing to the right', [301, 0, 99, 999], null],
    ['nothing above', [0, 0, 999, 49], null],
    ['nothing below', [0, 151, 999, 99], null],
  ])('%s', (_, [x, y, width, height], bounds) => {
    const rect = { x, y, width, height };
    expect(check(rect)?.bounds ?? null).toEqual(bounds);
    const polygon = Float32Array.of(x, y, x + width, y, x + width, y + height, x, y + height);
    const lasso = check(polygon, 'enclose');
    expect(lasso === null).toBe(bounds === null);
    if (lasso === null) return;
    // Edges must not lie on the bounds, which reach as far as the viewport at most.
    const [lowX, lowY, highX, highY] = lasso.bounds;
    for (const [i, bound] of [lowX, lowY].entries()) {
      expect(bound).toBe(Math.max(bounds![i] - 1e-6, -1));
    }
    for (const [i, bound] of [highX, highY].entries()) expect(bound).toBe(Math.min(bounds![2 + i] + 1e-6, 1));
    expect(lasso.polygon).toEqual(
      Float64Array.from(polygon, (at, i) => (i % 2 === 0 ? ((at - 100) / 200) * 2 - 1 : 1 - ((at - 50) / 100) * 2)),
    );
    expect(check(rect)!.polygon.length).toBe(0);
    expect(check(rect)!.mode).toBe(check(rect, 'touch')!.mode);
    expect(check(rect)!.mode).not.toBe(lasso.mode);
  });

  test('a DOMRect is one, which has its keys from its prototype', () => {
    const keys = { x: 150, y: 75, width: 100, height: 50, top: 75, left: 150, toJSON() {} };
    for (const name of ['DOMRect', 'DOMRectReadOnly']) {
      const rect = Object.create({ ...keys, [Symbol.toStringTag]: name });
      expect(check(rect)!.bounds).toEqual([-0.5, -0.5, 0.5, 0.5]);
    }
    expect(() => check(Object.create({ ...keys, [Symbol.toStringTag]: 'MyDOMRect' }))).toThrow(/unknown key "top"/);
  });

  test.each<[unknown, RegExp]>([
    [undefined, /region is undefined, expected a rectangle or a polygon/],
    [null, /region is null/],
    [5, /region is 5/],
    ['DOMRect', /region is "DOMRect"/],
    [{ x: 0, y: 0, width: 1 }, /region.height is undefined/],
    [{ x: 0, y: 0, width: 1, height: Number.NaN }, /region.height is NaN/],
    [{ x: Number.NaN, y: 0, width: 1, height: 1 }, /region.x is NaN/],
    [{ x: 0, y: Infinity, width: 1, height: 1 }, /region.y is Infinity/],
    [{ x: 0, y: 0, width: Infinity, height: 1 }, /region.width is Infinity/],
    [new Float32Array(4), /the length of region is 4/],
    [new Float32Array(7), /the length of region is 7/],
    [Float32Array.of(0, 0, 1, 0, 1, Number.NaN), /region\[5\] is NaN/],
    [new Float64Array(6), /region is .*Float32Array/],
  ])('%o is none', (region, message) => {
    expect(() => check(region)).toThrow(message);
    expect(() => checkRegion('pickRegion', { x: 0, y: 0, width: 1, height: 1 }, 'around' as never)).toThrow(
      /mode is "around", expected one of "touch", "enclose"/,
    );
  });
});

describe('planes of a frustum', () => {
  test('are 1 to 32, and copied', () => {
    for (const count of [1, 2, 32]) {
      const planes = Float32Array.from({ length: 4 * count }, (_, i) => (i % 4 === i % 3 ? 1 : 0));
      for (let i = 0; i < count; i++) planes[4 * i + (i % 3)] = 1;
      const copy = checkPlanes('frustum', planes);
      expect(copy).toEqual(planes);
      expect(copy.buffer).not.toBe(planes.buffer);
    }
    for (const length of [0, 3, 5, 7, 132]) {
      const expected = `the length of planes is ${length}, expected four numbers for each of 1 to 32 planes`;
      expect(() => checkPlanes('frustum', new Float32Array(length).fill(1))).toThrow(expected);
    }
  });

  test('have a normal, and finite numbers', () => {
    for (let at = 0; at < 8; at++) {
      const planes = new Float32Array(8).fill(1);
      planes[at] = Number.NaN;
      expect(() => checkPlanes('frustum', planes)).toThrow(`planes[${at}] is NaN`);
    }
    for (const axis of [0, 1, 2]) {
      const planes = Float32Array.of(0, 0, 0, 5, 0, 0, 0, 5);
      planes[axis] = 1;
      expect(() => checkPlanes('frustum', planes)).toThrow('the normal of plane 1 is [0, 0, 0]');
      planes[4 + axis] = -1;
      expect(checkPlanes('frustum', planes)).toEqual(planes);
    }
  });
});

test('ids come as an array of any kind, and must be alive', () => {
  const check = (ids: unknown) => checkIds('pick', 'ignore', ids, OBJECTS);
  for (const ids of [[], [3, 1], Uint32Array.of(3, 1), Uint16Array.of(3, 1)]) {
    expect(check(ids)).toEqual(Uint32Array.from(ids));
  }
  for (const ids of [new DataView(new ArrayBuffer(8)), new ArrayBuffer(8), 'ab', 5, null, undefined, { length: 1 }]) {
    expect(() => check(ids), String(ids)).toThrow(/pick: ignore is .*expected an array of object ids/);
  }
  expect(() => check([1, 2, 100])).toThrow('ignore[2] is 100');
  expect(() => check(Uint32Array.of(1, 100))).toThrow('ignore[1] is 100');
});

describe('a filter', () => {
  const check = (options: object) => checkFilter('pick', options, OBJECTS);

  test('without options takes all', () => {
    expect(check({})).toEqual({ layers: 0xffffffff, side: SIDE_OWN, precision: 4, clips: undefined });
    expect(check({ precision: 'sphere', layers: 3 })).toMatchObject({ precision: 1, layers: 3 });
  });

  test('lists what is ignored once, sorted, with what is of others', () => {
    expect(check({ ignore: [9, 4] }).ignore).toEqual(Uint32Array.of(4, 9));
    expect(check({ ignore: [9, 4], strangers: [500, 5] }).ignore).toEqual(Uint32Array.of(4, 5, 9, 500));
    expect(check({ strangers: [500] }).ignore).toEqual(Uint32Array.of(500));
  });

  test('has thresholds where there are any', () => {
    expect(check({ threshold: 0 })).not.toHaveProperty('threshold');
    expect(check({ threshold: 2 }).threshold).toBe(2);
    expect(check({ ownThresholds: new Map() })).not.toHaveProperty('own');
    const ownThresholds = new Map([
      [7, 0.5],
      [2, 0.25],
    ]);
    expect(check({ ownThresholds }).own).toEqual({ ids: Uint32Array.of(2, 7), thresholds: Float64Array.of(0.25, 0.5) });
  });

  test('has the planes of the query behind those of objects, in set 0', () => {
    const plane = [1, 0, 0, 5];
    const other = [0, 1, 0, 6];
    expect(check({ clip: [] }).clips).toBeUndefined();
    const own = check({ clip: plane }).clips!;
    expect(own).toEqual({ sets: Uint32Array.of(0, 1, 0, 0), planes: Float64Array.from(plane) });
    const both = check({ clip: [...plane, ...other], clipIntersection: true }).clips!;
    expect(both.sets).toEqual(Uint32Array.of(0, 0, 2, 0));
    const clipSets = { sets: Uint32Array.of(0, 0, 0, 0, 0, 1, 0, 0), planes: Float64Array.from(other) };
    expect(check({ clipSets }).clips).toBe(clipSets);
    expect(check({ clipSets, clip: [] }).clips).toBe(clipSets);
    const joined = check({ clipSets, clip: plane }).clips!;
    expect(joined.sets).toEqual(Uint32Array.of(1, 1, 0, 0, 0, 1, 0, 0));
    expect(joined.planes).toEqual(Float64Array.of(...other, ...plane));
    expect(clipSets.sets[0]).toBe(0);
    expect(checkWholeFilter('overlap', {}, OBJECTS).clips).toBeUndefined();
    const message = 'overlap: clip has 2 planes, expected none, as overlap is about whole objects only';
    expect(() => checkWholeFilter('overlap', { clip: [...plane, ...other] }, OBJECTS)).toThrow(message);
  });
});

test('a contact is asked for in some detail', () => {
  expect(checkDetail('contact', undefined)).toBe(CONTACTS_MANIFOLD);
  expect(() => checkDetail('contact', 'none' as never)).toThrow(
    'contact: detail is "none", expected more than \'none\'',
  );
});

test('a ray goes in a direction, from 0 to any length by default', () => {
  const check = (ray: unknown) => checkRay('raycast', ray as never);
  const [origin, direction] = [
    [1, 2, 3],
    [0, 0, 2],
  ];
  expect(check({ origin, direction })).toEqual({ origin, direction, tMin: 0, tMax: Infinity });
  expect(check({ origin, direction, tMin: 2, tMax: 2 })).toEqual({ origin, direction, tMin: 2, tMax: 2 });
  for (const axis of [0, 1, 2]) expect(() => check({ origin, direction: [0, 0, 0].with(axis, -1) })).not.toThrow();
  expect(() => check(undefined)).toThrow('ray is undefined, expected an object');
  expect(() => check({ origin, direction: [0, 0, 0] })).toThrow('ray.direction is [0, 0, 0]');
  expect(() => check({ origin, direction, tMin: -1 })).toThrow('ray.tMin is -1');
  expect(() => check({ origin, direction, tMin: 3, tMax: 2 })).toThrow('a number >= tMin, which is 3');
});

describe('what is inspected', () => {
  const views = { get: (_: string, __: string, name: string) => ({ record: Uint32Array.of(name.length) }) };
  const read = (options: object) => readInspection('inspect', options as never, OBJECTS, views as never);

  test('is nothing but for what is asked for', () => {
    const nothing = { octree: false, bounds: false, lines: false, fromLevel: 0, toLevel: 255, maxBoxes: 65_536 };
    const { request, signal } = read({});
    expect(request).toEqual({ ...nothing, trees: new Uint32Array(), views: [], origin: undefined, palette: undefined });
    expect(signal).toBeUndefined();
    const own = new AbortController().signal;
    const all = read({ octree: true, bounds: true, lines: true, objects: [5, 4], views: ['ab'], origin: [1, 2, 3] });
    expect(all.request).toMatchObject({ octree: true, bounds: true, lines: true, origin: [1, 2, 3] });
    expect(all.request).toMatchObject({ trees: Uint32Array.of(5, 4), views: [Uint32Array.of(2)] });
    expect(read({ signal: own, maxBoxes: 1_048_576 })).toMatchObject({ signal: own, request: { maxBoxes: 1_048_576 } });
  });

  test.each<[object, string]>([
    [{ octree: 1 }, 'octree is 1, expected a boolean'],
    [{ bounds: 1 }, 'bounds is 1, expected a boolean'],
    [{ lines: 1 }, 'lines is 1, expected a boolean'],
    [{ maxBoxes: 0 }, 'maxBoxes is 0'],
    [{ maxBoxes: 1_048_577 }, 'maxBoxes is 1048577'],
    [{ signal: 1 }, 'signal is 1'],
    [{ views: 'main' }, 'views is "main", expected an array of names of views'],
    [{ views: new Array(1001).fill('a') }, 'the length of views is 1001, expected at most 1000'],
    [{ views: new Array(5000).fill('a') }, 'expected at most 1000'],
    [{ objects: [1, 100] }, 'objects[1] is 100'],
    [{ origin: [1, 2] }, 'origin is [1, 2]'],
  ])('%o is refused', (options, message) => {
    expect(() => read(options)).toThrow(message);
  });
});

test.each([
  [false, 'webgl', false],
  [true, 'webgpu', false],
  [true, 'webgpu', true],
] as const)(
  `what is drawn about a cursor is so many pixels from it (%s, %s, reversed %s), seed ${SEED}`,
  (isZeroToOne, depth, reversed) => {
    const random = new Random(SEED);
    for (let i = 0; i < 50; i++) {
      const camera = new PerspectiveCamera(random.range(20, 100), random.range(0.5, 2), random.range(0.1, 2), 50);
      camera.coordinateSystem = isZeroToOne ? 2001 : 2000;
      camera.updateProjectionMatrix();
      const projection = camera.projectionMatrix.clone();
      // Near is at 1 and far at 0.
      if (reversed) projection.premultiply(new Matrix4().set(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 1, 0, 0, 0, 1));
      const view = random.placement(random.point(5)).invert();
      const viewport = { x: random.range(-9, 9), y: random.range(-9, 9), width: 300, height: random.range(90, 200) };
      const options = { projection: projection.elements, view: view.elements, viewport, depth, reversed };
      const [px, py, radius] = [random.range(0, 300), random.range(0, 90), random.range(1, 9)];
      const drawing = snapDrawing(readView('pick', options), px, py, radius);
      expect(drawing.length).toBe(25);
      const depthInView = random.range(-1, 60);
      const point = new Vector4(random.range(-9, 9), random.range(-9, 9), -depthInView, 1).applyMatrix4(
        view.clone().invert(),
      );
      const rows = [0, 4, 8, 12, 16].map((at) => new Vector4().fromArray(drawing, at).dot(point));
      const [right, up, w, near, far] = rows;
      const clip = point.clone().applyMatrix4(view).applyMatrix4(projection);
      expect(w).toBeCloseTo(clip.w, 6);
      const x = viewport.x + ((clip.x / clip.w + 1) / 2) * viewport.width;
      const y = viewport.y + ((1 - clip.y / clip.w) / 2) * viewport.height;
      expect(right / w / (x - px)).toBeCloseTo(1, 6);
      expect(up / w / (py - y)).toBeCloseTo(1, 6);
      expect(near > 0).toBe(depthInView > camera.near);
      expect(far > 0).toBe(depthInView < camera.far);
      const { x: left, y: top, width, height } = viewport;
      expect(drawing.slice(20)).toEqual([left - px, py - top - height, left + width - px, py - top, radius]);
    }
  },
);
