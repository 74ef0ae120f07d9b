// A LOD whose levels are, or contain, SkinnedMeshes and Meshes with morph targets: the level that three shows is hit as it
// is posed, and its contacts persist over a change of level.
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  BufferAttribute,
  type Camera,
  Group,
  LOD,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  type PerspectiveCamera,
  Ray,
  Scene,
  SkinnedMesh,
  Sphere,
  Vector3,
} from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { KillableService } from '../fixtures/mortal.js';
import { shareOf } from '../fixtures/share.js';
import { frontCamera, pickCenter, SIZE, settle, UNRENDERED } from '../fixtures/three-picks.js';
import { arm, cameraAt, comparePosedPicks, rigIn } from '../fixtures/three-rigs.js';
import { Random, SEED } from '../oracle/random.js';
import { poseRandomly, type Rig } from '../oracle/rigs.js';

withService();

const SCENES = shareOf(36);
const ROUNDS = 4;
const PICKS = 25;
const ENDLESS = new Sphere(new Vector3(), 1e30);

interface RiggedLod {
  readonly lod: LOD;
  readonly rigs: Rig[];
}

function rigid(random: Random): Mesh {
  const mesh = new Mesh(new BoxGeometry(1, random.range(0.5, 2), 1), new MeshBasicMaterial());
  mesh.geometry.computeVertexNormals();
  mesh.geometry.boundingSphere = ENDLESS;
  mesh.name = `rigid ${mesh.id}`;
  mesh.position.copy(random.point(2));
  return mesh;
}

/** Levels are groups that contain a posed mesh and its bones, sometimes two of them, or single Meshes. */
function riggedLod(random: Random): RiggedLod {
  const lod = new LOD();
  const rigs: Rig[] = [];
  for (let level = 0; level < 1 + random.integer(3); level++) {
    const distance = 4 + 2 * level + random.range(-1, 1);
    const rig = rigIn(random, new Vector3());
    // A SkinnedMesh whose bones are its descendants, and a Mesh with targets, is sometimes a level of its own.
    const isAlone = !(rig.mesh instanceof SkinnedMesh) || rig.mesh.skeleton.bones[0].parent === rig.mesh;
    if (random.chance(0.2)) lod.addLevel(rigid(random), distance);
    else {
      lod.addLevel(isAlone && rig.root.children.length === 1 && random.chance(0.5) ? rig.mesh : rig.root, distance);
      rigs.push(rig);
    }
  }
  lod.position.copy(random.point(1));
  if (random.chance(0.3)) lod.scale.set(-1, 1.5, 0.8);
  return { lod, rigs };
}

/** As three's renderer does before it draws. */
function showLevels(root: Object3D, camera: Camera): void {
  root.updateMatrixWorld();
  camera.updateMatrixWorld();
  root.traverse((object) => {
    if (object instanceof LOD && object.autoUpdate) object.update(camera as PerspectiveCamera);
  });
}

function change(random: Random, root: Group, lods: RiggedLod[], tracker: SceneTracker): void {
  const { lod, rigs } = random.pick(lods);
  const { levels } = lod;
  const rig = rigs.length > 0 ? random.pick(rigs) : null;
  const kinds: (() => void)[] = [
    () => lod.position.copy(random.point(1)),
    () => {
      const other = rigIn(random, new Vector3());
      rigs.push(other);
      lod.addLevel(other.root, random.range(0, 10));
    },
    () => levels.length > 1 && lod.removeLevel !== undefined && lod.removeLevel(random.pick(levels).distance),
    () => random.pick(levels).object.add(rigid(random)), // it is drawn beside the level's Mesh
    () => {
      for (const { object } of levels)
        for (const child of [...object.children]) if (child.name.startsWith('rigid')) child.removeFromParent();
    },
    () => {
      const { object } = random.pick(levels);
      const wrapped = new Group();
      const at = object.children.find((child) => child instanceof Group);
      if (at !== undefined) object.add(wrapped.add(at)); // moves one level deeper
    },
    () => {
      if (rig !== null) rig.mesh.visible = random.chance(0.6);
    },
    () => {
      if (rig !== null) rig.root.children[0].visible = random.chance(0.6);
    },
    () => {
      lod.visible = random.chance(0.6);
    },
    () => {
      if (rig === null) return;
      const { geometry } = rig.mesh;
      rig.mesh.geometry = geometry.clone();
      rig.mesh.geometry.boundingSphere = geometry.boundingSphere;
    },
    () => {
      if (rig === null) return;
      const { position } = rig.mesh.geometry.attributes;
      for (let i = 0; i < position.count; i++) position.setX(i, 1.1 * position.getX(i));
      position.needsUpdate = true;
      tracker.changed(lod); // or within a second, if that level is not shown
    },
    () => {
      const other = riggedLod(random);
      lods.push(other);
      root.add(other.lod);
    },
    () => lods.length > 2 && lods.splice(random.integer(lods.length), 1)[0].lod.removeFromParent(),
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
  let [hits, doubtful, single] = [0, 0, 0];
  for (let scene = 0; scene < SCENES; scene++) {
    const root = new Group();
    const lods = Array.from({ length: 3 }, () => riggedLod(random));
    root.add(...lods.map(({ lod }) => lod));
    const tracker = await trackScene(service, root, UNRENDERED);
    for (let round = 0; round < ROUNDS; round++) {
      for (const { rigs } of lods) for (const rig of rigs) if (random.chance(0.8)) poseRandomly(random, rig);
      const camera = cameraAt(random, new Vector3());
      showLevels(root, camera);
      await settle(tracker, camera);
      const found = await comparePosedPicks(tracker, root, camera, random, PICKS);
      faults.push(...found.faults.map((fault) => `scene ${scene}, round ${round}, ${fault}`));
      hits += found.hits;
      doubtful += found.doubtful;
      single += lods.filter(({ lod }) => tracker.idsOf(lod).length === 1).length;
      for (let i = 0; i < 2; i++) change(random, root, lods, tracker);
    }
    expect([...tracker.untracked.values()]).toEqual([]);
    tracker.dispose();
  }
  expect(faults.slice(0, 10)).toEqual([]);
  expect(hits).toBeGreaterThan((SCENES * ROUNDS * PICKS) / 10);
  expect(doubtful).toBeLessThan(hits / 50);
  expect(single).toBeGreaterThan(SCENES * ROUNDS); // and the others are tracked separately
  expect(service.stats).toMatchObject({ objects: 0, meshes: 0 });
});

/** A skinned box near, inside a group; a morphed one from a distance of 20 on; and a rigid one from 40 on. */
function threeLevels(): { lod: LOD; near: SkinnedMesh; far: Mesh; farthest: Mesh } {
  const near = arm('near');
  const far = new Mesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial());
  far.name = 'far';
  const shift = Float32Array.from({ length: 3 * 24 }, (_, i) => (i % 3 === 1 ? 4 : 0));
  far.geometry.morphAttributes.position = [new BufferAttribute(shift, 3)];
  far.geometry.morphTargetsRelative = true;
  far.updateMorphTargets();
  const farthest = new Mesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial());
  const lod = new LOD()
    .addLevel(new Group().add(new Group().add(near)), 0)
    .addLevel(far, 20)
    .addLevel(farthest, 40);
  return { lod, near, far, farthest };
}

async function see(tracker: SceneTracker, root: Object3D, z: number) {
  const camera = frontCamera();
  camera.position.z = z;
  showLevels(root, camera);
  return tracker.update(camera, SIZE);
}

test('a change of level ends no contact and begins none, keeps the id, and shows each level in its pose', async () => {
  const [one, two] = [threeLevels(), threeLevels()];
  two.lod.position.x = 0.5;
  const scene = new Scene().add(one.lod, two.lod);
  const tracker = await trackScene(service, scene, { ...UNRENDERED, contacts: 'any' });
  await settle(tracker, frontCamera());
  const built = vi.spyOn(service, 'addMesh');
  const ids = [one, two].map(({ lod }) => [...tracker.idsOf(lod)]);
  expect(ids.map(({ length }) => length)).toEqual([1, 1]);
  for (const below of [one.near, one.far, one.farthest, one.near.skeleton.bones[1]]) {
    expect([...tracker.idsOf(below)]).toEqual(ids[0]);
  }
  for (const { near } of [one, two]) near.skeleton.bones[0].position.y = 3;
  for (const { far } of [one, two]) far.morphTargetInfluences![0] = 1;
  const events: string[] = [];
  for (const z of [10, 30, 12, 50, 8, 25, 60, 30]) {
    const frame = await see(tracker, scene, z);
    frame.forEachContact((a, b, _, { begun }) => {
      events.push(`${z}: ${begun ? 'begun' : 'on'}`);
      expect(new Set([a.object, b.object])).toEqual(new Set([one.lod, two.lod]));
    });
    frame.forEachEnded(() => events.push(`${z}: ended`));
    const [level, y] = z < 20 ? [one.near, 3] : z < 40 ? [one.far, 4] : [one.farthest, 0];
    const from = (height: number) => new Ray(new Vector3(-0.2, height, 100), new Vector3(0, 0, -1));
    const hit = await tracker.raycast(from(y));
    expect(hit?.object).toBe(level);
    expect(frame.contactsOf(level)).toHaveLength(1);
    if (y > 0) expect(await tracker.raycast(from(0))).toBeNull();
  }
  expect(events.filter((event) => !event.endsWith(': on'))).toEqual([]);
  expect(events).toHaveLength(8);
  expect([one, two].map(({ lod }) => [...tracker.idsOf(lod)])).toEqual(ids);
  expect(built).not.toHaveBeenCalled(); // levels that are not shown stay
});

test('a level that is hidden somewhere between it and its Mesh is not there', async () => {
  const { lod, near } = threeLevels();
  const scene = new Scene().add(lod);
  const tracker = await trackScene(service, scene, UNRENDERED);
  const hit = async () => {
    showLevels(scene, frontCamera());
    await settle(tracker, frontCamera());
    return (await pickCenter(tracker))?.object ?? null;
  };
  expect(await hit()).toBe(near);
  for (const between of [near, near.parent!, lod]) {
    between.visible = false;
    expect(await hit()).toBeNull();
    between.visible = true;
    expect(await hit()).toBe(near);
  }
  // A Mesh that is drawn beside it has an id of its own, and then the level has one as well.
  const [id] = tracker.idsOf(lod);
  const sword = new Mesh(new BoxGeometry(0.1, 0.1, 4), near.material);
  near.skeleton.bones[1].add(sword);
  expect(await hit()).toBe(sword);
  expect([tracker.idsOf(near), tracker.idsOf(sword)].map(({ length }) => length)).toEqual([1, 1]);
  expect(tracker.idsOf(lod)).toHaveLength(0);
  expect([...tracker.idsOf(near)]).not.toEqual([id]);
  sword.removeFromParent();
  tracker.changed(lod); // or within a second
  expect(await hit()).toBe(near);
  expect(tracker.idsOf(lod)).toHaveLength(1);
});

test('what is removed in the frame in which it is asked to be looked at goes alone', async () => {
  const own = arm();
  const group = new Group().add(own);
  const other = arm();
  const tracker = await trackScene(service, new Scene().add(group, other), UNRENDERED);
  await settle(tracker, frontCamera());
  group.children.length = 0; // by hand: three fires no event
  own.parent = null;
  tracker.changed(group);
  await settle(tracker, frontCamera());
  expect((await pickCenter(tracker))?.object).toBe(other);
  expect(tracker.idsOf(own)).toHaveLength(0);
});

test('a new worker gets the pose of the level that is shown', async () => {
  const mortal = await KillableService.create();
  const { lod, near } = threeLevels();
  near.skeleton.bones[0].position.x = 1.5;
  lod.position.x = -1.5;
  const scene = new Scene().add(lod);
  const tracker = await trackScene(mortal.service, scene, UNRENDERED);
  await settle(tracker, frontCamera());
  await see(tracker, scene, 30);
  await see(tracker, scene, 10);
  const before = await pickCenter(tracker);
  await mortal.kill();
  const after = await pickCenter(tracker);
  expect(before?.object).toBe(near);
  expect(after?.point).toEqual(before?.point);
});
