// Sections through the service: against cutting every triangle in float64; loops against winding numbers.
import { type CollisionService, createCollisionService, type ObjectId, type Section } from 'collision-worker';
import { BoxGeometry, CapsuleGeometry, ConeGeometry, Matrix4, SphereGeometry, TorusKnotGeometry, Vector3 } from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bumpyBall, comb, torus } from '../../oracle/lumps.js';
import {
  boxMesh,
  icosphere,
  merged,
  soup,
  type Triangles,
  transformed,
  trianglesOf,
  waves,
} from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { cutTriangles, loopWinding } from '../../oracle/sections.js';

/** How many planes each mesh gets; all of them on request. */
const PLANES = Number(process.env.PLANES ?? 40);

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());

type Loop = [number, number][];

const pointOf = ({ points }: Section, i: number) => new Vector3().fromArray(points, 3 * i);

/** The outline's points in the plane, relative to its own first point. */
function flat(section: Section, outline: number, plane: readonly number[]): Loop {
  const n = new Vector3(plane[0], plane[1], plane[2]).normalize();
  const u = new Vector3(0.3, -0.7, 0.5).cross(n).normalize();
  const v = n.clone().cross(u);
  const origin = pointOf(section, 0);
  const loop: Loop = [];
  for (let i = section.starts[outline]; i < section.starts[outline + 1]; i++) {
    const p = pointOf(section, i).sub(origin);
    loop.push([p.dot(u), p.dot(v)]);
  }
  return loop;
}

const areaOf = (loop: Loop) =>
  loop.reduce((sum, [x, y], i) => {
    const [s, t] = loop[(i + 1) % loop.length];
    return sum + (x * t - s * y) / 2;
  }, 0);

/** Adds an object for the duration of `work`. */
async function withObject<T>(mesh: Triangles, matrix: Matrix4, work: (id: ObjectId) => Promise<T>): Promise<T> {
  const handle = await service.addMesh({ positions: mesh.positions.slice(), indices: mesh.indices.slice() });
  const id = service.addObject({ shape: { type: 'mesh', mesh: handle }, matrix: matrix.elements });
  await service.update();
  try {
    return await work(id);
  } finally {
    service.removeObject(id);
    service.removeMesh(handle);
  }
}

/**
 * Compares a section with the cuts of all triangles. `size` is the object's size, `far` its distance from the origin.
 */
function compare(section: Section, mesh: Triangles, matrix: Matrix4, plane: number[], size: number, far: number): void {
  const doubt = 1e-9 * size + 1e-15 * far;
  const { sure, doubtful } = cutTriangles(mesh, matrix, plane, doubt);
  const cuts = new Map(sure.map((cut) => [cut.triangle, cut]));
  const seen = new Set<number>();
  for (let outline = 0; outline + 1 < section.starts.length; outline++) {
    const [start, end] = [section.starts[outline], section.starts[outline + 1]];
    for (let i = start; i < end; i++) {
      const isLast = i + 1 === end;
      if (isLast && !section.closed[outline]) {
        expect(section.triangles[i]).toBe(-1);
        continue;
      }
      const triangle = section.triangles[i];
      if (triangle < 0 || doubtful.has(triangle)) continue;
      const cut = cuts.get(triangle);
      expect(cut, `triangle ${triangle}`).toBeDefined();
      expect(seen.has(triangle)).toBe(false);
      seen.add(triangle);
      const [p, q] = [pointOf(section, i), pointOf(section, isLast ? start : i + 1)];
      const apart = Math.min(
        Math.max(p.distanceTo(cut!.from), q.distanceTo(cut!.to)),
        Math.max(p.distanceTo(cut!.to), q.distanceTo(cut!.from)),
      );
      // The crossing of a flat triangle moves far for a small change in height.
      expect(apart).toBeLessThan(1e-5 * size + 1e-9 * far);
    }
  }
  for (const [triangle, { from, to }] of cuts) {
    if (from.distanceTo(to) > 1e-6 * size + 1e-9 * far) expect(seen, `triangle ${triangle}`).toContain(triangle);
  }
}

/** Checks the nesting and the winding of loops. */
function compareNesting(section: Section, plane: number[], size: number): void {
  const loops = Array.from(section.closed, (_, i) => flat(section, i, plane));
  for (let i = 0; i < loops.length; i++) {
    // A sliver has no interior.
    if (!section.closed[i] || loops[i].length < 3 || Math.abs(areaOf(loops[i])) < 1e-12 * size ** 2) continue;
    const around = loops.flatMap((loop, j) =>
      j !== i && section.closed[j] && loopWinding(loop, insideOf(loops[i])) % 2 !== 0 ? [j] : [],
    );
    const least = around.sort((a, b) => Math.abs(areaOf(loops[a])) - Math.abs(areaOf(loops[b])))[0] ?? -1;
    expect(section.parents[i], `outline ${i} of ${loops.length}`).toBe(least);
    expect(Math.sign(areaOf(loops[i]))).toBe(around.length % 2 === 0 ? 1 : -1);
  }
}

/** A point that belongs to the loop: the midpoint of its longest side. */
function insideOf(loop: Loop): [number, number] {
  let longest: [number, number] = loop[0];
  let most = -1;
  for (let i = 0; i < loop.length; i++) {
    const [[ax, ay], [bx, by]] = [loop[i], loop[(i + 1) % loop.length]];
    const length = Math.hypot(bx - ax, by - ay);
    if (length <= most) continue;
    most = length;
    longest = [(ax + bx) / 2, (ay + by) / 2];
  }
  return longest;
}

/** A plane through a point. */
function planeThrough(normal: Vector3, point: Vector3): number[] {
  return [...normal.toArray(), -normal.dot(point)];
}

const PLACES: [string, number, number][] = [
  ['at the origin', 1, 0],
  ['a thousandth of the size', 1e-3, 0],
  ['a thousand times the size', 1e3, 0],
  ['a million away', 1, 1e6],
];
const random = new Random(SEED);
const nested = merged([
  boxMesh(4, 4, 4),
  ...[1, 2, 3].map((size) => transformed(boxMesh(size, size, size), (v) => v)),
  ...Array.from({ length: 12 }, (_, i) =>
    transformed(icosphere(0.1, 1), (v) => v.add(new Vector3((i % 4) * 0.24 - 0.36, Math.floor(i / 4) * 0.3 - 0.3, 0))),
  ),
]);
const CLOSED: [string, Triangles][] = [
  ['an icosphere', icosphere(1, 6)],
  ['a lump', bumpyBall(random, 12, 0.4)],
  ['a torus', torus(1, 0.4, 24)],
  ['a comb', comb(9)],
  ['boxes in boxes', nested],
];

describe.each(PLACES)(`sections %s, seed ${SEED}`, (_, scale, away) => {
  test.each(CLOSED)('of %s are closed loops', async (name, mesh) => {
    const random = new Random(SEED + name.length);
    const matrix = new Matrix4().compose(
      random.direction().multiplyScalar(away),
      random.rotation(),
      new Vector3(scale, scale * (random.chance(0.5) ? -1 : 1), scale * random.range(0.5, 2)),
    );
    await withObject(mesh, matrix, async (id) => {
      for (let i = 0; i < PLANES; i++) {
        const vertex = (): Vector3 =>
          new Vector3().fromArray(mesh.positions, 3 * random.integer(mesh.positions.length / 3));
        // Through a random point, through a vertex, through three, along a face or an axis.
        const kind = i % 4;
        const [a, b, c] = [vertex(), vertex(), vertex()].map((v) => v.applyMatrix4(matrix));
        let normal = random.direction();
        if (kind === 2) normal = b.clone().sub(a).cross(c.clone().sub(a)).normalize();
        if (kind === 3) normal = new Vector3().setComponent(random.integer(3), 1).transformDirection(matrix);
        if (!(normal.length() > 0.5)) continue;
        const at = kind === 0 ? random.point(1).applyMatrix4(matrix) : a;
        const plane = planeThrough(normal.multiplyScalar(random.logRange(0.01, 100)), at);
        const section = await service.section(plane);
        expect([...section.objects].every((object) => object === id)).toBe(true);
        expect([...section.closed].every((isClosed) => isClosed === 1)).toBe(true);
        compare(section, mesh, matrix, plane, 4 * scale, away);
        // A lump may intersect itself.
        if (kind === 0 && name !== 'a lump') compareNesting(section, plane, 4 * scale);
      }
    });
  });

  test('of open meshes and soups', async () => {
    const random = new Random(SEED);
    for (const mesh of [waves(12), soup(random, 200, 0.5, 1)]) {
      const matrix = new Matrix4().compose(
        random.direction().multiplyScalar(away),
        random.rotation(),
        new Vector3().setScalar(scale),
      );
      await withObject(mesh, matrix, async () => {
        for (let i = 0; i < PLANES / 4; i++) {
          const plane = planeThrough(random.direction(), random.point(0.5).applyMatrix4(matrix));
          compare(await service.section(plane), mesh, matrix, plane, 4 * scale, away);
        }
      });
    }
  });
});

test.each([1, -1])('to the left of what is not closed is what is behind its faces, scaled by %i', async (scale) => {
  const random = new Random(SEED);
  const mesh = waves(12);
  const matrix = new Matrix4().compose(random.point(1), random.rotation(), new Vector3(1, scale, 2));
  await withObject(mesh, matrix, async () => {
    let looked = 0;
    for (let i = 0; i < PLANES; i++) {
      const normal = random.direction();
      const plane = planeThrough(normal, random.point(0.5).applyMatrix4(matrix));
      const section = await service.section(plane);
      for (let p = 0; p + 1 < section.triangles.length; p++) {
        const triangle = section.triangles[p];
        const outline = section.starts.findLastIndex((start) => start <= p);
        if (triangle < 0 || section.closed[outline]) continue;
        const way = pointOf(section, p + 1).sub(pointOf(section, p));
        if (way.length() < 1e-6) continue;
        const [a, b, c] = [0, 1, 2].map((corner) =>
          new Vector3().fromArray(mesh.positions, 3 * mesh.indices[3 * triangle + corner]).applyMatrix4(matrix),
        );
        // Mirrored, the corners wind the other way about the face's front.
        const front = b.sub(a).cross(c.sub(a)).multiplyScalar(scale);
        expect(Math.sign(normal.clone().cross(way).dot(front)), `triangle ${triangle}`).toBe(-1);
        looked++;
      }
    }
    expect(looked).toBeGreaterThan(100);
  });
});

test(`closed where triangles are turned differently and where four share each edge, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const ball = icosphere(1, 6);
  const turned = { positions: ball.positions, indices: ball.indices.slice() };
  for (let t = 0; t < turned.indices.length; t += 3) {
    if (random.chance(0.5)) turned.indices.subarray(t, t + 2).reverse();
  }
  for (const mesh of [turned, merged([ball, ball]), merged([ball, turned]), merged([ball, ball, turned, turned])]) {
    const matrix = new Matrix4().compose(random.point(1), random.rotation(), new Vector3(1, -2, 1.5));
    await withObject(mesh, matrix, async () => {
      for (let i = 0; i < PLANES / 4; i++) {
        const plane = planeThrough(random.direction(), random.point(0.5).applyMatrix4(matrix));
        const section = await service.section(plane, { weld: 0 });
        expect([...section.closed].every((isClosed) => isClosed === 1)).toBe(true);
        compare(section, mesh, matrix, plane, 4, 1);
      }
    });
  }
});

test("three's own geometries are closed over their seams, and not where that is not asked for", async () => {
  for (const geometry of [
    new SphereGeometry(1, 24, 16),
    new CapsuleGeometry(0.5, 1, 8, 16),
    new ConeGeometry(1, 2, 24),
    new TorusKnotGeometry(1, 0.3, 64, 12),
    new BoxGeometry(1, 2, 3),
  ]) {
    await withObject(trianglesOf(geometry), new Matrix4(), async () => {
      const plane = [0.1, 1, 0.05, 0.03];
      const section = await service.section(plane);
      expect(section.closed.length).toBeGreaterThan(0);
      expect(
        [...section.closed].every((isClosed) => isClosed === 1),
        geometry.type,
      ).toBe(true);
    });
  }
  await withObject(trianglesOf(new SphereGeometry(1, 24, 16)), new Matrix4(), async () => {
    expect([...(await service.section([0.1, 1, 0.05, 0.03], { weld: 0 })).closed]).toEqual([0]);
  });
});

test(`boxes, spheres and capsules, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  for (let i = 0; i < 60; i++) {
    const scale = new Vector3(random.range(0.5, 2), random.range(-2, -0.5), random.range(0.5, 2));
    const matrix = new Matrix4().compose(random.point(1), random.rotation(), scale);
    // The capsule's axis: longer than its radius, and shorter.
    const half = i % 2 === 0 ? 1 : random.range(0.05, 0.45);
    const shape = [
      { type: 'box', halfExtents: [1, 0.5, 0.25] },
      { type: 'sphere', radius: 0.75 },
      { type: 'capsule', radius: 0.5, from: [0, -half, 0], to: [0, half, 0] },
    ][i % 3] as never;
    const id = service.addObject({ shape, matrix: matrix.elements });
    await service.update();
    const plane = planeThrough(random.direction(), random.point(0.8).applyMatrix4(matrix));
    const section = await service.section(plane, { roundPoints: 32 });
    const inverse = matrix.clone().invert();
    expect(section.closed.length, `case ${i}`).toBeLessThanOrEqual(1);
    for (let p = 0; p < section.points.length / 3; p++) {
      const point = pointOf(section, p);
      expect(Math.abs(new Vector3(...plane).dot(point) + plane[3])).toBeLessThan(1e-12);
      // On the surface, in the shape's own space.
      const { x, y, z } = point.applyMatrix4(inverse);
      const off = [
        Math.max(Math.abs(x) - 1, Math.abs(y) - 0.5, Math.abs(z) - 0.25),
        Math.hypot(x, y, z) - 0.75,
        Math.hypot(x, y - Math.max(-half, Math.min(half, y)), z) - 0.5,
      ][i % 3];
      expect(Math.abs(off)).toBeLessThan(1e-9);
    }
    if (section.closed.length === 1) {
      expect(areaOf(flat(section, 0, plane))).toBeGreaterThan(0);
      if (i % 3 !== 0) expect(section.starts[1]).toBe(32);
      expect([...section.triangles].every((triangle) => triangle === -1)).toBe(true);
    } else {
      expect(
        await service.frustum(Float32Array.from([...plane, ...plane.map((c) => -c)]), { precision: 'mesh' }),
      ).toMatchObject({ ids: new Uint32Array() });
    }
    service.removeObject(id);
  }
});

test('what stands on the plane is not cut, what hangs below it is', async () => {
  await withObject(boxMesh(2, 2, 2), new Matrix4(), async () => {
    expect((await service.section([0, 1, 0, 1])).closed.length).toBe(0);
    const top = await service.section([0, 1, 0, -1]);
    expect([...top.closed]).toEqual([1]);
    expect(areaOf(flat(top, 0, [0, 1, 0, -1]))).toBeCloseTo(4, 12);
    expect((await service.section([0, -1, 0, 1])).closed.length).toBe(0);
  });
});

test(`caps fill what is cut and nothing else, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  for (const [name, mesh] of CLOSED) {
    if (name === 'a lump') continue; // it may intersect itself
    await withObject(mesh, new Matrix4(), async () => {
      for (let i = 0; i < 10; i++) {
        const plane = planeThrough(random.direction(), random.point(0.5));
        const section = await service.section(plane, { caps: true });
        const n = new Vector3(...plane);
        const loops = Array.from(section.closed, (_, outline) => areaOf(flat(section, outline, plane)));
        let area = 0;
        for (let t = 0; t < section.caps.length; t += 3) {
          const [a, b, c] = [0, 1, 2].map((corner) => pointOf(section, section.caps[t + corner]));
          const own = b.sub(a).cross(c.sub(a)).dot(n) / 2;
          expect(own).toBeGreaterThan(-1e-12);
          area += own;
        }
        // Loops wind around the cut solid, and the other way around holes.
        const expected = loops.reduce((sum, each) => sum + each, 0);
        expect(area).toBeCloseTo(expected, 9);
        expect((await service.section(plane)).caps.length).toBe(0);
      }
    });
  }
});

test('a plate with many holes, and a grating, are nested in time', async () => {
  const plate: Triangles[] = [boxMesh(400, 1, 400)];
  for (let i = 0; i < 2500; i++) {
    const [x, z] = [(i % 50) * 8 - 196, Math.floor(i / 50) * 8 - 196];
    plate.push(transformed(boxMesh(4, 0.5, 4), (v) => v.add(new Vector3(x, 0, z))));
  }
  await withObject(merged(plate), new Matrix4(), async () => {
    const { parents, closed } = await service.section([0, 1, 0, 0.01]);
    expect(closed.length).toBe(2501);
    const outer = parents.indexOf(-1);
    expect([...parents].every((parent, i) => parent === (i === outer ? -1 : outer))).toBe(true);
  });
  const bars = Array.from({ length: 3000 }, (_, i) =>
    transformed(boxMesh(0.5, 1, 5000), (v) => v.add(new Vector3(i, 0, 0))),
  );
  await withObject(merged(bars), new Matrix4().makeRotationY(0.4), async () => {
    const { parents, ms } = await service.section([0, 1, 0, 0.01]);
    expect(parents.length).toBe(3000);
    expect([...parents].every((parent) => parent === -1)).toBe(true);
    console.log(`3,000 bars: ${ms} ms`);
  });
});

test('of several objects, filtered, sorted by object; points and lines have none', async () => {
  const mesh = await service.addMesh(boxMesh(1, 1, 1));
  const lines = await service.addMesh({ positions: Float32Array.of(0, -1, 0, 0, 1, 0), topology: 'lines' });
  const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
  const ids = [5, 1, 3].map((x, i) =>
    service.addObject({ shape: { type: 'mesh', mesh }, matrix: at(x), layers: 1 << i }),
  );
  const line = service.addObject({ shape: { type: 'mesh', mesh: lines } });
  await service.update();
  const plane = [0, 1, 0, 0];
  const all = await service.section(plane);
  expect([...all.objects]).toEqual([...ids].sort((a, b) => a - b));
  expect(all.frame).toBeGreaterThan(0);
  expect([...(await service.section(plane, { layers: 2 })).objects]).toEqual([ids[1]]);
  expect([...(await service.section(plane, { ignore: [ids[1]] })).objects]).toEqual([ids[0], ids[2]]);
  // Several at once are each answered.
  const [one, two, three] = await Promise.all([plane, [0, 1, 0, 9], plane].map((p) => service.section(p)));
  expect([one, two, three].map(({ objects }) => objects.length)).toEqual([3, 0, 3]);
  for (const id of [...ids, line]) service.removeObject(id);
});

test('bad input', async () => {
  const refused = (plane: unknown, options?: object) => service.section(plane as number[], options);
  const code = 'INVALID_ARGUMENT';
  await expect(refused([0, 0, 0, 1])).rejects.toMatchObject({ code });
  await expect(refused([0, 1, Number.NaN, 1])).rejects.toMatchObject({ code });
  await expect(refused([0, 1, 0])).rejects.toMatchObject({ code });
  await expect(refused([])).rejects.toMatchObject({ code });
  await expect(refused(undefined)).rejects.toMatchObject({ code });
  await expect(refused([0, 1, 0, 0], { weld: -1 })).rejects.toMatchObject({ code });
  await expect(refused([0, 1, 0, 0], { roundPoints: 2 })).rejects.toMatchObject({ code });
  await expect(refused([0, 1, 0, 0], { clip: [1, 0, 0, 0] })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await expect(refused([0, 1, 0, 0], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'ABORTED' });
  expect((await refused([0, 1e300, 0, -1e308])).closed.length).toBe(0);
});

test('a mesh that is removed while it is cut is cut as it was; picks are answered meanwhile', async () => {
  const mesh = await service.addMesh(waves(300));
  const id = service.addObject({ shape: { type: 'mesh', mesh } });
  await service.update();
  const plane = [0, 0, 1, -0.01];
  const whole = await service.section(plane);
  expect(whole.triangles.length).toBeGreaterThan(1000);
  const cut = service.section(plane);
  const hit = service.raycast({ origin: [0, 0, 10], direction: [0, 0, -1] });
  service.removeObject(id);
  service.removeMesh(mesh);
  const [answer] = await Promise.all([cut, hit, service.update()]);
  expect(answer.triangles.length).toBe(whole.triangles.length);
  console.log(`${whole.triangles.length} segments of 180,000 triangles: ${whole.ms} ms`);
  expect((await service.section(plane)).closed.length).toBe(0);
});
