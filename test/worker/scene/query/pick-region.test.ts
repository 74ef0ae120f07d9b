import type { RegionOptions } from 'collision-worker';
import { Matrix4, type OrthographicCamera, Vector3 } from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import { type FormItem, FormTwin, formMaker, standInOf } from '../../../fixtures/forms.js';
import { PLACES } from '../../../fixtures/twin.js';
import { type AnyCamera, aimCamera, CAMERA_KINDS, DEPTHS, VIEWPORT, viewOf } from '../../../oracle/cameras.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type RegionBody, ScreenRegion, worldTriangles } from '../../../oracle/screen-region.js';
import { orientedBounds, type Precision } from '../../../oracle/stand-ins.js';

const OBJECTS = 30;
const CAMERAS = 50;
const REGIONS = 10;
const BLUR = { pixels: 1e-3, depth: 1e-6 };

const MODES = ['touch', 'enclose'] as const;
const SIDES = ['double', 'double', 'front', 'back'] as const;
const PRECISIONS: readonly Precision[] = ['mesh', 'mesh', 'mesh', 'obb', 'aabb', 'sphere'];

describe.each(PLACES)(`pickRegion, %s, seed ${SEED}`, (_, place) => {
  let twin: FormTwin;

  beforeAll(async () => {
    const random = new Random(SEED);
    twin = await FormTwin.create();
    const form = formMaker(random);
    for (let i = 0; i < OBJECTS; i++) {
      const position = random.point(random.pick([2, 5, 12])).add(place);
      const options = { low: 0.15, high: 2, mirrored: 0.3, sheared: 0.2 };
      await twin.add(form(), random.placement(position, options), { pickable: i % 10 !== 9, layers: 1 + (i % 3) });
    }
    return () => twin.dispose();
  });

  test.each(CAMERA_KINDS)(`equals brute force, ${CAMERAS * REGIONS} regions: %s`, async (_, make) => {
    const random = new Random(SEED + place.x); // different ones at each place
    const count = { touch: 0, enclose: 0, beside: 0, unsure: 0 };
    // With some random draws few are enclosed.
    for (let i = 0; i < CAMERAS || (count.enclose <= (CAMERAS * REGIONS) / 50 && i < 4 * CAMERAS); i++) {
      const camera = aimedAt(random.pick([...twin.items.values()]), make(random), random);
      const view = viewOf(camera, DEPTHS[i % DEPTHS.length][1]);
      twin.service.setView(view);
      for (let j = 0; j < REGIONS; j++) {
        const center = somewhere(random, camera, random.pick([...twin.items.values()]));
        const points = random.chance(0.4) ? randomRectangle(random, center) : randomLasso(random, center);
        const region =
          points.length === 4 && points[0][0] === points[3][0]
            ? rectangleOf(points)
            : new Float32Array(points.flat().map(Math.fround));
        const options: RegionOptions = {
          ...{ mode: random.pick(MODES), side: random.pick(SIDES), precision: random.pick(PRECISIONS) },
          ...{
            layers: random.pick([-1, -1, 2]),
            ignore: random.chance(0.3) ? [random.pick([...twin.items.keys()])] : [],
          },
        };
        const found = await twin.service.pickRegion(region, options);
        expect([...found]).toEqual([...found].sort((a, b) => a - b));
        const truth = new ScreenRegion(
          view,
          points.map(([x, y]) => [Math.fround(x), Math.fround(y)] as const),
          BLUR,
        );
        for (const item of twin.items.values()) {
          const isFound = found.includes(item.id);
          const expected = answerOf(item, truth, options, camera);
          count[expected === null ? 'unsure' : expected ? options.mode! : 'beside']++;
          if (expected !== null && expected !== isFound) {
            expect.fail(
              `${describeCase(item, options, points)}: ${isFound}, expected ${expected} (camera ${i}, region ${j})`,
            );
          }
        }
      }
    }
    const { touch, enclose, beside, unsure } = count;
    expect(touch).toBeGreaterThan((CAMERAS * REGIONS) / 4);
    expect(enclose).toBeGreaterThan((CAMERAS * REGIONS) / 50);
    expect(beside).toBeGreaterThan(CAMERAS * REGIONS);
    expect(unsure).toBeLessThan(0.02 * (touch + enclose));
  });

  function answerOf(item: FormItem, truth: ScreenRegion, options: RegionOptions, camera: AnyCamera): boolean | null {
    const { mode, side = 'double', precision = 'mesh', layers = -1, ignore = [] } = options;
    const index = [...twin.items.keys()].indexOf(item.id);
    if (index % 10 === 9 || !((1 + (index % 3)) & layers) || ignore.includes(item.id)) return false;
    let body: RegionBody = standInOf(item, precision);
    if ('corners' in body && side !== 'double') {
      const corners = turned(item, camera, side);
      if (corners === null) return null;
      if (corners.length === 0) return false;
      body = { corners };
    }
    return mode === 'enclose' ? truth.encloses(body) : truth.touches(body);
  }
});

/** The triangles whose side faces the eye, in the object's own space, as three has it; null if one is edge-on. */
function turned({ form, matrix }: FormItem, camera: AnyCamera, side: 'front' | 'back'): Vector3[][] | null {
  if (form.type !== 'mesh') return [];
  const inverse = matrix.clone().invert();
  const isParallel = (camera as OrthographicCamera).isOrthographicCamera;
  const eye = camera.position.clone().applyMatrix4(inverse);
  const back = camera.getWorldDirection(new Vector3()).negate();
  back.applyMatrix4(inverse.setPosition(0, 0, 0));
  const own = worldTriangles(form.triangles, new Matrix4());
  const heights = own.map(([a, b, c]) => {
    const normal = b.clone().sub(a).cross(c.clone().sub(a)).normalize();
    return normal.dot((isParallel ? back.clone() : eye.clone().sub(a)).normalize());
  });
  if (heights.some((height) => Math.abs(height) < 1e-7)) return null;
  return worldTriangles(form.triangles, matrix).filter((_, i) => heights[i] > 0 === (side === 'front'));
}

type Point = [number, number];

/** At an object, from near it, in it, or far away. */
function aimedAt({ form, matrix }: FormItem, camera: AnyCamera, random: Random): AnyCamera {
  const middle = new Vector3().setFromMatrixPosition(orientedBounds(form, matrix));
  aimCamera(camera, random, middle);
  camera.position.copy(middle).addScaledVector(random.direction(), random.logRange(0.5, 40));
  camera.lookAt(middle.add(random.point(2)));
  camera.updateMatrixWorld();
  return camera;
}

/** Where an object's centre is drawn, if it is, or anywhere in the viewport and around it. */
function somewhere(random: Random, camera: AnyCamera, { form, matrix }: FormItem): Point {
  const { x, y, width, height } = VIEWPORT;
  const middle = new Vector3().setFromMatrixPosition(orientedBounds(form, matrix)).project(camera);
  const isDrawn = Math.max(Math.abs(middle.x), Math.abs(middle.y), Math.abs(middle.z)) < 1;
  if (isDrawn && random.chance(0.8)) return [x + ((1 + middle.x) * width) / 2, y + ((1 - middle.y) * height) / 2];
  return [x + random.range(-0.2, 1.2) * width, y + random.range(-0.2, 1.2) * height];
}

/** Of any size, also beyond the viewport. */
function randomRectangle(random: Random, center: Point): Point[] {
  const size = () => random.logRange(10, 2000) * random.pick([-1, 1]);
  const [w, h] = [size(), size()].map(Math.fround);
  const [left, top] = [center[0] - w * random.next(), center[1] - h * random.next()].map(Math.fround);
  return [
    [left, top],
    [left + w, top],
    [left + w, top + h],
    [left, top + h],
  ];
}

function rectangleOf([[x, y], , [right, bottom]]: Point[]) {
  return { x, y, width: right - x, height: bottom - y };
}

/** Concave around a point, or in any order, self-intersecting. */
function randomLasso(random: Random, [u, v]: Point): Point[] {
  const size = random.logRange(20, 1500);
  const count = 3 + random.integer(8);
  const star = random.chance(0.5);
  return Array.from({ length: count }, (_, i): Point => {
    if (!star) return [u + random.range(-size, size), v + random.range(-size, size)];
    const [angle, reach] = [(2 * Math.PI * i) / count, size * random.range(0.2, 1)];
    return [u + reach * Math.cos(angle), v + reach * Math.sin(angle)];
  });
}

function describeCase({ id, form, matrix }: FormItem, options: RegionOptions, points: Point[]): string {
  return `object ${id}, a ${form.type} at ${matrix.elements.slice(12, 15)}, ${JSON.stringify(options)} in ${JSON.stringify(points)}`;
}
