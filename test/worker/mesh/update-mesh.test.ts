import { type CollisionService, createCollisionService, type MeshId } from 'collision-worker';
import { DoubleSide, Matrix4, MeshBasicMaterial, OrthographicCamera, Raycaster, Vector3 } from 'three';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { HeldWorker } from '../../fixtures/held-worker.js';
import { aimedRays, findDifferences } from '../../fixtures/ray-differences.js';
import { Twin } from '../../fixtures/twin.js';
import { DEFORMATIONS } from '../../oracle/deformations.js';
import { dragon } from '../../oracle/dragon.js';
import { pairKeys } from '../../oracle/events.js';
import { boundsOf, boxMesh, icosphere, rods, soup, type Triangles, transformed } from '../../oracle/meshes.js';
import { findContacts } from '../../oracle/pairs.js';
import { cornerOf } from '../../oracle/placed.js';
import { Random, SEED } from '../../oracle/random.js';
import { rayHits } from '../../oracle/ray.js';
import { RaycastedMesh } from '../../oracle/raycaster.js';

const FORWARD = { origin: [0, 0, 10], direction: [0, 0, -1] } as const;
const EVERYTHING = {
  projection: new OrthographicCamera(-50, 50, 50, -50, -1e4, 1e4).projectionMatrix.elements,
  view: new Matrix4().elements,
  viewport: { width: 100, height: 100 },
};
const error = (code: string, message: RegExp) =>
  expect.objectContaining({ name: 'CollisionError', code, message: expect.stringMatching(message) });

let twin: Twin;
let service: CollisionService;
beforeEach(async () => {
  twin = await Twin.create();
  service = twin.service;
  return () => twin.dispose();
});

const times = (mesh: Triangles, factor: number) => mesh.positions.map((x) => x * factor);
const settled = async (mesh: MeshId) => {
  do await service.update();
  while (service.stats.pending > 0);
  return service.meshInfo(mesh);
};

describe(`rays, seed ${SEED}`, { timeout: 240_000 }, () => {
  const MESHES: [string, (random: Random) => Triangles][] = [
    ['an icosphere', () => icosphere(1, 5)],
    ['rods', (random) => rods(random, 40, 1)],
    ['a soup', (random) => soup(random, 300, 0.5, 1)],
  ];
  test.each(MESHES)('%s, moved in every way, against brute force', async (_, make) => {
    const random = new Random(SEED);
    const mesh = make(random);
    let shape = await twin.mesh(mesh);
    const place = () => random.placement(random.point(0.5), { low: 0.7, high: 1.4, mirrored: 0.5, sheared: 0.5 });
    for (let i = 0; i < 3; i++) twin.add(shape, place(), { motion: random.pick(['static', 'moving']) });
    let hits = 0;
    for (const [name, deformation] of DEFORMATIONS) {
      const moved = transformed(mesh, deformation(random));
      shape = await twin.deform(shape, moved);
      const box = boundsOf(moved.positions);
      const { id } = random.pick([...twin.items.values()]);
      const matrix = place().setPosition(0, 0, 0);
      // The mesh about the origin, where the rays are as precise as the mesh.
      twin.move(id, matrix.multiply(new Matrix4().setPosition(box.getCenter(new Vector3()).negate())));
      await service.update();
      const rays = aimedRays(random, 200, new Vector3(), box.getSize(new Vector3()).length() / 2);
      // Few rays would hit thin meshes: every second one is aimed at the centroid of a triangle.
      const item = twin.items.get(id)!;
      for (let i = 0; i < rays.length; i += 2) {
        const triangle = random.integer(mesh.indices.length / 3);
        const corners = [0, 1, 2].map((corner) => cornerOf(item.shape.mesh!, 3 * triangle + corner));
        const middle = corners.reduce((sum, corner) => sum.addScaledVector(corner, 1 / 3), new Vector3());
        rays[i].lookAt(middle.applyMatrix4(item.matrix));
      }
      const expected = rays.map((ray) => rayHits(twin.items.values(), ray));
      expect(await findDifferences(twin, rays, {}, expected), name).toEqual([]);
      hits += expected.filter((of) => of.length > 0).length;
    }
    expect(hits).toBeGreaterThan(500);
  });

  test("the dragon, bent, against three's Raycaster; and baked after that", async () => {
    const random = new Random(SEED);
    const mesh = transformed(dragon(11_102), (vertex) => vertex.multiplyScalar(10));
    let shape = await twin.mesh(mesh);
    const id = twin.add(shape, new Matrix4());
    for (const bend of [2, -3, 20]) {
      const axis = random.direction();
      const bent = transformed(mesh, (vertex) => vertex.applyAxisAngle(axis, bend * axis.dot(vertex)));
      shape = await twin.deform(shape, bent);
      const raycasted = new RaycastedMesh(bent);
      const box = boundsOf(bent.positions);
      const rays = aimedRays(random, 500, box.getCenter(new Vector3()), box.getSize(new Vector3()).length() / 4);
      const expected = rays.map(({ origin, direction }) =>
        raycasted
          .intersect(new Raycaster(origin, direction), new Matrix4(), new MeshBasicMaterial({ side: DoubleSide }))
          .map(({ distance }) => ({ id, distance })),
      );
      expect(await findDifferences(twin, rays, {}, expected)).toEqual([]);
      expect(expected.filter((hits) => hits.length > 0).length).toBeGreaterThan(100);

      const baked = await service.bakeMesh(shape.shape.type === 'mesh' ? shape.shape.mesh : 0);
      const copy = { type: 'mesh', mesh: await service.addMesh(baked) } as const;
      service.setObject(id, { shape: copy });
      expect(await findDifferences(twin, rays, {}, expected)).toEqual([]);
      service.setObject(id, { shape: shape.shape });
      service.removeMesh(copy.mesh);
    }
  });
});

test(`pairs, seed ${SEED}: of deformed meshes and boxes, against all with all`, { timeout: 240_000 }, async () => {
  const DOUBT = 1e-5;
  const random = new Random(SEED);
  const meshes = [icosphere(1, 1), soup(random, 15, 0.4, 1), rods(random, 3, 1)];
  const shapes = await Promise.all(meshes.map((mesh) => twin.mesh(mesh)));
  const all = [...shapes, ...shapes, twin.box(new Vector3(1, 0.7, 0.4))];
  const statics = new Set<number>();
  for (let i = 0; i < 120; i++) {
    const matrix = random.placement(random.point(4), { low: 0.5, high: 1.2, mirrored: 0.3, sheared: 0.3 });
    const motion = random.pick(['static', 'moving', 'moving'] as const);
    const id = twin.add(random.pick(all), matrix, { motion, contacts: 'any' });
    if (motion === 'static') statics.add(id);
  }
  let count = 0;
  let doubtful = 0;
  const moves = DEFORMATIONS.filter(([name]) => !/^(a thousand times|large|one vertex)/.test(name));
  for (const [name, deformation] of [...moves, ...moves]) {
    const i = random.integer(shapes.length);
    shapes[i] = await twin.deform(shapes[i], transformed(meshes[i], deformation(random)));
    const { contacts: found } = await service.update();
    const expected = findContacts(twin.items.values(), DOUBT).filter(({ a, b }) => !statics.has(a) || !statics.has(b));
    const keys = new Set(pairKeys(found.a, found.b));
    for (const { a, b, separation } of expected) {
      const isFound = keys.delete(`${a}:${b}`);
      if (isFound === separation <= 0) continue;
      expect(Math.abs(separation), `${name}: ${a}:${b}`).toBeLessThan(DOUBT);
      doubtful++;
    }
    expect([...keys], name).toEqual([]);
    count += found.count;
  }
  console.log(`${count} pairs, of which ${doubtful} within ${DOUBT} of touching differ`);
  expect(count).toBeGreaterThan(500);
  expect(doubtful).toBeLessThan(count / 1000);
});

describe('objects follow', () => {
  test('in the next frame: views, pairs and rays', async () => {
    const mesh = boxMesh(2, 2, 2);
    const { shape } = await twin.mesh(mesh);
    const [near, far] = [0, 20].map((x) =>
      service.addObject({ shape, matrix: new Matrix4().makeTranslation(x, 0, 0).elements }),
    );
    const wall = service.addObject({
      shape: { type: 'box', halfExtents: [1, 9, 9] },
      motion: 'static',
      layers: 2,
      matrix: new Matrix4().makeTranslation(45, 0, 0).elements,
    });
    service.setView(EVERYTHING);
    await service.update();
    const moved = transformed(mesh, (vertex) => vertex.add(new Vector3(25, 0, 0)));
    const updated = service.updateMesh(shape.type === 'mesh' ? shape.mesh : 0, moved.positions);
    const frame = await service.update(); // without waiting for the other
    await updated;
    expect(Array.from(frame.contacts, ({ a, b, begun }) => [a, b, begun])).toEqual([[far, wall, true]]);
    expect([...frame.visible.ids]).toEqual([near, far, wall]);
    expect(await service.raycast(FORWARD)).toBeNull();
    expect(await service.raycast({ ...FORWARD, origin: [25, 0, 10] })).toMatchObject({ object: near, distance: 9 });

    await twin.service.updateMesh(
      shape.type === 'mesh' ? shape.mesh : 0,
      moved.positions.map((x) => 2 * x),
    );
    const { visible, contacts } = await service.update();
    expect([...visible.left]).toEqual([far]); // at 70
    expect([...contacts.endedA, ...contacts.endedB]).toEqual([far, wall]);
  });

  test('as it was called: after what comes before it, before what comes after it', async () => {
    const worker = new HeldWorker();
    const held = await createCollisionService({ createWorker: () => worker, builders: 0 });
    onTestFinished(() => held.dispose());
    const mesh = boxMesh(2, 2, 2);
    const id = await held.addMesh(mesh);
    held.addObject({ shape: { type: 'mesh', mesh: id } });
    await held.update();
    worker.hold();
    const frames = [held.update(), held.update()]; // one in the worker, one that waits
    const before = held.raycast(FORWARD);
    const positions = times(mesh, 2);
    const updates = [held.updateMesh(id, positions)];
    positions.fill(NaN); // too late to matter
    const between = held.raycast(FORWARD);
    updates.push(held.updateMesh(id, times(mesh, 3)));
    const after = held.raycast(FORWARD);
    await worker.letGo();
    expect((await Promise.all([before, between, after])).map((hit) => hit?.distance)).toEqual([9, 8, 7]);
    await Promise.all([...frames, ...updates]);

    // In a frame that is joined, the change is sent ahead with the other commands.
    worker.hold();
    const joined = [held.update(), held.update()];
    const late = held.updateMesh(id, times(mesh, 4));
    const box = held.addObject({
      shape: { type: 'box', halfExtents: [0.1, 0.1, 0.1] },
      matrix: new Matrix4().makeTranslation(3.5, 4, 0).elements,
    });
    joined.push(held.update());
    await worker.letGo();
    expect((await joined[2]).contacts.count).toBe(1);
    await Promise.all([...joined, late]);
    held.removeObject(box);
  });
});

describe('refuses', () => {
  test.each<[string, (mesh: MeshId) => [mesh: unknown, positions: unknown], string, RegExp]>([
    [
      'no such mesh',
      () => [7, new Float32Array(24)],
      'UNKNOWN_ID',
      /^updateMesh: mesh is 7, expected the id of an added mesh/,
    ],
    ['no array', (mesh) => [mesh, undefined], 'INVALID_ARGUMENT', /positions is undefined, expected a Float32Array/],
    [
      'float64',
      (mesh) => [mesh, new Float64Array(24)],
      'INVALID_ARGUMENT',
      /a Float64Array of length 24, expected a F/,
    ],
    ['another length', (mesh) => [mesh, new Float32Array(23)], 'BAD_DATA', /length of positions is 23, expected 3 for/],
    ['NaN', (mesh) => [mesh, new Float32Array(24).fill(Number.NaN)], 'BAD_DATA', /^updateMesh: vertex \d of positions/],
    ['one point', (mesh) => [mesh, new Float32Array(24)], 'BAD_DATA', /none of the 12 triangles has an area/],
    [
      'a detached array',
      (mesh) => {
        const positions = new Float32Array(24);
        structuredClone(positions, { transfer: [positions.buffer] });
        return [mesh, positions];
      },
      'INVALID_ARGUMENT',
      /positions is detached/,
    ],
  ])('%s, and the mesh stays as it was', async (_, args, code, message) => {
    const { shape } = await twin.mesh(boxMesh(2, 2, 2));
    const mesh = shape.type === 'mesh' ? shape.mesh : 0;
    const object = service.addObject({ shape });
    const call = service.updateMesh(...(args(mesh) as [MeshId, Float32Array]));
    await expect(call).rejects.toEqual(error(code, message));
    expect(await service.raycast(FORWARD)).toMatchObject({ object, distance: 9 });
    expect(service.meshInfo(mesh)).toMatchObject({ cost: 1, degenerate: 0 });
  });

  test('a mesh that was removed, and a service that was disposed', async () => {
    const mesh = await service.addMesh(boxMesh(2, 2, 2));
    service.removeMesh(mesh);
    await expect(service.updateMesh(mesh, new Float32Array(24))).rejects.toEqual(error('UNKNOWN_ID', /^updateMesh/));
    const other = await service.addMesh(boxMesh(2, 2, 2));
    const pending = service.updateMesh(other, new Float32Array(24).fill(1));
    service.dispose();
    await expect(pending).rejects.toEqual(error('DISPOSED', /^updateMesh/));
    await expect(service.updateMesh(other, new Float32Array(24))).rejects.toEqual(error('DISPOSED', /^updateMesh/));
  });
});

describe(`a tree that has become twice as dear, seed ${SEED}`, () => {
  const crowd = () => soup(new Random(SEED), 3000, 0.1, 1);

  /** Moves each triangle to the place of another one. */
  function shuffled({ positions, indices }: Triangles, random: Random): Triangles {
    const copy = positions.slice();
    for (let i = 0; i < copy.length; i += 9) {
      const j = 9 * random.integer(copy.length / 9);
      const triangle = copy.slice(i, i + 9);
      copy.copyWithin(i, j, j + 9);
      copy.set(triangle, j);
    }
    return { positions: copy, indices };
  }

  test.each([1, 0])('is built anew, by %i builders, and answers meanwhile', async (builders) => {
    const own = new Twin(await createCollisionService({ builders }));
    onTestFinished(() => own.dispose());
    const random = new Random(SEED);
    const mesh = crowd();
    let shape = await own.mesh(mesh);
    const id = shape.shape.type === 'mesh' ? shape.shape.mesh : 0;
    for (let i = 0; i < 2; i++) own.add(shape, random.placement(random.point(1)));
    expect(own.service.meshInfo(id)).toMatchObject({ cost: 1, rebuilds: 0 });

    const moved = transformed(mesh, (vertex) => vertex.add(random.point(0.01)));
    shape = await own.deform(shape, moved);
    expect(own.service.meshInfo(id)).toMatchObject({ rebuilds: 0 });
    expect(own.service.meshInfo(id).cost).not.toBe(1);
    expect(own.service.meshInfo(id).cost).toBeLessThan(1.5);
    expect(own.service.stats.pending).toBe(0);

    shape = await own.deform(shape, shuffled(mesh, random));
    expect(own.service.meshInfo(id).cost).toBeGreaterThan(5);
    let checks = 0;
    while (own.service.meshInfo(id).rebuilds === 0 || checks === 0) {
      const rays = aimedRays(random, 20, new Vector3(), 1);
      const expected = rays.map((ray) => rayHits(own.items.values(), ray));
      expect(await findDifferences(own, rays, {}, expected)).toEqual([]);
      await own.service.update();
      checks++;
    }
    expect(own.service.meshInfo(id)).toMatchObject({ cost: 1, rebuilds: 1, triangles: 3000 });
    const rays = aimedRays(random, 300, new Vector3(), 1);
    const expected = rays.map((ray) => rayHits(own.items.values(), ray));
    expect(await findDifferences(own, rays, {}, expected)).toEqual([]);

    // The mesh now has only the new tree, whose memory is freed with it.
    await own.service.update();
    const { usedBytes } = own.service.stats;
    for (const of of own.items.keys()) own.remove(of);
    own.service.removeMesh(id);
    await own.service.update();
    expect(own.service.stats.usedBytes).toBeLessThan(usedBytes - 3000 * 40);
  });

  test('comes although the vertices never rest, and is of the newest', async () => {
    const random = new Random(SEED);
    const mesh = crowd();
    let shape = await twin.mesh(mesh);
    const id = shape.shape.type === 'mesh' ? shape.shape.mesh : 0;
    twin.add(shape, new Matrix4());
    const other = shuffled(mesh, random);
    for (let frame = 0; service.meshInfo(id).rebuilds < 2; frame++) {
      const base = frame < 5 || service.meshInfo(id).rebuilds === 1 ? mesh : other;
      const sway = new Vector3(Math.sin(frame), Math.cos(frame), 0).multiplyScalar(0.1);
      const deformed = twin.deform(
        shape,
        transformed(base, (vertex) => vertex.add(sway)),
      );
      await service.update();
      shape = await deformed;
      const rays = aimedRays(random, 5, new Vector3(), 1);
      const expected = rays.map((ray) => rayHits(twin.items.values(), ray));
      expect(await findDifferences(twin, rays, {}, expected), `frame ${frame}`).toEqual([]);
    }
    expect((await settled(id)).cost).toBeLessThan(1.01);
  });

  test('is removed while its successor is built, and nothing is left', async () => {
    const random = new Random(SEED);
    const mesh = crowd();
    await service.update();
    const { usedBytes } = service.stats;
    for (let i = 0; i < 10; i++) {
      const id = await service.addMesh(mesh);
      await service.updateMesh(id, shuffled(mesh, random).positions);
      for (let wait = i; wait > 0; wait--) await service.update();
      service.removeMesh(id);
    }
    do await service.update();
    while (service.stats.pending > 0);
    expect(service.stats).toMatchObject({ meshes: 0, triangles: 0, meshBytes: 0, bytesPerTriangle: 0, usedBytes });
  });

  test('a builder that is lost leaves it as it is, until it is moved again', async () => {
    const workers: HeldWorker[] = [];
    const createWorker = () => {
      workers.push(new HeldWorker());
      if (workers.length === 3) workers[2].worker.terminate();
      return workers.at(-1)!;
    };
    const own = await createCollisionService({ createWorker });
    onTestFinished(() => own.dispose());
    const random = new Random(SEED);
    const mesh = crowd();
    const id = await own.addMesh(mesh);
    workers[1].worker.terminate();
    while (workers.length < 3) {
      await own.updateMesh(id, shuffled(mesh, random).positions); // the loss of the builder is noticed from here on
      await own.update();
    }
    do await own.update();
    while (own.stats.pending > 0);
    expect(own.meshInfo(id)).toMatchObject({ rebuilds: 0 });
    expect(own.meshInfo(id).cost).toBeGreaterThan(2);
    await own.updateMesh(id, shuffled(mesh, random).positions);
    do await own.update();
    while (own.stats.pending > 0);
    expect(own.meshInfo(id)).toMatchObject({ rebuilds: 1, cost: 1 });
  });
});

describe('a triangle that had no area', () => {
  // A roof over a floor; the roof's corners are collinear at first.
  const floor = [-2, -2, 0, 2, -2, 0, 0, 3, 0];
  const shut = new Float32Array([...floor, -1, -1, 1, 0, 0, 1, 1, 1, 1]);
  const open = new Float32Array([...floor, -1, -1, 1, 1, -1, 1, 0, 2, 1]);

  test('and has one now is there when the promise resolves', async () => {
    const id = await service.addMesh({ positions: shut });
    service.addObject({ shape: { type: 'mesh', mesh: id } });
    expect(service.meshInfo(id)).toMatchObject({ degenerate: 1, rebuilds: 0 });
    expect(await service.raycast(FORWARD)).toMatchObject({ triangle: 0, distance: 10 });
    await service.updateMesh(id, open);
    expect(service.meshInfo(id)).toMatchObject({ degenerate: 0, rebuilds: 1, cost: 1 });
    expect(await service.raycast(FORWARD)).toMatchObject({ triangle: 1, distance: 9 });

    // From now on it has its place in the tree.
    await service.updateMesh(id, shut);
    expect(service.meshInfo(id)).toMatchObject({ degenerate: 1, rebuilds: 1 });
    expect(await service.raycast(FORWARD)).toMatchObject({ triangle: 0, distance: 10 });
    await service.updateMesh(id, open);
    expect(service.meshInfo(id)).toMatchObject({ degenerate: 0, rebuilds: 1 });
    expect(await service.raycast(FORWARD)).toMatchObject({ triangle: 1, distance: 9 });
  });

  test('gives way to newer vertices that came while its tree was built', async () => {
    const id = await service.addMesh({ positions: shut });
    service.addObject({ shape: { type: 'mesh', mesh: id } });
    const raised = open.map((x, i) => (i % 3 === 2 ? x + 1 : x));
    const sunk = shut.map((x, i) => (i % 3 === 2 ? x - 1 : x));
    const updates = [open, raised, sunk].map((positions) => service.updateMesh(id, positions));
    await updates[2];
    expect(await service.raycast(FORWARD)).toMatchObject({ triangle: 0, distance: 11 });
    await Promise.all(updates);
    expect(await service.raycast(FORWARD)).toMatchObject({ triangle: 0, distance: 11 });
    const [, last] = await Promise.all([sunk, raised].map((positions) => service.updateMesh(id, positions)));
    expect(last).toBeUndefined();
    expect(await service.raycast(FORWARD)).toMatchObject({ triangle: 1, distance: 8 });
  });

  test('is waited for in vain when the mesh is removed, or its builder lost', async () => {
    const id = await service.addMesh({ positions: shut });
    const update = service.updateMesh(id, open);
    service.removeMesh(id);
    await expect(update).rejects.toEqual(error('ABORTED', /^updateMesh: mesh \d+ was removed/));

    const workers: HeldWorker[] = [];
    const createWorker = () => {
      workers.push(new HeldWorker());
      if (workers.length === 3) workers[2].worker.terminate();
      return workers.at(-1)!;
    };
    const own = await createCollisionService({ createWorker, builders: 1 });
    onTestFinished(() => own.dispose());
    const mesh = await own.addMesh({ positions: shut });
    own.addObject({ shape: { type: 'mesh', mesh } });
    const lost = error('WORKER_LOST', /^updateMesh: the worker/);
    workers[1].worker.terminate();
    await expect(own.updateMesh(mesh, open)).rejects.toEqual(lost);
    expect(await own.raycast(FORWARD)).toMatchObject({ triangle: 0, distance: 10 });
    const [second] = await Promise.allSettled([own.updateMesh(mesh, open)]);
    if (second.status === 'rejected') expect(second.reason).toEqual(lost);
    await own.updateMesh(mesh, open);
    expect(await own.raycast(FORWARD)).toMatchObject({ triangle: 1, distance: 9 });
  });
});

test('stats tell the bytes of all meshes', async () => {
  const [a, b] = [await service.addMesh(icosphere(1, 9)), await service.addMesh(boxMesh(1, 1, 1))];
  const bytes = service.meshInfo(a).bytes + service.meshInfo(b).bytes;
  expect(service.stats).toMatchObject({ meshBytes: bytes, bytesPerTriangle: bytes / 2012 });
  service.removeMesh(a);
  expect(service.stats).toMatchObject({ meshBytes: service.meshInfo(b).bytes, triangles: 12 });
});
