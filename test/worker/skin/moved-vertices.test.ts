// Meshes with a skin or morph targets whose vertices move, or that replace each other: their objects keep their poses, also
// before the next update(). three's Raycaster is the reference.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { Raycaster, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { KillableService } from '../../fixtures/mortal.js';
import { hitFaults } from '../../fixtures/posed-rays.js';
import { bumpyBall } from '../../oracle/lumps.js';
import { icosphere } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import {
  deformedPositions,
  poseOf,
  poseRandomly,
  type Rig,
  type RigOptions,
  randomRig,
  roundBones,
} from '../../oracle/rigs.js';

const KINDS: [string, RigOptions][] = [
  ['four bones', { bones: 4 }],
  ['weights of any sum', { bones: 8, anyWeights: true, zeroWeights: true }],
  ['attached', { bones: 6, attached: true }],
  ['morphs, relative', { bones: 0, targets: 3 }],
  ['morphs, absolute', { bones: 0, targets: 2, relative: false }],
  ['bones and morphs', { bones: 5, targets: 3 }],
  ['bones and absolute morphs', { bones: 5, targets: 2, relative: false }],
];
const ROUNDS = 6;
const RAYS = 12;

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

/** Compares rays through a posed object, a few of many objects, with three's; counts the hits. */
async function compare(asked: CollisionService, random: Random, rig: Rig, id: number) {
  const { mesh } = rig;
  const positions = deformedPositions(rig);
  const size = Math.max(...positions.map(Math.abs)) * mesh.matrixWorld.getMaxScaleOnAxis();
  const faults: string[] = [];
  let hits = 0;
  for (let i = 0; i < RAYS; i++) {
    const at = 3 * random.integer(positions.length / 3);
    const aim = new Vector3().fromArray(positions, at).applyMatrix4(mesh.matrixWorld);
    const origin = random.direction().multiplyScalar(size).add(aim);
    const direction = aim
      .add(random.point(size / 50))
      .sub(origin)
      .normalize();
    const raycaster = new Raycaster(origin, direction);
    const found = await asked.raycastAll({ origin: origin.toArray(), direction: direction.toArray() });
    const own = found.filter(({ object }) => object === id);
    hits += own.length;
    const wrong = hitFaults(own, raycaster.intersectObject(mesh, false), raycaster.ray, 1e-5 * size);
    faults.push(...wrong.map((fault) => `ray ${i}: ${fault}`));
  }
  return { faults, hits };
}

/** Moves the vertices that three has: far or a little, scaled, shuffled, or back to where they were. */
function move(random: Random, { data }: Rig, original: Float32Array): void {
  const { positions } = data;
  const center = random.point(3);
  const scale = random.pick([1, 0.01, 7, 300]);
  const noise = random.pick([0, 0.05, 0.5]);
  const isBack = random.chance(0.2);
  for (let i = 0; i < positions.length; i++) {
    positions[i] = isBack
      ? original[i]
      : scale * (original[i] + random.range(-noise, noise)) + center.getComponent(i % 3);
  }
}

describe.each(KINDS)(`%s, seed ${SEED}`, (_, options) => {
  test('each object has its pose, of the vertices that are new, before the next update()', async () => {
    const random = new Random(SEED);
    const rig = randomRig(random, { ...options, triangles: bumpyBall(random, 5, 0.15) });
    const original = rig.data.positions.slice();
    const mesh = await service.addMesh(rig.data);
    const id = service.addObject({ shape: { type: 'mesh', mesh }, matrix: rig.mesh.matrixWorld.elements });
    service.addObject({ shape: { type: 'mesh', mesh } }); // at rest
    await service.update();
    const faults: string[] = [];
    let hits = 0;
    for (let round = 0; round < ROUNDS; round++) {
      if (round % 3 === 0) {
        poseRandomly(random, rig);
        roundBones(rig);
        service.setPose(id, poseOf(rig));
        await service.update();
      }
      move(random, rig, original);
      const { rebuilds } = service.meshInfo(mesh);
      await service.updateMesh(mesh, rig.data.positions);
      const moved = await compare(service, random, rig, id);
      // The tree that is built in parallel has skin and targets, too.
      const isWorse = service.meshInfo(mesh).cost >= 2;
      if (isWorse)
        await expect.poll(() => service.meshInfo(mesh).rebuilds, { timeout: 20_000 }).toBeGreaterThan(rebuilds);
      const rebuilt = isWorse ? await compare(service, random, rig, id) : { faults: [], hits: 0 };
      hits += moved.hits + rebuilt.hits;
      faults.push(...[...moved.faults, ...rebuilt.faults].map((fault) => `round ${round}: ${fault}`));
    }
    expect(faults).toEqual([]);
    expect(hits).toBeGreaterThan(ROUNDS * 4);
    expect(service.meshInfo(mesh)).toMatchObject({ bones: options.bones, morphs: options.targets ?? 0 });
  });

  test('moved back, it is baked to the same bytes; baked where it is moved to, it is as moved', async () => {
    const random = new Random(SEED);
    const rig = randomRig(random, options);
    const original = rig.data.positions.slice();
    const mesh = await service.addMesh(rig.data);
    const before = await service.bakeMesh(mesh);
    for (let i = 0; i < original.length; i++) rig.data.positions[i] = 3 * original[i] + 1;
    await service.updateMesh(mesh, rig.data.positions);
    const other = await service.addMesh(await service.bakeMesh(mesh));
    poseRandomly(random, rig);
    roundBones(rig);
    const ids = [mesh, other].map((each) =>
      service.addObject({ shape: { type: 'mesh', mesh: each }, matrix: rig.mesh.matrixWorld.elements }),
    );
    for (const id of ids) service.setPose(id, poseOf(rig));
    await service.update();
    for (const id of ids) expect((await compare(service, random, rig, id)).faults).toEqual([]);
    await service.updateMesh(mesh, original);
    expect(new Uint8Array(await service.bakeMesh(mesh))).toEqual(new Uint8Array(before));
  });

  test('another mesh of as many bones and targets takes the pose over, also in the next worker', async () => {
    const random = new Random(SEED);
    const mortal = await KillableService.create();
    const asked = mortal.service;
    const rig = randomRig(random, { ...options, triangles: bumpyBall(random, 4, 0.15) });
    const mesh = await asked.addMesh(rig.data);
    const id = asked.addObject({ shape: { type: 'mesh', mesh }, matrix: rig.mesh.matrixWorld.elements });
    poseRandomly(random, rig);
    roundBones(rig);
    asked.setPose(id, poseOf(rig));
    await asked.update();
    for (let i = 0; i < rig.data.positions.length; i++) rig.data.positions[i] *= 1.5;
    const larger = await asked.addMesh(rig.data);
    asked.setObject(id, { shape: { type: 'mesh', mesh: larger } });
    asked.removeMesh(mesh);
    expect((await compare(asked, random, rig, id)).faults).toEqual([]);
    await mortal.kill();
    const after = await compare(asked, random, rig, id);
    expect(after.faults).toEqual([]);
    expect(after.hits).toBeGreaterThan(5);
    // An object of another mesh has none.
    const plain = await asked.addMesh({ positions: rig.data.positions, indices: rig.data.indices! });
    asked.setObject(id, { shape: { type: 'mesh', mesh: plain } });
    await asked.update();
    expect(() => asked.setPose(id, {})).toThrow(/whose mesh has a skin/);
    asked.dispose();
  });
});

test.each([
  { bones: 4, targets: 1 },
  { bones: 3, targets: 2 },
])('a mesh of %o instead of 4 bones and 2 targets ends a pose, also in the next worker', async (options) => {
  const random = new Random(SEED);
  const mortal = await KillableService.create();
  const asked = mortal.service;
  const triangles = bumpyBall(random, 4, 0.15);
  const rig = randomRig(random, { bones: 4, targets: 2, triangles });
  const mesh = await asked.addMesh(rig.data);
  const other = await asked.addMesh(randomRig(random, { ...options, triangles }).data);
  const id = asked.addObject({ shape: { type: 'mesh', mesh } });
  const bounds = async () => {
    await asked.update();
    return (await asked.inspect({ bounds: true })).bounds;
  };
  const resting = await bounds();
  poseRandomly(random, rig);
  asked.setPose(id, poseOf(rig));
  expect(await bounds()).not.toEqual(resting);
  for (const each of [other, mesh]) asked.setObject(id, { shape: { type: 'mesh', mesh: each } });
  expect(await bounds()).toEqual(resting);
  await mortal.kill();
  expect(await bounds()).toEqual(resting);
  asked.dispose();
});

test('vertices move while a frame is under way that reads poses of them: its contacts are those of then', async () => {
  const random = new Random(SEED);
  const rig = randomRig(random, { bones: 4, triangles: bumpyBall(random, 9, 0.1) });
  const original = rig.data.positions.slice();
  const mesh = await service.addMesh(rig.data);
  const ids = Array.from({ length: 10 }, () => service.addObject({ shape: { type: 'mesh', mesh }, contacts: 'full' }));
  for (const id of ids) {
    poseRandomly(random, rig);
    service.setPose(id, poseOf(rig));
  }
  const first = service.update();
  const moves = [2, 0.5, 1].map((scale) =>
    service.updateMesh(
      mesh,
      original.map((x) => scale * x),
    ),
  );
  const count = (await first).contacts.count;
  await Promise.all(moves);
  service.setPose(ids[0], poseOf(rig)); // the same pose, with the original vertices
  expect((await service.update()).contacts.count).toBe(count);
  expect(count).toBe((10 * 9) / 2);
});

test(`what has more vertices than a step of a build takes is posed to its last one, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  for (const options of [{ bones: 4 }, { bones: 0, targets: 2, relative: false }, { bones: 3, targets: 2 }]) {
    const rig = randomRig(random, { ...options, triangles: icosphere(1, 25) });
    const mesh = await service.addMesh(rig.data);
    const id = service.addObject({ shape: { type: 'mesh', mesh }, matrix: rig.mesh.matrixWorld.elements });
    for (let round = 0; round < 3; round++) {
      poseRandomly(random, rig);
      roundBones(rig);
      service.setPose(id, poseOf(rig));
      await service.update();
      const { faults, hits } = await compare(service, random, rig, id);
      expect(faults, JSON.stringify(options)).toEqual([]);
      expect(hits).toBeGreaterThan(0);
    }
    service.removeObject(id);
  }
});
