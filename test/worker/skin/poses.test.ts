// Poses as calls: what they are sent with, what becomes of them, and which are invalid.
import { type CollisionService, createCollisionService, type MeshId } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { type PoseEntry, PoseTable } from '../../../src/client/skin/pose-table.js';
import { KillableService } from '../../fixtures/mortal.js';
import { boxMesh } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { poseOf, poseRandomly, randomRig } from '../../oracle/rigs.js';

const IDENTITY = new Matrix4().elements;
const error = (code: string, message: RegExp) =>
  expect.objectContaining({ name: 'CollisionError', code, message: expect.stringMatching(message) });
const bonesAt = (...xs: number[]) => Float32Array.from(xs.flatMap((x) => IDENTITY.with(12, x)));

/** A box of size 2; its half of x > 0 is moved by bone 1, the other one by bone 0, and all of it by a target: up by 10. */
function halves() {
  const box = boxMesh(2, 2, 2);
  const count = box.positions.length / 3;
  const bones = Uint8Array.from({ length: 4 * count }, (_, i) => (box.positions[3 * (i >> 2)] > 0 ? 1 : 0));
  const weights = Float32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 0 ? 1 : 0));
  const target = Float32Array.from(box.positions, (_, i) => (i % 3 === 1 ? 10 : 0));
  return { ...box, skin: { bones, weights, boneCount: 2 }, morphs: { targets: [target], relative: true } };
}

/** Where a ray from the right, at a height, hits the box: at 1 when it is not posed. */
const right = async (service: CollisionService, y = 0.1) => {
  const hit = await service.raycast({ origin: [100, y, 0.2], direction: [-1, 0, 0] });
  return hit && { x: Math.round(1e4 * hit.point[0]) / 1e4, bone: hit.bone };
};

describe('a pose', () => {
  let service: CollisionService;
  let id: number;
  beforeEach(async () => {
    service = await createCollisionService();
    const mesh = await service.addMesh(halves());
    expect(service.meshInfo(mesh)).toMatchObject({ bones: 2, morphs: 1 });
    id = service.addObject({ shape: { type: 'mesh', mesh } });
    await service.update();
    return () => service.dispose();
  });

  test('takes effect with the next update(), is whole, and goes', async () => {
    expect(await right(service)).toEqual({ x: 1, bone: 1 });
    service.setPose(id, { bones: bonesAt(0, 3) });
    expect(await right(service)).toEqual({ x: 1, bone: 1 });
    await service.update();
    expect(await right(service)).toEqual({ x: 4, bone: 1 });
    service.setPose(id, { morphs: [1] });
    await service.update();
    expect(await right(service)).toBeNull();
    expect(await right(service, 10)).toEqual({ x: 1, bone: 1 });
    service.setPose(id, { morphs: [0.5], bones: bonesAt(0, 2) });
    await service.update();
    expect(await right(service, 5)).toEqual({ x: 3, bone: 1 });
    service.setPose(id, {});
    await service.update();
    expect(await right(service)).toEqual({ x: 1, bone: 1 });
  });

  test('is bound by two matrices', async () => {
    const bind = new Matrix4().makeScale(2, 2, 2).elements;
    service.setPose(id, { bones: bonesAt(0, 3), bind });
    await service.update();
    expect(await right(service)).toEqual({ x: 5, bone: 1 });
    service.setPose(id, { bones: bonesAt(0, 3), bind, bindInverse: new Matrix4().makeScale(0.5, 0.5, 0.5).elements });
    await service.update();
    expect(await right(service)).toEqual({ x: 2.5, bone: 1 });
  });

  test.each([0, 1, 2])('far away along axis %d has bounds that are as large as it is', async (axis) => {
    const away = new Matrix4().setPosition(new Vector3().setComponent(axis, 1000)).elements;
    service.setPose(id, { bones: Float32Array.from([...away, ...away]) });
    await service.update();
    const { bounds } = await service.inspect({ bounds: true });
    const box = bounds!.boxes;
    expect(box[9 + axis]).toBeCloseTo(1000, 0);
    for (let i = 0; i < 9; i += 3) expect(Math.hypot(box[i], box[i + 1], box[i + 2])).toBeLessThan(2);
  });

  test('is the object’s own, stays when that is set anew, and goes with its mesh', async () => {
    const other = service.addObject({
      shape: { type: 'mesh', mesh: await meshOf(service) },
      matrix: IDENTITY.with(13, 50),
    });
    service.setPose(id, { bones: bonesAt(0, 3) });
    await service.update();
    expect(await right(service, 50.1)).toEqual({ x: 1, bone: 1 });
    service.setObject(id, { side: 'front', motion: 'static' });
    await service.update();
    expect(await right(service)).toEqual({ x: 4, bone: 1 });
    service.setObject(id, { shape: { type: 'sphere', radius: 1 } });
    await service.update();
    expect((await right(service, 0))!.bone).toBe(-1);
    service.removeObject(other);
    await service.update();
  });

  test('that is none is rejected alone, and the old one stays', async () => {
    const mesh = await meshOf(service);
    const other = service.addObject({ shape: { type: 'mesh', mesh }, matrix: IDENTITY.with(13, 50) });
    service.setPose(id, { bones: bonesAt(0, 3) });
    expect((await service.update()).rejected).toHaveLength(0);
    const bad = [
      bonesAt(0, Number.NaN),
      bonesAt(Number.POSITIVE_INFINITY, 0),
      bonesAt(0, 3e38),
      bonesAt(0, 0).with(15, 2),
    ];
    for (const [i, bones] of bad.entries()) {
      service.setPose(id, { bones });
      service.setPose(other, { bones: bonesAt(0, i) });
      expect([...(await service.update()).rejected]).toEqual([id]);
      expect(await right(service)).toEqual({ x: 4, bone: 1 });
      expect(await right(service, 50.1)).toEqual({ x: 1 + i, bone: 1 });
    }
  });

  test('that draws everything into a point or a plane is one', async () => {
    const zero = Float32Array.from([...IDENTITY.fill(0).with(15, 1), ...IDENTITY.with(15, 1)]);
    service.setPose(id, { bones: zero });
    expect((await service.update()).rejected).toHaveLength(0);
    expect(await right(service, 0)).toBeNull();
    new Matrix4().identity().toArray(IDENTITY);
    const flat = new Matrix4().makeScale(1, 1, 0).toArray();
    service.setPose(id, { bones: Float32Array.from([...flat, ...flat]) });
    expect((await service.update()).rejected).toHaveLength(0);
    const front = { origin: [0.3, 0.2, 9], direction: [0, 0, -1] } as const;
    expect(await service.raycast(front)).toMatchObject({ distance: 9 });
  });

  test('is said what is wrong with it', async () => {
    const bones = bonesAt(0, 0);
    const bad: [unknown, RegExp][] = [
      [{ bones: bones.subarray(16) }, /length of pose.bones is 16, expected 16 for each of 2 bones/],
      [{ bones: [...bones] }, /pose.bones is an Array of length 32, expected a Float32Array/],
      [{ bones, bind: [1, 2] }, /pose.bind is/],
      [{ bones, bind: IDENTITY.with(0, Number.NaN) }, /pose.bind\[0\] is NaN/],
      [{ bones, bindInverse: IDENTITY.with(3, 1) }, /the bottom row of pose.bindInverse/],
      [{ bind: IDENTITY }, /as there are no bones/],
      [{ morphs: [] }, /length of pose.morphs is 0, expected one for each of 1/],
      [{ morphs: [Number.NaN] }, /pose.morphs\[0\] is NaN/],
      [{ morphs: [1e300] }, /pose.morphs\[0\] is 1e\+300/],
      [{ morph: [1] }, /unknown key "morph"/],
      [undefined, /pose is undefined/],
    ];
    for (const [pose, message] of bad) {
      expect(() => service.setPose(id, pose as never)).toThrow(error('INVALID_ARGUMENT', message));
    }
    expect(() => service.setPose(12345, {})).toThrow(error('UNKNOWN_ID', /id is 12345/));
    const ball = service.addObject({ shape: { type: 'sphere', radius: 1 } });
    expect(() => service.setPose(ball, {})).toThrow(
      error('INVALID_ARGUMENT', /whose mesh has a skin or morph targets/),
    );
    await service.update();
    expect(await right(service)).toEqual({ x: 1, bone: 1 });
  });

  test('of bones that are shared travels once, of an array that was written to meanwhile twice', () => {
    const table = new PoseTable();
    const binds = new Float64Array(32);
    const bones = bonesAt(1, 2);
    const set = (target: number, given: Float32Array) => table.set(target, { bones: given, binds, morphs: [] });
    const bytes = () => {
      const posed: PoseEntry[] = [];
      table.commit(posed);
      return table.measure(table.statesOf(posed, false)) - 288 * posed.length;
    };
    set(1, bones);
    set(2, bones);
    expect(bytes()).toBe(128);
    set(1, bones);
    bones[0] = 7;
    set(2, bones);
    expect(bytes()).toBe(256);
    set(1, bones);
    set(2, bones.slice());
    set(1, bones);
    expect(bytes()).toBe(256);
    table.delete(1);
    expect(Array.from(table.said(), (entry) => entry.id)).toEqual([2]);
  });
});

async function meshOf(service: CollisionService): Promise<number> {
  return service.addMesh(halves());
}

describe('poses of frames', () => {
  test('that join are the newest', async () => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    const [a, b] = [await meshOf(service), await meshOf(service)].map((mesh, i) =>
      service.addObject({ shape: { type: 'mesh', mesh }, matrix: IDENTITY.with(13, 50 * i) }),
    );
    await service.update();
    mortal.workers[0].hold();
    service.setPose(a, { bones: bonesAt(0, 1) });
    const first = service.update();
    service.setPose(a, { bones: bonesAt(0, 2) });
    service.setPose(b, { bones: bonesAt(0, 5) });
    const second = service.update();
    service.setPose(a, { bones: bonesAt(0, 3) });
    const third = service.update();
    expect(third).toBe(second);
    await mortal.workers[0].letGo();
    await Promise.all([first, second]);
    expect(await right(service)).toEqual({ x: 4, bone: 1 });
    expect(await right(service, 50.1)).toEqual({ x: 6, bone: 1 });
  });

  test('are given to the next worker, as update() has said them', async () => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    const ids = [0, 1, 2].map(async (i) =>
      service.addObject({ shape: { type: 'mesh', mesh: await meshOf(service) }, matrix: IDENTITY.with(13, 50 * i) }),
    );
    const [a, b, c] = await Promise.all(ids);
    service.setPose(a, { bones: bonesAt(0, 1) });
    service.setPose(b, { bones: bonesAt(0, 1) });
    await service.update();
    service.setPose(b, { bones: bonesAt(0, 2) });
    await service.update();
    service.setPose(a, { bones: bonesAt(0, 9) }); // not sent yet
    service.setPose(c, { bones: bonesAt(0, 4) });
    service.removeObject(c);
    await mortal.kill();
    expect(await right(service)).toEqual({ x: 2, bone: 1 });
    expect(await right(service, 50.1)).toEqual({ x: 3, bone: 1 });
    await service.update();
    expect(await right(service)).toEqual({ x: 10, bone: 1 });
  });

  test('stay with a mesh of as many bones and targets, for the next worker as well, and go with another one', async () => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    const [mesh, alike] = [await meshOf(service), await meshOf(service)];
    const { morphs: _, ...unmorphed } = halves();
    const { skin, ...box } = halves();
    const fewer = [unmorphed, { ...box, skin: { ...skin, boneCount: 3 } }];
    const others = await Promise.all(fewer.map((other) => service.addMesh(other)));
    const id = service.addObject({ shape: { type: 'mesh', mesh } });
    const become = async (next: MeshId, x: number): Promise<void> => {
      service.setObject(id, { shape: { type: 'mesh', mesh: next } });
      await service.update();
      expect(await right(service)).toEqual({ x, bone: 1 });
      await mortal.kill();
      expect((await service.update()).rejected).toHaveLength(0);
      expect(await right(service)).toEqual({ x, bone: 1 });
    };
    service.setPose(id, { bones: bonesAt(0, 3) });
    await service.update();
    await become(alike, 4);
    for (const other of others) {
      service.setPose(id, { bones: bonesAt(0, 3) });
      await service.update();
      service.setObject(id, { shape: { type: 'mesh', mesh: other } });
      await become(alike, 1);
    }
  });

  test('that were refused are not what the next worker has in place of the ones that were taken', async () => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    const [a, b] = [await meshOf(service), await meshOf(service)].map((mesh, i) =>
      service.addObject({ shape: { type: 'mesh', mesh }, matrix: IDENTITY.with(13, 50 * i) }),
    );
    service.setPose(a, { bones: bonesAt(0, 1) });
    await service.update();
    service.setPose(a, { bones: bonesAt(0, Number.NaN) });
    service.setPose(b, { bones: bonesAt(0, Number.NaN) });
    expect([...(await service.update()).rejected]).toEqual([a, b]);
    for (const x of [2, 2, 3]) {
      await mortal.kill();
      expect(await right(service)).toEqual({ x, bone: 1 });
      expect(await right(service, 50.1)).toEqual({ x: 1, bone: 1 });
      if (x === 3) break;
      // A pose that is lost with its frame is sent to the next worker.
      mortal.workers.at(-1)!.hold();
      service.setPose(a, { bones: bonesAt(0, mortal.workers.length === 2 ? 1 : 2) });
      service.update().catch(() => {});
    }
    service.setPose(b, { bones: bonesAt(0, 6) });
    expect((await service.update()).rejected).toHaveLength(0);
    expect(await right(service)).toEqual({ x: 3, bone: 1 });
    expect(await right(service, 50.1)).toEqual({ x: 7, bone: 1 });
  });

  test('leave the memory in use when objects go', async () => {
    const service = await createCollisionService();
    const random = new Random(SEED);
    const rig = randomRig(random, { bones: 4 });
    const mesh = await service.addMesh(rig.data);
    const used: number[] = [];
    for (let round = 0; round < 6; round++) {
      // The same poses in each round, since the room for a frame's poses is that of the largest frame so far.
      const same = new Random(SEED);
      const ids = service.addInstances({ shape: { type: 'mesh', mesh }, contacts: 'any' }, 5);
      for (let frame = 0; frame < 4; frame++) {
        poseRandomly(same, rig);
        for (const id of ids) service.setPose(id, poseOf(rig));
        await service.update();
        await service.raycast({ origin: [0, 0, 10], direction: [0, 0, -1] });
      }
      for (const id of ids) service.removeObject(id);
      await service.update();
      await service.update();
      used.push(service.stats.usedBytes);
    }
    expect(used.at(-1)).toBeLessThanOrEqual(used[1]);
    service.dispose();
  });
});
