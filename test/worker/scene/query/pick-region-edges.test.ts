import type { RegionOptions } from 'collision-worker';
import { Matrix4, OrthographicCamera, PerspectiveCamera, Quaternion, TorusGeometry, Vector3 } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FormTwin } from '../../../fixtures/forms.js';
import type { AnyCamera } from '../../../oracle/cameras.js';
import { boxMesh, icosphere, type Triangles, trianglesOf } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import type { Form } from '../../../oracle/stand-ins.js';

const VIEWPORT = { x: 100, y: 50, width: 200, height: 200 };

/** A pixel is a tenth of a unit. */
const ORTHOGRAPHIC = viewOf(new OrthographicCamera(-10, 10, 10, -10, 1, 100));
const PERSPECTIVE = viewOf(new PerspectiveCamera(90, 1, 1, 100));

function viewOf(camera: AnyCamera) {
  camera.updateProjectionMatrix();
  return { projection: camera.projectionMatrix.elements, view: new Matrix4().elements, viewport: VIEWPORT };
}

const at = (x: number, y: number, z: number) => new Matrix4().makeTranslation(x, y, z);
const BOX: Form = box(1);
const SPHERE: Form = { type: 'sphere', radius: 1, center: new Vector3() };
const CAPSULE: Form = { type: 'capsule', radius: 1, from: new Vector3(0, 0, -1), to: new Vector3(0, 0, 1) };
const MESH: Form = mesh(boxMesh(2, 2, 2));
const FORMS: [string, Form][] = [
  ['box', BOX],
  ['sphere', SPHERE],
  ['capsule', CAPSULE],
  ['mesh', MESH],
];

function box(half: number): Form {
  return { type: 'box', halfExtents: new Vector3(half, half, half), center: new Vector3(), rotation: new Quaternion() };
}

function mesh(triangles: Triangles): Form {
  return { type: 'mesh', triangles };
}

function triangles(...corners: [x: number, y: number, z: number][]): Form {
  return mesh({ positions: new Float32Array(corners.flat()), indices: Uint32Array.from(corners, (_, i) => i) });
}

/** Pixels from units of the orthographic view, whose centre is (0, 0). */
const pixels = (x: number, y: number) => [VIEWPORT.x + 100 + 10 * x, VIEWPORT.y + 100 - 10 * y] as const;
const polygon = (...points: [x: number, y: number][]) => new Float32Array(points.flatMap(([x, y]) => pixels(x, y)));
const rect = (x0: number, y0: number, x1: number, y1: number) => {
  const [[left, bottom], [right, top]] = [pixels(x0, y0), pixels(x1, y1)];
  return { x: left, y: top, width: right - left, height: bottom - top };
};

let twin: FormTwin;
beforeEach(async () => {
  twin = await FormTwin.create();
  twin.service.setView(ORTHOGRAPHIC);
});
afterEach(() => twin.dispose());

const pick = async (region: Parameters<typeof twin.service.pickRegion>[0], options?: RegionOptions) => [
  ...(await twin.service.pickRegion(region, options)),
];

describe.each(FORMS)('of a %s', (_, form) => {
  test('a rectangle of no size, or as thin as a line, touches what is there and encloses nothing', async () => {
    const id = await twin.add(form, at(0, 0, -10));
    await twin.add(form, at(5, 0, -10));
    for (const area of [rect(0.3, 0.2, 0.3, 0.2), rect(-3, 0.2, 3, 0.2), rect(0.3, -5, 0.3, 5)]) {
      expect(await pick(area)).toEqual([id]);
      expect(await pick(area, { mode: 'enclose' })).toEqual([]);
    }
    expect(await pick(rect(2.5, 2.5, 2.5, 2.5))).toEqual([]);
  });

  test('a lasso of vertices in line is a line', async () => {
    const id = await twin.add(form, at(0, 0, -10));
    const line = polygon([-3, -2.9], [3, 3.1], [0, 0.1], [1, 1.1]);
    expect(await pick(line)).toEqual([id]);
    expect(await pick(line, { mode: 'enclose' })).toEqual([]);
    expect(await pick(polygon([-3, -6], [3, 0], [0, -3]))).toEqual([]);
    const point = polygon([0.5, 0.5], [0.5, 0.5], [0.5, 0.5]);
    expect(await pick(point)).toEqual([id]);
  });

  test('outside of the viewport is nothing; at its edge it ends', async () => {
    const id = await twin.add(form, at(10, 0, -10));
    expect(await pick(rect(11, -20, 30, 20))).toEqual([]);
    expect(await pick(rect(9, -20, 30, 20))).toEqual([id]);
    expect(await pick(rect(-30, -30, 30, 30), { mode: 'enclose' })).toEqual([]);
    expect(await pick(polygon([11, -5], [20, 0], [11, 5]))).toEqual([]);
    expect(await pick(polygon([-30, -30], [30, -30], [30, 30], [-30, 30]))).toEqual([id]);
  });

  test('a negative size reaches the other way', async () => {
    const id = await twin.add(form, at(0, 0, -10));
    const { x, y, width, height } = rect(-2, -2, 2, 2);
    for (const mode of ['touch', 'enclose'] as const) {
      expect(await pick({ x: x + width, y: y + height, width: -width, height: -height }, { mode })).toEqual([id]);
    }
  });

  test('what is hidden counts, what is beyond near or far does not', async () => {
    const ids = [await twin.add(form, at(0, 0, -10)), await twin.add(form, at(0, 0, -20))];
    const [near, far] = [await twin.add(form, at(0, 0, -1)), await twin.add(form, at(0, 0, -100))];
    await twin.add(form, at(0, 0, 10));
    await twin.add(form, at(0, 0, -103));
    for (const area of [rect(-3, -3, 3, 3), polygon([-4, -4], [4, -4], [4, 4], [-4, 4])]) {
      expect(await pick(area, { mode: 'enclose' })).toEqual(ids);
      expect(await pick(area)).toEqual([...ids, near, far]);
    }
  });

  test('a region that is wholly drawn on it', async () => {
    twin.service.setView(PERSPECTIVE);
    const id = await twin.add(form, at(0, 0, -10));
    for (const area of [rect(-0.1, -0.1, 0.1, 0.1), polygon([0, 0], [0.1, 0], [0, 0.1])]) {
      expect(await pick(area)).toEqual([id]);
      expect(await pick(area, { mode: 'enclose' })).toEqual([]);
    }
  });

  test('by the even-odd rule the middle of a five-pointed star is outside', async () => {
    const id = await twin.add(form, new Matrix4().makeScale(0.3, 0.3, 0.3).setPosition(0, 0, -10));
    const tip = (i: number): [number, number] => [8 * Math.sin(i * 0.8 * Math.PI), 8 * Math.cos(i * 0.8 * Math.PI)];
    const star = polygon(...[0, 1, 2, 3, 4].map(tip));
    expect(await pick(star)).toEqual([]);
    // The same vertices in order around the centre.
    const pentagon = polygon(...[0, 3, 1, 4, 2].map(tip));
    expect(await pick(pentagon, { mode: 'enclose' })).toEqual([id]);
    twin.remove(id);
    const inTip = await twin.add(form, new Matrix4().makeScale(0.3, 0.3, 0.3).setPosition(0, 6, -10));
    expect(await pick(star, { mode: 'enclose' })).toEqual([inTip]);
  });
});

test('around the eye: a solid is there, a surface is not', async () => {
  twin.service.setView(PERSPECTIVE);
  const wide = new Matrix4().makeScale(1000, 1000, 1000);
  const ids: number[] = [];
  for (const [name, form] of FORMS) {
    const id = await twin.add(form, wide);
    if (name !== 'mesh') ids.push(id);
  }
  for (const area of [rect(-5, -5, 5, 5), polygon([-5, -5], [5, -5], [0, 5])]) {
    expect(await pick(area)).toEqual(ids);
    expect(await pick(area, { precision: 'obb' })).toHaveLength(4);
    expect(await pick(area, { mode: 'enclose' })).toEqual([]);
  }
});

test('a triangle through the eye and behind it, and one that fills the view', async () => {
  twin.service.setView(PERSPECTIVE);
  // Below the eye, from far behind it to far beyond.
  const floor = await twin.add(triangles([-1e4, -2, 1e4], [1e4, -2, 1e4], [0, -2, -1e4]), new Matrix4());
  const wall = await twin.add(triangles([-1e4, -1e4, -50], [1e4, -1e4, -50], [0, 1e4, -50]), new Matrix4());
  await twin.add(triangles([-1e4, -1e4, 50], [1e4, -1e4, 50], [0, 1e4, 50]), new Matrix4());
  // The floor is drawn from 0.4 below the centre on, at the near plane far below.
  expect(await pick(rect(-1, -9, 1, -8))).toEqual([floor, wall]);
  expect(await pick(rect(-1, 1, 1, 2))).toEqual([wall]);
  expect(await pick(polygon([-1, -9], [1, -9], [0, -8]))).toEqual([floor, wall]);
  expect(await pick(polygon([-1, 1], [1, 1], [0, 2]))).toEqual([wall]);
});

test('through the hole of a ring', async () => {
  const ring = await twin.add(mesh(trianglesOf(new TorusGeometry(3, 0.5, 16, 48))), at(0, 0, -10));
  expect(await pick(rect(-1.5, -1.5, 1.5, 1.5))).toEqual([]);
  expect(await pick(polygon([-1.5, -1.5], [1.5, -1.5], [0, 2]))).toEqual([]);
  expect(await pick(rect(-1.5, -1.5, 1.5, 1.5), { precision: 'obb' })).toEqual([ring]);
  // A band between two circles, with a seam that is traversed both ways.
  const [outer, inner] = [5, 1].map((r) =>
    Array.from({ length: 40 }, (_, i): [number, number] => {
      const angle = (2 * Math.PI * i) / 40;
      return [r * Math.cos(angle), r * Math.sin(angle)];
    }),
  );
  const band = polygon(...outer, outer[0], inner[0], ...inner.toReversed());
  const small = new Matrix4().makeScale(0.2, 0.2, 0.2);
  const inBand = await twin.add(SPHERE, small.clone().setPosition(-4, 0, -10));
  await twin.add(SPHERE, small.clone().setPosition(0, 0, -10));
  expect(await pick(band)).toEqual([ring, inBand]);
  // The seam crosses the ring.
  expect(await pick(band, { mode: 'enclose' })).toEqual([inBand]);
});

test('the sides of triangles, as three has them: a mirrored matrix turns none', async () => {
  const facing = triangles([-1, -1, 0], [1, -1, 0], [0, 1, 0]);
  const ids = [
    await twin.add(facing, at(-4, 0, -10)),
    await twin.add(facing, at(0, 0, -10).multiply(new Matrix4().makeRotationY(Math.PI))),
    await twin.add(facing, at(4, 0, -10).multiply(new Matrix4().makeScale(-1, 1, 1))),
    await twin.add(mesh(icosphere(1, 2)), at(0, 4, -10)),
  ];
  const everything = rect(-9, -9, 9, 9);
  for (const view of [ORTHOGRAPHIC, PERSPECTIVE]) {
    twin.service.setView(view);
    for (const mode of ['touch', 'enclose'] as const) {
      expect(await pick(everything, { mode, side: 'front' })).toEqual([ids[0], ids[2], ids[3]]);
      expect(await pick(everything, { mode, side: 'back' })).toEqual([ids[1], ids[3]]);
      expect(await pick(everything, { mode })).toEqual(ids);
    }
  }
});

test(`a lasso of 20,000 vertices, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const small = new Matrix4().makeScale(0.1, 0.1, 0.1);
  const distances = new Map<number, number>();
  for (let i = 0; i < 1500; i++) {
    const [x, y] = [random.range(-9, 9), random.range(-9, 9)];
    const id = await twin.add(random.pick([MESH, SPHERE]), small.clone().setPosition(x, y, -50));
    distances.set(id, Math.hypot(x, y));
  }
  const lasso = polygon(
    ...Array.from({ length: 20_000 }, (_, i): [number, number] => {
      const angle = (2 * Math.PI * i) / 20_000;
      return [6 * Math.cos(angle), 6 * Math.sin(angle)];
    }),
  );
  const [touched, enclosed] = [new Set(await pick(lasso)), new Set(await pick(lasso, { mode: 'enclose' }))];
  for (const [id, distance] of distances) {
    // No object reaches farther than 0.15 in x and y.
    if (Math.abs(distance - 6) > 0.15)
      expect([touched.has(id), enclosed.has(id)]).toEqual([distance < 6, distance < 6]);
    else if (enclosed.has(id)) expect(touched.has(id)).toBe(true);
  }
  expect(enclosed.size).toBeGreaterThan(100);
  expect(touched.size).toBeGreaterThan(enclosed.size);
});
