// Regions, proximity, overlap and all other queries of points and lines.
import { type CollisionService, createCollisionService, type Shape } from 'collision-worker';
import { Line3, type Matrix4, Ray, Triangle, Vector3 } from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import { PLACES } from '../../fixtures/near-scene.js';
import {
  ANY_TRANSFORM,
  addElements,
  type PointLineItem,
  randomElements,
  removeElements,
} from '../../fixtures/point-line-scene.js';
import { aimCamera, CAMERA_KINDS, DEPTHS, VIEWPORT, viewOf } from '../../oracle/cameras.js';
import { boxMesh, icosphere } from '../../oracle/meshes.js';
import { countOf, type Elements, endsOf, nearestTo, TOPOLOGIES } from '../../oracle/points-lines.js';
import { Random, SEED } from '../../oracle/random.js';
import { ScreenRegion } from '../../oracle/screen-region.js';

const BLUR = { pixels: 1e-3, depth: 1e-6 };

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

/** The ends of all elements in the world. */
function placed(elements: Elements, matrix: Matrix4): [Vector3, Vector3][] {
  return Array.from({ length: countOf(elements) }, (_, e) => endsOf(elements, e))
    .filter((ends) => ends !== null)
    .map(([a, b]) => [a.applyMatrix4(matrix), b.applyMatrix4(matrix)]);
}

async function someItems(random: Random, topology: Elements['topology'], place: Vector3, count: number, most: number) {
  const items: PointLineItem[] = [];
  for (let i = 0; i < count; i++) {
    const matrix = random.placement(place.clone().add(random.point(8)), { ...ANY_TRANSFORM, high: 6 });
    items.push(await addElements(service, randomElements(random, topology, most), matrix));
  }
  return items;
}

describe.each(TOPOLOGIES)('%s', (topology) => {
  describe.each(PLACES)('%s', (_, place) => {
    test.each(CAMERA_KINDS)(`are in a region as each of them is: %s (seed ${SEED})`, async (_name, make) => {
      const random = new Random(SEED);
      const count = { touch: 0, enclose: 0, beside: 0, unsure: 0 };
      for (let round = 0; round < 24; round++) {
        const items = await someItems(random, topology, place, 5, 60);
        const camera = aimCamera(make(random), random, place);
        camera.lookAt(new Vector3().setFromMatrixPosition(random.pick(items).matrix));
        camera.updateMatrixWorld();
        const view = viewOf(camera, random.pick(DEPTHS)[1]);
        service.setView(view);
        for (let i = 0; i < 8; i++) {
          const [x, y] = [VIEWPORT.x + random.range(0, 800), VIEWPORT.y + random.range(0, 600)];
          const size = random.pick([20, 200, 900]);
          const corners = random.chance(0.5)
            ? [0, 1, 2, 3, 4].map((k) => [x + size * Math.sin(k * 2.5), y + size * Math.cos(k * 2.5)] as const)
            : ([
                [x - size, y - size],
                [x - size, y + size],
                [x + size, y + size],
                [x + size, y - size],
              ] as const);
          const points = corners.map(([u, v]) => [Math.fround(u), Math.fround(v)] as const);
          const mode = random.pick(['touch', 'enclose'] as const);
          const region =
            points.length === 4
              ? {
                  x: points[0][0],
                  y: points[0][1],
                  width: points[2][0] - points[0][0],
                  height: points[2][1] - points[0][1],
                }
              : Float32Array.from(points.flat());
          // The side that is asked for does not matter to elements that have none.
          const side = random.pick(['double', 'front', 'back'] as const);
          const found = await service.pickRegion(region, { mode, side });
          const truth = new ScreenRegion(view, points, BLUR);
          for (const { id, elements, matrix } of items) {
            const body = { corners: placed(elements, matrix).map(([a, b]) => [a, b, b]) };
            const expected = mode === 'touch' ? truth.touches(body) : truth.encloses(body);
            count[expected === null ? 'unsure' : expected ? mode : 'beside']++;
            if (expected !== null) expect(found.includes(id), `${mode} round ${round}, region ${i}`).toBe(expected);
          }
        }
        // A frustum is a region without a screen: it contains exactly
        // the objects that a region of the whole view encloses.
        const { ids, inside } = await service.frustum('main', { precision: 'mesh' });
        const whole = new ScreenRegion(
          view,
          [
            [-1e4, -1e4],
            [-1e4, 1e4],
            [1e4, 1e4],
            [1e4, -1e4],
          ],
          BLUR,
        );
        for (const { id, elements, matrix } of items) {
          const body = { corners: placed(elements, matrix).map(([a, b]) => [a, b, b]) };
          const [touched, enclosed] = [whole.touches(body), whole.encloses(body)];
          if (touched !== null) expect(ids.includes(id)).toBe(touched);
          if (enclosed !== null) expect(ids.subarray(0, inside).includes(id)).toBe(enclosed);
        }
        removeElements(service, items);
      }
      expect(count.touch).toBeGreaterThan(20);
      expect(count.enclose).toBeGreaterThan(0);
      expect(count.beside).toBeGreaterThan(20);
      expect(count.unsure).toBeLessThan(20);
    });

    test(`the nearest is the nearest (seed ${SEED})`, async () => {
      const random = new Random(SEED);
      const digits = place.length() * 1e-15 + 1e-12;
      for (let round = 0; round < 40; round++) {
        const items = await someItems(random, topology, place, 4, 700);
        for (let i = 0; i < 10; i++) {
          const point = random.point(random.pick([3, 30, 3000])).add(place);
          const found = (await service.closestPoint(point.toArray()))!;
          const nearest = items.map((item) => ({ ...nearestTo(item.elements, item.matrix, point), id: item.id }));
          const best = Math.min(...nearest.map(({ distance }) => distance));
          expect(Math.abs(found.distance - best)).toBeLessThanOrEqual(1e-9 * best + digits);
          const item = items.find(({ id }) => id === found.object)!;
          expect(found.triangle).toBe(-1);
          const own = nearestTo(justOne(item.elements, found.element), item.matrix, point);
          expect(Math.abs(own.distance - found.distance)).toBeLessThanOrEqual(1e-9 * best + digits);
          expect(new Vector3(...found.point).distanceTo(point)).toBeCloseTo(found.distance, 6);
          const near = await service.closestPoint(point.toArray(), {
            maxDistance: best * 0.99 - digits > 0 ? best * 0.99 - digits : 0,
          });
          if (best > 1e-6) expect(near).toBeNull();
        }
        removeElements(service, items);
      }
    });

    test(`what a shape overlaps (seed ${SEED})`, async () => {
      const random = new Random(SEED);
      const solid = await service.addMesh(icosphere(1, 2));
      const box = await service.addMesh(boxMesh(1, 1, 1));
      const count = { met: 0, apart: 0 };
      for (let round = 0; round < 60; round++) {
        const items = await someItems(random, topology, place, 3, random.pick([3, 60]));
        for (let i = 0; i < 10; i++) {
          const size = random.pick([0.1, 1, 6]);
          const matrix = random.placement(random.point(8).add(place), {
            low: size,
            high: 2 * size,
            mirrored: 0.3,
            sheared: 0.3,
          });
          const kind = random.pick(['box', 'sphere', 'capsule', 'solid', 'surface'] as const);
          const shapes: Record<typeof kind, Shape> = {
            box: { type: 'box', halfExtents: [1, 1, 1] },
            sphere: { type: 'sphere', radius: 1 },
            capsule: { type: 'capsule', radius: 1, from: [0, 0, -2], to: [0, 0, 2] },
            solid: { type: 'mesh', mesh: solid, solid: true },
            surface: { type: 'mesh', mesh: box },
          };
          const found = await service.overlap(shapes[kind], matrix.elements);
          for (const item of items) {
            const gaps = gapsOf(kind, item, matrix);
            const blur = 1e-9 * (1 + place.length() / size);
            const isMet = gaps.some((gap) => gap < -blur);
            const isApart = gaps.every((gap) => gap > blur);
            if (!isMet && !isApart) continue;
            count[isMet ? 'met' : 'apart']++;
            expect(found.includes(item.id), `${kind} in round ${round}`).toBe(isMet);
          }
        }
        removeElements(service, items);
      }
      expect(count.met).toBeGreaterThan(50);
      expect(count.apart).toBeGreaterThan(50);
    });
  });
});

function justOne(elements: Elements, element: number): Elements {
  const ends = endsOf(elements, element)!;
  const corners = elements.topology === 'points' ? [ends[0]] : ends;
  return { topology: elements.topology, positions: Float32Array.from(corners.flatMap((end) => end.toArray())) };
}

const FACES_OF_SOLID = facesOf(icosphere(1, 2));
const FACES_OF_BOX = facesOf(boxMesh(1, 1, 1));

function facesOf({ positions, indices }: { positions: Float32Array; indices: Uint32Array }): Triangle[] {
  const corner = (k: number) => new Vector3().fromArray(positions, 3 * indices[k]);
  return Array.from({ length: indices.length / 3 }, (_, t) => {
    return new Triangle(corner(3 * t), corner(3 * t + 1), corner(3 * t + 2));
  });
}

/** For each element: below 0 if it overlaps the shape, above 0 if it does not, in the shape's own space. */
function gapsOf(kind: string, { elements, matrix }: PointLineItem, to: Matrix4): number[] {
  const place = new Vector3().setFromMatrixPosition(to);
  const [from, into] = [matrix.clone(), to.clone()];
  from.setPosition(new Vector3().setFromMatrixPosition(matrix).sub(place));
  const map = into.setPosition(0, 0, 0).invert().multiply(from);
  return placed(elements, map).map(([a, b]) => {
    const isPoint = a.equals(b);
    // Many points of a line: the nearest one decides.
    const p = new Vector3();
    const least = (gap: (p: Vector3) => number) => minimum((s) => gap(p.lerpVectors(a, b, s)), isPoint);
    if (kind === 'box') return least((p) => Math.max(Math.abs(p.x), Math.abs(p.y), Math.abs(p.z)) - 1);
    if (kind === 'sphere') return least((p) => p.length() - 1);
    if (kind === 'capsule') {
      const axis = new Line3(new Vector3(0, 0, -2), new Vector3(0, 0, 2));
      const onAxis = new Vector3();
      return least((p) => axis.closestPointToPoint(p, true, onAxis).distanceTo(p) - 1);
    }
    const faces = kind === 'solid' ? FACES_OF_SOLID : FACES_OF_BOX;
    const isCut = !isPoint && faces.some((face) => cuts(face, a, b));
    // Both meshes are convex, with faces that face outwards.
    const isHeld = kind === 'solid' && faces.every((face) => heightOver(face, a) < 0);
    const nearest = Math.min(
      ...faces.flatMap((face) => [a, b].map((end) => face.closestPointToPoint(end, new Vector3()).distanceTo(end))),
    );
    if (isCut || isHeld) return nearest < 1e-6 ? 0 : -1;
    return nearest < 1e-6 ? 0 : 1;
  });
}

function heightOver(face: Triangle, point: Vector3): number {
  return face.getNormal(new Vector3()).dot(point.clone().sub(face.a));
}

function cuts({ a, b, c }: Triangle, from: Vector3, to: Vector3): boolean {
  const ray = new Ray(from, to.clone().sub(from).normalize());
  const hit = ray.intersectTriangle(a, b, c, false, new Vector3());
  return hit !== null && hit.distanceTo(from) <= to.distanceTo(from);
}

/** The minimum of a convex function on [0, 1]. */
function minimum(f: (s: number) => number, isConstant: boolean): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < (isConstant ? 0 : 70); i++) {
    const [a, b] = [low + (high - low) / 3, high - (high - low) / 3];
    if (f(a) < f(b)) high = b;
    else low = a;
  }
  return Math.min(f(low), f(high), f(0), f(1));
}

describe('what has neither surface nor inside', () => {
  const square = Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0);

  test.each(TOPOLOGIES)('%s touch nothing and hold nothing', async (topology) => {
    const mesh = await service.addMesh({ positions: square, topology });
    const id = service.addObject({ shape: { type: 'mesh', mesh }, contacts: 'full' });
    const ball = service.addObject({ shape: { type: 'sphere', radius: 2 }, contacts: 'full' });
    const { contacts } = await service.update();
    expect(contacts.count).toBe(0);
    expect(await service.contact(id, ball)).toBeNull();
    expect(await service.contact(ball, id, { detail: 'bounds' })).toBeNull();
    expect(await service.containing([0, 0, 0], { ignore: [ball] })).toEqual(new Uint32Array());
    expect(service.meshInfo(mesh)).toMatchObject({ topology, triangles: 0, degenerate: 0, vertices: 4, closed: false });
    service.removeObject(id);
    service.removeObject(ball);
    service.removeMesh(mesh);
  });

  test.each(TOPOLOGIES)('%s are no solid, no shape of a query, and are not welded', async (topology) => {
    const mesh = await service.addMesh({ positions: square, topology });
    expect(() => service.addObject({ shape: { type: 'mesh', mesh, solid: true } })).toThrow(
      `addObject: shape.solid is true, expected false, as mesh ${mesh} has ${topology}, which have no inside`,
    );
    await expect(service.overlap({ type: 'mesh', mesh })).rejects.toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED', message: expect.stringContaining(`a mesh of ${topology}`) }),
    );
    await expect(service.addMesh({ positions: square, topology }, { weld: 1 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: `addMesh: weld is 1, expected 0 for ${topology}, which have no faces`,
    });
    service.removeMesh(mesh);
  });

  test('what is no mesh is refused by name', async () => {
    const wrong = (data: object) => service.addMesh(data as never);
    await expect(wrong({ positions: square, topology: 'dots' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'addMesh: topology is "dots", expected one of "triangles", "lines", "points"',
    });
    await expect(wrong({ positions: new Float32Array(9), topology: 'lines' })).rejects.toMatchObject({
      code: 'BAD_DATA',
      message: 'addMesh: the length of positions is 9, expected a multiple of 6, not 0',
    });
    await expect(
      wrong({ positions: square, indices: Uint16Array.of(0, 1, 2), topology: 'lines' }),
    ).rejects.toMatchObject({
      code: 'BAD_DATA',
      message: 'addMesh: the length of indices is 3, expected a multiple of 2, not 0',
    });
    await expect(wrong({ positions: square, indices: Uint16Array.of(0, 7), topology: 'lines' })).rejects.toMatchObject({
      code: 'BAD_DATA',
      message: 'addMesh: indices[1] is 7, expected 0 to 3 for 4 vertices',
    });
    await expect(wrong({ positions: new Float32Array(6).fill(Number.NaN), topology: 'points' })).rejects.toMatchObject({
      code: 'BAD_DATA',
      message: 'addMesh: none of the 2 points has finite vertices, expected one at least',
    });
  });
});

test('all in one place is a mesh, too', async () => {
  for (const [topology, count] of [
    ['points', 1],
    ['points', 100],
    ['lines', 2],
  ] as const) {
    for (const at of [new Vector3(), new Vector3(5, -7, 1e6)]) {
      const positions = Float32Array.from({ length: 3 * count }, (_, i) => at.getComponent(i % 3));
      const mesh = await service.addMesh({ positions, topology });
      const id = service.addObject({ shape: { type: 'mesh', mesh } });
      const ray = { origin: [at.x + 0.25, at.y, at.z + 10], direction: [0, 0, -1] } as const;
      const hits = await service.raycastAll(ray, { threshold: 0.5 });
      expect(hits).toHaveLength(topology === 'points' ? count : count / 2);
      expect(hits[0]).toMatchObject({ object: id, element: 0, distance: 10, distanceToRay: 0.25 });
      expect(await service.raycast(ray, { threshold: 0.2 })).toBeNull();
      expect(await service.closestPoint([at.x, at.y + 3, at.z])).toMatchObject({ distance: 3, element: 0 });
      expect(await service.overlap({ type: 'sphere', radius: 1, center: at.toArray() })).toEqual(Uint32Array.of(id));
      for (const precision of ['sphere', 'aabb', 'obb'] as const) {
        expect(await service.raycast(ray, { threshold: 5, precision })).toBeNull();
      }
      service.removeObject(id);
      service.removeMesh(mesh);
    }
  }
});

test('the box of the whole stands for them by precision', async () => {
  const mesh = await service.addMesh({ positions: Float32Array.of(-1, -1, -1, 1, 1, 1), topology: 'lines' });
  const id = service.addObject({ shape: { type: 'mesh', mesh } });
  const ray = { origin: [0.9, -0.9, 10], direction: [0, 0, -1] } as const;
  expect(await service.raycast(ray)).toBeNull();
  expect(await service.raycast(ray, { precision: 'obb' })).toMatchObject({ object: id, element: -1, distance: 9 });
  service.removeObject(id);
  service.removeMesh(mesh);
});
