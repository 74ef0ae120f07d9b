import type { ContactDetail, ContactSet, ObjectOptions } from 'collision-worker';
import { Matrix4, PlaneGeometry, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { PLACES, Twin, type TwinShape } from '../../../fixtures/twin.js';
import { box, separation } from '../../../oracle/convex.js';
import { dragon } from '../../../oracle/dragon.js';
import { pairKeys, replay } from '../../../oracle/events.js';
import { boxMesh, icosphere, rods, soup, transformed, trianglesOf } from '../../../oracle/meshes.js';
import { findContacts, type OraclePair } from '../../../oracle/pairs.js';
import { PlacedShape } from '../../../oracle/placed.js';
import { Random, SEED } from '../../../oracle/random.js';

/** World units: pairs nearer than this to just touching may be found or not. */
const DOUBT = 1e-5;

let twin: Twin;
beforeEach(async () => {
  twin = await Twin.create();
  return () => twin.dispose();
});

describe.each(PLACES)(`pairs, %s, seed ${SEED}`, { timeout: 240_000 }, (_, place) => {
  test('120 frames of 500 moving boxes and meshes', async () => {
    const random = new Random(SEED);
    await expectMotion(random, await variousShapes(random), 500, 120, place);
  });

  test('50 frames of 200 flat boxes and meshes among others', async () => {
    const random = new Random(SEED);
    const flat = [
      await twin.mesh(trianglesOf(new PlaneGeometry(2, 2, 2, 2))),
      await twin.mesh(soup(random, 1, 1, 1)),
      twin.box(new Vector3(1, 0, 1)),
      twin.box(new Vector3(0, 0, 1)),
    ];
    await expectMotion(random, [...flat, ...(await variousShapes(random))], 200, 50, place);
  });

  test('20,000 pairs of boxes, near each other and far from all others', async () => {
    const random = new Random(SEED);
    await expectSinglePairs(random, () => twin.box(random.point(0.5).addScalar(0.6)), 20_000, place);
  });

  test('2,000 pairs of boxes, a hair from touching', async () => {
    const random = new Random(SEED);
    const hair = 1e-8;
    const form = () => random.placement(new Vector3(), { low: 0.5, high: 2, mirrored: 0.3, sheared: 0.3 });
    const expected: OraclePair[] = [];
    for (let i = 0; i < 2000; i++) {
      const [shape, way] = [unitBox(), random.direction()];
      const [a, b, middle] = [form(), form(), new Vector3(20 * i, 0, 0).add(place)];
      const at = (distance: number) => b.clone().setPosition(middle.clone().addScaledVector(way, distance));
      const gap = (distance: number) => separation(box(a.clone().setPosition(middle)), box(at(distance)));
      const wanted = random.pick([-1, 1]) * random.logRange(10 * hair, 1e-3);
      let [near, far] = [0, 10];
      for (let step = 0; step < 50; step++) {
        if (gap((near + far) / 2) < wanted) near = (near + far) / 2;
        else far = (near + far) / 2;
      }
      const ids = [twin.add(shape, a.setPosition(middle)), twin.add(shape, at(far))];
      expected.push(
        ...findContacts(
          ids.map((id) => twin.items.get(id)!),
          hair,
        ),
      );
    }
    const { contacts: found } = await twin.service.update();
    expect(expectPairs(found, expected, hair)).toBe(0);
    expect(found.count).toBeGreaterThan(500);
    expect(found.count).toBeLessThan(1500);
  });

  test('5,000 pairs of boxes and meshes, near each other and far from all others', async () => {
    const random = new Random(SEED);
    const shapes = await variousShapes(random);
    await expectSinglePairs(random, () => random.pick(shapes), 5000, place);
  });

  test('60 pairs of dragons and boxes, near each other and far from all others', async () => {
    const random = new Random(SEED);
    const large = transformed(dragon(11_102), (vertex) => vertex.multiplyScalar(8));
    const shapes = [await twin.mesh(large), await twin.mesh(large), unitBox()];
    await expectSinglePairs(random, () => random.pick(shapes), 60, place);
  });

  describe('touching counts, a hair of space does not', () => {
    const turned = new Matrix4().makeRotationY(Math.PI / 5);
    const HAIR = 2 ** -20;
    const cube = boxMesh(2, 2, 2);
    const floor = trianglesOf(new PlaneGeometry(8, 8).rotateX(-Math.PI / 2));

    test.each<[string, shapes: () => Promise<TwinShape[]>, offset: Vector3, linear: Matrix4]>([
      ['a box on a box', async () => [unitBox(), unitBox()], new Vector3(0.5, 2, 0.5), new Matrix4()],
      ['a turned box on a box', async () => [unitBox(), unitBox()], new Vector3(0.5, 2, 0.5), turned],
      ['boxes edge to edge', async () => [unitBox(), unitBox()], new Vector3(2, 2, 0.5), new Matrix4()],
      ['boxes corner to corner', async () => [unitBox(), unitBox()], new Vector3(2, 2, 2), new Matrix4()],
      ['a box on a mesh', async () => [await twin.mesh(cube), unitBox()], new Vector3(0.5, 2, 0.5), turned],
      ['a mesh on a box', async () => [unitBox(), await twin.mesh(cube)], new Vector3(0.5, 2, 0.5), turned],
      [
        'a mesh on a mesh',
        async () => [await twin.mesh(cube), await twin.mesh(cube)],
        new Vector3(0.5, 2, 0.5),
        turned,
      ],
      ['a box on the floor', async () => [await twin.mesh(floor), unitBox()], new Vector3(0.5, 1, 0.5), turned],
      [
        'a mesh on the floor',
        async () => [await twin.mesh(floor), await twin.mesh(cube)],
        new Vector3(0.5, 1, 0.5),
        turned,
      ],
    ])('%s', async (_, makeShapes, offset, linear) => {
      const [below, above] = await makeShapes();
      twin.add(below, new Matrix4().setPosition(place));
      const upper = twin.add(above, linear.clone().setPosition(offset.clone().add(place)));
      expect((await twin.service.update()).contacts.count).toBe(1);
      twin.move(
        upper,
        linear.clone().setPosition(
          offset
            .clone()
            .add(place)
            .add(new Vector3(0, HAIR, 0)),
        ),
      );
      expect((await twin.service.update()).contacts.count).toBe(0);
    });
  });

  test('layers, groups, motion and detail decide who makes a pair, also when they change', async () => {
    const random = new Random(SEED);
    const shapes = await variousShapes(random);
    const filters = new Map<number, Filter>();
    for (let i = 0; i < 200; i++) {
      const filter = randomFilter(random);
      filters.set(twin.add(random.pick(shapes), random.placement(random.point(5).add(place)), filter), filter);
    }

    let pairs: ReadonlySet<string> = new Set();
    for (let frame = 0; frame < 20; frame++) {
      for (const [id] of [...filters].filter(() => random.chance(0.1))) {
        if (random.chance(0.2)) {
          twin.remove(id);
          filters.delete(id);
        } else {
          const filter = randomFilter(random);
          twin.service.setObject(id, filter);
          filters.set(id, filter);
        }
      }
      const { contacts: found } = await twin.service.update();
      pairs = expectEvents(pairs, found);
      expectPairs(found, filteredContacts(filters));
    }
    for (const id of filters.keys()) twin.remove(id);
    const { contacts: none } = await twin.service.update();
    expect(none.count).toBe(0);
    expect(expectEvents(pairs, none).size).toBe(0);
  });
});

/** Moves objects about and compares every frame. */
async function expectMotion(random: Random, shapes: TwinShape[], objects: number, frames: number, place: Vector3) {
  const movers = Array.from({ length: objects }, () => new Mover(random.pick(shapes), random, place));
  const count = { pairs: 0, contained: 0, begun: 0, ended: 0, doubtful: 0 };
  let pairs: ReadonlySet<string> = new Set();
  for (let frame = 0; frame < frames; frame++) {
    for (const mover of movers) mover.step();
    const { contacts: found } = await twin.service.update();
    pairs = expectEvents(pairs, found);
    count.doubtful += expectPairs(found, findContacts(twin.items.values(), DOUBT));
    count.pairs += found.count;
    count.contained += found.contained.filter((of) => of !== 0).length;
    count.begun += found.begun.filter((of) => of === 1).length;
    count.ended += found.endedA.length;
  }
  console.log(`${count.pairs} pairs, of which ${count.doubtful} within ${DOUBT} of touching differ`);
  expect(count.doubtful).toBeLessThan(count.pairs / 1000);
  for (const of of [count.pairs, count.contained, count.begun, count.ended]) expect(of).toBeGreaterThan(frames / 4);
}

/** Compares pairs one by one, each in a cell of a grid. */
async function expectSinglePairs(random: Random, shape: () => TwinShape, pairs: number, place: Vector3) {
  const perSide = Math.ceil(Math.cbrt(pairs));
  const expected: OraclePair[] = [];
  for (let i = 0; i < pairs; i++) {
    const cell = new Vector3(i % perSide, Math.floor(i / perSide) % perSide, Math.floor(i / perSide ** 2));
    const middle = cell.multiplyScalar(20).add(place);
    const put = (position: Vector3) => {
      const id = twin.add(shape(), random.placement(position, { low: 0.5, high: 2, mirrored: 0.3, sheared: 0.3 }));
      return twin.items.get(id)!;
    };
    const [a, b] = [put(middle), put(random.direction().multiplyScalar(random.range(0, 3)).add(middle))];
    expected.push(...findContacts([a, b], DOUBT));
  }
  const { contacts: found } = await twin.service.update();
  const doubtful = expectPairs(found, expected);
  console.log(`${found.count} of ${pairs} pairs in contact, ${doubtful} within ${DOUBT} of touching differ`);
  expect(doubtful).toBeLessThan(pairs / 1000);
  expect(found.count).toBeGreaterThan(pairs / 5);
  expect(found.count).toBeLessThan(pairs * 0.8);
}

function unitBox(): TwinShape {
  return twin.box(new Vector3(1, 1, 1));
}

async function variousShapes(random: Random): Promise<TwinShape[]> {
  return [
    await twin.mesh(icosphere(1, 1)),
    await twin.mesh(soup(random, 15, 0.4, 1)),
    await twin.mesh(rods(random, 3, 1)),
    twin.box(new Vector3(1, 0.7, 0.4)),
    twin.box(new Vector3(0.3, 0.9, 0.6), new Vector3(0.5, 0.5, 0), random.rotation()),
    twin.box(new Vector3(2, 2, 2)), // contains others
  ];
}

/** Rotates on its way through a cube, whose walls reflect it. */
class Mover {
  static readonly #halfSize = 12;
  readonly #id: number;
  readonly #place: Vector3;
  readonly #position: Vector3;
  readonly #velocity: Vector3;
  readonly #rotation = new Matrix4();
  readonly #turn: Matrix4;
  readonly #form: Matrix4;

  constructor(shape: TwinShape, random: Random, place: Vector3) {
    this.#place = place;
    this.#position = random.point(Mover.#halfSize);
    this.#velocity = random.direction().multiplyScalar(0.1);
    this.#turn = new Matrix4().makeRotationAxis(random.direction(), 0.05);
    this.#form = random.placement(new Vector3(), { low: 0.5, high: 1.2, mirrored: 0.3, sheared: 0.3 });
    this.#id = twin.add(shape, this.#matrix());
  }

  step(): void {
    for (let axis = 0; axis < 3; axis++) {
      const [at, speed] = [this.#position.getComponent(axis), this.#velocity.getComponent(axis)];
      if (Math.abs(at + speed) > Mover.#halfSize) this.#velocity.setComponent(axis, -speed);
    }
    this.#position.add(this.#velocity);
    this.#rotation.multiply(this.#turn);
    twin.move(this.#id, this.#matrix());
  }

  #matrix(): Matrix4 {
    return this.#rotation.clone().multiply(this.#form).setPosition(this.#position.clone().add(this.#place));
  }
}

/** Returns in how many cases the two differ; each must be within `doubt` of touching. */
function expectPairs(found: ContactSet, expected: readonly OraclePair[], doubt = DOUBT): number {
  const foundAt = new Map(pairKeys(found.a, found.b).map((key, i) => [key, i]));
  let doubtful = 0;
  for (const { a, b, separation, contained, containedMargin } of expected) {
    const i = foundAt.get(`${a}:${b}`);
    foundAt.delete(`${a}:${b}`);
    if ((i !== undefined) !== separation <= 0) {
      expect(Math.abs(separation), `pair ${a}:${b}`).toBeLessThan(doubt);
      doubtful++;
    } else if (i !== undefined && found.contained[i] !== contained) {
      expect(containedMargin, `pair ${a}:${b} contained ${found.contained[i]}, not ${contained}`).toBeLessThan(doubt);
      doubtful++;
    }
  }
  expect([...foundAt.keys()], 'pairs of objects that are apart').toEqual([]);
  return doubtful;
}

/** Returns the pairs of the frame, after checking that they are sorted and that the events lead to them. */
function expectEvents(before: ReadonlySet<string>, found: ContactSet): Set<string> {
  const pairs = Array.from(found, ({ a, b }) => [a, b]);
  expect(pairs).toEqual(pairs.toSorted(([a, b], [c, d]) => a - c || b - d));
  expect(pairs.every(([a, b]) => a < b)).toBe(true);
  const after = replay(before, found);
  expect([...after].sort()).toEqual(pairKeys(found.a, found.b).sort());
  return after;
}

type Filter = Required<Pick<ObjectOptions, 'motion' | 'layers' | 'collidesWith' | 'group' | 'contacts'>>;

function randomFilter(random: Random): Filter {
  return {
    motion: random.pick(['static', 'moving']),
    layers: 1 + random.integer(7),
    collidesWith: random.chance(0.5) ? 0xffffffff : 1 + random.integer(7),
    group: random.integer(4),
    contacts: random.pick<ContactDetail>(['none', 'bounds', 'any', 'any']),
  };
}

function filteredContacts(filters: ReadonlyMap<number, Filter>): OraclePair[] {
  const items = [...twin.items.values()];
  const boxes = items.map(({ id, shape: { bounds }, matrix }) => new PlacedShape(id, { mesh: null, bounds }, matrix));
  const details = (pair: OraclePair) => [filters.get(pair.a)!.contacts, filters.get(pair.b)!.contacts];
  const byShape = findContacts(items, DOUBT).filter((pair) => details(pair).every((detail) => detail === 'any'));
  const byBounds = findContacts(boxes, DOUBT)
    .filter((pair) => details(pair).includes('bounds') && !details(pair).includes('none'))
    .map((pair) => ({ ...pair, contained: 0 as const }));
  return [...byShape, ...byBounds].filter(({ a, b }) => mayPair(filters.get(a)!, filters.get(b)!));
}

function mayPair(a: Filter, b: Filter): boolean {
  if (a.motion === 'static' && b.motion === 'static') return false;
  if (a.group !== 0 && a.group === b.group) return false;
  return (a.layers & b.collidesWith) !== 0 && (b.layers & a.collidesWith) !== 0;
}
