// What is aborted in the midst of its slices ends there: what waits behind it comes next.
import { type CollisionService, createCollisionService, type MeshId, type ObjectId } from 'collision-worker';
import { Matrix4 } from 'three';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { icosphere } from '../oracle/meshes.js';

let service: CollisionService;
let mesh: MeshId;
/** Two meshes in the same place, of which all triangles meet: that takes more than a hundred slices. */
let large: readonly [ObjectId, ObjectId];
/** Two small ones, which take one slice but wait for what is under way. */
let small: readonly [ObjectId, ObjectId];
/** Others of the large mesh, far away. */
let many: ObjectId[];

beforeAll(async () => {
  service = await createCollisionService();
  mesh = await service.addMesh(icosphere(1, 32));
  const few = await service.addMesh(icosphere(1, 2));
  const both = (mesh: MeshId, x: number) =>
    [0, 1].map(() =>
      service.addObject({
        shape: { type: 'mesh', mesh },
        matrix: new Matrix4().makeTranslation(x, 0, 0).elements,
        contacts: 'none',
      }),
    ) as [ObjectId, ObjectId];
  large = both(mesh, 0);
  small = both(few, 10);
  many = Array.from({ length: 60 }, (_, i) => both(mesh, 1000 + 10 * i)).flat();
  await service.update();
});
afterAll(() => service.dispose());

/** What takes many slices, and what of the same kind waits behind it. */
const asked: [name: string, (signal: AbortSignal) => Promise<unknown>, () => Promise<unknown>][] = [
  ['a contact', (signal) => service.contact(...large, { detail: 'triangles', signal }), contactOfSmall],
  [
    'a sweep',
    (signal) => service.sweepAll({ type: 'mesh', mesh }, turned(-3, 0), turned(3, 2), { signal, tolerance: 1e-9 }),
    contactOfSmall,
  ],
  [
    'a list of boxes',
    (signal) => service.inspect({ objects: many, maxBoxes: 1e6, signal }),
    () => service.inspect({ objects: [small[0]] }),
  ],
];

async function contactOfSmall(): Promise<void> {
  const contact = await service.contact(...small, { detail: 'triangles' });
  expect(contact!.triangles.length).toBeGreaterThan(0);
}

function turned(x: number, angle: number): ArrayLike<number> {
  return new Matrix4().makeRotationX(angle).setPosition(x, 0, 0).elements;
}

/** Counts the picks, one after the other, that are answered before a promise is settled. */
async function picksBefore(promise: Promise<unknown>): Promise<number> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  let picks = 0;
  for (; !isSettled; picks++) await service.raycast({ origin: [0, 100, 0], direction: [0, 1, 0] });
  return picks;
}

test.each(asked)('%s gives way', async (_, ask, askBehind) => {
  const whole = await picksBefore(ask(new AbortController().signal));
  expect(whole).toBeGreaterThan(25);
  const abort = new AbortController();
  const aborted = ask(abort.signal);
  for (let i = 0; i < 5; i++) await service.raycast({ origin: [0, 100, 0], direction: [0, 1, 0] });
  abort.abort();
  await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
  const behind = askBehind();
  expect(await picksBefore(behind)).toBeLessThan(whole / 3);
  await behind;
});

test('one that waits for its turn gives way to the one behind it, and both leave no mess', async () => {
  const first = service.contact(...large, { detail: 'triangles' });
  const abort = new AbortController();
  const second = service.contact(...large, { detail: 'triangles', signal: abort.signal });
  await service.raycast({ origin: [0, 100, 0], direction: [0, 1, 0] });
  abort.abort();
  await expect(second).rejects.toMatchObject({ code: 'ABORTED' });
  const whole = await picksBefore(first);
  const third = service.contact(...small, { detail: 'triangles' });
  expect(await picksBefore(third)).toBeLessThan(whole / 3);
  const again = await service.contact(...large, { detail: 'triangles' });
  expect(again!.triangles).toEqual((await first)!.triangles);
  expect(again!.segments).toEqual((await first)!.segments);
});
