// Of a LOD, the level that three shows is tracked, as one object: its contacts persist over a change of level.
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  type BufferGeometry,
  Group,
  IcosahedronGeometry,
  LOD,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  type PerspectiveCamera,
  Raycaster,
  Scene,
  SphereGeometry,
  TorusKnotGeometry,
  Vector3,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { shareOf } from '../fixtures/share.js';
import {
  comparePicks,
  frontCamera,
  pickCenter,
  randomCamera,
  SIZE,
  settle,
  UNRENDERED,
} from '../fixtures/three-picks.js';
import { cube, place, randomMatrix } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const RADIUS = 6;
const SCENES = shareOf(36);
const ROUNDS = 4;
const PICKS = 25;
const GEOMETRIES: BufferGeometry[] = [
  new TorusKnotGeometry(0.8, 0.3, 60, 9),
  new SphereGeometry(1, 17, 11),
  new IcosahedronGeometry(1, 1),
  new BoxGeometry(1.5, 1.5, 1.5),
];

function mesh(random: Random): Mesh {
  const own = new Mesh(random.pick(GEOMETRIES), new MeshBasicMaterial());
  own.name = `mesh ${own.id}`;
  if (random.chance(0.3)) place(own, random, 0.5);
  return own;
}

/** Levels of single meshes, some of them groups. */
function randomLod(random: Random): LOD {
  const lod = new LOD();
  const hasGroups = random.chance(0.2);
  for (let level = 0; level < 1 + random.integer(3); level++) {
    let object: Object3D = mesh(random);
    if (hasGroups && random.chance(0.5)) object = new Group().add(object, mesh(random));
    lod.addLevel(object, 5 * level + random.range(0, 4));
  }
  place(lod, random, RADIUS / 2);
  return lod;
}

/** As three's renderer does before it draws. */
function showLevels(root: Object3D, camera: Object3D): void {
  root.updateMatrixWorld();
  camera.updateMatrixWorld();
  root.traverse((object) => {
    if (object instanceof LOD && object.autoUpdate) object.update(camera as PerspectiveCamera);
  });
}

function change(random: Random, root: Group, lods: LOD[], tracker: SceneTracker): void {
  const lod = random.pick(lods);
  const { levels } = lod;
  const kinds: (() => void)[] = [
    () => randomMatrix(random, RADIUS / 2).decompose(lod.position, lod.quaternion, lod.scale),
    () => lod.addLevel(mesh(random), random.range(0, 15)),
    () => levels.length > 1 && lod.removeLevel !== undefined && lod.removeLevel(random.pick(levels).distance),
    () => random.pick(levels).object.add(mesh(random)),
    () => random.pick(levels).object.clear(),
    () => {
      lod.visible = random.chance(0.6);
    },
    () => {
      const { object } = random.pick(levels);
      if (object instanceof Mesh) object.geometry = random.pick(GEOMETRIES);
    },
    () => root.add(lod.removeFromParent()),
    () => {
      const other = randomLod(random);
      lods.push(other);
      root.add(other);
    },
    () => lods.length > 2 && lods.splice(lods.indexOf(lod), 1)[0].removeFromParent(),
    () => {
      lod.autoUpdate = random.chance(0.5);
      if (!lod.autoUpdate) for (const { object } of levels) object.visible = random.chance(0.5);
      tracker.changed(lod); // or within a second
    },
  ];
  random.pick(kinds)();
}

test(`${SCENES} scenes that change while they run: picks are those of what three shows, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const faults: string[] = [];
  let hits = 0;
  for (let scene = 0; scene < SCENES; scene++) {
    const root = new Group();
    const group = new Group();
    place(group, random, 2);
    root.add(group);
    const lods = Array.from({ length: 6 }, () => randomLod(random));
    for (const lod of lods) random.pick([root, group]).add(lod);
    let camera = randomCamera(random, RADIUS);
    const tracker = await trackScene(service, root, UNRENDERED);
    for (let round = 0; round < ROUNDS; round++) {
      camera = randomCamera(random, RADIUS);
      showLevels(root, camera);
      await settle(tracker, camera);
      const found = await comparePicks(tracker, root, camera, random, PICKS);
      faults.push(...found.faults.map((fault) => `scene ${scene}, round ${round}: ${fault}`));
      hits += found.hits;
      for (let i = 0; i < 3; i++) change(random, root, lods, tracker);
    }
    expect(tracker.untracked.size).toBe(0);
    tracker.dispose();
  }
  expect(faults).toEqual([]);
  expect(hits).toBeGreaterThan((SCENES * ROUNDS * PICKS) / 20);
  expect(service.stats).toMatchObject({ objects: 0, meshes: 0 });
});

/** A box of 2 near, one of 3 from a distance of 20 on, and nothing else. */
function twoLevels(): { lod: LOD; near: Mesh; far: Mesh } {
  const [lod, near, far] = [new LOD(), cube(2), cube(3)];
  near.name = 'near';
  far.name = 'far';
  lod.addLevel(near, 0).addLevel(far, 20);
  return { lod, near, far };
}

function cameraAt(z: number): PerspectiveCamera {
  const camera = frontCamera();
  camera.position.z = z;
  return camera;
}

async function see(tracker: SceneTracker, root: Object3D, z: number) {
  const camera = cameraAt(z);
  showLevels(root, camera);
  return tracker.update(camera, SIZE);
}

test('a change of level ends no contact and begins none, and keeps the id', async () => {
  const [one, two] = [twoLevels(), twoLevels()];
  two.lod.position.x = 1.5;
  const scene = new Scene().add(one.lod, two.lod);
  const tracker = await trackScene(service, scene, { ...UNRENDERED, contacts: 'any' });
  const built = vi.spyOn(service, 'addMesh');
  const ids = [one, two].map(({ lod }) => [...tracker.idsOf(lod)]);
  expect(ids.map(({ length }) => length)).toEqual([1, 1]);
  expect([...tracker.idsOf(one.near)]).toEqual(ids[0]);
  expect([...tracker.idsOf(one.far)]).toEqual(ids[0]);
  expect(tracker.objectOf(ids[0][0]).object).toBe(one.lod);
  const events: string[] = [];
  for (const z of [10, 30, 12, 50, 8]) {
    const frame = await see(tracker, scene, z);
    frame.forEachContact((a, b, _, { begun }) => {
      events.push(`${z}: ${begun ? 'begun' : 'on'}`);
      expect(new Set([a.object, b.object])).toEqual(new Set([one.lod, two.lod]));
    });
    frame.forEachEnded(() => events.push(`${z}: ended`));
    expect(frame.contactsOf(one.lod)).toHaveLength(1);
    expect(frame.contactsOf(z < 20 ? one.near : one.far)).toHaveLength(1);
    expect((await tracker.pick(390, 300))?.object).toBe(z < 20 ? one.near : one.far);
  }
  expect(events).toEqual(['10: begun', '30: on', '12: on', '50: on', '8: on']);
  expect([one, two].map(({ lod }) => [...tracker.idsOf(lod)])).toEqual(ids);
  expect(built).not.toHaveBeenCalled(); // levels that are not shown stay
  two.lod.visible = false;
  const gone: Object3D[] = [];
  (await see(tracker, scene, 10)).forEachEnded((a, b) => gone.push(a.object, b.object));
  expect(new Set(gone)).toEqual(new Set([one.lod, two.lod]));
});

test('a level that moves out of its LOD is an object of its own, until it moves back', async () => {
  const [lod, level] = [new LOD(), cube()];
  lod.addLevel(level, 0);
  const [scene, aside] = [new Scene(), new Group()];
  scene.add(lod, aside);
  const tracker = await trackScene(service, scene, UNRENDERED);
  for (const [parent, found] of [
    [null, lod],
    [aside, level],
    [lod, lod],
    [scene, level],
    [lod, lod],
  ] as const) {
    parent?.add(level);
    await settle(tracker, frontCamera());
    expect(await tracker.pickRegion({ x: 0, y: 0, width: 800, height: 600 })).toEqual([found]);
    expect((await pickCenter(tracker))?.object).toBe(level);
  }
});

test('what is below a level and knows no parent, as the app has taken that by hand, does no harm', async () => {
  const { lod, near } = twoLevels();
  const marker = new Group();
  near.add(marker);
  const tracker = await trackScene(service, new Scene().add(lod), UNRENDERED);
  await settle(tracker, frontCamera());
  marker.parent = null;
  lod.addLevel(cube(4), 90);
  await settle(tracker, frontCamera());
  expect(tracker.untracked.size).toBe(0);
  expect(service.stats.objects).toBe(1);
});

test('what is hit is the level, what is found is the LOD', async () => {
  const { lod, near, far } = twoLevels();
  const scene = new Scene().add(lod);
  const tracker = await trackScene(service, scene, UNRENDERED);
  await see(tracker, scene, 10);
  const hit = (await pickCenter(tracker))!;
  expect(hit.object).toBe(near);
  expect(hit.distance).toBeCloseTo(9, 6);
  for (const ignore of [[hit], [near], [far], [lod]]) expect(await tracker.pick(400, 300, { ignore })).toBeNull();
  const region = { x: 0, y: 0, width: 800, height: 600 };
  expect((await tracker.pickRegion(region))[0]).toBe(lod);
  const seen: Object3D[] = [];
  (await see(tracker, scene, 10)).forEachVisible(({ object }) => seen.push(object));
  expect(seen[0]).toBe(lod);
  expect((await tracker.sees([lod]))[0].object).toBe(lod);
  expect((await tracker.closestPoint([0, 0, 9]))?.object).toBe(near);
  // three's own Raycaster ignores `visible`: it chooses the level by the distance of the ray's origin, and also hits
  // all levels, as children.
  const raycaster = new Raycaster(new Vector3(0.1, 0.2, 10), new Vector3(0, 0, -1));
  const met = raycaster.intersectObject(lod).map(({ object }) => object.name);
  expect(new Set(met)).toEqual(new Set(['near', 'far']));
  expect(met).toHaveLength(3);
});

describe('a LOD that the app switches', () => {
  test('is what it set, one level, none or several', async () => {
    const { lod, near, far } = twoLevels();
    lod.autoUpdate = false;
    far.visible = false;
    const tracker = await trackScene(service, new Scene().add(lod), { ...UNRENDERED });
    const camera = frontCamera();
    const hits = async () => {
      await settle(tracker, camera);
      return (await tracker.pickAll(390, 290)).map(({ object }) => object.name);
    };
    expect(await hits()).toEqual(['near']);
    near.visible = false;
    expect(await hits()).toEqual([]);
    far.visible = true;
    expect(await hits()).toEqual(['far']);
    near.visible = true;
    expect(await hits()).toEqual(['far', 'near']);
    expect([...tracker.idsOf(near), ...tracker.idsOf(far)]).toHaveLength(2);
    far.visible = false;
    expect(await hits()).toEqual(['near']);
    expect(tracker.idsOf(lod)).toHaveLength(1);
    expect(service.stats.objects).toBe(1);
  });
});

test('the levels of one that rests are not looked through again', async () => {
  const lod = new LOD();
  const [level, plain] = [new Group().add(cube()), new Group().add(cube())];
  lod.addLevel(level, 0);
  const tracker = await trackScene(service, new Scene().add(lod, plain), UNRENDERED);
  const reads = [level, plain].map((group) => {
    const { children } = group;
    const read = vi.fn(() => children);
    Object.defineProperty(group, 'children', { get: read });
    return read;
  });
  const camera = frontCamera();
  const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let frame = 0; frame < 8; frame++) {
    for (const read of reads) read.mockClear();
    await tracker.update(camera, SIZE);
    // In some frames it is their turn to be compared with their previous state.
    for (const [i, { mock }] of reads.entries()) least[i] = Math.min(least[i], mock.calls.length);
  }
  // No more often than those of a group outside any LOD.
  expect(least[0]).toBe(least[1]);
  tracker.dispose();
});

test('a shape stands for a LOD and all that is below it, where the LOD is', async () => {
  const { lod, far } = twoLevels();
  lod.addLevel(new Group().add(cube(4)), 50);
  lod.position.x = 1;
  let radius = 3;
  const asked: Object3D[] = [];
  const scene = new Scene().add(lod);
  const tracker = await trackScene(service, scene, {
    ...UNRENDERED,
    shapeOf: (object) => {
      asked.push(object);
      return object === lod && radius > 0 ? { type: 'sphere', radius, center: [-1, 0, 0] } : undefined;
    },
  });
  await settle(tracker, frontCamera());
  expect(asked.every((object) => object === lod)).toBe(true);
  expect(service.stats).toMatchObject({ objects: 1, meshes: 0 });
  const hit = (await pickCenter(tracker))!;
  expect(hit.object).toBe(lod);
  expect(hit).toMatchObject({ face: null, distance: 7 });
  const ids = [...tracker.idsOf(lod)];
  expect([...tracker.idsOf(far)]).toEqual(ids);
  lod.position.x = 40;
  await tracker.update(frontCamera(), SIZE);
  expect(await pickCenter(tracker)).toBeNull();
  lod.position.x = 1;
  lod.visible = false;
  await tracker.update(frontCamera(), SIZE);
  expect(await pickCenter(tracker)).toBeNull();
  lod.visible = true;
  radius = 0; // and the levels are tracked separately, since one of them is a group
  tracker.changed(lod);
  showLevels(scene, cameraAt(60));
  await settle(tracker, cameraAt(60));
  expect((await pickCenter(tracker))?.distance).toBeCloseTo(58, 6);
  radius = 2;
  tracker.changed(lod);
  await settle(tracker, frontCamera());
  expect((await pickCenter(tracker))?.object).toBe(lod);
  expect(service.stats.objects).toBe(1);
});
