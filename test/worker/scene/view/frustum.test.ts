import type { VisibleSet } from 'collision-worker';
import { Matrix4, PlaneGeometry, Raycaster, Vector3 } from 'three';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PLACES, Twin } from '../../../fixtures/twin.js';
import { type AnyCamera, aimCamera, CAMERA_KINDS, DEPTHS, ODD_CAMERA_KINDS, viewOf } from '../../../oracle/cameras.js';
import { type FrustumState, frustumPlanes, frustumState } from '../../../oracle/frustum.js';
import { icosphere, rods, soup, trianglesOf } from '../../../oracle/meshes.js';
import type { PlacedShape } from '../../../oracle/placed.js';
import { Random, SEED } from '../../../oracle/random.js';
import { rayHits } from '../../../oracle/ray.js';

const OBJECTS = 3000;
const CAMERAS = 20;
const PIXELS = 20;
/** More than the trees of objects without contacts keep copies of. */
const MANY = 70_000;
/** Relative to the distance from the camera: a box nearer to a plane than this may be on either side of it. */
const ROUNDING = 1e-6;

describe.each(PLACES)(`frustum states of ${OBJECTS} boxes and meshes, %s, seed ${SEED}`, (_, place) => {
  let twin: Twin;

  beforeAll(async () => {
    const random = new Random(SEED);
    twin = await Twin.create();
    const shapes = [
      await twin.mesh(icosphere(1, 1)),
      await twin.mesh(soup(random, 20, 0.3, 1)),
      await twin.mesh(rods(random, 3, 1)),
      await twin.mesh(trianglesOf(new PlaneGeometry(2, 2, 2, 2))),
      twin.box(new Vector3(1, 0.5, 0.2)),
      twin.box(new Vector3(0.3, 0.6, 0.9), new Vector3(1, 2, 0), random.rotation()),
    ];
    for (let i = 0; i < OBJECTS; i++) {
      const position = random
        .direction()
        .multiplyScalar(40 * random.next())
        .add(place);
      const matrix = random.chance(0.3) // unpadded: axis-aligned bounds are easy to make too small
        ? new Matrix4().setPosition(position)
        : random.placement(position, { low: 0.1, high: 4, mirrored: 0.3, sheared: 0.3 });
      twin.add(random.pick(shapes), matrix);
    }
    return () => twin.dispose();
  });

  describe.each([...CAMERA_KINDS, ...ODD_CAMERA_KINDS])('%s', (_, make) => {
    test.each(DEPTHS)('%s', async (_, depth) => {
      onTestFinished(() => twin.service.removeView('main'));
      const random = new Random(SEED);
      const count = { outside: 0, crossing: 0, inside: 0, doubtful: 0 };
      let previous = new Set<number>();
      for (let i = 0; i < CAMERAS; i++) {
        const camera = aimCamera(make(random), random, place);
        const view = viewOf(camera, depth);
        twin.service.setView(view);
        const { visible } = await twin.service.update();
        const states = statesOf(visible);

        const planes = frustumPlanes(view.projection, view.view, view.depth);
        for (const item of twin.items.values()) {
          const expected = frustumState(item.bounds, planes);
          const state = states.get(item.id) ?? 'outside';
          count[state]++;
          if (state === expected.state) continue;
          const doubt = ROUNDING * camera.position.distanceTo(item.bounds.vertices[0]);
          expect(expected.margin, `${state} instead of ${expected.state}`).toBeLessThan(doubt);
          count.doubtful++;
        }

        expect(Array.from(shown(camera, twin.items.values(), random)).filter(({ id }) => !states.has(id))).toEqual([]);

        const now = new Set(states.keys());
        expect([...visible.entered]).toEqual(missing(now, previous));
        expect([...visible.left]).toEqual(missing(previous, now));
        previous = now;
        expect(isSorted(visible.ids.subarray(0, visible.inside))).toBe(true);
        expect(isSorted(visible.ids.subarray(visible.inside))).toBe(true);
      }
      if (count.doubtful > 0) console.log(`${count.doubtful} of ${CAMERAS * OBJECTS} states differ within rounding`);
      for (const state of ['outside', 'crossing', 'inside'] as const) expect(count[state]).toBeGreaterThan(100);
    });
  });

  test.each([...CAMERA_KINDS, ...ODD_CAMERA_KINDS])(
    'boxes along the axes are seen that are a hair within a side: %s',
    async (_, make) => {
      const random = new Random(SEED);
      const own = await Twin.create();
      onTestFinished(() => own.dispose());
      const half = new Vector3(0.1, 0.2, 0.3);
      const shape = own.box(half);
      let seen = 0;
      for (let i = 0; i < 20; i++) {
        const camera = aimCamera(make(random), random, place);
        const view = viewOf(camera, DEPTHS[0][1]);
        const planes = frustumPlanes(view.projection, view.view, view.depth);
        const ids = planes.slice(0, 4).flatMap((plane) => {
          const middle = new Vector3(random.range(-0.5, 0.5), random.range(-0.5, 0.5), 0.9).unproject(camera);
          const { x, y, z } = plane.normal;
          const reach = Math.abs(x) * half.x + Math.abs(y) * half.y + Math.abs(z) * half.z;
          const at = plane.projectPoint(middle, new Vector3()).addScaledVector(plane.normal, 1e-7 - reach);
          return own.add(shape, new Matrix4().setPosition(at));
        });
        own.service.setView(view);
        const states = statesOf((await own.service.update()).visible);
        for (const id of ids) {
          if (frustumState(own.items.get(id)!.bounds, planes).state === 'outside') continue; // of another plane
          expect(states.get(id)).toBe('crossing');
          seen++;
        }
        for (const id of ids) own.remove(id);
      }
      expect(seen).toBeGreaterThan(20);
    },
  );

  test('of several views at once: layers, what is not cullable, margins', async () => {
    const random = new Random(SEED);
    const ids = [...twin.items.keys()];
    const [visibleLayers, margin] = [0b10, 0.7];
    ids.forEach((id, i) => {
      if (i % 3 === 1) twin.service.setObject(id, { layers: 0b110 });
      if (i % 3 === 2) twin.service.setObject(id, { cullable: false });
    });
    const views = ['near', 'far', 'left'].map((name) => {
      const view = viewOf(aimCamera(CAMERA_KINDS[0][1](random), random, place), DEPTHS[0][1]);
      twin.service.setView({ ...view, layers: visibleLayers, margin }, name);
      return { name, planes: frustumPlanes(view.projection, view.view) };
    });
    const frame = await twin.service.update();
    expect([...frame.views.keys()].sort()).toEqual(['far', 'left', 'near']);
    for (const { name, planes } of views) {
      for (const plane of planes) plane.constant += margin;
      const expected = ids.filter((id, i) => {
        return i % 3 === 1 && frustumState(twin.items.get(id)!.bounds, planes).state !== 'outside';
      });
      expect([...frame.views.get(name)!.ids].sort((a, b) => a - b)).toEqual(expected);
      expect(expected.length).toBeGreaterThan(5);
    }
    for (const { name } of views) twin.service.removeView(name);
    for (const id of ids) twin.service.setObject(id, { layers: 1, cullable: true });
  });
});

test(`of very many that never move and take part in no contacts, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const twin = await Twin.create();
  onTestFinished(() => twin.dispose());
  const box = twin.box(new Vector3(1, 0.5, 0.2));
  for (let i = 0; i < MANY; i++) {
    twin.add(box, random.placement(random.point(60), { low: 0.02, high: 2 }), { contacts: 'none', motion: 'static' });
  }
  const items = [...twin.items.values()];
  for (const [, make] of [...CAMERA_KINDS, ...ODD_CAMERA_KINDS]) {
    const camera = aimCamera(make(random), random, new Vector3());
    const view = viewOf(camera, DEPTHS[0][1]);
    const minPixels = random.range(2, 20);
    twin.service.setView(view, 'all');
    twin.service.setView({ ...view, minPixels }, 'large');
    const { views } = await twin.service.update();
    const states = statesOf(views.get('all')!);
    const large = statesOf(views.get('large')!);
    const planes = frustumPlanes(view.projection, view.view, view.depth);
    for (let k = 0; k < 3000; k++) {
      const { id, bounds } = random.pick(items);
      const { state, margin } = frustumState(bounds, planes);
      if ((states.get(id) ?? 'outside') !== state) expect(margin, state).toBeLessThan(1e-4);
    }
    expect(states.size).toBeGreaterThan(0);
    for (const [id, state] of states) {
      const pixels = pixelsAcross(twin.items.get(id)!, camera, camera.matrixWorldInverse, 1, view.viewport);
      if (Math.abs(pixels / minPixels - 1) < 1e-6) continue;
      expect(large.get(id), `${pixels} of ${minPixels} pixels`).toBe(pixels > minPixels ? state : undefined);
    }
  }
});

/** Of the sphere around the corners of the oriented bounds, in a view with this scale; Infinity behind the eye. */
function pixelsAcross(
  { bounds: { vertices } }: PlacedShape,
  camera: AnyCamera,
  view: Matrix4,
  scale: number,
  { width, height }: { width: number; height: number },
): number {
  const center = vertices[0].clone().add(vertices[7]).divideScalar(2);
  const radius = Math.max(...vertices.map((vertex) => vertex.distanceTo(center)));
  const { elements } = camera.projectionMatrix;
  const inView = center.applyMatrix4(view);
  const w = elements[11] * inView.z + elements[15];
  if (w <= 0) return Number.POSITIVE_INFINITY;
  const perUnit = (scale / w / 2) * Math.max(width * Math.abs(elements[0]), height * Math.abs(elements[5]));
  return 2 * radius * perUnit;
}

/**
 * The definition in float64: the sphere around the eight corners of the oriented bounds, times the pixels per unit of
 * length at the depth of its centre.
 */
describe.each(PLACES)(`minPixels, %s, seed ${SEED}`, (_, place) => {
  test.each([...CAMERA_KINDS, ...ODD_CAMERA_KINDS])('%s: leaves out what has fewer pixels across', async (_, make) => {
    const random = new Random(SEED);
    const twin = await Twin.create();
    const shapes = [
      await twin.mesh(soup(random, 20, 0.3, 1)),
      twin.box(new Vector3(1, 0.5, 0.2), new Vector3(1, 2, 0)),
    ];
    for (let i = 0; i < 500; i++) {
      const position = random.direction().multiplyScalar(random.logRange(0.1, 60)).add(place);
      twin.add(random.pick(shapes), random.placement(position, { low: 0.01, high: 4, mirrored: 0.3, sheared: 0.5 }));
    }
    const count = { small: 0, large: 0, behind: 0 };
    for (let i = 0; i < 30; i++) {
      const camera = aimCamera(make(random), random, place);
      // A view of an app that scales the scene and stretches the image.
      const view = { ...viewOf(camera, random.pick(DEPTHS)[1]), view: camera.matrixWorldInverse.clone().elements };
      const [scale, width, height] = [random.logRange(0.1, 10), random.range(300, 900), random.range(300, 900)];
      const viewMatrix = new Matrix4().makeScale(scale, scale, scale).multiply(camera.matrixWorldInverse);
      const minPixels = random.logRange(1, 100);
      const viewport = { width, height };
      twin.service.setView({ ...view, view: viewMatrix.elements, viewport }, 'all');
      twin.service.setView({ ...view, view: viewMatrix.elements, viewport, minPixels }, 'large');
      const { views } = await twin.service.update();
      const large = new Set(views.get('large')!.ids);
      for (const id of views.get('all')!.ids) {
        const pixels = pixelsAcross(twin.items.get(id)!, camera, viewMatrix, scale, viewport);
        if (pixels === Number.POSITIVE_INFINITY) count.behind++;
        if (Math.abs(pixels / minPixels - 1) < 1e-6) continue;
        expect(large.has(id), `${pixels} of ${minPixels} pixels`).toBe(pixels > minPixels);
        count[pixels > minPixels ? 'large' : 'small']++;
      }
      for (const id of large) expect(views.get('all')!.ids.includes(id)).toBe(true);
    }
    expect(count.small).toBeGreaterThan(5);
    expect(count.large).toBeGreaterThan(5);
    twin.dispose();
  });
});

function statesOf({ ids, inside }: VisibleSet): Map<number, FrustumState> {
  return new Map(Array.from(ids, (id, i): [number, FrustumState] => [id, i < inside ? 'inside' : 'crossing']));
}

function isSorted(ids: Uint32Array): boolean {
  return ids.every((id, i) => i === 0 || ids[i - 1] < id);
}

/** The elements of the first that are not in the second, sorted. */
function missing(from: ReadonlySet<number>, without: ReadonlySet<number>): number[] {
  return [...from].filter((id) => !without.has(id)).sort((a, b) => a - b);
}

/** What rays through random pixels hit between the near and the far plane, occluded or not. */
function shown(camera: AnyCamera, items: Iterable<PlacedShape>, random: Random) {
  const raycaster = new Raycaster();
  const all = [...items];
  return Array.from({ length: PIXELS }, () => {
    const [x, y] = [random.range(-1, 1), random.range(-1, 1)];
    const origin = new Vector3(x, y, -1).unproject(camera);
    raycaster.set(origin, new Vector3(x, y, 0).unproject(camera).sub(origin).normalize());
    return rayHits(all, raycaster.ray).filter(({ point }) => Math.abs(point.project(camera).z) < 1);
  }).flat();
}
