// frustum(): one-off queries against the frame's own result, and against float64 brute force.
import { createCollisionService, type QueryOptions, type VisibleSet } from 'collision-worker';
import { Matrix4, PerspectiveCamera, Quaternion, Vector3 } from 'three';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type FormItem, FormTwin, formMaker, standInOf } from '../../../fixtures/forms.js';
import { PLACES } from '../../../fixtures/twin.js';
import { aimCamera, CAMERA_KINDS, DEPTHS, viewOf } from '../../../oracle/cameras.js';
import { frustumPlanes } from '../../../oracle/frustum.js';
import type { HalfSpace } from '../../../oracle/half-spaces.js';
import { Random, SEED } from '../../../oracle/random.js';
import { bodyIntersects, bodyIsInside } from '../../../oracle/screen-region.js';
import type { Form, Precision } from '../../../oracle/stand-ins.js';

const OBJECTS = 300;
const VOLUMES = 24;
const PRECISIONS: Precision[] = ['sphere', 'aabb', 'obb', 'mesh'];
/** The error of a plane. */
const DOUBT = 1e-6;

type State = 'outside' | 'crossing' | 'inside';

describe.each(PLACES)(`frustum, %s, seed ${SEED}`, (_, place) => {
  let twin: FormTwin;

  beforeAll(async () => {
    const random = new Random(SEED);
    twin = await FormTwin.create();
    const form = formMaker(random);
    for (let i = 0; i < OBJECTS; i++) {
      const position = random.point(random.pick([5, 20])).add(place);
      // Also stretched where they are thin: their spheres are much larger than their boxes.
      const matrix = random.placement(position, { low: 0.1, high: 3, mirrored: 0.3, sheared: 0.2 });
      await twin.add(form(), matrix, { cullable: i % 10 !== 9, layers: 1 + (i % 3), pickable: i % 2 === 0 });
    }
    return () => twin.dispose();
  });

  describe.each(CAMERA_KINDS)('%s', (_, make) => {
    test.each(DEPTHS)('lists what a frame lists: %s', async (_, depth) => {
      const random = new Random(SEED);
      for (let i = 0; i < VOLUMES; i++) {
        const [margin, minPixels, layers] = [random.pick([0, 0.5]), random.pick([0, 40]), random.pick([-1, 2])];
        const view = { ...viewOf(aimCamera(make(random), random, place), depth), margin, minPixels, layers };
        twin.service.setView(view);
        const { visible } = await twin.service.update();
        const { ids, inside, entered, left } = await twin.service.frustum(view);
        expect([[...ids], inside]).toEqual([[...visible.ids], visible.inside]);
        expect([entered.length, left.length]).toEqual([0, 0]);
        const without = [...ids].filter(() => random.chance(0.3));
        const rest = await twin.service.frustum(view, { ignore: without });
        expect([...rest.ids]).toEqual([...ids].filter((id) => !without.includes(id)));
      }
    });

    test.each(PRECISIONS)('of views equals brute force: %s', async (precision) => {
      const random = new Random(SEED + place.x);
      const count = newCount();
      for (let i = 0; i < VOLUMES; i++) {
        const view = viewOf(aimCamera(make(random), random, place), DEPTHS[i % DEPTHS.length][1]);
        const planes = frustumPlanes(view.projection, view.view, view.depth);
        const found = await twin.service.frustum(view, { precision });
        compare(
          found,
          planes.map(({ normal: { x, y, z }, constant }): HalfSpace => [x, y, z, constant]),
          { precision },
          count,
        );
      }
      expectMix(count);
    });
  });

  test.each(PRECISIONS)('of any planes equals brute force: %s', async (precision) => {
    const random = new Random(SEED + place.x);
    const count = newCount();
    for (let i = 0; i < 3 * VOLUMES; i++) {
      const planeCount = random.pick([1, 2, 4, 7, 31, 32]);
      const reach = random.logRange(2, 30);
      const planes = new Float32Array(4 * planeCount);
      for (let at = 0; at < planes.length; at += 4) {
        const normal = random.direction().multiplyScalar(random.logRange(1e-3, 1e3));
        const point = random
          .direction()
          .multiplyScalar(-reach * random.range(0.2, 1))
          .add(place);
        planes.set([...normal.toArray(), -normal.dot(point)], at);
      }
      const options = { precision, layers: random.pick([-1, 2]) };
      const found = await twin.service.frustum(planes, options);
      compare(found, halfSpacesOf(planes), options, count);
    }
    expectMix(count);
  });

  function newCount() {
    return { outside: 0, crossing: 0, inside: 0, unsure: 0 };
  }

  function expectMix({ outside, crossing, inside, unsure }: ReturnType<typeof newCount>): void {
    for (const each of [outside, crossing, inside]) expect(each).toBeGreaterThan(20);
    expect(unsure).toBeLessThan(0.02 * (crossing + inside));
  }

  function compare(
    found: VisibleSet,
    planes: HalfSpace[],
    options: QueryOptions,
    count: ReturnType<typeof newCount>,
  ): void {
    const { precision, layers = -1 } = options;
    const states = new Map(
      Array.from(found.ids, (id, i): [number, State] => [id, i < found.inside ? 'inside' : 'crossing']),
    );
    [...twin.items.values()].forEach((item, i) => {
      const state = states.get(item.id) ?? 'outside';
      const isAsked = i % 10 !== 9 && ((1 + (i % 3)) & layers) !== 0;
      const [least, most] = isAsked
        ? [-DOUBT, DOUBT].map((by) =>
            stateOf(
              item,
              planes.map(([x, y, z, w]) => [x, y, z, w + by]),
              precision!,
            ),
          )
        : (['outside', 'outside'] as const);
      count[least === most ? least : 'unsure']++;
      if (least === most && state !== least)
        expect.fail(`object ${item.id}, ${item.form.type}: ${state}, not ${least}`);
    });
  }
});

/** float32 planes as unit half-spaces. */
function halfSpacesOf(planes: Float32Array): HalfSpace[] {
  return Array.from({ length: planes.length / 4 }, (_, i) => {
    const [x, y, z, w] = planes.subarray(4 * i, 4 * i + 4);
    const length = new Vector3(x, y, z).length();
    return [x / length, y / length, z / length, w / length];
  });
}

/** 'mesh' is exact; for the others, each plane is tested separately. */
function stateOf(item: FormItem, planes: HalfSpace[], precision: Precision): State {
  const body = standInOf(item, precision);
  if (bodyIsInside(body, planes)) return 'inside';
  const isTouched =
    precision === 'mesh' ? bodyIntersects(body, planes) : planes.every((plane) => bodyIntersects(body, [plane]));
  return isTouched ? 'crossing' : 'outside';
}

// Bounds of 0 are not rounded outwards, unlike all others, and objects without any size get none: such cells have no width.
test.each([0, 1, 2])(`points in the plane through the origin across axis %d are listed, seed ${SEED}`, async (axis) => {
  const random = new Random(SEED);
  const twin = await FormTwin.create();
  onTestFinished(() => twin.dispose());
  const point: Form = { type: 'box', halfExtents: new Vector3(), center: new Vector3(), rotation: new Quaternion() };
  for (let i = 0; i < OBJECTS; i++) {
    await twin.add(point, new Matrix4().setPosition(random.point(20).setComponent(axis, 0)));
  }
  await twin.service.update();
  const planes = Float32Array.of(1, 1, 1, 100);
  for (const precision of PRECISIONS) {
    expect((await twin.service.frustum(planes, { precision })).ids, precision).toHaveLength(OBJECTS);
  }
});

test('what is hidden, and what may hide it, are lists of their own, as a frame has them', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const add = (x: number, z: number, half: number, occluder?: boolean) =>
    service.addObject({
      shape: { type: 'box', halfExtents: [half, half, 0.5] },
      matrix: new Matrix4().makeTranslation(x, 0, z).elements,
      ...(occluder !== undefined && { occluder }),
    });
  const wall = add(0, -5, 3, true);
  const hidden = [0, 1, 2].map((i) => add(i - 1, -20, 0.2, false));
  const seen = add(6, -10, 0.2, false);
  add(0, 50, 1); // behind the eye
  const { elements } = new PerspectiveCamera(90, 1, 0.1, 100).projectionMatrix;
  const view = { projection: elements, view: new Matrix4().elements, viewport: { width: 100, height: 100 } };
  service.setView({ ...view, occlusion: true });
  await service.update();
  const { views } = await service.update();
  const listed = ({ ids, occluded, occluders }: VisibleSet) =>
    [ids, occluded, occluders].map((each) => Array.from(each));
  const expected = [[wall, seen], hidden, [wall]];
  expect(listed(views.get('main')!)).toEqual(expected);
  expect(listed(await service.frustum({ ...view, occlusion: true }))).toEqual(expected);
  expect(listed(await service.frustum({ ...view, occlusion: true }, { precision: 'mesh' }))).toEqual(expected);
  expect(listed(await service.frustum(view))).toEqual([[wall, ...hidden, seen], [], []]);
});
