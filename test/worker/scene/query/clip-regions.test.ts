// Regions of the screen and frusta in a world with clipping planes, against slow float64 code on half-spaces.
import type { RegionOptions } from 'collision-worker';
import { Matrix4, OrthographicCamera, Plane, Vector3 } from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FormTwin, formMaker, standInOf } from '../../../fixtures/forms.js';
import { PLACES } from '../../../fixtures/twin.js';
import { aimCamera, CAMERA_KINDS, DEPTHS, VIEWPORT, viewOf } from '../../../oracle/cameras.js';
import { type Clipping, clipOf, keptParts } from '../../../oracle/clipping.js';
import { frustumPlanes } from '../../../oracle/frustum.js';
import { type HalfSpace, triangleIntersects } from '../../../oracle/half-spaces.js';
import { icosphere, merged, transformed } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { bodyIntersects, type RegionBody, ScreenRegion } from '../../../oracle/screen-region.js';
import { orientedBounds, type Precision } from '../../../oracle/stand-ins.js';

const OBJECTS = 24;
const CAMERAS = 40;
const REGIONS = 10;
/** The longest distance from the middle of a region to a corner, in pixels. */
const MAX_SIZE = 1500;
const BLUR = { pixels: 1e-3, depth: 1e-6 };
const PRECISIONS: readonly Precision[] = ['mesh', 'mesh', 'mesh', 'obb', 'aabb', 'sphere'];
const UNCUT: Clipping = { planes: [], isIntersection: false };

/** Planes through an object, or past it. */
function cutNear(random: Random, middle: Vector3): Clipping {
  const count = 1 + random.integer(random.pick([1, 3, 6]));
  const planes = Array.from({ length: count }, () => {
    const point = random.point(random.pick([0.3, 1, 4])).add(middle);
    return new Plane().setFromNormalAndCoplanarPoint(random.direction(), point);
  });
  return { planes, isIntersection: random.chance(0.4) };
}

const clipOptions = (cut: Clipping) => ({ clip: clipOf(cut), clipIntersection: cut.isIntersection });

describe.each(PLACES)(`cut regions, %s, seed ${SEED}`, (_, place) => {
  let twin: FormTwin;

  beforeAll(async () => {
    const random = new Random(SEED);
    twin = await FormTwin.create();
    const form = formMaker(random);
    for (let i = 0; i < OBJECTS; i++) {
      const position = random.point(random.pick([2, 5])).add(place);
      await twin.add(form(), random.placement(position, { low: 0.3, high: 2, mirrored: 0.3, sheared: 0.2 }));
    }
  });
  afterAll(() => twin.dispose());

  const middleOf = (random: Random) => {
    const { form, matrix } = random.pick([...twin.items.values()]);
    return new Vector3().setFromMatrixPosition(orientedBounds(form, matrix));
  };

  test.each(CAMERA_KINDS)('pickRegion: %s', async (_, make) => {
    const random = new Random(SEED + place.x);
    const count = { touch: 0, enclose: 0, unsure: 0, onlyCut: 0, onlyWhole: 0 };
    for (let i = 0; i < CAMERAS; i++) {
      const aim = middleOf(random);
      const camera = aimCamera(make(random), random, aim);
      camera.position.copy(aim).addScaledVector(random.direction(), random.logRange(1, 30));
      camera.lookAt(aim);
      camera.updateMatrixWorld();
      const view = viewOf(camera, DEPTHS[i % DEPTHS.length][1]);
      twin.service.setView(view);
      for (let j = 0; j < REGIONS; j++) {
        const mode = random.pick(['touch', 'enclose'] as const);
        const polygon = randomPolygon(random, mode === 'touch' ? MAX_SIZE : 4 * MAX_SIZE);
        const points = polygon.map(([x, y]) => [Math.fround(x), Math.fround(y)] as const);
        const region = new Float32Array(points.flat());
        const cut = cutNear(random, middleOf(random));
        const options: RegionOptions = { mode, precision: random.pick(PRECISIONS) };
        const [found, whole] = await Promise.all([
          twin.service.pickRegion(region, { ...options, ...clipOptions(cut) }),
          twin.service.pickRegion(region, options),
        ]);
        const truth = new ScreenRegion(view, points, BLUR, keptParts(cut));
        for (const item of twin.items.values()) {
          const body = standInOf(item, options.precision!);
          const expected = mode === 'touch' ? truth.touches(body) : truth.encloses(body);
          const isFound = found.includes(item.id);
          if (expected === null) {
            count.unsure++;
            continue;
          }
          if (isFound) count[mode]++;
          if (isFound && !whole.includes(item.id)) count.onlyCut++;
          if (!isFound && whole.includes(item.id)) count.onlyWhole++;
          if (isFound === expected) continue;
          const what = `${item.form.type} ${item.id}, ${JSON.stringify({ ...options, ...clipOptions(cut) })}`;
          expect.fail(`${what}: ${isFound}, expected ${expected} (camera ${i}, region ${j}: ${region.join()})`);
        }
      }
    }
    const { touch, enclose, unsure, onlyCut, onlyWhole } = count;
    expect(touch).toBeGreaterThan(200);
    expect(enclose).toBeGreaterThan(20);
    // For some only the unclipped object is in the region, for some only the rest.
    expect(onlyWhole).toBeGreaterThan(50);
    expect(onlyCut).toBeGreaterThan(0);
    expect(unsure).toBeLessThan(0.02 * (touch + enclose));
  });

  test('frustum, of a view and of planes', async () => {
    const random = new Random(SEED + place.x);
    const count = { inside: 0, crossing: 0, unsure: 0, cutAway: 0 };
    for (let i = 0; i < 5 * CAMERAS; i++) {
      const camera = aimCamera(random.pick(CAMERA_KINDS.slice(0, 4))[1](random), random, middleOf(random));
      const view = viewOf(camera, DEPTHS[0][1]);
      const cut = cutNear(random, middleOf(random));
      const precision = random.pick(['mesh', 'mesh', 'obb', 'sphere'] as const);
      const planes = frustumPlanes(view.projection, view.view);
      const volume = random.chance(0.5) ? view : float32Planes(planes, place);
      if (volume === null) continue;
      const { ids, inside } = await twin.service.frustum(volume, { precision, ...clipOptions(cut) });
      const sides = planes.map((plane): HalfSpace => [...plane.normal.toArray(), plane.constant]);
      for (const item of twin.items.values()) {
        const expected = frustumState(standInOf(item, precision), precision === 'mesh', sides, cut);
        if (expected === null) {
          count.unsure++;
          continue;
        }
        const place = ids.indexOf(item.id);
        const state = place < 0 ? 'outside' : place < inside ? 'inside' : 'crossing';
        expect(state, `${item.form.type} ${item.id} by ${precision}, frustum ${i}`).toBe(expected);
        if (state === 'outside') count.cutAway++;
        else count[state]++;
      }
    }
    expect(count.inside).toBeGreaterThan(50);
    expect(count.crossing).toBeGreaterThan(50);
    expect(count.cutAway).toBeGreaterThan(50);
    expect(count.unsure).toBeLessThan((count.inside + count.crossing) / 4);
  });
});

/** As the service defines it: for bounds, each plane separately. Null if uncertain. */
function frustumState(
  body: RegionBody,
  isExact: boolean,
  sides: readonly HalfSpace[],
  cut: Clipping,
): 'outside' | 'inside' | 'crossing' | null {
  const [sure, perhaps] = [-1, 1].map((sign) => {
    const grown = (planes: readonly HalfSpace[], by: number) =>
      planes.map(([x, y, z, w]): HalfSpace => [x, y, z, w + by * 1e-6]);
    const parts = keptParts(cut).map((part) => grown(part, sign));
    const volume = grown(sides, sign);
    const turned = grown(sides, sign).map(([x, y, z, w]): HalfSpace => [-x, -y, -z, -w]);
    if (!isExact) {
      const isThere = parts.some((part) => [...part, ...volume].every((plane) => bodyIntersects(body, [plane])));
      if (!isThere) return 'outside';
      return turned.some((plane) => bodyIntersects(body, [plane])) ? 'crossing' : 'inside';
    }
    if (!parts.some((part) => bodyIntersects(body, [...part, ...volume]))) return 'outside';
    const opposite = keptParts(cut).map((part) => grown(part, -sign));
    const isCrossing = turned.some((plane) => opposite.some((part) => bodyIntersects(body, [plane, ...part])));
    return isCrossing ? 'crossing' : 'inside';
  });
  return sure === perhaps ? sure : null;
}

/** As an array for the service; null if float32 is too coarse for them. */
function float32Planes(planes: readonly Plane[], place: Vector3): Float32Array | null {
  if (place.x !== 0) return null;
  return Float32Array.from(planes.flatMap(({ normal, constant }) => [...normal.toArray(), constant]));
}

/** Returns a polygon around a point of the viewport, convex or not. */
function randomPolygon(random: Random, maxSize: number): [number, number][] {
  const { x, y, width, height } = VIEWPORT;
  const [u, v] = [x + width * random.range(0.3, 0.7), y + height * random.range(0.3, 0.7)];
  const size = random.logRange(40, maxSize);
  const count = 3 + random.integer(6);
  return Array.from({ length: count }, (_, i) => {
    const [angle, reach] = [(2 * Math.PI * i) / count, size * random.range(0.3, 1)];
    return [u + reach * Math.cos(angle), v + reach * Math.sin(angle)];
  });
}

describe('a ball that is cut in half', () => {
  let twin: FormTwin;
  let ball: number;
  const camera = CAMERA_KINDS[1][1](new Random(1)); // orthographic
  beforeAll(async () => {
    twin = await FormTwin.create();
    ball = await twin.add({ type: 'mesh', triangles: icosphere(1, 2) }, new Matrix4());
    camera.position.set(0, 0, 10);
    Object.assign(camera, { left: -4, right: 4, top: 3, bottom: -3, near: 1, far: 20 });
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    twin.service.setView(viewOf(camera, DEPTHS[0][1]));
  });
  afterAll(() => twin.dispose());
  const { x, y, width, height } = VIEWPORT;
  const rightHalf = { x: x + width / 2 - 10, y, width: width / 2 + 10, height };
  const left = { x, y, width: width / 2 - 10, height };
  const select = async (region: typeof left, clip: number[], mode: 'touch' | 'enclose', clipIntersection = false) => [
    ...(await twin.service.pickRegion(region, { clip, clipIntersection, mode })),
  ];

  test('is enclosed by what encloses the half that is left, and only that is touched', async () => {
    const half = [1, 0, 0, 0];
    expect(await select(rightHalf, half, 'enclose')).toEqual([ball]);
    expect(await select(rightHalf, [], 'enclose')).toEqual([]);
    expect(await select(left, half, 'touch')).toEqual([]);
    expect(await select(left, [], 'touch')).toEqual([ball]);
    expect(await select(left, [-1, 0, 0, 0, 0, 1, 0, 0], 'touch')).toEqual([ball]);
  });

  test('is nowhere when nothing is left, and is whole where planes never agree', async () => {
    const apart = [1, 0, 0, -0.5, -1, 0, 0, -0.5];
    const everything = { x, y, width, height };
    for (const mode of ['touch', 'enclose'] as const) {
      expect(await select(everything, apart, mode)).toEqual([]);
      expect(await select(everything, apart, mode, true)).toEqual([ball]); // two caps remain
      expect(await select(everything, [1, 0, 0, 0.5, -1, 0, 0, 0.5], mode, true)).toEqual([ball]);
    }
    expect(await select(rightHalf, apart, 'enclose', true)).toEqual([]); // one of the caps is beside it
    const planes = Float32Array.of(1, 0, 0, 5);
    const clip = { clip: apart, precision: 'mesh' } as const;
    expect((await twin.service.frustum(planes, clip)).ids).toHaveLength(0);
    expect((await twin.service.frustum(planes, { ...clip, clipIntersection: true })).inside).toBe(1);
    // One cap is inside and the other does not exist.
    const right = await twin.service.frustum(Float32Array.of(1, 0, 0, 0), { ...clip, clipIntersection: true });
    expect([right.ids.length, right.inside]).toEqual([1, 0]);
  });
});

test.each(['points', 'lines'] as const)(`regions of cut %s, seed ${SEED}`, async (topology) => {
  const random = new Random(SEED);
  const { service } = await FormTwin.create();
  const bodies = new Map<number, RegionBody>();
  for (let i = 0; i < 12; i++) {
    const corners = Array.from(
      { length: random.pick([2, 6, 40]) },
      () => new Vector3(...Float32Array.from(random.point(0.7).toArray())),
    );
    const positions = Float32Array.from(corners.flatMap((corner) => corner.toArray()));
    const mesh = await service.addMesh({ positions, topology });
    const matrix = random.placement(random.point(2), { low: 0.3, high: 1.5, mirrored: 0.3 });
    const placed = corners.map((corner) => corner.applyMatrix4(matrix));
    // Triangles as degenerate as the elements that they represent.
    const elements = topology === 'points' ? placed.map((p) => [p, p, p]) : pairsOf(placed).map(([p, q]) => [p, q, q]);
    bodies.set(service.addObject({ shape: { type: 'mesh', mesh }, matrix: matrix.elements }), { corners: elements });
  }
  const count = { touch: 0, enclose: 0, unsure: 0 };
  for (let i = 0; i < 400; i++) {
    const camera = aimCamera(random.pick(CAMERA_KINDS)[1](random), random, new Vector3());
    const view = viewOf(camera, DEPTHS[0][1]);
    service.setView(view);
    const points = randomPolygon(random, MAX_SIZE).map(([x, y]) => [Math.fround(x), Math.fround(y)] as const);
    const cut = cutNear(random, random.point(2));
    const mode = random.pick(['touch', 'enclose'] as const);
    const found = await service.pickRegion(new Float32Array(points.flat()), { mode, ...clipOptions(cut) });
    const truth = new ScreenRegion(view, points, BLUR, keptParts(cut));
    for (const [id, body] of bodies) {
      const expected = mode === 'touch' ? truth.touches(body) : truth.encloses(body);
      if (expected === null) count.unsure++;
      else expect(found.includes(id), `object ${id}, region ${i}, ${mode}`).toBe(expected);
      if (expected) count[mode]++;
    }
  }
  expect(count.touch).toBeGreaterThan(30);
  expect(count.enclose).toBeGreaterThan(5);
  expect(count.unsure).toBeLessThan(50);
  service.dispose();
});

const pairsOf = (points: readonly Vector3[]) =>
  Array.from({ length: points.length / 2 }, (_, i) => points.slice(2 * i, 2 * i + 2));

// A reference must detect what it is there to detect.
test('the oracle tells a cut triangle from a whole one', () => {
  const corners = [new Vector3(0, 0, 0), new Vector3(2, 0, 0), new Vector3(0, 2, 0)];
  const [part] = keptParts({ planes: [new Plane(new Vector3(1, 0, 0), -1.5)], isIntersection: false });
  expect(triangleIntersects(corners, part)).toBe(true);
  expect(triangleIntersects(corners, [...part, [0, 1, 0, -1]])).toBe(false);
  expect(keptParts(UNCUT)).toEqual([[]]);
});

test('what is cut away outside of a region keeps it from enclosing nothing of what is left', async () => {
  const twin = await FormTwin.create();
  const { service } = twin;
  const balls = [-3, 3].map((x) => transformed(icosphere(1, 8), (vertex) => vertex.add(new Vector3(x, 0, 0))));
  const mesh = await service.addMesh(merged(balls));
  const id = service.addObject({ shape: { type: 'mesh', mesh } });
  const camera = new OrthographicCamera(-5, 5, 5, -5, 0.1, 100);
  camera.position.z = 20;
  camera.updateMatrixWorld();
  service.setView(viewOf(camera, DEPTHS[0]![1]));
  await service.update();
  // The right half of the image contains the right one of two balls.
  const { x, y, width, height } = VIEWPORT;
  const rectangle = (from: number) =>
    new Float32Array([from, y, x + width, y, x + width, y + height, from, y + height]);
  const [right, all] = [rectangle(x + width / 2), rectangle(x)];
  const enclosed = async (region: Float32Array, clip: number[]) =>
    (await service.pickRegion(region, { mode: 'enclose', clip })).includes(id);
  expect(await enclosed(right, [])).toBe(false);
  expect(await enclosed(all, [])).toBe(true);
  for (const [plane, isLeft] of [
    [0, true],
    [2.5, true],
    [-2.5, false],
    [-9, false],
  ] as const) {
    expect(await enclosed(right, [1, 0, 0, -plane]), `cut at ${plane}`).toBe(isLeft);
    expect(await enclosed(all, [1, 0, 0, -plane]), `cut at ${plane}`).toBe(true);
  }
  // Nothing remains.
  expect(await enclosed(right, [1, 0, 0, -9])).toBe(false);
  twin.dispose();
});
