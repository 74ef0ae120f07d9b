// Contacts that can be worked out by hand: solids that rest on a floor, stand in a corner or have sunk in.
import { createCollisionService } from 'collision-worker';
import { BoxGeometry, Matrix4, PlaneGeometry, Quaternion, Triangle, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { NearScene, PLACES } from '../../fixtures/near-scene.js';
import { boxMesh, merged, type Triangles, transformed, trianglesOf, welded } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import type { SolidShape } from '../../oracle/shapes.js';
import { type Region, regionsOf, roomCorner, slab } from '../../oracle/surfaces.js';

test('a triangle that lies on any face of a box touches it, and one beside it does not', async () => {
  const scene = await NearScene.at(new Vector3());
  const solid = scene.add({ shape: { type: 'box', halfExtents: [1, 1, 1] } }, new Matrix4());
  for (const turn of [new Matrix4(), new Matrix4().set(0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1)]) {
    for (const axis of [0, 1, 2]) {
      for (const side of [-1, 1]) {
        for (const gap of [0, 2 ** -30]) {
          const corners = [
            [-0.5, -0.5],
            [0.75, -0.5],
            [0, 0.5],
          ].flatMap((across) => across.toSpliced(axis, 0, side));
          const triangle = scene.mesh({ positions: Float32Array.from(corners), indices: Uint32Array.of(0, 1, 2) });
          const at = new Vector3().setComponent(axis, gap * side).applyMatrix4(turn);
          const thing = scene.add(triangle, turn.clone().setPosition(at));
          const isMet = scene.core.pairs.contact(solid.id, thing.id, layout.CONTACTS_ANY) !== null;
          expect(isMet, `axis ${axis}, side ${side}, gap ${gap}`).toBe(gap === 0);
          scene.remove(thing);
        }
      }
    }
  }
});

const ball: SolidShape = { type: 'sphere', radius: 1 };
const crate: SolidShape = { type: 'box', halfExtents: [1, 1, 1] };
const pill: SolidShape = { type: 'capsule', radius: 1, from: [-2, 0, 0], to: [2, 0, 0] };

describe.each(PLACES)('a solid and a surface, %s', (_, place) => {
  const digits = 1e-6 + place.length() * 1e-7;

  /** With the surface first, so that normals point to the solid. */
  async function contact(surface: Triangles, shape: SolidShape, at: Vector3, turn = new Quaternion(), size = 1) {
    const scene = await NearScene.at(place);
    const scaled = new Matrix4().makeScale(size, size, size);
    const mesh = scene.add(scene.mesh(surface), scaled);
    const solid = scene.add(
      { shape },
      new Matrix4().compose(at.clone().multiplyScalar(size), turn, new Vector3(size, size, size)),
    );
    const report = scene.core.pairs.contact(mesh.id, solid.id, layout.CONTACTS_MANIFOLD);
    expect(report?.contained).toBe(0);
    return regionsOf(report!, place);
  }

  /** Regions by depth and normal, the deepest first. */
  function expectRegions(regions: Region[], expected: [number, [number, number, number], number?][], size = 1) {
    const sorted = [...regions].sort((a, b) => b.depth - a.depth);
    const text = JSON.stringify(sorted);
    expect(sorted.length, text).toBe(expected.length);
    expected.forEach(([depth, normal, count], i) => {
      expect(Math.abs(sorted[i].depth / size - depth), text).toBeLessThan(1e-5);
      expect(sorted[i].normal.distanceTo(new Vector3(...normal)), text).toBeLessThan(1e-5);
      if (count !== undefined) expect(sorted[i].points.length, text).toBe(count);
    });
  }

  describe.each([1, 1e-3, 1e3])('%s times as large', (size) => {
    test.each([
      ['two large triangles', floor(20, 1)],
      ['many small triangles', floor(8, 64)],
    ])('on a floor of %s', async (_, surface) => {
      expectRegions(
        await contact(surface, ball, new Vector3(0.3, 0.4, 0.9), undefined, size),
        [[0.1, [0, 0, 1], 1]],
        size,
      );
      expectRegions(
        await contact(surface, pill, new Vector3(0.3, 0.4, 0.9), undefined, size),
        [[0.1, [0, 0, 1], 2]],
        size,
      );
      const turn = new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), 0.3);
      const resting = await contact(surface, crate, new Vector3(0.3, 0.4, 0.9), turn, size);
      expectRegions(resting, [[0.1, [0, 0, 1], 4]], size);
      // The corners of the patch.
      for (const corner of [
        [1, 1],
        [-1, 1],
        [1, -1],
        [-1, -1],
      ]) {
        const at = new Vector3(...corner, 0)
          .applyQuaternion(turn)
          .add(new Vector3(0.3, 0.4, 0))
          .multiplyScalar(size);
        const off = Math.min(...resting[0].points.map((point) => point.distanceTo(at)));
        expect(off, JSON.stringify(resting)).toBeLessThan(1e-5 * size + digits);
      }
      // Standing on an end, and on an edge.
      const upright = new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), Math.PI / 2);
      expectRegions(
        await contact(surface, pill, new Vector3(0.3, 0.4, 2.8), upright, size),
        [[0.2, [0, 0, 1], 1]],
        size,
      );
      const tilted = new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), Math.PI / 4);
      const edge = await contact(surface, crate, new Vector3(0.3, 0.4, Math.SQRT2 - 0.1), tilted, size);
      expectRegions(edge, [[0.1, [0, 0, 1], 4]], size);
      const leaning = new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), 0.35);
      const lower = await contact(
        surface,
        crate,
        new Vector3(0.3, 0.4, Math.cos(0.35) + Math.sin(0.35) - 0.2),
        leaning,
        size,
      );
      expectRegions(lower, [[0.2, [0, 0, 1], 4]], size);
    });

    test(`a box on a floor of many triangles, both turned anyhow, touches at its corners, seed ${SEED}`, async () => {
      const random = new Random(SEED);
      for (let i = 0; i < 6; i++) {
        const turn = new Matrix4().makeRotationFromQuaternion(random.rotation());
        const surface = transformed(floor(8, 20), (vertex) => vertex.applyMatrix4(turn));
        const half = [random.range(0.3, 1.5), random.range(0.3, 1.5), random.range(0.3, 1.5)] as const;
        const about = new Matrix4()
          .makeRotationZ(random.range(0, 6))
          .setPosition(random.range(-1, 1), random.range(-1, 1), 0);
        const at = turn.clone().multiply(about);
        const solid = at.clone().multiply(new Matrix4().makeTranslation(0, 0, half[2] - 0.1));
        const [place, rotation] = [new Vector3(), new Quaternion()];
        solid.decompose(place, rotation, new Vector3());
        const regions = await contact(surface, { type: 'box', halfExtents: half }, place, rotation, size);
        expect(regions.length, `case ${i}`).toBe(1);
        expect(Math.abs(regions[0].depth / size - 0.1), `case ${i}`).toBeLessThan(1e-5 + digits / size);
        for (const [x, y] of [
          [1, 1],
          [-1, 1],
          [1, -1],
          [-1, -1],
        ]) {
          const corner = new Vector3(x * half[0], y * half[1], -0.05).applyMatrix4(at).multiplyScalar(size);
          const off = Math.min(...regions[0].points.map((point) => point.distanceTo(corner)));
          expect(off, `case ${i}, ${JSON.stringify(regions)}`).toBeLessThan(0.06 * size + digits);
        }
      }
    });

    test.each([
      ['large', 1],
      ['small', 24],
    ])('in a corner of %s triangles: a region for each side', async (_, cells) => {
      const corner = roomCorner(6, cells);
      for (const shape of [ball, crate]) {
        expectRegions(
          await contact(corner, shape, new Vector3(0.95, 3, 0.9), undefined, size),
          [
            [0.1, [0, 0, 1]],
            [0.05, [1, 0, 0]],
          ],
          size,
        );
        expectRegions(
          await contact(corner, shape, new Vector3(0.95, 0.98, 0.9), undefined, size),
          [
            [0.1, [0, 0, 1]],
            [0.05, [1, 0, 0]],
            [0.02, [0, 1, 0]],
          ],
          size,
        );
        // Equally deep in both.
        const both = await contact(corner, shape, new Vector3(0.9, 3, 0.9), undefined, size);
        expect(both.length).toBe(2);
      }
    });

    test.each([1, 16])('sunk into the closed ground of %s cells a side: out again', async (cells) => {
      const ground = slab(16, cells);
      const turn = new Quaternion().setFromAxisAngle(new Vector3(1, 2, 0).normalize(), 0.2);
      for (const deep of [0.5, 0, -0.01, -0.3, -0.7]) {
        const at = new Vector3(0.3, 0.2, deep);
        expectRegions(await contact(ground, ball, at, undefined, size), [[1 - deep, [0, 0, 1], 1]], size);
        expectRegions(await contact(ground, crate, at, undefined, size), [[1 - deep, [0, 0, 1], 4]], size);
        const capsule = await contact(ground, pill, at, undefined, size);
        expectRegions(capsule, [[1 - deep, [0, 0, 1]]], size);
        for (const shape of [crate, pill]) {
          const [region, ...others] = await contact(ground, shape, at, turn, size);
          expect(others.length, `${shape.type} ${deep} ${JSON.stringify([region, ...others])}`).toBe(0);
          expect(region.normal.z).toBeGreaterThan(0.7);
        }
      }
    });

    test.each([1, 16])('through a sheet of %s cells a side: the shorter way', async (cells) => {
      const sheet = floor(16, cells);
      for (const deep of [0.6, 0.2, -0.2, -0.6]) {
        const at = new Vector3(0.3, 0.2, deep);
        for (const shape of [ball, crate, pill]) {
          expectRegions(
            await contact(sheet, shape, at, undefined, size),
            [[1 - Math.abs(deep), [0, 0, Math.sign(deep)]]],
            size,
          );
        }
        // Upright, and too long for any way shorter than through the geometry around it.
        const pole: SolidShape = { type: 'capsule', radius: 1, from: [0, 0, -2], to: [0, 0, 2] };
        const post: SolidShape = { type: 'box', halfExtents: [1, 1, 3] };
        for (const shape of [pole, post]) {
          expectRegions(
            await contact(sheet, shape, at, undefined, size),
            [[3 - Math.abs(deep), [0, 0, Math.sign(deep)]]],
            size,
          );
        }
      }
    });
  });

  test('ends and edges of the surface', async () => {
    // A ridge under the middle of a face: one region, straight up.
    const ridge = transformed(floor(8, 8), (vertex) => vertex.setZ(-Math.abs(vertex.x)));
    for (const shape of [ball, crate])
      expectRegions(await contact(ridge, shape, new Vector3(0, 0.2, 0.9)), [[0.1, [0, 0, 1]]]);
    // A groove: a region for each side.
    const groove = transformed(floor(8, 8), (vertex) => vertex.setZ(Math.abs(vertex.x)));
    const sides = await contact(groove, ball, new Vector3(0, 0.2, Math.SQRT2 - 0.1));
    expect(sides.map(({ normal }) => Math.abs(normal.x)).map((x) => Math.round(x * 1e4))).toEqual([7071, 7071]);
    // Two posts: a region for each.
    const posts = merged(
      [-0.7, 0.7].map((x) => transformed(boxMesh(0.2, 0.2, 1), (vertex) => vertex.setX(vertex.x + x))),
    );
    const bridge = await contact(posts, crate, new Vector3(0, 0, 1.4));
    expectRegions(bridge, [
      [0.1, [0, 0, 1], 4],
      [0.1, [0, 0, 1], 4],
    ]);
  });

  test.each([
    ['roof', 0.3],
    ['groove', -0.3],
  ])('sunk into a %s, one side of which is of more triangles: straight up', async (_, rise) => {
    for (const side of [-1, 1]) {
      const surface = split(bent(1.6, rise), (middle) => middle.z > -0.3 && side * middle.x > 0.1, 3);
      const regions = await contact(surface, crate, new Vector3(0.02, 0, Math.min(0, rise) - 0.05));
      expectRegions(regions, [[1.05 + Math.abs(rise), [0, 0, 1], 4]]);
    }
  });

  test.each([0, 0.5, 1, 1.5])(
    'a ball or a capsule of %d times its width sunk into a groove: straight up',
    async (half) => {
      const rod: SolidShape = { type: 'capsule', radius: 1, from: [0, -half, 0], to: [0, half, 0] };
      const [{ normal }, ...others] = await contact(bent(8, -0.3), rod, new Vector3(0.02, 0, -0.35));
      expect(others.length).toBe(0);
      expect(normal.distanceTo(new Vector3(0, 0, 1))).toBeLessThan(1e-4);
    },
  );

  test('just touching: depth 0', async () => {
    const surface = floor(8, 4);
    expectRegions(await contact(surface, ball, new Vector3(0.3, 0.2, 1)), [[0, [0, 0, 1], 1]]);
    expectRegions(await contact(surface, ball, new Vector3(0, 0, 1)), [[0, [0, 0, 1], 1]]);
    expectRegions(await contact(surface, crate, new Vector3(0.3, 0.2, 1)), [[0, [0, 0, 1], 4]]);
    expectRegions(await contact(surface, pill, new Vector3(0.3, 0.2, 1)), [[0, [0, 0, 1], 2]]);
    expectRegions(await contact(surface, { ...pill, to: [-2, 0, 0] } as SolidShape, new Vector3(0.3, 0.2, 1)), [
      [0, [0, 0, 1], 1],
    ]);
  });

  test('the centre on a corner, an edge and a face of the surface', async () => {
    const surface = floor(8, 4);
    for (const at of [new Vector3(), new Vector3(1, 0, 0), new Vector3(0.4, 0.3, 0)]) {
      for (const shape of [ball, crate, { ...pill, to: [-2, 0, 0], from: [-2, 0, 0] } as SolidShape]) {
        const to = shape.type === 'capsule' ? at.clone().add(new Vector3(2, 0, 0)) : at;
        const [{ depth, normal }, ...others] = await contact(surface, shape, to);
        expect([others.length, Math.abs(normal.z)]).toEqual([0, 1]);
        expect(depth).toBeCloseTo(1, 6);
      }
    }
  });
});

test('frames bring what contact() answers, in either order, and what rests comes to rest', async () => {
  const service = await createCollisionService();
  const size = 24;
  const ground = await service.addMesh(
    transformed(floor(size, 48), (vertex) => vertex.setZ(0.5 * Math.sin(vertex.x / 2) * Math.cos(vertex.y / 2))),
  );
  const shapes: SolidShape[] = [ball, crate, pill];
  const random = new Random(SEED);
  const bodies = Array.from({ length: 60 }, (_, i) => {
    const matrix = random.placement(random.point(9).setZ(random.range(0.2, 1.2)));
    return {
      matrix,
      id: service.addObject({ shape: shapes[i % 3], matrix: matrix.elements, group: 1, contacts: 'manifold' }),
    };
  });
  const terrain = service.addObject({ shape: { type: 'mesh', mesh: ground }, contacts: 'manifold' });
  const more = bodies.splice(0, 30);
  for (const { id } of more) service.removeObject(id);
  for (const body of more) {
    const matrix = body.matrix.elements;
    body.id = service.addObject({ shape: ball, matrix, group: 1, contacts: 'manifold' });
    bodies.push(body);
  }
  let deepest = 0;
  for (let frame = 0; frame < 30; frame++) {
    const { contacts } = await service.update();
    deepest = 0;
    for (const { a, b, normals, depths, points } of contacts) {
      const id = a === terrain ? b : a;
      const { matrix } = bodies.find((body) => body.id === id)!;
      if (frame === 0) {
        const report = (await service.contact(b, a))!;
        expect([...report.points, ...report.depths]).toEqual([...points, ...depths]);
        expect([...report.normals]).toEqual([...normals].map((value) => -value));
      }
      // Each region moves the solid out by its own depth, and a little less does not.
      for (let i = 0; i < depths.length; i++) {
        deepest = Math.max(deepest, depths[i]);
        const share = (a === terrain ? 0.9 : -0.9) * (depths[i] / depths.length);
        const way = new Vector3().fromArray(normals, 3 * i).multiplyScalar(share);
        matrix.setPosition(new Vector3().setFromMatrixPosition(matrix).add(way));
      }
      service.setTransform(id, matrix.elements);
    }
    if (frame === 0) expect(deepest).toBeGreaterThan(0.3);
  }
  expect(deepest).toBeLessThan(0.01);
  service.dispose();
});

/** Closed: a beam along y whose upper side has a ridge or a groove in the middle; with another part, so not convex. */
function bent(length: number, rise: number): Triangles {
  const beam = transformed(welded(new BoxGeometry(1.6, length, 3, 2, 1, 1)), (vertex) =>
    vertex.setZ(vertex.z - 1.5 + (vertex.z > 0 && vertex.x === 0 ? rise : 0)),
  );
  return merged([beam, transformed(boxMesh(1, 1, 1), (vertex) => vertex.setX(vertex.x + 9))]);
}

/** Splits some triangles about their centroids, this many times. */
function split(mesh: Triangles, isSplit: (middle: Vector3) => boolean, times: number): Triangles {
  if (times === 0) return mesh;
  const positions = [...mesh.positions];
  const indices: number[] = [];
  for (let i = 0; i < mesh.indices.length; i += 3) {
    const [a, b, c] = mesh.indices.subarray(i, i + 3);
    const middle = new Vector3();
    for (const index of [a, b, c]) middle.add(new Vector3().fromArray(mesh.positions, 3 * index).divideScalar(3));
    if (isSplit(middle)) {
      const d = positions.length / 3;
      positions.push(...middle);
      indices.push(a, b, d, b, c, d, c, a, d);
    } else indices.push(a, b, c);
  }
  return split({ positions: Float32Array.from(positions), indices: Uint32Array.from(indices) }, isSplit, times - 1);
}

function floor(size: number, cells: number): Triangles {
  return trianglesOf(new PlaneGeometry(size, size, cells, cells));
}

test(`a capsule whose axis is twice its radius long is as deep as one with an axis that is a hair longer, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const waves = transformed(trianglesOf(new PlaneGeometry(8, 8, 8, 8)), (vertex) =>
    vertex.setZ(0.4 * Math.sin(2 * vertex.x) * Math.cos(3 * vertex.y)),
  );
  const surface = scene.add(scene.mesh(waves), new Matrix4());
  let deep = 0;
  for (let i = 0; i < 100; i++) {
    const placement = random.placement(random.point(1), { low: 0.5, high: 1.5 });
    const [exact, longer] = [0.5, 0.5 + 1e-9].map((end) => {
      const shape: SolidShape = { type: 'capsule', radius: 0.5, from: [0, 0, -end], to: [0, 0, end] };
      const capsule = scene.add({ shape }, placement);
      const contact = scene.core.pairs.contact(surface.id, capsule.id, layout.CONTACTS_MANIFOLD);
      scene.remove(capsule);
      return contact?.depths[0] ?? 0;
    });
    expect(exact, `case ${i}`).toBeCloseTo(longer, 5);
    if (exact > 0.3) deep++;
  }
  expect(deep).toBeGreaterThan(20);
});

test(`a ball that is moved out by its depth touches what it was sunk into, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  let count = 0;
  for (let i = 0; i < 300; i++) {
    const peaks = transformed(trianglesOf(new PlaneGeometry(4, 4, 3, 3)), (vertex) =>
      vertex.add(new Vector3(0, 0, random.range(-0.7, 0.7))).applyAxisAngle(new Vector3(1, 0, 0), 1),
    );
    const surface = scene.add(scene.mesh(peaks), new Matrix4());
    const center = random.point(1);
    const ball = scene.add({ shape: { type: 'sphere', radius: 1 } }, new Matrix4().setPosition(center));
    const contact = scene.core.pairs.contact(surface.id, ball.id, layout.CONTACTS_MANIFOLD);
    for (const thing of [surface, ball]) scene.remove(thing);
    // With several regions, each has a way of its own.
    if (contact?.depths.length !== 1) continue;
    const met = cornersOf(peaks).filter((triangle) => distanceTo(triangle, center) < 1 - 1e-6);
    center.addScaledVector(new Vector3().fromArray(contact.normals), contact.depths[0]);
    expect(Math.min(...met.map((triangle) => distanceTo(triangle, center))), `case ${i}`).toBeCloseTo(1, 4);
    count++;
  }
  expect(count).toBeGreaterThan(50);
});

function cornersOf({ positions, indices }: Triangles): Triangle[] {
  const corner = (i: number) => new Vector3().fromArray(positions, 3 * indices[i]);
  return Array.from({ length: indices.length / 3 }, (_, i) => {
    return new Triangle(corner(3 * i), corner(3 * i + 1), corner(3 * i + 2));
  });
}

function distanceTo(triangle: Triangle, point: Vector3): number {
  return triangle.closestPointToPoint(point, new Vector3()).distanceTo(point);
}
