// Rays and picks through clipped geometry, against three's own Raycaster without what is behind the clipping planes.
import { type CollisionService, createCollisionService, NO_OBJECT, type QueryOptions } from 'collision-worker';
import {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  type Matrix4,
  Mesh,
  MeshBasicMaterial,
  Plane,
  Raycaster,
  Vector3,
} from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import { FormTwin, formMaker } from '../../../fixtures/forms.js';
import { PLACES } from '../../../fixtures/twin.js';
import { aimCamera, CAMERA_KINDS, DEPTHS, VIEWPORT, viewOf } from '../../../oracle/cameras.js';
import { type Clipping, clipOf, isKept, positionError } from '../../../oracle/clipping.js';
import { boxMesh, icosphere, soup, type Triangles } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { orientedBounds } from '../../../oracle/stand-ins.js';

const OBJECTS = 60;
const RAYS = 600;
/** Relative to distances, as everywhere (rays.test.ts). */
const TOLERANCE = 1e-6;

/** Some planes through the middle of the scene, with normals of any length, sometimes all in one direction. */
function randomCut(random: Random, place: Vector3): Clipping {
  const planes = Array.from({ length: 1 + random.integer(random.pick([1, 3, 16])) }, () => {
    const plane = new Plane().setFromNormalAndCoplanarPoint(random.direction(), random.point(4).add(place));
    if (random.chance(0.2)) plane.normal.set(0, 0, 0).setComponent(random.integer(3), random.pick([-1, 1]));
    if (random.chance(0.2)) plane.setFromNormalAndCoplanarPoint(plane.normal, random.point(4).add(place));
    const length = random.logRange(1e-6, 1e6);
    plane.normal.multiplyScalar(length);
    plane.constant *= length;
    return plane;
  });
  return { planes, isIntersection: random.chance(0.5) };
}

interface ThreeHit {
  id: number;
  triangle: number;
  distance: number;
  point: Vector3;
}

const material = new MeshBasicMaterial({ side: DoubleSide });

class Truth {
  readonly #meshes = new Map<Mesh, number>();

  add(id: number, { positions, indices }: Triangles, matrix: Matrix4): void {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(positions, 3));
    geometry.setIndex(new BufferAttribute(indices, 1));
    geometry.computeBoundingSphere();
    geometry.boundingSphere!.radius *= 4; // three's is too small under a matrix that shears
    const mesh = new Mesh(geometry, material);
    mesh.matrixWorld.copy(matrix);
    this.#meshes.set(mesh, id);
  }

  hits(origin: Vector3, direction: Vector3): ThreeHit[] {
    return new Raycaster(origin, direction)
      .intersectObjects([...this.#meshes.keys()], false)
      .map(({ object, faceIndex, distance, point }) => {
        return { id: this.#meshes.get(object as Mesh)!, triangle: faceIndex!, distance, point };
      });
  }
}

describe.each(PLACES)(`rays through what is cut away, %s, seed ${SEED}`, (_, place) => {
  const random = new Random(SEED);
  let service: CollisionService;
  const truth = new Truth();

  beforeAll(async () => {
    service = await createCollisionService();
    const meshes = [icosphere(1, 2), boxMesh(1, 2, 0.5), soup(random, 30, 0.8, 1), icosphere(0.4, 1)];
    const ids = await Promise.all(meshes.map((mesh) => service.addMesh(mesh)));
    for (let i = 0; i < OBJECTS; i++) {
      const kind = random.integer(meshes.length);
      const matrix = random.placement(random.point(4).add(place), { low: 0.4, high: 2, mirrored: 0.4, sheared: 0.3 });
      const shape = { type: 'mesh', mesh: ids[kind] } as const;
      truth.add(service.addObject({ shape, matrix: matrix.elements }), meshes[kind], matrix);
    }
    return () => service.dispose();
  });

  test('nearest, all, any and many hits are those of three, without what planes cut away', async () => {
    const count = { kept: 0, cut: 0, others: 0, unsure: 0 };
    for (let i = 0; i < RAYS; i++) {
      const origin = random.point(6).add(place);
      const direction = random.point(3).add(place).sub(origin).normalize();
      const cut = randomCut(random, place);
      const options: QueryOptions = { clip: clipOf(cut), clipIntersection: cut.isIntersection };
      const ray = { origin: origin.toArray(), direction: direction.toArray() };
      const many = Float32Array.of(...origin, 0, ...direction, Number.POSITIVE_INFINITY);
      const [nearest, all, isClear, { objects }] = await Promise.all([
        service.raycast(ray, options),
        service.raycastAll(ray, options),
        service.lineOfSight(ray.origin, origin.clone().addScaledVector(direction, 100).toArray(), options),
        service.raycastMany(many, options),
      ]);
      const everything = truth.hits(origin, direction);
      const states = everything.map(({ point }) => isKept(point, cut, positionError(point, origin) + 1e-12));
      if (states.includes(null)) {
        count.unsure++;
        continue;
      }
      const kept = everything.filter((_, k) => states[k]);
      const label = `ray ${i}, ${kept.length} of ${everything.length} hits, ${JSON.stringify(options)}`;
      expect(all.map(keyOf).sort(), label).toEqual(kept.map(({ id, triangle }) => `${id} ${triangle}`).sort());
      for (const hit of all) {
        const twin = kept.find(({ id, triangle }) => `${id} ${triangle}` === keyOf(hit))!;
        const rounded = 4 * Number.EPSILON * origin.length(); // three's own point of the hit, far away
        expect(Math.abs(hit.distance - twin.distance), label).toBeLessThanOrEqual(TOLERANCE * twin.distance + rounded);
      }
      expect(isClear, label).toBe(kept.length === 0);
      expect(nearest === null, label).toBe(kept.length === 0);
      expect(nearest?.distance, label).toBe(all[0]?.distance);
      if (place.x === 0) expect(objects[0] === NO_OBJECT, label).toBe(kept.length === 0);
      if (kept.length < everything.length) count[kept[0] === everything[0] ? 'kept' : 'others']++;
      if (everything.length > 0 && kept.length === 0) count.cut++;
    }
    // Rays whose first hit is kept, whose first hit is another one, and that have none left.
    expect(count.kept).toBeGreaterThan(5);
    expect(count.others).toBeGreaterThan(25);
    expect(count.cut).toBeGreaterThan(5);
    expect(count.unsure).toBeLessThan(RAYS / 50);
  });
});

const keyOf = ({ object, triangle }: { object: number; triangle: number }) => `${object} ${triangle}`;

describe(`rays through cut shapes that are no mesh, seed ${SEED}`, () => {
  test('are those of the whole shapes without what is behind the planes, in each precision', async () => {
    const random = new Random(SEED);
    const twin = await FormTwin.create();
    const form = formMaker(random);
    const zero = new Vector3();
    for (let i = 0; i < 40; i++) await twin.add(form(), random.placement(random.point(4), { low: 0.4, high: 2 }));
    let differing = 0;
    for (let i = 0; i < RAYS; i++) {
      const origin = random.point(6);
      const ray = { origin: origin.toArray(), direction: random.point(3).sub(origin).toArray() };
      const cut = randomCut(random, zero);
      const precision = random.pick(['mesh', 'obb', 'aabb', 'sphere'] as const);
      const side = random.pick(['double', 'front', 'back'] as const);
      const clip = { clip: clipOf(cut), clipIntersection: cut.isIntersection };
      const [all, left, nearest] = await Promise.all([
        twin.service.raycastAll(ray, { precision, side }),
        twin.service.raycastAll(ray, { precision, side, ...clip }),
        twin.service.raycast(ray, { precision, side, ...clip }),
      ]);
      const states = all.map(({ point }) =>
        isKept(new Vector3(...point), cut, positionError(new Vector3(...point), origin)),
      );
      if (states.includes(null)) continue;
      expect(left, `ray ${i}`).toEqual(all.filter((_, k) => states[k]));
      expect(nearest, `ray ${i}`).toEqual(left[0] ?? null);
      if (left.length < all.length) differing++;
    }
    expect(differing).toBeGreaterThan(RAYS / 4);
    twin.dispose();
  });
});

describe(`picks and sight in a cut world, seed ${SEED}`, () => {
  test.each(CAMERA_KINDS)('%s', async (_, make) => {
    const random = new Random(SEED);
    const twin = await FormTwin.create();
    const form = formMaker(random);
    const zero = new Vector3();
    for (let i = 0; i < 40; i++) await twin.add(form(), random.placement(random.point(4), { low: 0.4, high: 2 }));
    const count = { screen: 0, sight: 0 };
    for (let i = 0; i < 200; i++) {
      const camera = aimCamera(make(random), random, zero);
      twin.service.setView(viewOf(camera, DEPTHS[0][1]));
      const cut = randomCut(random, zero);
      const clip = { clip: clipOf(cut), clipIntersection: cut.isIntersection };
      const x = VIEWPORT.x + random.next() * VIEWPORT.width;
      const y = VIEWPORT.y + random.next() * VIEWPORT.height;
      const eye = camera.position;
      const kept = (point: readonly number[]) =>
        isKept(new Vector3(...point), cut, positionError(new Vector3(...point), eye));
      const [all, left, nearest] = await Promise.all([
        twin.service.pickAll(x, y),
        twin.service.pickAll(x, y, clip),
        twin.service.pick(x, y, clip),
      ]);
      if (all.every(({ point }) => kept(point) !== null)) {
        expect(left).toEqual(all.filter(({ point }) => kept(point)));
        expect(nearest).toEqual(left[0] ?? null);
      }
      const near = { method: 'screen', radius: 300 } as const;
      const [drawn, uncut, first] = await Promise.all([
        twin.service.pickAll(x, y, near),
        twin.service.pickAll(x, y, { ...near, ...clip }),
        twin.service.pick(x, y, { ...near, ...clip }),
      ]);
      if (drawn.every(({ point }) => kept(point) !== null)) {
        expect(uncut).toEqual(drawn.filter(({ point }) => kept(point)));
        expect(first).toEqual(uncut[0] ?? null);
        if (uncut.length < drawn.length) count.screen++;
      }
      // A point that is clipped away is not in sight, and clipped geometry occludes nothing.
      const target = random.pick([...twin.items.values()]);
      const [seen, whole] = await Promise.all([
        twin.service.sees('main', [target.id], { precision: 'obb', ...clip }),
        twin.service.sees('main', [target.id], { precision: 'obb' }),
      ]);
      let points: number | null = 0;
      for (const point of ninePoints(orientedBounds(target.form, target.matrix))) {
        const drawn = point.clone().project(camera);
        const beside = Math.max(...drawn.toArray().map(Math.abs));
        const state = kept(point.toArray());
        if (state === null || Math.abs(beside - 1) < 1e-9) points = null;
        if (points === null || beside > 1 || state === false) continue;
        const near = drawn.setZ(-1).unproject(camera);
        const options = { precision: 'obb', ignore: [target.id], ...clip } as const;
        if (await twin.service.lineOfSight(near.toArray(), point.toArray(), options)) points++;
      }
      if (points === null) continue;
      expect(seen.points[0], `view ${i}`).toBe(points);
      if (points !== whole.points[0]) count.sight++;
    }
    expect(count.screen).toBeGreaterThan(10);
    expect(count.sight).toBeGreaterThan(0);
    twin.dispose();
  });
});

describe(`points and lines are cut where they are themselves, seed ${SEED}`, () => {
  test.each(['points', 'lines'] as const)('%s', async (topology) => {
    const random = new Random(SEED);
    const service = await createCollisionService();
    const zero = new Vector3();
    const count = topology === 'lines' ? 120 : 600;
    const matrices = new Map<number, Matrix4>();
    const positions = new Map<number, Float32Array>();
    for (let i = 0; i < 8; i++) {
      const own = Float32Array.from(Array.from({ length: count }, () => random.point(1).toArray()).flat());
      const mesh = await service.addMesh({ positions: own, topology });
      const matrix = random.placement(random.point(3), { low: 0.5, high: 2, mirrored: 0.4 });
      const id = service.addObject({ shape: { type: 'mesh', mesh }, matrix: matrix.elements });
      matrices.set(id, matrix);
      positions.set(id, own);
    }
    const counts = { kept: 0, cut: 0 };
    for (let i = 0; i < 300; i++) {
      const origin = random.point(6);
      const ray = { origin: origin.toArray(), direction: random.point(3).sub(origin).toArray() };
      const cut = randomCut(random, zero);
      const clip = { clip: clipOf(cut), clipIntersection: cut.isIntersection, threshold: 0.1 };
      const [all, left, nearest, isClear] = await Promise.all([
        service.raycastAll(ray, { threshold: 0.1 }),
        service.raycastAll(ray, clip),
        service.raycast(ray, clip),
        service.lineOfSight(
          ray.origin,
          origin
            .clone()
            .addScaledVector(new Vector3(...ray.direction), 50)
            .toArray(),
          clip,
        ),
      ]);
      // A hit of a line is on the line, and one of a point beside it is on the ray.
      const states = all.map(({ object, element, point }) => {
        const place = topology === 'lines' ? new Vector3(...point) : new Vector3();
        if (topology === 'points') {
          place.fromArray(positions.get(object)!, 3 * element).applyMatrix4(matrices.get(object)!);
        }
        return isKept(place, cut, 1e-9);
      });
      if (states.includes(null)) continue;
      const kept = all.filter((_, k) => states[k]);
      expect(left, `ray ${i}`).toEqual(kept);
      expect(nearest, `ray ${i}`).toEqual(kept[0] ?? null);
      expect(isClear, `ray ${i}`).toBe(kept.length === 0);
      counts.kept += kept.length;
      counts.cut += all.length - kept.length;
    }
    expect(counts.kept).toBeGreaterThan(100);
    expect(counts.cut).toBeGreaterThan(100);
    service.dispose();
  });
});

/** The centre of a box, and halfway to its corners. */
function ninePoints(box: Matrix4): Vector3[] {
  const halves = [-0.5, 0.5];
  const corners = halves.flatMap((x) => halves.flatMap((y) => halves.map((z) => new Vector3(x, y, z))));
  return [new Vector3(), ...corners].map((point) => point.applyMatrix4(box));
}

describe('planes at the edge', () => {
  let service: CollisionService;
  let wall: number;
  beforeAll(async () => {
    service = await createCollisionService();
    // A square at z = 0, in front of the ray.
    const positions = Float32Array.of(-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0);
    const mesh = await service.addMesh({ positions, indices: Uint16Array.of(0, 1, 2, 0, 2, 3) });
    wall = service.addObject({ shape: { type: 'mesh', mesh } });
    return () => service.dispose();
  });
  const ray = { origin: [0.25, 0.5, 5], direction: [0, 0, -1] } as const;
  const cast = async (clip: readonly number[], clipIntersection = false) => {
    return (await service.raycast(ray, { clip, clipIntersection }))?.object ?? null;
  };

  test('what is on a plane is kept, wherever that is', async () => {
    expect(await cast([0, 0, 1, 0])).toBe(wall);
    expect(await cast([0, 0, -1, 0])).toBe(wall);
    expect(await cast([0, 0, 1, -1e-9])).toBe(null);
    expect(await cast([0, 0, 3e-300, 0])).toBe(wall);
    expect(await cast([0, 0, 3e300, 0])).toBe(wall);
    expect(await cast([0, 0, 3e300, -1e292])).toBe(null);
  });

  test('planes along the ray, through its origin, and beyond it', async () => {
    expect(await cast([1, 0, 0, -0.25])).toBe(wall); // parallel to the ray, which is wholly in front
    expect(await cast([1, 0, 0, -0.26])).toBe(null);
    expect(await cast([0, 0, 1, -5])).toBe(null); // only what is behind the origin is kept
    expect(await cast([0, 0, -1, 5])).toBe(wall);
    expect(await cast([0, 0, 1, 1e308])).toBe(wall);
    expect(await cast([0, 0, 1e-308, -1e308])).toBe(null);
  });

  test('planes that contradict each other keep nothing, or everything where all must agree', async () => {
    const both = [0, 0, 1, -1, 0, 0, -1, -1]; // beyond z = 1, and before z = -1
    expect(await cast(both)).toBe(null);
    expect(await cast(both, true)).toBe(null); // between the two, both clip
    const turned = [0, 0, 1, 1, 0, 0, -1, 1];
    expect(await cast(turned)).toBe(wall);
    expect(await cast(turned, true)).toBe(wall);
    expect(await cast([...both, ...both, ...turned], true)).toBe(wall);
  });

  test('no planes cut nothing away', async () => {
    expect(await cast([])).toBe(wall);
    expect(await cast([], true)).toBe(wall);
  });

  test.each([
    ['no planes of four numbers', [1, 0, 0], /the length of clip is 3, expected 4 for each of at most 16/],
    ['too many', new Array(17 * 4).fill(1), /the length of clip is 68/],
    ['no number', [0, 0, 1, Number.NaN], /clip\[3\] is NaN, expected a finite number/],
    ['an endless number', [0, Number.POSITIVE_INFINITY, 1, 0], /clip\[1\] is Infinity/],
    ['a word', [0, '1', 1, 0], /clip\[1\] is "1"/],
    ['no normal', [0, 0, 1, 0, 0, -0, 0, 1], /the normal of plane 1 of clip is \[0, -0, 0\], expected one not zero/],
    ['a number', 1, /clip is 1, expected 4 numbers per plane/],
    ['null', null, /clip is null/],
  ])('%s is refused by name', async (_, clip, message) => {
    await expect((async () => service.raycast(ray, { clip: clip as number[] }))()).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(message),
    });
  });

  test('clipIntersection is a boolean', async () => {
    const options = { clip: [0, 0, 1, 0], clipIntersection: 1 as unknown as boolean };
    await expect((async () => service.raycast(ray, options))()).rejects.toMatchObject({
      message: 'raycast: clipIntersection is 1, expected a boolean',
    });
  });

  test('what is about whole objects refuses planes, and a point that is cut away is in nothing', async () => {
    const clip = [0, 0, 1, 0];
    const sphere = { type: 'sphere', radius: 2 } as const;
    for (const call of [
      async () => service.overlap(sphere, undefined, { clip }),
      async () => service.closestPoint([0, 0, 5], { clip }),
    ]) {
      await expect(call()).rejects.toMatchObject({
        code: 'UNSUPPORTED',
        message: expect.stringMatching(/clip has 1 planes, expected none, as \w+ is about whole objects only/),
      });
    }
    const ball = service.addObject({ shape: { type: 'sphere', radius: 1 } });
    expect([...(await service.containing([0, 0, 0.5], { clip }))]).toEqual([ball]);
    expect([...(await service.containing([0, 0, -0.5], { clip }))]).toEqual([]);
    expect([...(await service.containing([0, 0, 0], { clip }))]).toEqual([ball]);
    service.removeObject(ball);
  });

  test.each([0, 1, 2])('a point that only rounding has put behind a plane is not cut away: axis %i', async (axis) => {
    const ball = service.addObject({ shape: { type: 'sphere', radius: 1 } });
    for (const sign of [1, -1]) {
      // 3 · 0.1 exceeds 0.3 by half the distance of adjacent numbers there.
      const point: [number, number, number] = [0, 0, 0];
      point[axis] = -sign * 3 * 0.1;
      const clip = [0, 0, 0, 0.3];
      clip[axis] = sign;
      expect([...(await service.containing(point, { clip }))]).toEqual([ball]);
      point[axis] *= 1 + 1e-12;
      expect([...(await service.containing(point, { clip }))]).toEqual([]);
    }
    service.removeObject(ball);
  });
});
