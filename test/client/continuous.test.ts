// Continuous objects through the service: nothing tunnels, whatever the frames are like.
import { type CollisionService, createCollisionService, type FrameResult } from 'collision-worker';
import { Matrix4, Quaternion, Vector3 } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { boxMesh, icosphere, transformed } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const at = (x: number, y: number, z: number) => new Matrix4().makeTranslation(x, y, z).elements;
const keysOf = ({ contacts }: FrameResult) => Array.from(contacts.a, (a, i) => `${a}:${contacts.b[i]}`);
const ball = (radius: number) => ({ shape: { type: 'sphere', radius }, continuous: true }) as const;

/** A millimetre in size, at a kilometre per second, for a sixtieth of a second. */
const RADIUS = 0.0005;
const STEP = 1000 / 60;

describe(`10,000 bullets of a millimetre at a kilometre a second, seed ${SEED}`, { timeout: 240_000 }, () => {
  test('none passes a thin mesh unseen, and none that passes beside is told', async () => {
    const random = new Random(SEED);
    const sheet = await service.addMesh({
      positions: Float32Array.of(-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0),
      indices: Uint32Array.of(0, 1, 2, 0, 2, 3),
    });
    const count = 10_000;
    // A sheet every 40 units, in any orientation, and a hundred bullets that cross its plane in this frame.
    const sheets = Array.from({ length: 100 }, (_, i) => {
      const place = new Vector3(40 * (i % 10), 40 * Math.floor(i / 10), 0);
      const matrix = new Matrix4().compose(place, random.rotation(), new Vector3(1, 1, 1));
      const id = service.addObject({ shape: { type: 'mesh', mesh: sheet }, matrix: matrix.elements, motion: 'static' });
      return { id, matrix };
    });
    const ids = service.addInstances({ ...ball(RADIUS), group: 1 }, count);
    const [froms, tos] = [new Float64Array(16 * count), new Float64Array(16 * count)];
    const expected = new Map<string, number>();
    const doubtful = new Set<string>();
    for (let i = 0; i < count; i++) {
      const { id, matrix } = sheets[i % 100];
      const [x, y] = [random.range(-1.3, 1.3), random.range(-1.3, 1.3)];
      const crossing = new Vector3(x, y, 0).applyMatrix4(matrix);
      const way = random.direction().multiplyScalar(STEP);
      const time = random.range(0.02, 0.98);
      const from = crossing.clone().addScaledVector(way, -time);
      froms.set(at(...from.toArray()), 16 * i);
      tos.set(at(...from.add(way).toArray()), 16 * i);
      const key = id < ids[i] ? `${id}:${ids[i]}` : `${ids[i]}:${id}`;
      const outside = Math.max(Math.abs(x), Math.abs(y)) - 1;
      // Near the edge, or so flat that its radius is a large part of the way.
      const normal = new Vector3(0, 0, 1).transformDirection(matrix);
      if (Math.abs(outside) < 0.05 || Math.abs(normal.dot(way)) < 0.02 * STEP) doubtful.add(key);
      else if (outside < 0) expected.set(key, time);
    }
    service.setTransforms(ids, froms);
    expect((await service.update()).contacts.count).toBeLessThan(count / 100);
    service.setTransforms(ids, tos);
    const frame = await service.update();
    const found = new Map(keysOf(frame).map((key, i) => [key, frame.contacts.time[i]]));
    expect([...expected.keys()].filter((key) => !found.has(key))).toEqual([]);
    expect([...found.keys()].filter((key) => !expected.has(key) && !doubtful.has(key))).toEqual([]);
    for (const [key, time] of expected) expect(Math.abs(found.get(key)! - time), key).toBeLessThan(0.02);
    expect(expected.size).toBeGreaterThan(count / 3);
    // They have moved on.
    const next = await service.update();
    expect(next.contacts.count).toBeLessThan(count / 100);
    expect(next.contacts.endedA.length).toBeGreaterThan(expected.size * 0.98);
  });

  test('none passes another unseen', async () => {
    const random = new Random(SEED + 1);
    const half = 5000;
    const [first, second] = [service.addInstances(ball(RADIUS), half), service.addInstances(ball(RADIUS), half)];
    const [froms, tos, fromB, toB] = Array.from({ length: 4 }, () => new Float64Array(16 * half));
    const expected: boolean[] = [];
    for (let i = 0; i < half; i++) {
      // On lines along x, in opposite directions; every other pair narrowly misses.
      const place = new Vector3(0, 0.2 * (i % 71), 0.2 * Math.floor(i / 71));
      const isMet = i % 2 === 0;
      const beside = random
        .direction()
        .setX(0)
        .setLength(2 * RADIUS * (isMet ? random.range(0, 0.999) : random.range(1.001, 1.5)));
      const [a, b] = [random.range(0, 1), random.range(0, 1)];
      froms.set(at(-STEP * a, place.y, place.z), 16 * i);
      tos.set(at(STEP * (1 - a), place.y, place.z), 16 * i);
      fromB.set(at(STEP * b, place.y + beside.y, place.z + beside.z), 16 * i);
      toB.set(at(STEP * (b - 1), place.y + beside.y, place.z + beside.z), 16 * i);
      expected.push(isMet);
    }
    service.setTransforms(first, froms);
    service.setTransforms(second, fromB);
    await service.update();
    service.setTransforms(first, tos);
    service.setTransforms(second, toB);
    const frame = await service.update();
    const found = new Set(keysOf(frame));
    const wrong = expected.flatMap((isMet, i) => (found.has(`${first[i]}:${second[i]}`) === isMet ? [] : [i]));
    expect(wrong).toEqual([]);
    expect(frame.contacts.count).toBe(half / 2);
    for (const { points, normals, depths, time } of [...frame.contacts].slice(0, 100)) {
      expect(points.length).toBe(3);
      expect(depths[0]).toBeLessThan(1e-6);
      expect(Math.hypot(...normals)).toBeCloseTo(1, 5);
      expect(time).toBeLessThan(1);
    }
  });
});

test('frames that are joined cover the whole way', async () => {
  const wall = service.addObject({ shape: { type: 'box', halfExtents: [0.01, 5, 5] }, motion: 'static' });
  const bullet = service.addObject({ ...ball(0.01), matrix: at(-50, 0, 0) });
  await service.update();
  const frames: Promise<FrameResult>[] = [];
  for (let x = -45; x <= 50; x += 5) {
    service.setTransform(bullet, at(x, 0, 0));
    frames.push(service.update());
  }
  const seen = new Set<number>();
  let contacts = 0;
  for (const each of frames) {
    const { frame, contacts: found } = await each;
    if (seen.has(frame)) continue;
    seen.add(frame);
    if (found.count > 0) {
      contacts++;
      expect([found.a[0], found.b[0]]).toEqual([wall, bullet]);
      expect(found.time[0]).toBeLessThan(1);
    }
  }
  expect(seen.size).toBeLessThan(frames.length);
  expect(contacts).toBe(1);
});

test('what is put somewhere passes nothing: at first, and by setObject with a matrix', async () => {
  service.addObject({ shape: { type: 'box', halfExtents: [0.01, 5, 5] }, motion: 'static' });
  const bullet = service.addObject(ball(0.01));
  service.setTransform(bullet, at(-50, 0, 0)); // from the origin, where it never was in any frame
  expect((await service.update()).contacts.count).toBe(0);
  service.setObject(bullet, { matrix: at(50, 0, 0) });
  expect((await service.update()).contacts.count).toBe(0);
  service.setObject(bullet, { layers: 1 });
  service.setTransform(bullet, at(-50, 0, 0));
  const { contacts } = await service.update();
  expect([...contacts.time]).toEqual([0.5 - 0.02 / 100].map(Math.fround));
  service.setObject(bullet, { continuous: false });
  service.setTransform(bullet, at(50, 0, 0));
  expect((await service.update()).contacts.count).toBe(0);
  service.setObject(bullet, { continuous: true });
  service.setTransform(bullet, at(-50, 0, 0));
  expect((await service.update()).contacts.count).toBe(0); // its first frame as a continuous object
  service.setTransform(bullet, at(50, 0, 0));
  expect((await service.update()).contacts.count).toBe(1);
});

test('what has parted since is a contact of its last way, at time 0, and then ends', async () => {
  service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
  const other = service.addObject({ ...ball(1), matrix: at(1.5, 0, 0) });
  expect((await service.update()).contacts.time[0]).toBe(1);
  service.setTransform(other, at(9, 0, 0));
  const { contacts } = await service.update();
  const [{ time, depths, normals }] = contacts;
  expect([time, contacts.begun[0]]).toEqual([0, 0]);
  expect(depths[0]).toBeCloseTo(0.5, 5);
  expect(normals[0]).toBeCloseTo(1, 5);
  const after = await service.update();
  expect([after.contacts.count, after.contacts.endedA.length]).toEqual([0, 1]);
});

test(`spinning blades see every ball that falls through them, seed ${SEED}`, { timeout: 120_000 }, async () => {
  const random = new Random(SEED);
  const blade = await service.addMesh(transformed(boxMesh(2, 2, 2), (v) => v.multiply(new Vector3(2, 0.02, 0.1))));
  const rotor = service.addObject({ shape: { type: 'mesh', mesh: blade }, continuous: true });
  const balls = Array.from({ length: 200 }, () => {
    const angle = random.range(0, 2 * Math.PI);
    const far = random.range(0.3, 2.4);
    const [x, z] = [far * Math.cos(angle), far * Math.sin(angle)];
    const radius = random.logRange(0.03, 0.15);
    const id = service.addObject({ ...ball(radius), group: 1, matrix: at(x, random.range(1, 6), z) });
    return { id, x, z, radius, y: 0 };
  });
  const turn = new Quaternion();
  const axis = new Vector3(0, 1, 0);
  const matrix = new Matrix4();
  const missed: string[] = [];
  let angle = 0;
  let met = 0;
  for (const each of balls) each.y = random.range(1, 6);
  for (let frame = 0; frame < 60; frame++) {
    const [spin, fall] = [random.range(-1.2, 1.2), random.range(0.05, 0.4)];
    const isFirst = frame === 0;
    service.setTransform(rotor, matrix.makeRotationFromQuaternion(turn.setFromAxisAngle(axis, angle + spin)).elements);
    for (const each of balls) service.setTransform(each.id, at(each.x, each.y - fall, each.z));
    const found = new Map(keysOf(await service.update()).map((key) => [key, true]));
    for (const each of balls) {
      // The reference, in a thousand steps.
      let least = Number.POSITIVE_INFINITY;
      for (let k = isFirst ? 1000 : 0; k <= 1000; k++) {
        const t = k / 1000;
        const own = new Vector3(each.x, each.y - t * fall, each.z).applyAxisAngle(axis, -(angle + t * spin));
        const beyond = new Vector3(
          Math.max(Math.abs(own.x) - 2, 0),
          Math.max(Math.abs(own.y) - 0.02, 0),
          Math.max(Math.abs(own.z) - 0.1, 0),
        );
        least = Math.min(least, beyond.length() - each.radius);
      }
      const isFound = found.has(`${rotor}:${each.id}`);
      if (least < -1e-3 && !isFound) missed.push(`${frame}: ${each.id} by ${least}`);
      if (least > 1e-3 && isFound) missed.push(`${frame}: ${each.id} is told, ${least} away`);
      if (isFound) met++;
    }
    angle += spin;
    for (const each of balls) {
      each.y -= fall;
      if (each.y < -2) {
        each.y += 8;
        service.setObject(each.id, { matrix: at(each.x, each.y, each.z) });
      }
    }
  }
  expect(missed).toEqual([]);
  expect(met).toBeGreaterThan(50);
});

test('a lost worker: clearances hold in the next one, and ways begin where things are', async () => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const wall = service.addObject({ shape: { type: 'box', halfExtents: [0.01, 5, 5] }, motion: 'static', clearance: 1 });
  const near = service.addObject({ shape: { type: 'sphere', radius: 0.5 }, matrix: at(1.2, 0, 0), clearance: 0.5 });
  const bullet = service.addObject({ ...ball(0.01), matrix: at(-50, 0, 0) });
  expect(keysOf(await service.update())).toEqual([`${wall}:${near}`]);
  await mortal.kill();
  const after = await service.update();
  expect(keysOf(after)).toEqual([`${wall}:${near}`]);
  expect([after.contacts.begun[0], after.contacts.depths[0]]).toEqual([0, Math.fround(-0.69)]);
  service.setTransform(bullet, at(50, 0, 0));
  const { contacts } = await service.update();
  expect(contacts.count).toBe(3);
  expect([...contacts].filter(({ time }) => time < 1).length).toBe(2);
});

describe('a frame that is lost with its worker', () => {
  /**
   * Bullets left of a wall: a single one, two of a block, one that adapters move, two of an array that an adapter writes, and one
   * that is to be teleported.
   */
  async function shots() {
    const mortal = await KillableService.create();
    const { service } = mortal;
    const wall = service.addObject({ shape: { type: 'box', halfExtents: [0.01, 50, 5] }, motion: 'static' });
    const single = service.addObject({ ...ball(0.01), group: 1, matrix: at(-50, 0, 0) });
    const block = service.addInstances({ ...ball(0.01), group: 1 }, 2);
    const put = service.addObject({ ...ball(0.01), group: 1, matrix: at(-50, 9, 0) });
    const bulk = service.addObject({ ...ball(0.01), group: 1, matrix: at(-50, 15, 0) });
    const instances = service.addInstances({ ...ball(0.01), group: 1 }, 2);
    const array = new Float32Array(32);
    const moveInstances = (x: number, isNew = false) => {
      array.set([...at(x, 18, 0), ...at(x, 21, 0)]);
      if (isNew) service.placeInstances(instances, array, at(0, 0, 0));
      else service.moveInstances(instances, array, at(0, 0, 0));
    };
    moveInstances(-50, true);
    const standing = service.addObject({ shape: { type: 'sphere', radius: 0.01 }, group: 1, matrix: at(-50, 12, 0) });
    // An adapter calls update() in the same task.
    const moveTo = (x: number, isUpdated = true) => {
      if (isUpdated) service.moveObjects(Uint32Array.of(bulk), [at(x, 15, 0)], 0, 1);
      service.setTransform(single, at(x, 0, 0));
      service.setTransforms(block, Float64Array.from([...at(x, 3, 0), ...at(x, 6, 0)]));
      moveInstances(x);
      service.setTransform(standing, at(x, 12, 0));
    };
    const expected = [single, ...block, bulk, ...instances].map((id) => `${wall}:${id}`);
    return { mortal, service, moveTo, moveInstances, put, single, block, instances, expected };
  }
  type Shots = Awaited<ReturnType<typeof shots>>;
  const held = ({ mortal }: Shots) => mortal.workers.at(-1)!.hold();
  const rejects = (update: Promise<FrameResult>) => expect(update).rejects.toMatchObject({ code: 'WORKER_LOST' });
  const timesOf = ({ contacts }: FrameResult) => [...contacts.time].map((time) => time.toFixed(3));

  test('is on the way of the next one', async () => {
    const scene = await shots();
    const { mortal, service, moveTo, put, single, expected } = scene;
    moveTo(-60);
    await service.update();
    moveTo(-50);
    expect((await service.update()).contacts.count).toBe(0);
    held(scene);
    moveTo(50);
    const lost = rejects(service.update());
    service.setObject(put, { matrix: at(50, 9, 0) });
    await mortal.kill();
    await lost;
    // Queries see where the objects are.
    const hit = await service.raycast({ origin: [50, 0, 9], direction: [0, 0, -1] });
    expect(hit?.object).toBe(single);
    const after = await service.update();
    expect(keysOf(after)).toEqual(expected);
    expect(timesOf(after)).toEqual(expected.map(() => '0.500'));
    const next = await service.update();
    expect([next.contacts.count, next.contacts.endedA.length]).toEqual([0, 6]);
  });

  test('so is the one that waited behind it, and what is said between two workers', async () => {
    const scene = await shots();
    const { mortal, service, moveTo, expected } = scene;
    moveTo(-50);
    await service.update();
    held(scene);
    moveTo(-20);
    const first = rejects(service.update());
    moveTo(-10);
    const second = rejects(service.update());
    mortal.service.addEventListener('lost', () => moveTo(0.5, false), { once: true });
    await mortal.kill();
    await Promise.all([first, second]);
    // And once more, before any frame was answered.
    held(scene);
    moveTo(50);
    const third = rejects(service.update());
    await mortal.kill();
    await third;
    const after = await service.update();
    expect(keysOf(after)).toEqual(expected);
    expect(timesOf(after)).toEqual(expected.map(() => '0.500'));
  });

  test('of which the first was answered leaves the way of the second', async () => {
    const scene = await shots();
    const { mortal, service, moveTo, expected } = scene;
    moveTo(-100);
    await service.update();
    held(scene);
    moveTo(-50);
    const first = service.update();
    moveTo(50);
    const second = rejects(service.update());
    await mortal.workers.at(-1)!.release();
    expect((await first).contacts.count).toBe(0);
    await mortal.kill();
    await second;
    const after = await service.update();
    expect(keysOf(after)).toEqual(expected);
    expect(timesOf(after)).toEqual(expected.map(() => '0.500'));
  });

  test('of instances that an adapter writes on before it says so, and that became continuous since they were placed', async () => {
    const scene = await shots();
    const { mortal, service, moveInstances, instances, expected } = scene;
    const isContinuous = (continuous: boolean) => {
      for (const id of instances) service.setObject(id, { continuous });
    };
    isContinuous(false);
    moveInstances(-70);
    await service.update();
    isContinuous(true);
    await service.update();
    held(scene);
    moveInstances(30);
    const lost = rejects(service.update());
    // What is written after an update() is not sent.
    moveInstances(-70);
    moveInstances(30);
    await mortal.kill();
    await lost;
    const after = await service.update();
    const timeOf = (key: string) => after.contacts.time[keysOf(after).indexOf(key)];
    for (const key of expected.slice(-2)) expect(timeOf(key)).toBeCloseTo(0.7, 3);
    // No object that is not continuous has a swept path.
    isContinuous(false);
    moveInstances(-70);
    await service.update();
    held(scene);
    moveInstances(30);
    const again = rejects(service.update());
    await mortal.kill();
    await again;
    const last = keysOf(await service.update());
    expect(last.filter((key) => expected.slice(-2).includes(key))).toEqual([]);
  });

  test('has no way for what is new or was put somewhere', async () => {
    const scene = await shots();
    const { mortal, service, moveTo, put, block } = scene;
    moveTo(-50);
    await service.update();
    held(scene);
    const made = service.addObject({ ...ball(0.01), group: 1, matrix: at(-50, 20, 0) });
    service.setObject(put, { matrix: at(-40, 9, 0) });
    service.setTransforms(Uint32Array.of(made, put), Float64Array.from([...at(50, 20, 0), ...at(50, 9, 0)]));
    service.removeObject(block[0]);
    const lost = rejects(service.update());
    await mortal.kill();
    await lost;
    expect((await service.update()).contacts.count).toBe(0);
    service.setTransform(put, at(-50, 9, 0));
    expect((await service.update()).contacts.count).toBe(1);
  });
});

test(`with a budget that is used up in every frame nothing passes unseen either, seed ${SEED}`, async () => {
  service.dispose();
  service = await createCollisionService({ contactBudget: 0.05 });
  const random = new Random(SEED);
  const mesh = await service.addMesh(icosphere(1, 8));
  const walls = Array.from({ length: 60 }, (_, i) =>
    service.addObject({ shape: { type: 'mesh', mesh }, matrix: at(0, 6 * i, 0), motion: 'static' }),
  );
  const bullets = walls.map((_, i) => service.addObject({ ...ball(0.01), group: 1, matrix: at(-20, 6 * i, 0.1) }));
  await service.update();
  const unseen = new Set(walls.map((wall, i) => `${wall}:${bullets[i]}`));
  let waited = 0;
  for (let frame = 0; unseen.size > 0 && frame < 400; frame++) {
    // Forwards, and to and fro behind the wall.
    const x = frame < 4 ? -10 + 10 * frame : 20 + random.range(0, 1);
    for (const [i, id] of bullets.entries()) service.setTransform(id, at(x, 6 * i, 0.1));
    const result = await service.update();
    waited += result.contacts.waiting;
    for (const key of keysOf(result)) unseen.delete(key);
  }
  expect([...unseen]).toEqual([]);
  expect(waited).toBeGreaterThan(0);
});

test(`what changes while a frame is under way leaves its ways as they are, seed ${SEED}`, {
  timeout: 60_000,
}, async () => {
  const mesh = await service.addMesh(icosphere(1, 24));
  const walls = Array.from({ length: 80 }, (_, i) =>
    service.addObject({ shape: { type: 'mesh', mesh }, matrix: at(0, 3 * i, 0), continuous: i % 2 === 0 }),
  );
  const others = walls.map((_, i) =>
    service.addObject({ shape: { type: 'mesh', mesh }, continuous: true, group: 1, matrix: at(-9, 3 * i, 0.2) }),
  );
  await service.update();
  let x = -9;
  for (let frame = 0; frame < 6; frame++) {
    x = -x;
    for (const [i, id] of others.entries()) service.setTransform(id, at(x, 3 * i, 0.2));
    const answer = service.update();
    // Other objects come and go meanwhile, and the positions of the next frame are known early.
    const extra = service.addObject({ ...ball(0.5), matrix: at(500, 0, 0) });
    const [hit] = await Promise.all([
      service.raycast({ origin: [0, -5, 0], direction: [0, 1, 0] }),
      service.overlap({ type: 'sphere', radius: 1 }),
    ]);
    expect(hit).not.toBeNull();
    service.removeObject(extra);
    const { contacts } = await answer;
    const found = new Set(keysOf({ contacts } as FrameResult));
    expect(walls.filter((wall, i) => !found.has(`${wall}:${others[i]}`))).toEqual([]);
    for (const time of contacts.time) expect(time).toBeLessThan(1);
  }
});
