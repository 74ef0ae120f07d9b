// Contacts 'bones': which boxes of bones intersect those of another object, or its shape, against slow float64 code.
import {
  type CollisionService,
  type ContactDetail,
  type ContactSet,
  createCollisionService,
  type ObjectId,
  type Shape,
} from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { KillableService } from '../../fixtures/mortal.js';
import { boneBoxes } from '../../oracle/bone-boxes.js';
import { type BonePair, bonePairs, type PairObject } from '../../oracle/bone-pairs.js';
import { icosphere, type Triangles, waves } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import {
  boneArray,
  deformedPositions,
  plateMesh,
  plates,
  poseOddly,
  poseOf,
  type Rig,
  type RigOptions,
  randomRig,
} from '../../oracle/rigs.js';
import { bodiesOf, randomSolid } from '../../oracle/shapes.js';

const KINDS: [string, RigOptions][] = [
  ['one bone', { bones: 1 }],
  ['four bones', { bones: 4 }],
  ['sixty bones', { bones: 60 }],
  ['weights of any sum', { bones: 8, anyWeights: true, zeroWeights: true }],
  ['morph targets, which move no box', { bones: 5, targets: 2 }],
];
const FRAMES = 4;
const DETAILS = ['bones', 'any', 'manifold', 'triangles', 'full', 'bounds'] as const;
const OFTEN_BONES = ['bones', 'bones', 'bones', 'any'] as const;

/** An object of the service, and its data for slow code. */
interface Thing {
  id: ObjectId;
  contacts: ContactDetail;
  matrix: Matrix4;
  rig?: Rig;
  party: (matrix: Matrix4) => PairObject;
}

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

const place = (random: Random) =>
  random.placement(random.point(1.2), { low: 0.7, high: 1.4, mirrored: 0.2, sheared: 0.2 });
const partyOf = (thing: Thing) => thing.party(thing.matrix);
const hasBones = ({ rig }: Thing) => rig !== undefined && rig.data.skin !== undefined;

/** Adds one object of each kind among some with bones, in any order. */
async function populate(random: Random, options: RigOptions, to: CollisionService): Promise<Thing[]> {
  const [ball, ground] = [icosphere(1, 2), waves(4)];
  const meshes = { ball: await to.addMesh(ball), ground: await to.addMesh(ground) };
  const add = (shape: Shape, party: Thing['party'], extra: Partial<Thing> = {}) => {
    const matrix = extra.matrix ?? place(random);
    const contacts = random.pick<ContactDetail>(extra.rig ? OFTEN_BONES : DETAILS);
    const id = to.addObject({ shape, matrix: matrix.elements, contacts });
    return { id, contacts, matrix, party, ...extra };
  };
  const surface = (mesh: number, triangles: Triangles, isSolid: boolean) => () =>
    add({ type: 'mesh', mesh, solid: isSolid }, (matrix) => ({ surface: triangles, matrix, isSolid }));
  const solid = () => {
    const shape = randomSolid(random);
    return add(shape, (matrix) => ({ solid: bodiesOf({ shape }, matrix)[0] }));
  };
  const rigged = async (kind: RigOptions) => {
    const rig = randomRig(random, kind, random.point(1));
    const mesh = await to.addMesh(rig.data);
    const moved = (matrix: Matrix4): PairObject => {
      if (rig.data.skin) return { boxes: boneBoxes(rig) };
      const positions = Float32Array.from(deformedPositions(rig));
      return { surface: { positions, indices: rig.data.indices as Uint32Array }, matrix, isSolid: false };
    };
    return add({ type: 'mesh', mesh }, moved, { rig, matrix: rig.mesh.matrixWorld });
  };
  const makers: (() => Thing | Promise<Thing>)[] = [
    ...Array.from({ length: 4 }, () => () => rigged(options)),
    () => rigged({ bones: 0, targets: 2 }),
    ...Array.from({ length: 4 }, () => solid),
    surface(meshes.ball, ball, false),
    surface(meshes.ball, ball, true),
    surface(meshes.ground, ground, false),
  ];
  const things: Thing[] = [];
  while (makers.length > 0) things.push(await makers.splice(random.integer(makers.length), 1)[0]());
  return things;
}

function pose(random: Random, { id, rig }: Thing, to = service): void {
  poseOddly(random, rig!);
  to.setPose(id, poseOf(rig!));
}

function change(random: Random, things: Thing[], isFirst: boolean): void {
  for (const thing of things) {
    if (!isFirst && random.chance(0.3)) continue;
    if (thing.rig) pose(random, thing);
    if (thing.rig || isFirst) continue;
    thing.matrix = place(random);
    service.setTransform(thing.id, thing.matrix.elements);
  }
}

/** Reports pairs of bones that are not those that intersect; counts the certain and the possible ones. */
function faultsOf(found: readonly number[], expected: BonePair[], count: Record<BonePair['state'], number>): string[] {
  const left = new Set<string>();
  for (let i = 0; i < found.length; i += 2) left.add(`${found[i]} ${found[i + 1]}`);
  const faults: string[] = [];
  for (const { a, b, state } of expected) {
    const isFound = left.delete(`${a} ${b}`);
    if (!isFound && state === 'meet') faults.push(`${a} and ${b} are missing`);
    if (isFound || state !== 'unknown') count[state]++;
  }
  for (const each of left) faults.push(`${each} do not meet`);
  const isSorted = Array.from({ length: found.length / 2 }, (_, i) => i).every(
    (i) =>
      i === 0 ||
      found[2 * i - 2] < found[2 * i] ||
      (found[2 * i - 2] === found[2 * i] && found[2 * i - 1] < found[2 * i + 1]),
  );
  return isSorted ? faults : [...faults, 'not sorted'];
}

/** The answers of a frame by both ids; for pairs without bones, only that there are none. */
function bonesIn(contacts: ContactSet): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { a, b, bones, contained, points, triangles } of contacts) {
    found.set(`${a} ${b}`, [...bones]);
    if (bones.length > 0) expect([contained, points.length, triangles.length]).toEqual([0, 0, 0]);
  }
  return found;
}

const turned = (bones: Int32Array) =>
  Array.from({ length: bones.length / 2 }, (_, i) => [bones[2 * i + 1], bones[2 * i]])
    .sort((p, q) => p[0] - q[0] || p[1] - q[1])
    .flat();

/** Every pair of things of which one has bones, the lower id first. */
function* couples(things: Thing[]): Generator<[a: Thing, b: Thing]> {
  const sorted = things.slice().sort((p, q) => p.id - q.id);
  for (const [i, a] of sorted.entries()) {
    for (const b of sorted.slice(i + 1)) if (hasBones(a) || hasBones(b)) yield [a, b];
  }
}

describe(`bones that meet are those of which float64 says so, seed ${SEED}`, { timeout: 120_000 }, () => {
  test.each(KINDS)('%s, frame after frame, of whatever lies there', async (_, options) => {
    const random = new Random(SEED);
    const things = await populate(random, options, service);
    const count = { meet: 0, open: 0, unknown: 0, inFrames: 0, both: 0 };
    for (let frame = 0; frame < FRAMES; frame++) {
      change(random, things, frame === 0);
      const { contacts, rejected } = await service.update();
      expect(rejected).toHaveLength(0);
      expect(contacts.boneStart).toHaveLength(contacts.count + 1);
      const found = bonesIn(contacts);
      for (const [a, b] of couples(things)) {
        const name = `frame ${frame}, ${a.id} and ${b.id}`;
        const report = await service.contact(a.id, b.id, { detail: 'bones' });
        const bones = report?.bones ?? new Int32Array();
        expect(faultsOf([...bones], bonePairs(partyOf(a), partyOf(b)), count), name).toEqual([]);
        if (report) expect(bones.length, name).toBeGreaterThan(0);
        const other = await service.contact(b.id, a.id, { detail: 'bones' });
        expect([...(other?.bones ?? [])], name).toEqual(turned(bones));
        const details = [a.contacts, b.contacts];
        if (details.includes('bones') && !details.includes('bounds')) {
          expect(found.get(`${a.id} ${b.id}`), name).toEqual(report ? [...bones] : undefined);
          if (report) count.inFrames++;
        } else expect(found.get(`${a.id} ${b.id}`) ?? [], name).toEqual([]);
        if (hasBones(a) && hasBones(b)) count.both += bones.length / 2;
      }
    }
    expect(count.meet).toBeGreaterThan(40);
    expect(count.both).toBeGreaterThan(5);
    expect(count.inFrames).toBeGreaterThan(10);
    expect(count.open).toBeLessThan(0.1 * count.meet);
    expect(count.unknown).toBeLessThan(count.meet);
  });

  test('in a frame that has not the time for all, stale ones are of an earlier frame', async () => {
    const random = new Random(SEED);
    service.dispose();
    service = await createCollisionService({ contactBudget: 0.05 });
    const things = await populate(random, { bones: 12 }, service);
    for (const { id } of things) service.setObject(id, { contacts: 'bones' });
    const known = new Map<string, number[]>();
    const count = { stale: 0, fresh: 0 };
    for (let frame = 0; frame < 40; frame++) {
      change(random, things, frame === 0);
      const { contacts } = await service.update();
      const found = bonesIn(contacts);
      for (const { a, b, stale } of contacts) {
        const key = `${a} ${b}`;
        const bones = found.get(key)!;
        if (stale) {
          expect(bones, `frame ${frame}, ${key}`).toEqual(known.get(key));
          count.stale++;
        } else {
          const report = await service.contact(a, b, { detail: 'bones' });
          expect(bones, `frame ${frame}, ${key}`).toEqual([...report!.bones]);
          count.fresh++;
        }
        known.set(key, bones);
      }
    }
    expect(count.stale).toBeGreaterThan(30);
    expect(count.fresh).toBeGreaterThan(30);
  });

  test('a lost worker answers the same', async () => {
    const random = new Random(SEED);
    const mortal = await KillableService.create();
    service.dispose();
    ({ service } = mortal);
    const things = await populate(random, { bones: 9 }, service);
    const ask = async () => {
      const reports = new Map<string, number[]>();
      for (const [a, b] of couples(things)) {
        const report = await service.contact(a.id, b.id, { detail: 'bones' });
        if (report) reports.set(`${a.id} ${b.id}`, [...report.bones]);
      }
      return { reports, frame: bonesIn((await service.update()).contacts) };
    };
    change(random, things, true);
    await service.update();
    const before = await ask();
    expect([...before.reports.values()].flat().length).toBeGreaterThan(50);
    expect([...before.frame.values()].flat().length).toBeGreaterThan(20);
    await mortal.kill();
    expect(await ask()).toEqual(before);
  });
});

const I = new Matrix4();
const at = (x: number, y = 0, z = 0) => new Matrix4().makeTranslation(x, y, z);

describe('bones of all kinds', () => {
  const both = async () => {
    const mesh = await service.addMesh(plateMesh(plates()));
    const options = { shape: { type: 'mesh', mesh }, contacts: 'bones' } as const;
    return [service.addObject(options), service.addObject({ ...options, matrix: at(0, 3).elements })] as const;
  };
  const inFrame = async () => {
    const { contacts } = await service.update();
    const [pair] = contacts;
    return {
      count: contacts.count,
      bones: [...(pair?.bones ?? [])],
      begun: pair?.begun,
      ended: contacts.endedA.length,
    };
  };
  const still = boneArray(I, I, I, I);

  test('begin and end with poses, and those that are drawn together to nothing meet nothing', async () => {
    const [a, b] = await both();
    service.setPose(a, { bones: still });
    service.setPose(b, { bones: still });
    expect(await inFrame()).toMatchObject({ bones: [0, 0, 1, 1], begun: true });
    service.setPose(a, { bones: boneArray(at(0, -9), I, I, I) });
    expect(await inFrame()).toMatchObject({ bones: [1, 1], begun: false });
    // Bone 0 of one reaches bone 1 of the other.
    service.setPose(a, { bones: boneArray(at(10), at(0, -9), I, I) });
    expect(await inFrame()).toMatchObject({ bones: [0, 1], begun: false });
    expect([...(await service.contact(b, a, { detail: 'bones' }))!.bones]).toEqual([1, 0]);
    service.setPose(a, { bones: boneArray(at(0, -9), at(0, -9), I, I) });
    expect(await inFrame()).toMatchObject({ count: 0, ended: 1 });
    for (const none of [new Matrix4().makeScale(0, 0, 0), new Matrix4().makeScale(1, 1, 0)]) {
      service.setPose(a, { bones: boneArray(none, I, I, I) });
      expect(await inFrame()).toMatchObject({ bones: [1, 1] });
      service.setPose(a, { bones: boneArray(none, none, none, none) });
      expect(await inFrame()).toMatchObject({ count: 0 });
      expect(await service.contact(a, b, { detail: 'bones' })).toBeNull();
    }
  });

  test('what has bones but no pose yet, or has lost it, is its mesh', async () => {
    const [a, b] = await both();
    service.setTransform(b, new Matrix4().makeRotationX(Math.PI / 2).elements);
    // Neither has bones: as with 'any'.
    expect(await inFrame()).toMatchObject({ count: 1, bones: [] });
    service.setPose(b, { bones: still });
    expect(await inFrame()).toMatchObject({ bones: [-1, 0, -1, 1] });
    service.setPose(a, { bones: still });
    expect(await inFrame()).toMatchObject({ bones: [0, 0, 1, 1] });
    service.setPose(b, {});
    expect(await inFrame()).toMatchObject({ bones: [0, -1, 1, -1] });
  });

  test('a pair takes the coarser detail of both', async () => {
    const [a, b] = await both();
    service.setPose(a, { bones: still });
    service.setPose(b, { bones: still });
    const cases: [ContactDetail, ContactDetail, number][] = [
      ['none', 'bones', 0],
      ['bounds', 'bones', 0],
      ['bones', 'any', 4],
      ['full', 'bones', 4],
      ['any', 'any', 0],
    ];
    for (const [first, second, length] of cases) {
      service.setObject(a, { contacts: first });
      service.setObject(b, { contacts: second });
      expect((await inFrame()).bones, `${first} and ${second}`).toHaveLength(length);
    }
  });

  test('a box of a bone within a solid meets it, and what is in it meets the box', async () => {
    const [a] = await both();
    service.setPose(a, { bones: still });
    const mesh = await service.addMesh(icosphere(1, 2));
    const large = service.addObject({
      shape: { type: 'mesh', mesh, solid: true },
      matrix: at(10).scale(new Vector3(9.7, 9.7, 9.7)).elements,
    });
    const shell = service.addObject({
      shape: { type: 'mesh', mesh },
      matrix: at(10).scale(new Vector3(9.7, 9.7, 9.7)).elements,
    });
    const small = service.addObject({ shape: { type: 'sphere', radius: 1e-3 }, matrix: at(10, 0, 0.2).elements });
    const beside = service.addObject({ shape: { type: 'sphere', radius: 1e-3 }, matrix: at(5).elements });
    await service.update();
    const bonesWith = async (other: ObjectId) => (await service.contact(a, other, { detail: 'bones' }))?.bones ?? null;
    expect(await bonesWith(large)).toEqual(Int32Array.of(0, -1, 1, -1));
    expect(await bonesWith(shell)).toEqual(Int32Array.of(0, -1));
    expect(await bonesWith(small)).toEqual(Int32Array.of(1, -1));
    expect(await bonesWith(beside)).toBeNull();
  });
});
