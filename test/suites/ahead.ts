// Nothing waits for a long frame or contact: queries made meanwhile see all commands before them.
import type { CollisionService, MeshId, ObjectId } from 'collision-worker';
import { Matrix4 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { icosphere } from '../oracle/meshes.js';

/** The participants of the tests besides the service. */
export interface Stage {
  service: CollisionService;
  /** This many balls overlap one another: their contacts take far longer than everything that has to happen before their end. */
  balls: number;
  /** Larger balls, for contact queries, have this many segments along an edge. */
  edge: number;
  /** Resolves to the answer of a query made in the midst of a frame. */
  inMidst<T>(query: () => Promise<T>): Promise<T>;
  /** Lets the worker finish the work in progress. */
  goOn(): void;
}

let stage: Stage;
let service: CollisionService;
let balls: ObjectId[];
let mesh: MeshId;
/** A box in front of the ray, which is cast along the z axis. */
let box: ObjectId;

const translation = (x: number, y = 0, z = 0) => new Matrix4().makeTranslation(x, y, z).elements;
const shape = { type: 'box', halfExtents: [1, 1, 1] } as const;
const ray = (x: number) => ({ origin: [x, 0, -5], direction: [0, 0, 1], tMax: 20 }) as const;

/** Records the order in which promises settle. */
class SettleOrder {
  readonly names: string[] = [];

  note<T>(name: string, promise: Promise<T>): Promise<T> {
    return promise.finally(() => this.names.push(name));
  }
}

/** Resolves when the worker has been in the midst of its work for a while. */
async function waitUntilBusy(): Promise<void> {
  for (let i = 0; i < 3; i++) await cast(1000);
}

const cast = (x: number, tMax = 20) => stage.inMidst(() => service.raycast({ ...ray(x), tMax }));

/** Moves all balls to and fro. */
function moveBalls(step: number): void {
  for (const [i, id] of balls.entries()) {
    service.setTransform(
      id,
      translation(0.5 * Math.sin(i), 0.5 * Math.cos(2 * i), 500 + 0.5 * Math.sin(3 * i) + 0.01 * step),
    );
  }
}

export function testAhead(start: () => Promise<Stage>): void {
  beforeEach(async () => {
    stage = await start();
    service = stage.service;
    mesh = await service.addMesh(icosphere(1, 24));
    const options = { shape: { type: 'mesh', mesh }, contacts: 'full', matrix: translation(0, 0, 500) } as const;
    balls = Array.from({ length: stage.balls }, () => service.addObject(options));
    moveBalls(0);
    box = service.addObject({ shape, matrix: translation(0), contacts: 'none' });
    await service.update();
  });
  afterEach(() => service.dispose());

  test('a ray behind a second update() sees it before the first is answered', async () => {
    const order = new SettleOrder();
    moveBalls(1);
    const first = order.note('first', service.update());
    await waitUntilBusy();
    const hits: (ObjectId | undefined)[] = [];
    let second: Promise<unknown> = Promise.resolve();
    for (let x = 10; x < 60; x += 10) {
      service.setTransform(box, translation(x));
      second = service.update();
      const [hit, gone] = await stage.inMidst(() =>
        Promise.all([service.raycast(ray(x)), service.raycast(ray(x - 10))]),
      );
      hits.push(hit?.object);
      expect(gone).toBeNull();
    }
    order.note('second', second);
    expect(order.names).toEqual([]);
    expect(hits).toEqual([box, box, box, box, box]);
    stage.goOn();
    await Promise.all([first, second]);
    expect(order.names).toEqual(['first', 'second']);
    expect((await service.raycast(ray(50)))?.object).toBe(box);
  });

  test('objects come, change and go behind a second update(), and the first does not know', async () => {
    moveBalls(1);
    const order = new SettleOrder();
    const first = order.note('first', service.update());
    await waitUntilBusy();
    service.setTransform(box, translation(10));
    const second = service.update();
    const added = service.addObject({ shape, matrix: translation(20), contacts: 'none' });
    const [gone] = balls;
    service.removeObject(gone);
    expect((await cast(20))?.object).toBe(added);
    service.setObject(box, { matrix: translation(30) });
    expect((await cast(30))?.object).toBe(box);
    expect(await cast(10)).toBeNull();
    service.removeObject(added);
    expect(await cast(20)).toBeNull();
    expect(order.names).toEqual([]);
    stage.goOn();
    // The first is about all objects before the removal, the second about the remaining ones.
    const before = (await first).copy().contacts;
    const after = (await second).contacts;
    const touches = (contacts: typeof after) => [...contacts.a, ...contacts.b].filter((id) => id === gone).length;
    expect(touches(before)).toBeGreaterThan(0);
    expect(touches(after)).toBe(0);
    expect([...after.endedA, ...after.endedB].filter((id) => id === gone).length).toBe(touches(before));
    // The last value set stays.
    expect((await service.raycast(ray(30)))?.object).toBe(box);
  });

  test('nothing waits for a contact that takes long; it is that of when it was asked for', async () => {
    const large = await service.addMesh(icosphere(1, stage.edge));
    const add = (x: number) =>
      service.addObject({ shape: { type: 'mesh', mesh: large }, matrix: translation(x), contacts: 'none' });
    const [a, ...others] = Array.from({ length: 20 }, (_, i) => add(200 + 0.002 * i));
    const requestContacts = () => others.map((id) => service.contact(a, id, { detail: 'full' }));
    const order = new SettleOrder();
    const contacts = order.note('contacts', Promise.all(requestContacts()));
    service.setTransform(a, translation(500, 500, 500));
    service.setTransform(box, translation(10));
    const first = order.note('first', service.update());
    await waitUntilBusy();
    service.setTransform(box, translation(20));
    const second = order.note('second', service.update());
    expect((await cast(20))?.object).toBe(box);
    expect(order.names).not.toContain('contacts');
    expect(order.names).not.toContain('second');
    stage.goOn();
    expect((await contacts).map((contact) => contact !== null)).toEqual(others.map(() => true));
    await Promise.all([first, second]);
    expect(await service.contact(a, others[0])).toBeNull();
  });

  test('a mesh that is added is there before a frame that takes long is answered', async () => {
    moveBalls(1);
    const order = new SettleOrder();
    const first = order.note('first', service.update());
    await waitUntilBusy();
    const positions = new Float32Array([-1, -1, 0, 1, -1, 0, 0, 1, 0]);
    const triangle = await stage.inMidst(() => service.addMesh({ positions }));
    const object = service.addObject({ shape: { type: 'mesh', mesh: triangle }, matrix: translation(20) });
    expect((await cast(20))?.object).toBe(object);
    expect(order.names).toEqual([]);
    stage.goOn();
    await first;
  });

  test('a ray sees vertices that move before a frame that takes long is answered, and the frame does not', async () => {
    const wall = await service.addMesh({ positions: new Float32Array([-1, -1, 0, 1, -1, 0, 0, 1, 0]) });
    service.setObject(box, { shape: { type: 'mesh', mesh: wall } });
    const { mesh: ball, ...rest } = { mesh: await service.addMesh(icosphere(1, 4)), contacts: 'full' as const };
    const [a, b] = [0, 1.9].map((x) =>
      service.addObject({ ...rest, shape: { type: 'mesh', mesh: ball }, matrix: translation(x, 300) }),
    );
    await service.update();
    const { usedBytes } = service.stats;
    const order = new SettleOrder();
    moveBalls(1);
    service.setTransform(a, translation(0, 300, 0.1));
    const first = order.note('first', service.update());
    await waitUntilBusy();
    for (let x = 10; x < 60; x += 10) {
      service.updateMesh(wall, new Float32Array([x - 1, -1, 0, x + 1, -1, 0, x, 1, 0]));
      service.setTransform(box, translation(0, 0, x));
      service.update();
      const [hit, gone] = await stage.inMidst(() =>
        Promise.all([service.raycast({ ...ray(x), tMax: 100 }), service.raycast(ray(x - 10))]),
      );
      expect(hit).toMatchObject({ object: box, distance: x + 5 });
      expect(gone).toBeNull();
    }
    await stage.inMidst(() => service.updateMesh(ball, new Float32Array(icosphere(0.8, 4).positions)));
    const flat = stage.inMidst(() => service.updateMesh(wall, new Float32Array(9)));
    await expect(flat).rejects.toMatchObject({ code: 'BAD_DATA' });
    expect((await cast(50, 100))?.object).toBe(box);
    expect(order.names).toEqual([]);
    stage.goOn();
    const areTouching = ({ contacts }: Awaited<typeof first>) =>
      [...contacts.a].some((id, i) => id === a && contacts.b[i] === b);
    // The balls touch in the frame that began before they shrank.
    const [before, after] = [areTouching(await first), areTouching(await service.update())];
    expect([before, after]).toEqual([true, false]);
    await service.update();
    // Data that a pair needed for the first time is kept, and no copy of an earlier state of a mesh, however often it moves.
    const { usedBytes: used } = service.stats;
    expect(used - usedBytes).toBeLessThan(service.meshInfo(ball).bytes);
    for (let i = 0; i < 3; i++) {
      await service.updateMesh(ball, new Float32Array(icosphere(1, 4).positions));
      moveBalls(1 + i);
      service.setTransform(a, translation(0, 300, 0.1 * i));
      const frame = service.update();
      await waitUntilBusy();
      await stage.inMidst(() => service.updateMesh(ball, new Float32Array(icosphere(0.8, 4).positions)));
      stage.goOn();
      await frame;
      await service.update();
      await service.update();
    }
    // The layout of free memory at an allocation depends on how far the frame was, and an allocation includes up to 64 extra
    // bytes if they are too few for another piece. A leak takes at least 128 bytes, each time.
    expect(service.stats.usedBytes - used).toBeLessThan(3 * 128);
  });

  test('a mesh that is removed is gone when the frame that reads it is answered, and nothing waits for that', async () => {
    moveBalls(1);
    const order = new SettleOrder();
    const first = order.note('first', service.update());
    await waitUntilBusy();
    for (const id of balls) service.removeObject(id);
    service.removeMesh(mesh);
    service.setTransform(box, translation(10));
    const second = service.update();
    expect((await cast(10))?.object).toBe(box);
    expect(order.names).toEqual([]);
    stage.goOn();
    expect((await first).contacts.count).toBeGreaterThan(balls.length);
    const { usedBytes } = service.stats;
    expect((await second).contacts.count).toBe(0);
    await service.update();
    expect(service.stats.usedBytes).toBeLessThan(usedBytes);
  });
}
