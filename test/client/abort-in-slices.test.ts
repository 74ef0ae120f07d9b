// A call that is aborted between its slices ends there: the call that waits behind it is next.
import { type CollisionService, createCollisionService, type MeshId, type ObjectId } from 'collision-worker';
import { Matrix4 } from 'three';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { icosphere } from '../oracle/meshes.js';

/**
 * Picks that are asked for together with the calls they interleave
 * with: fewer than the slices of any call here that is not aborted.
 */
const PICKS = 100;

let worker: GatedWorker;
let service: CollisionService;
let mesh: MeshId;
/** Two meshes in the same place, all of whose triangles intersect: that takes very many slices. */
let large: readonly [ObjectId, ObjectId];
/** Two small ones, which take one slice but wait for the call in progress. */
let small: readonly [ObjectId, ObjectId];
/** Other objects of the large mesh, far away. */
let many: ObjectId[];

beforeAll(async () => {
  worker = new GatedWorker();
  service = await createCollisionService({ createWorker: () => worker, builders: 0 });
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

/** Calls that take many slices, and a call of the same kind that waits behind each. */
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

const pick = () => service.raycast({ origin: [0, 100, 0], direction: [0, 1, 0] });

/** Begins a call that takes many slices and aborts it halfway: the call asked for behind it has to be next. */
async function abortFirst(ask: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const abort = new AbortController();
  let aborted: Promise<unknown> | undefined;
  await worker.untilAnswer(() => {
    aborted = ask(abort.signal);
    return pick();
  });
  abort.abort();
  await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
}

test.each(asked)('%s gives way', async (_, ask, askBehind) => {
  const whole = await worker.answeredWithin(PICKS, () => ask(new AbortController().signal), pick);
  expect(whole.answered).toBe(PICKS);
  await abortFirst(ask);
  const behind = await worker.answeredWithin(PICKS, askBehind, pick);
  expect(behind.answered).toBeLessThan(PICKS / 3);
});

test('one that waits for its turn gives way to the one behind it, and both leave no mess', async () => {
  let first: ReturnType<typeof service.contact> | undefined;
  await abortFirst((signal) => {
    first = service.contact(...large, { detail: 'triangles' });
    return service.contact(...large, { detail: 'triangles', signal });
  });
  const whole = await worker.answeredWithin(PICKS, () => first!, pick);
  expect(whole.answered).toBe(PICKS);
  const third = await worker.answeredWithin(PICKS, contactOfSmall, pick);
  expect(third.answered).toBeLessThan(PICKS / 3);
  const again = await service.contact(...large, { detail: 'triangles' });
  expect(again!.triangles).toEqual(whole.answer!.triangles);
  expect(again!.segments).toEqual(whole.answer!.segments);
});
