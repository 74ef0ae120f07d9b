import { type CollisionService, createCollisionService, type FrameResult } from 'collision-worker';
import { Matrix4 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';

const WALLS = 6;
/** More frames than it takes to test all pairs several times, one in each frame. */
const FRAMES = 60;

let service: CollisionService;
let ball: number;

const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;

beforeEach(async () => {
  service = await createCollisionService({ contactBudget: Number.MIN_VALUE, builders: 0 });
  ball = service.addObject({
    shape: { type: 'sphere', radius: 0.5 },
    continuous: true,
    contacts: 'any',
    matrix: at(-10),
  });
  for (let i = 0; i < WALLS; i++) {
    const shape = { type: 'box', halfExtents: [0.1, 2, 2] } as const;
    service.addObject({ shape, motion: 'static', contacts: 'any', matrix: at(1.5 * i) });
  }
  await service.update();
});

afterEach(() => service.dispose());

/** Returns how many walls have been met by the frames, and the last frame. */
async function run(move: (frame: number) => void): Promise<[met: number, last: FrameResult]> {
  const met = new Set<number>();
  let last: FrameResult | undefined;
  for (let frame = 0; frame < FRAMES; frame++) {
    move(frame);
    last = await service.update();
    for (const wall of last.contacts.b) met.add(wall);
  }
  return [met.size, last!];
}

test('a ball that passed walls in one frame, more than the budget tests in one, ends its contacts at rest', async () => {
  service.setTransform(ball, at(50));
  const [met, { contacts }] = await run(() => {});
  expect(met).toBe(WALLS);
  expect([contacts.count, contacts.waiting]).toEqual([0, 0]);
});

test('a ball that flies on after it passed the walls ends its contacts', async () => {
  const [met, { contacts }] = await run((frame) => service.setTransform(ball, at(50 + frame)));
  expect(met).toBe(WALLS);
  expect([contacts.count, contacts.waiting]).toEqual([0, 0]);
});

test('a continuous object at rest is asleep', async () => {
  service.setTransform(ball, at(-5));
  for (let frame = 0; frame < 4; frame++) await service.update();
  const { bounds } = await service.inspect({ bounds: true });
  expect(bounds!.asleep[bounds!.ids.indexOf(ball)]).toBe(1);
});
