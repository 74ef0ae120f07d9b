// Begin, persist and end events over many frames in which anything may happen to objects of all shapes.
import {
  type CollisionService,
  type ContactDetail,
  type ContactSet,
  createCollisionService,
  type ObjectOptions,
  type Shape,
} from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { beforeEach, expect, test } from 'vitest';
import { pairKeys, replay } from '../../../oracle/events.js';
import { boundsOf, boxMesh, soup, type Triangles } from '../../../oracle/meshes.js';
import { findContacts } from '../../../oracle/pairs.js';
import { meshShape, PlacedShape } from '../../../oracle/placed.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, bodiesOf, frameOf } from '../../../oracle/shapes.js';
import { areFarApart, type ConvexSet, cubeBody, gapBetween } from '../../../oracle/solids.js';

const FRAMES = 1000;
const OBJECTS = 30;
/** World units: pairs nearer than this to just touching may be found or not. */
const DOUBT = 1e-6;
const DETAILS: ContactDetail[] = ['none', 'bounds', 'bones', 'any', 'manifold', 'triangles', 'full'];

type Filter = Required<Pick<ObjectOptions, 'motion' | 'layers' | 'collidesWith' | 'group' | 'contacts'>>;

interface Thing {
  shape: AnyShape;
  matrix: Matrix4;
  filter: Filter;
  /** Of the shape, where it is now. */
  bodies: ConvexSet[];
  /** The same for a mesh or a box, by separating axes: exact, and faster. */
  faceted: PlacedShape | null;
  /** Inscribed in its bounds, and circumscribed: both are the bounds, except for a capsule. */
  inner: ConvexSet;
  outer: ConvexSet;
}

/** One that is queried, and one that gets the same commands: both must give the same results. */
let services: [CollisionService, CollisionService];
beforeEach(async () => {
  services = [await createCollisionService(), await createCollisionService()];
  return () => {
    for (const service of services) service.dispose();
  };
});

test(`events of ${FRAMES} frames replay to what brute force gives, seed ${SEED}`, { timeout: 240_000 }, async () => {
  const random = new Random(SEED);
  const shapes = await someShapes(random);
  const things = new Map<number, Thing>();
  const gaps = new Map<string, Touching>();
  const place = () => random.placement(random.point(3), { mirrored: 0.2 });
  const add = (matrix = place()) => {
    const [shape, filter] = [random.pick(shapes), randomFilter(random)];
    const id = both((service) => service.addObject({ shape: shape.shape, matrix: matrix.elements, ...filter }));
    things.set(id, placed(shape, matrix, filter));
  };
  const forgetGaps = (id: number) => {
    for (const key of gaps.keys()) if (key.split(':').includes(String(id))) gaps.delete(key);
  };
  const remove = (id: number) => {
    both((service) => service.removeObject(id));
    things.delete(id);
  };
  const change = (id: number) => {
    const { shape, matrix, filter } = things.get(id)!;
    const after = {
      filter: random.chance(0.5) ? randomFilter(random) : filter,
      shape: random.chance(0.3) ? random.pick(shapes) : shape,
      matrix: random.chance(0.3) ? place() : matrix,
    };
    const options: Partial<ObjectOptions> = { ...after.filter, shape: after.shape.shape };
    if (after.matrix !== matrix) options.matrix = after.matrix.elements;
    both((service) => service.setObject(id, options));
    things.set(id, placed(after.shape, after.matrix, after.filter));
  };
  const move = (id: number) => {
    const { shape, filter } = things.get(id)!;
    const matrix = place();
    both((service) => service.setTransform(id, matrix.elements));
    things.set(id, placed(shape, matrix, filter));
  };

  for (let i = 0; i < OBJECTS; i++) add();
  let pairs: ReadonlyMap<string, string> = new Map();
  const count = { pairs: 0, begun: 0, ended: 0, endedOfRemoved: 0, reused: 0, doubtful: 0 };
  for (let frame = 1; frame <= FRAMES; frame++) {
    // None, one or two, or, now and then, most of them.
    const touched = new Set<number>();
    const some = () => {
      const id = random.pick([...things.keys()]);
      touched.add(id);
      return id;
    };
    for (let i = random.chance(0.02) ? OBJECTS : random.integer(3); i > 0; i--) move(some());
    if (random.chance(0.3)) change(some());
    if (random.chance(0.15) || things.size > OBJECTS) {
      const id = some();
      const { matrix } = things.get(id)!;
      remove(id);
      if (random.chance(0.5)) {
        add(matrix); // in the same slot
        count.reused++;
      }
    }
    if (things.size < OBJECTS && random.chance(0.3)) add();
    for (const id of touched) forgetGaps(id);

    const [{ contacts: found }, { contacts: again }] = await Promise.all(services.map((service) => service.update()));
    expect({ ...again }).toEqual({ ...found });
    for (const id of found.endedA) if (!things.has(id)) count.endedOfRemoved++;
    pairs = expectEvents(pairs, found, things);
    count.doubtful += expectPairs(new Set(pairs.keys()), things, gaps);
    count.pairs += found.count;
    count.begun += found.begun.filter((of) => of === 1).length;
    count.ended += found.endedA.length;
  }
  for (const id of things.keys()) remove(id);
  const [{ contacts: last }] = await Promise.all(services.map((service) => service.update()));
  expect(expectEvents(pairs, last, things).size).toBe(0);
  console.log(JSON.stringify(count));
  expect(count.doubtful).toBeLessThan(count.begun / 10); // 3 to 7 %, depending on the random shapes
  for (const of of [count.begun, count.ended, count.pairs, 5 * count.reused, 5 * count.endedOfRemoved]) {
    expect(of).toBeGreaterThan(FRAMES / 8);
  }
});

function both<T>(call: (service: CollisionService) => T): T {
  const [answer, other] = services.map(call);
  expect(other).toEqual(answer);
  return answer;
}

async function someShapes(random: Random): Promise<AnyShape[]> {
  const mesh = async (triangles: Triangles): Promise<AnyShape> => {
    const ids = await Promise.all(services.map((service) => service.addMesh(triangles)));
    return { shape: { type: 'mesh', mesh: ids[0] }, triangles };
  };
  const solids: Exclude<Shape, { type: 'mesh' }>[] = [
    { type: 'sphere', radius: 0.7 },
    { type: 'sphere', radius: 0.4, center: [0.3, 0, 0.2] },
    { type: 'box', halfExtents: [0.5, 0.8, 0.4] },
    { type: 'box', halfExtents: [1.2, 1.2, 1.2], rotation: random.rotation().toArray() },
    { type: 'capsule', radius: 0.3, from: [0, 0, -0.6], to: [0, 0.2, 0.7] },
  ];
  const meshes = [await mesh(boxMesh(1, 0.6, 1.4)), await mesh(soup(random, 5, 0.6, 0.5))];
  return [...solids.map((shape) => ({ shape })), ...meshes];
}

function randomFilter(random: Random): Filter {
  return {
    motion: random.pick(['static', 'moving', 'moving']),
    layers: 1 + random.integer(7),
    collidesWith: random.chance(0.7) ? 0xffffffff : 1 + random.integer(7),
    group: random.integer(4),
    contacts: random.pick([...DETAILS, 'manifold', 'full']),
  };
}

function placed(shape: AnyShape, matrix: Matrix4, filter: Filter): Thing {
  const bodies = bodiesOf(shape, matrix);
  const cube = matrix.clone().multiply(cubeOf(shape));
  const { type } = shape.shape;
  const solid = type === 'box' ? { mesh: null, bounds: cubeOf(shape) } : shape.triangles && meshShape(shape.triangles);
  const faceted = solid ? new PlacedShape(0, solid, matrix) : null;
  const own = { shape, matrix, filter, bodies, faceted };
  if (type !== 'capsule') return { ...own, inner: cubeBody(cube), outer: cubeBody(cube) };
  const wider = cube.scale(new Vector3(Math.SQRT2, Math.SQRT2, 1));
  return { ...own, inner: bodies[0], outer: cubeBody(wider) };
}

/** From the cube of half size 1 to the shape's own bounds. */
function cubeOf({ shape, triangles }: AnyShape): Matrix4 {
  if (!triangles) {
    const { matrix, half } = frameOf(shape);
    return matrix.scale(new Vector3(1, 1, 1 + half));
  }
  const bounds = boundsOf(triangles.positions);
  const half = bounds.getSize(new Vector3()).multiplyScalar(0.5);
  return new Matrix4().makeScale(half.x, half.y, half.z).setPosition(bounds.getCenter(new Vector3()));
}

/** Returns the groups of each pair of the frame, after checking that events and groups are as expected. */
function expectEvents(
  before: ReadonlyMap<string, string>,
  found: ContactSet,
  things: ReadonlyMap<number, Thing>,
): Map<string, string> {
  const keys = pairKeys(found.a, found.b);
  const after = replay(new Set(before.keys()), found);
  expect([...after].sort()).toEqual(keys.toSorted());
  for (const [a, b] of [
    [found.a, found.b],
    [found.endedA, found.endedB],
  ]) {
    for (let i = 0; i < a.length; i++) {
      expect(a[i]).toBeLessThan(b[i]);
      if (i > 0) expect(a[i - 1] < a[i] || (a[i - 1] === a[i] && b[i - 1] < b[i])).toBe(true);
    }
  }
  pairKeys(found.endedA, found.endedB).forEach((key, i) => {
    expect(`${found.endedGroupA[i]} ${found.endedGroupB[i]}`, `groups of ${key}`).toBe(before.get(key));
  });
  const groups = new Map<string, string>();
  keys.forEach((key, i) => {
    const expected = [found.a[i], found.b[i]].map((id) => things.get(id)!.filter.group).join(' ');
    expect(`${found.groupA[i]} ${found.groupB[i]}`, `groups of ${key}`).toBe(expected);
    groups.set(key, expected);
  });
  expect([...found.stale, found.waiting].every((of) => of === 0)).toBe(true);
  return groups;
}

interface Touching {
  shapes?: boolean | null;
  bounds?: boolean | null;
}

/** Returns how many pairs are in doubt; all others are as expected. */
function expectPairs(
  found: ReadonlySet<string>,
  things: ReadonlyMap<number, Thing>,
  known: Map<string, Touching>,
): number {
  const sorted = [...things].sort(([a], [b]) => a - b);
  let doubtful = 0;
  const expected = new Set<string>();
  for (const [i, [idA, a]] of sorted.entries()) {
    for (const [idB, b] of sorted.slice(i + 1)) {
      const detail = Math.min(...[a, b].map(({ filter }) => DETAILS.indexOf(filter.contacts)));
      if (detail === 0 || !mayPair(a.filter, b.filter)) continue;
      const key = `${idA}:${idB}`;
      const gaps = known.get(key) ?? {};
      known.set(key, gaps);
      const of = detail === 1 ? 'bounds' : 'shapes';
      if (gaps[of] === undefined) {
        gaps[of] = detail === 1 ? boundsTouch(a, b) : shapesTouch(a, b);
        if (gaps[of] === null) doubtful++; // once for as long as the two do not move
      }
      const isTouching = gaps[of];
      if (isTouching || (isTouching === null && found.has(key))) expected.add(key);
    }
  }
  expect([...found].sort()).toEqual([...expected].sort());
  return doubtful;
}

function mayPair(a: Filter, b: Filter): boolean {
  if (a.motion === 'static' && b.motion === 'static') return false;
  if (a.group !== 0 && a.group === b.group) return false;
  return (a.layers & b.collidesWith) !== 0 && (b.layers & a.collidesWith) !== 0;
}

/**
 * The rotation of a capsule's bounds about its axis is unspecified: they contain it and are contained in a wider box.
 */
function boundsTouch(a: Thing, b: Thing): boolean | null {
  const isTouching = touch([a.outer], [b.outer]);
  const isOfCapsule = [a, b].some(({ shape }) => shape.shape.type === 'capsule');
  return isTouching && isOfCapsule ? touch([a.inner], [b.inner]) || null : isTouching;
}

function shapesTouch(a: Thing, b: Thing): boolean | null {
  if (!a.faceted || !b.faceted) return touch(a.bodies, b.bodies);
  const [pair] = findContacts([a.faceted, b.faceted], DOUBT);
  if (!pair) return false;
  return Math.abs(pair.separation) < DOUBT ? null : pair.separation < 0;
}

/** Null if in doubt. */
function touch(a: readonly ConvexSet[], b: readonly ConvexSet[]): boolean | null {
  let isSure = true;
  for (const p of a) {
    for (const q of b) {
      if (areFarApart(p, q, DOUBT)) continue;
      const { least, most } = gapBetween(p, q, DOUBT / 10);
      if (most < DOUBT / 2) return true;
      if (least < DOUBT) isSure = false;
    }
  }
  return isSure ? false : null;
}
