// `contact` examined a pair in one go, and all other queries waited for it.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { dragon } from '../oracle/dragon.js';

const RAY = { origin: [-0.02, 0.12, 1], direction: [0, 0, -1] } as const;
const DETAIL = { detail: 'full' } as const;

let worker: GatedWorker;
let service: CollisionService;
let body: number;
let box: number;
beforeEach(async () => {
  worker = new GatedWorker();
  service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  const mesh = await service.addMesh(dragon(202520));
  const collidesWith = 0;
  body = service.addObject({ shape: { type: 'mesh', mesh }, collidesWith });
  const shape = { type: 'box', halfExtents: [0.06, 0.04, 0.04], center: [0, 0.1, 0] } as const;
  box = service.addObject({ shape, collidesWith });
  await service.update();
});
afterEach(() => service.dispose());

test('rays are answered in the midst of a contact, and what changes the scene waits for it', async () => {
  const balls = [3, 3.1].map((x) => service.addObject({ shape: { type: 'sphere', radius: 0.1, center: [x, 0, 0] } }));
  await service.update();
  const expected = await service.contact(body, box, DETAIL);
  expect(expected!.depths.length).toBeGreaterThan(0);
  let other: ReturnType<typeof service.contact> | undefined;
  const both = () => {
    const contact = service.contact(body, box, DETAIL);
    other = service.contact(box, body, DETAIL);
    return contact;
  };
  const { answer: contact, answered } = await worker.answeredWithin(10, both, async () => {
    expect(await service.raycast(RAY)).not.toBeNull();
    // A short one, whose first object has the higher id.
    expect((await service.contact(balls[1], balls[0]))!.depths.length).toBe(1);
  });
  expect(answered).toBeGreaterThan(0);
  const { ms: _, ...found } = contact!;
  const { ms: __, ...alone } = expected!;
  expect(found).toEqual(alone);
  expect((await other)!.depths).toEqual(alone.depths);

  // It saw the objects as they were at the time of the call.
  const last = service.contact(body, box, DETAIL);
  service.removeObject(box);
  expect((await last)!.depths).toEqual(alone.depths);
  await service.update();
  await expect(service.contact(body, box, DETAIL)).rejects.toMatchObject({ code: 'UNKNOWN_ID' });
});

test('contacts that are asked for in the midst of a frame are found behind it, and short ones at once', async () => {
  const alone = (await service.contact(body, box, DETAIL))!;
  const ball = { type: 'sphere', radius: 0.02, center: [0, 0.1, 0] } as const;
  const small = service.addObject({ shape: ball, collidesWith: 0 });
  for (const id of [body, box]) service.setObject(id, { collidesWith: 0xffffffff, contacts: 'full' });
  const order: string[] = [];
  await worker.shut();
  const frame = service.update().then(({ contacts }) => {
    order.push('frame');
    return contacts;
  });
  const long = service.contact(body, box, DETAIL).then((contact) => {
    order.push('long');
    return contact!;
  });
  const short = service.contact(small, box, DETAIL).then(() => order.push('short'));
  await new Promise(setImmediate);
  worker.open();
  const [contacts, contact] = await Promise.all([frame, long, short]);
  expect(order.indexOf('long')).toBeGreaterThan(order.indexOf('frame'));
  expect(order[0]).toBe('short');
  expect(contact.depths).toEqual(alone.depths);
  expect(contacts.depths.length).toBe(alone.depths.length);
  expect((await service.update()).contacts.count).toBe(1);
});
