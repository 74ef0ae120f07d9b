import type { Hit } from 'collision-worker';
import { Matrix4, OrthographicCamera, PerspectiveCamera, type Plane, Vector3 } from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import { FormTwin, formMaker } from '../../../fixtures/forms.js';
import { PLACES } from '../../../fixtures/twin.js';
import { type AnyCamera, aimCamera, CAMERA_KINDS, DEPTHS, VIEWPORT, viewOf } from '../../../oracle/cameras.js';
import { frustumPlanes } from '../../../oracle/frustum.js';
import { Random, SEED } from '../../../oracle/random.js';
import { orientedBounds } from '../../../oracle/stand-ins.js';

const OBJECTS = 200;
const CAMERAS = 25;
const CURSORS = 20;
const RADII = [0, 5, 20, 100, 400];

/** An object's centre on the screen. */
interface Drawn {
  id: number;
  center: Vector3;
  pixels: number;
  distance: number;
  /** The distance from the near and far plane, in the world; negative beyond them. */
  depth: number;
}

describe.each(PLACES)(`pick by screen distance, %s, seed ${SEED}`, (_, place) => {
  let twin: FormTwin;
  const centers = new Map<number, Vector3>();
  /** Pixels and lengths that rounding may change. */
  const doubt = place.length() > 0 ? 1e-3 : 1e-6;

  beforeAll(async () => {
    const random = new Random(SEED);
    twin = await FormTwin.create();
    const form = formMaker(random);
    for (let i = 0; i < OBJECTS; i++) {
      const matrix = random.placement(random.point(25).add(place), { low: 0.3, high: 3, mirrored: 0.3, sheared: 0.2 });
      const own = form();
      const id = await twin.add(own, matrix, { pickable: i % 10 !== 9, layers: 1 + (i % 3) });
      centers.set(id, new Vector3().setFromMatrixPosition(orientedBounds(own, matrix)));
    }
    return () => twin.dispose();
  });

  test.each(CAMERA_KINDS)(`equals brute force, ${CAMERAS * CURSORS} cursors: %s`, async (_, make) => {
    const random = new Random(SEED + place.x); // different ones at each place
    const ids = [...twin.items.keys()];
    let found = 0;
    for (let i = 0; i < CAMERAS; i++) {
      const camera = aimCamera(make(random), random, place);
      const view = viewOf(camera, DEPTHS[i % DEPTHS.length][1]);
      const depths = frustumPlanes(view.projection, view.view, view.depth).slice(4);
      twin.service.setView(view);
      for (let j = 0; j < CURSORS; j++) {
        const x = VIEWPORT.x + random.next() * VIEWPORT.width;
        const y = VIEWPORT.y + random.next() * VIEWPORT.height;
        const [radius, layers] = [random.pick(RADII), random.pick([-1, 2])];
        const ignore = random.chance(0.3) ? [random.pick(ids), random.pick(ids)] : [];
        const options = { method: 'screen', radius, layers, ignore } as const;
        const expected = ids
          .filter((id, n) => n % 10 !== 9 && (1 + (n % 3)) & layers && !ignore.includes(id))
          .map((id) => drawn(id, camera, depths, x, y));
        const all = await twin.service.pickAll(x, y, options);
        const nearest = await twin.service.pick(x, y, options);
        expectAll(all, expected, radius);
        expect(nearest).toEqual(all[0] ?? null);
        found += all.length;
      }
    }
    expect(found).toBeGreaterThan((CAMERAS * CURSORS) / 5);
  });

  function drawn(id: number, camera: AnyCamera, depths: Plane[], x: number, y: number): Drawn {
    const center = centers.get(id)!;
    const projected = center.clone().project(camera);
    const px = VIEWPORT.x + ((1 + projected.x) * VIEWPORT.width) / 2;
    const py = VIEWPORT.y + ((1 - projected.y) * VIEWPORT.height) / 2;
    const ahead = -center.clone().applyMatrix4(camera.matrixWorldInverse).z;
    const isParallel = (camera as OrthographicCamera).isOrthographicCamera;
    const distance = isParallel ? ahead : center.distanceTo(camera.position);
    const depth = Math.min(...depths.map((plane) => plane.distanceToPoint(center)));
    return { id, center, pixels: Math.hypot(px - x, py - y), distance, depth };
  }

  function expectAll(hits: Hit[], expected: Drawn[], radius: number): void {
    const byId = new Map(hits.map((hit) => [hit.object, hit]));
    for (const { id, center, pixels, distance, depth } of expected) {
      const hit = byId.get(id);
      const isIn = pixels <= radius && depth >= 0;
      const isDoubtful = Math.abs(pixels - radius) < doubt || Math.abs(depth) < 1e-6 * distance + doubt;
      if (!isDoubtful && (hit !== undefined) !== isIn) expect.fail(`object ${id}: ${pixels} px, depth ${depth}`);
      if (!hit) continue;
      byId.delete(id);
      expect(Math.abs(hit.pixels! - pixels)).toBeLessThan(doubt * Math.max(1, pixels));
      expect(Math.abs(hit.distance - distance)).toBeLessThan(doubt);
      expect(new Vector3(...hit.point).distanceTo(center)).toBeLessThan(doubt);
      expect(Math.abs(new Vector3(...hit.normal).length() - 1)).toBeLessThan(1e-12);
      expect([hit.triangle, hit.barycentric]).toEqual([-1, [0, 0, 0]]);
    }
    expect([...byId.keys()]).toEqual([]);
    const order = hits.toSorted((a, b) => a.pixels! - b.pixels! || a.distance - b.distance || a.object - b.object);
    expect(hits).toEqual(order);
  }
});

describe('pick by screen distance', () => {
  const viewport = { x: 10, y: 20, width: 100, height: 100 };
  const camera = (make: AnyCamera) => {
    make.updateMatrixWorld();
    make.updateProjectionMatrix();
    return { projection: make.projectionMatrix.elements, view: make.matrixWorldInverse.elements, viewport };
  };
  const perspective = camera(new PerspectiveCamera(90, 1, 1, 100));
  const orthographic = camera(new OrthographicCamera(-10, 10, 10, -10, 1, 100));
  const at = (x: number, y: number, z: number) => new Matrix4().makeTranslation(x, y, z);
  const sphere = { type: 'sphere', radius: 1, center: new Vector3() } as const;
  const options = { method: 'screen' } as const;

  async function twinOf(...places: Matrix4[]): Promise<[FormTwin, number[]]> {
    const twin = await FormTwin.create();
    const ids: number[] = [];
    for (const place of places) ids.push(await twin.add(sphere, place));
    twin.service.setView(perspective);
    return [twin, ids];
  }

  test('of centres drawn in one point the nearer wins, then the lower id', async () => {
    const [twin, [far, near, same]] = await twinOf(at(0, 0, -20), at(0, 0, -10), at(0, 0, -10));
    for (const view of [perspective, orthographic]) {
      twin.service.setView(view);
      const hits = await twin.service.pickAll(60, 70, options);
      expect(hits.map(({ object, pixels, distance }) => [object, pixels, distance])).toEqual([
        [near, 0, 10],
        [same, 0, 10],
        [far, 0, 20],
      ]);
      expect(hits[0].normal.map((part) => part + 0)).toEqual([0, 0, 1]);
      expect(await twin.service.pick(60, 70, { ...options, radius: 0 })).toEqual(hits[0]);
    }
    twin.dispose();
  });

  test('the radius holds what is exactly at it, whichever way', async () => {
    const [twin] = await twinOf(at(2, 0, -10), at(-2, 0, -10), at(0, 2, -10), at(0, -2, -10));
    twin.service.setView(orthographic); // five pixels a unit
    expect((await twin.service.pickAll(60, 70, { ...options, radius: 10 })).length).toBe(4);
    expect((await twin.service.pickAll(60, 70, { ...options, radius: 9.999 })).length).toBe(0);
    expect(await twin.service.pick(60, 70, { ...options, radius: 10 })).toMatchObject({ pixels: 10 });
    twin.dispose();
  });

  test('a centre right under the cursor is within any radius, however small the object', async () => {
    const twin = await FormTwin.create();
    const id = await twin.add({ ...sphere, radius: 1e-13 }, at(0, 0, -10));
    for (const view of [perspective, orthographic]) {
      twin.service.setView(view);
      expect(await twin.service.pick(60, 70, { ...options, radius: 0 })).toMatchObject({ object: id, pixels: 0 });
    }
    twin.dispose();
  });

  test('nothing behind the camera, before near or beyond far; what is drawn beside the viewport counts', async () => {
    const [twin, ids] = await twinOf(at(0, 0, 10), at(0, 0, -0.9), at(0, 0, -101), at(10.5, 0, -10));
    const everything = { ...options, radius: 1e6 };
    expect((await twin.service.pickAll(60, 70, everything)).map(({ object }) => object)).toEqual([ids[3]]);
    expect(await twin.service.pick(109, 70, options)).toMatchObject({
      object: ids[3],
      pixels: expect.closeTo(3.5, 10),
    });
    // But the cursor has to be in the viewport.
    expect(await twin.service.pick(111, 70, options)).toBeNull();
    expect(await twin.service.pickAll(60, 19, everything)).toEqual([]);
    twin.dispose();
  });
});
