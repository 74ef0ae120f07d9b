// An object whose materials show different sides is several objects in the service: its id was that of one that no ray
// could hit, that occluded itself and that contained nothing.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BackSide,
  BoxGeometry,
  DoubleSide,
  FrontSide,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Scene,
  type Side,
} from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { frontCamera, SIZE, settle, UNRENDERED, WITH_CONTACTS } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

const SIDES: Record<string, Side[]> = {
  'front and double': [DoubleSide, FrontSide, FrontSide, FrontSide, FrontSide, FrontSide],
  'front and back': [FrontSide, BackSide, FrontSide, BackSide, FrontSide, BackSide],
  'all three': [FrontSide, BackSide, DoubleSide, FrontSide, BackSide, DoubleSide],
};
const MIDDLE = [0, 0, 0] as const;
const LEFT = [-5, 0.1, 0.2] as const;
const RIGHT = [5, 0.1, 0.2] as const;
const EVERYTHING = { x: 0, y: 0, ...SIZE };

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const materials = (sides: Side[]) => sides.map((side) => new MeshBasicMaterial({ side }));

/** A box of edges 2 at the origin: alone, or as an instance among others that are far away. */
const KINDS: Record<string, (sides: Side[]) => Mesh> = {
  Mesh: (sides) => new Mesh(new BoxGeometry(2, 2, 2), materials(sides)),
  InstancedMesh: (sides) => {
    const made = new InstancedMesh(new BoxGeometry(2, 2, 2), materials(sides), 3);
    for (let i = 0; i < 3; i++) made.setMatrixAt(i, new Matrix4().makeTranslation(0, 100 * (i - 1), 0));
    return made;
  },
};
const CASES = Object.keys(SIDES).flatMap((sides) => Object.keys(KINDS).map((kind) => [kind, sides] as const));

describe.each(CASES)('a %s of sides %s', (kind, sides) => {
  let object: Mesh;
  let tracker: SceneTracker;
  let id: number;

  async function begin(...others: Object3D[]) {
    object = KINDS[kind](SIDES[sides]);
    tracker = await trackScene(service, new Scene().add(object, ...others), WITH_CONTACTS);
    await settle(tracker, frontCamera());
    const ids = tracker.idsOf(object);
    expect(ids).toHaveLength(object instanceof InstancedMesh ? object.count : 1);
    id = ids[object instanceof InstancedMesh ? 1 : 0];
  }

  test('is one object to every question of the service', async () => {
    await begin();
    const ray = { origin: LEFT, direction: [1, 0, 0] } as const;
    const ignore = [id];
    const both = { side: 'double' } as const;
    expect(await service.raycast(ray, both)).toMatchObject({ object: id, distance: 4 });
    expect((await service.raycastAll(ray, both)).map(({ object, distance }) => [object, distance])).toEqual([
      [id, 4],
      [id, 6],
    ]);
    expect(await service.raycast(ray, { side: 'back' })).toMatchObject({ object: id, distance: 6 });
    expect([...(await service.raycastMany(Float32Array.of(...LEFT, 0, 1, 0, 0, 100), both)).objects]).toEqual([id]);
    expect(await service.lineOfSight(LEFT, RIGHT, both)).toBe(false);
    expect([...(await service.containing(MIDDLE))]).toEqual([id]);
    expect([...(await service.overlap({ type: 'sphere', radius: 3 }))]).toEqual([id]);
    expect(await service.closestPoint(LEFT)).toMatchObject({ object: id, distance: 4 });
    expect(await service.pick(400, 300, both)).toMatchObject({ object: id });
    expect(await service.pickAll(390, 290, both)).toHaveLength(2);
    expect(await service.pickAll(390, 290, { method: 'screen' })).toHaveLength(1);
    expect([...(await service.pickRegion(EVERYTHING))]).toEqual([id]);
    expect([...(await service.frustum('main')).ids]).toEqual([id]);
    expect(await service.sees('main', ignore)).toMatchObject({ ids: Uint32Array.of(id), points: Uint8Array.of(9) });

    // Without a side in the query, those that its faces show apply.
    const [left, right] = [1, 0].map((face) => SIDES[sides][face]);
    const shown = [...(left === BackSide ? [] : [4]), ...(right === FrontSide ? [] : [6])];
    expect((await service.raycastAll(ray)).map(({ distance }) => distance)).toEqual(shown);
    expect((await service.raycast(ray))?.distance).toBe(shown[0]);
    expect(await service.lineOfSight(LEFT, RIGHT)).toBe(shown.length === 0);

    expect(await service.raycast(ray, { ignore })).toBeNull();
    expect(await service.lineOfSight(LEFT, RIGHT, { ignore })).toBe(true);
    expect([...(await service.overlap({ type: 'sphere', radius: 3 }, undefined, { ignore }))]).toEqual([]);
    expect(await service.closestPoint(LEFT, { ignore, maxDistance: 20 })).toBeNull();
    expect(await service.pick(400, 300, { ignore })).toBeNull();
    expect([...(await service.pickRegion(EVERYTHING, { ignore }))]).toEqual([]);
  });

  test('is one object to every question of the tracker', async () => {
    await begin();
    const found = object instanceof InstancedMesh ? { object, instanceId: 1 } : { object };
    for (const options of [{}, { side: 'double' }, { method: 'screen' }, { precision: 'obb' }] as const) {
      expect(await tracker.pick(390, 290, options)).toMatchObject(found);
      expect(await tracker.pick(390, 290, { ...options, ignore: [object] })).toBeNull();
      expect(await tracker.pickAll(390, 290, { ...options, ignore: [object] })).toEqual([]);
    }
    expect(await tracker.pickAll(390, 290, { side: 'double' })).toHaveLength(2);
    expect(await tracker.pickAll(390, 290, { method: 'screen' })).toHaveLength(1);
    expect(await tracker.pickAll(390, 290, { precision: 'obb' })).toHaveLength(2);
    for (const mode of ['touch', 'enclose'] as const) {
      expect(await tracker.pickRegion(EVERYTHING, { mode })).toEqual([object]);
      expect(await tracker.pickRegion(EVERYTHING, { mode, ignore: [object] })).toEqual([]);
    }
    expect(tracker.objectOf(id)).toMatchObject(found);
  });

  test('is one object in frames: seen, entered, left, touched and let go of once, and never by itself', async () => {
    const other = cube(1);
    other.position.x = 1;
    await begin(other);
    const [otherId] = tracker.idsOf(other);
    const step = () => tracker.update(frontCamera(), SIZE);
    const both = [id, otherId].sort((a, b) => a - b);
    let { result } = await step();
    expect([...result.visible.ids].sort((a, b) => a - b)).toEqual(both);
    expect([...result.contacts].map(({ a, b }) => [a, b])).toEqual([both]);
    expect(result.contacts.between(id)).toHaveLength(1);
    expect(await service.contact(id, otherId)).toMatchObject({ a: id, b: otherId });
    object.visible = false;
    ({ result } = await step());
    expect([...result.visible.left]).toEqual([id]);
    expect([...result.contacts.endedA, ...result.contacts.endedB]).toEqual(both);
    object.visible = true;
    ({ result } = await step());
    expect([...result.visible.entered]).toEqual([id]);
    expect([...result.contacts].map(({ begun }) => begun)).toEqual([true]);
    object.removeFromParent();
    ({ result } = await step());
    expect([...result.visible.left]).toEqual([id]);
    expect([...result.contacts.endedA, ...result.contacts.endedB]).toEqual(both);
    expect(service.stats).toMatchObject({ objects: 1 });
  });
});

test('an object that is not pickable is so as a whole', async () => {
  const object = KINDS.Mesh(SIDES['all three']);
  const tracker = await trackScene(service, object, { ...UNRENDERED, objectOptions: () => ({ pickable: false }) });
  await settle(tracker, frontCamera());
  expect(await tracker.pick(400, 300)).toBeNull();
  expect(await tracker.pick(400, 300, { precision: 'obb' })).toBeNull();
  expect([...(await service.containing(MIDDLE))]).toEqual([]);
  expect(await tracker.pickRegion(EVERYTHING)).toEqual([]);
});

test('a shape that stands for an object of mixed sides is hit once, from both sides', async () => {
  const object = KINDS.Mesh(SIDES['front and back']);
  const tracker = await trackScene(service, object, { shapeOf: () => ({ type: 'sphere', radius: 1 }) });
  await settle(tracker, frontCamera());
  expect((await tracker.pickAll(400, 300)).map(({ distance }) => distance)).toEqual([9, 11]);
  expect(service.stats).toMatchObject({ objects: 1, meshes: 0 });
});

test('faces of a side that lie outside of the draw range are no reason to leave the object out', async () => {
  const object = KINDS.Mesh([FrontSide, FrontSide, FrontSide, FrontSide, FrontSide, BackSide]);
  object.geometry.setDrawRange(0, 30);
  const tracker = await trackScene(service, object, UNRENDERED);
  await settle(tracker, frontCamera());
  expect(tracker.untracked.size).toBe(0);
  expect(tracker.pending).toEqual([]);
  expect(await tracker.pick(400, 300)).toMatchObject({ object, distance: 9 });
});

test('materials that come to differ and to agree again change the sides, not the ids, at any moment', async () => {
  const object = KINDS.Mesh([FrontSide, FrontSide, FrontSide, FrontSide, FrontSide, FrontSide]);
  const tracker = await trackScene(service, object, UNRENDERED);
  await settle(tracker, frontCamera());
  const ids = tracker.idsOf(object);
  const look = object.material as MeshBasicMaterial[];
  const front = 4; // the group of the face that the camera sees; 5 is behind it
  const one = new MeshBasicMaterial();
  const distances = async () => (await tracker.pickAll(390, 290)).map(({ distance }) => Math.round(distance));
  const steps: [() => void, number[]][] = [
    [() => Object.assign(look[front], { side: BackSide }), []],
    [() => Object.assign(look[5], { side: DoubleSide }), [11]],
    [() => Object.assign(look[front], { side: FrontSide }), [9, 11]],
    [() => Object.assign(object, { material: one }), [9]],
    [() => Object.assign(object, { material: look }), [9, 11]],
    [() => Object.assign(look[5], { side: FrontSide }), [9]],
  ];
  for (const [change, expected] of steps) {
    const before = await distances();
    change();
    // Until the new mesh is built, the old sides are hit; there is always a hit.
    do {
      await tracker.update(frontCamera(), SIZE);
      if (before.length > 0 && expected.length > 0) expect(await distances()).not.toEqual([]);
    } while (tracker.pending.length > 0);
    await settle(tracker, frontCamera());
    expect(await distances()).toEqual(expected);
    expect(tracker.idsOf(object)).toEqual(ids);
    expect([...(await service.containing(MIDDLE))]).toEqual([...ids]);
  }
});

test('strangers in the way are looked past, when they and what is ignored leave meanwhile, too', async () => {
  const [object, ignored] = [KINDS.Mesh(SIDES['all three']), cube(1)];
  ignored.position.z = 4;
  const root = new Scene().add(object, ignored);
  const tracker = await trackScene(service, root, UNRENDERED);
  await settle(tracker, frontCamera());
  const strangers = [5, 6, 7].map((z) => {
    const matrix = new Matrix4().makeTranslation(0, 0, z).elements;
    return service.addObject({ shape: { type: 'sphere', radius: 0.3 }, matrix });
  });
  const expected = await tracker.pick(390, 290, { ignore: [ignored] });
  expect(expected).toMatchObject({ object, faceIndex: 11 });
  const pick = tracker.pick(390, 290, { ignore: [ignored] });
  root.remove(ignored);
  for (const id of strangers) service.removeObject(id);
  const update = tracker.update(frontCamera(), SIZE);
  expect(await pick).toMatchObject({ object, faceIndex: 11 });
  await update;
});
