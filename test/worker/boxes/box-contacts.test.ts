// Contacts of detail 'bounds' are those of the boxes that represent objects: against separating axes in float64.
import { type CollisionService, createCollisionService, type NamedBox, type ObjectId } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { boxMatrix, randomBoxes } from '../../fixtures/given-boxes.js';
import { PLACES } from '../../fixtures/twin.js';
import { box, separation } from '../../oracle/convex.js';
import { icosphere } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

/** World units within which rounding decides. */
const DOUBT = 1e-6;
const BALL = icosphere(0.5, 1);

interface Thing {
  id: ObjectId;
  /** Empty if its bounds represent it. */
  boxes: NamedBox[];
  matrix: Matrix4;
}

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

/** The pairs of boxes, by their numbers, that certainly meet, and those that may. */
function pairsOf(a: Thing, b: Thing, clearance = 0): { sure: string[]; open: string[] } {
  const [sure, open]: [string[], string[]] = [[], []];
  const partsOf = ({ boxes, matrix }: Thing): [number, Matrix4][] =>
    boxes.length > 0 ? boxes.map((each, i) => [i, boxMatrix(each, matrix)]) : [[-1, matrix]];
  for (const [i, p] of partsOf(a)) {
    for (const [j, q] of partsOf(b)) {
      const apart = separation(box(p), box(q), DOUBT + clearance);
      if (apart < clearance + DOUBT) open.push(`${i} ${j}`);
      if (apart < clearance - DOUBT) sure.push(`${i} ${j}`);
    }
  }
  return { sure, open };
}

function foundOf(bones: Int32Array): string[] {
  return Array.from({ length: bones.length / 2 }, (_, i) => `${bones[2 * i]} ${bones[2 * i + 1]}`);
}

describe.each(PLACES)('%s', (_, place) => {
  test(`the boxes that meet are those of separating axes, in frames and asked for, seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const mesh = await service.addMesh(BALL);
    const things: Thing[] = [];
    const placed = () => {
      const matrix = random.placement(random.point(2.2), { low: 0.4, high: 1.3, mirrored: 0.4, sheared: 0.2 });
      const moved = matrix.clone().setPosition(new Vector3().setFromMatrixPosition(matrix).add(place));
      return { moved, exact: matrix.setPosition(new Vector3().setFromMatrixPosition(moved).sub(place)) };
    };
    for (let i = 0; i < 8; i++) {
      const { moved, exact } = placed();
      const isPlain = i >= 6;
      const boxes = isPlain ? [] : randomBoxes(random, 1 + random.integer(4));
      const id = service.addObject({
        shape: isPlain ? { type: 'box', halfExtents: [1, 1, 1] } : { type: 'mesh', mesh },
        matrix: moved.elements,
        contacts: 'bounds',
        ...(!isPlain && { boxes }),
      });
      things.push({ id, boxes, matrix: exact });
    }
    let met = 0;
    for (let frame = 0; frame < 12; frame++) {
      for (const thing of things) {
        if (random.chance(0.5)) continue;
        const { moved, exact } = placed();
        service.setTransform(thing.id, moved.elements);
        thing.matrix = exact;
      }
      const { contacts } = (await service.update()).copy();
      for (const a of things) {
        for (const b of things) {
          if (a.id >= b.id) continue;
          const { sure, open } = pairsOf(a, b);
          const pair = [...contacts].find((each) => each.a === a.id && each.b === b.id);
          const areBoxes = a.boxes.length + b.boxes.length > 0;
          const found = foundOf(pair?.bones ?? new Int32Array());
          if (areBoxes) {
            expect(found.filter((each) => !open.includes(each))).toEqual([]);
            expect(sure.filter((each) => !found.includes(each))).toEqual([]);
            expect(pair === undefined).toBe(found.length === 0);
          } else expect(found).toEqual([]);
          if (pair) expect(pair.contained).toBe(0);
          const asked = await service.contact(b.id, a.id, { detail: 'bounds' });
          expect(asked === null).toBe(pair === undefined);
          const turned = foundOf(asked?.bones ?? new Int32Array()).map((each) => each.split(' ').reverse().join(' '));
          expect(turned.sort()).toEqual(found.sort());
          met += found.length;
        }
      }
    }
    expect(met).toBeGreaterThan(40);
  });

  test('a clearance is measured between boxes, and what flies by meets them on its way', async () => {
    const mesh = await service.addMesh(BALL);
    const boxes: NamedBox[] = [
      { name: 'near', center: [-3, 0, 0], halfExtents: [0.5, 0.5, 0.5] },
      { name: 'far', center: [3, 0, 0], halfExtents: [0.5, 0.5, 0.5] },
    ];
    const at = (x: number, y: number) => new Matrix4().makeTranslation(place.x + x, place.y + y, place.z).elements;
    const ground = service.addObject({ shape: { type: 'mesh', mesh }, matrix: at(0, 0), contacts: 'bounds', boxes });
    const shape = { type: 'box', halfExtents: [0.25, 0.25, 0.25] } as const;
    const other = service.addObject({ shape, matrix: at(3, 1), contacts: 'bounds', clearance: 0.3 });
    const pairs = async () => {
      const { contacts } = await service.update();
      return [...contacts].map(({ a, b, bones, time }) => ({ a, b, bones: foundOf(bones), time }));
    };
    expect(await pairs()).toEqual([{ a: ground, b: other, bones: ['1 -1'], time: 1 }]);
    service.setObject(other, { clearance: 0.2 });
    expect(await pairs()).toEqual([]);
    service.setObject(other, { clearance: 0, continuous: true });
    service.setTransform(other, at(0, 5));
    expect(await pairs()).toEqual([]);
    // Between the boxes, where the bounds of both are.
    service.setTransform(other, at(0, -5));
    expect(await pairs()).toEqual([]);
    service.setTransform(other, at(-3, -5));
    await service.update();
    service.setTransform(other, at(-3, 5));
    const [met] = await pairs();
    expect(met).toMatchObject({ a: ground, b: other, bones: ['0 -1'] });
    expect(met.time).toBeGreaterThan(0.42);
    expect(met.time).toBeLessThanOrEqual(0.425 + 1e-6);
  });

  test.each([0, 1, 2])(
    'boxes whose faces just touch along axis %d meet, and those a hair apart do not',
    async (axis) => {
      const mesh = await service.addMesh(BALL);
      const at = (by: number) => {
        const offset = new Vector3().setComponent(axis, by).add(place);
        return new Matrix4().setPosition(offset).elements;
      };
      const boxes: NamedBox[] = [{ name: 'all', center: [0, 0, 0], halfExtents: [0.5, 0.5, 0.5] }];
      const given = { shape: { type: 'mesh', mesh }, contacts: 'bounds', boxes } as const;
      const plain = { shape: { type: 'box', halfExtents: [0.25, 0.25, 0.25] }, contacts: 'bounds' } as const;
      const first = service.addObject({ ...given, matrix: at(0) });
      const others = [
        { id: service.addObject({ ...plain, matrix: at(9) }), half: 0.25, bone: -1 },
        { id: service.addObject({ ...given, matrix: at(-9) }), half: 0.5, bone: 0 },
      ];
      for (const { id, half, bone } of others) {
        for (const side of [-1, 1]) {
          for (const gap of [0, 1e-3]) {
            service.setTransform(id, at(side * (0.5 + half + gap)));
            const pairs = [...(await service.update()).copy().contacts].filter((each) => each.b === id);
            expect(pairs.map(({ a, bones }) => [a, ...bones])).toEqual(gap === 0 ? [[first, 0, bone]] : []);
            const asked = await service.contact(id, first, { detail: 'bounds' });
            expect(asked && [...asked.bones!]).toEqual(gap === 0 ? [bone, 0] : null);
          }
        }
        service.setTransform(id, at(99));
      }
    },
  );
});
