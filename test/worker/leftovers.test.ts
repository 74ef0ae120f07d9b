// Whatever is removed leaves nothing behind in the core's memory, however often it is added.
import { type CollisionService, createCollisionService, type ObjectOptions, type ViewOptions } from 'collision-worker';
import { PerspectiveCamera } from 'three';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { boxMesh, icosphere, waves } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';
import { poseOf, poseRandomly, randomRig } from '../oracle/rigs.js';

const CAPSULE = { type: 'capsule', radius: 0.3, from: [0, 0.3, 0], to: [0, 1.5, 0] } as const;
const BOX = { type: 'box', halfExtents: [1, 1, 1] } as const;
/** Until most of what the core keeps for reuse has reached its maximum size. */
const FIRST_ROUNDS = 3;
/** Leaks add up; on a busy machine, some of what is kept may grow in one of the rounds. */
const ROUNDS = 4;

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());

const at = (x: number, y: number, z: number) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1];
const put = (options: ObjectOptions, count = 3) =>
  Array.from({ length: count }, (_, i) => service.addObject({ matrix: at(0.8 * i, 0, 0), ...options }));

/** Resolves once everything that frames and removals defer has been done. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await service.update();
}

function look(name: string, options: Partial<ViewOptions>): void {
  const projection = new PerspectiveCamera(60, 1, 0.1, 100).projectionMatrix.elements;
  service.setView({ projection, view: at(0, 0, -12), viewport: { width: 200, height: 200 }, ...options }, name);
}

async function seeHidden(): Promise<void> {
  const ids = put({ shape: BOX }, 20);
  // An occluder that is drawn itself, one represented by a box inside it, and one whose front is made a relief.
  const forms = [boxMesh(2, 2, 2), icosphere(1, 12), waves(40)];
  const meshes = await Promise.all(forms.map((form) => service.addMesh(form)));
  for (const mesh of meshes) ids.push(...put({ shape: { type: 'mesh', mesh } }, 5));
  look('one', { occlusion: true });
  look('another', { occlusion: true, occlusionMargin: 0.01 });
  await settle();
  for (const name of ['another', 'one']) service.removeView(name);
  service.removeObjects(Uint32Array.from(ids));
  for (const mesh of meshes) service.removeMesh(mesh);
}

async function walk(): Promise<void> {
  const ids = put({ shape: BOX }, 30);
  const character = service.createCharacter({ shape: CAPSULE, position: [0, 5, 0], ignore: ids.slice(20) });
  await service.update();
  // A list that replaces another one, and none that replaces that.
  for (const ignore of [ids.slice(5), ids.slice(0, 20), []]) {
    character.set({ ignore });
    character.move([0.1, -0.1, 0]);
    await service.update();
  }
  character.set({ ignore: ids });
  await service.update();
  character.remove();
  service.removeObjects(Uint32Array.from(ids));
}

async function meet(round: number): Promise<void> {
  const mesh = await service.addMesh(icosphere(1, 3));
  const shape = { type: 'mesh', mesh } as const;
  // Equal lists are shared, also with that of another round.
  const box = (name: string) => ({ name, center: [0, 0, 0], halfExtents: [1, 1, 1 + 0.1 * round] }) as const;
  const ids = [
    ...put({ shape: BOX, clearance: 0.5 }),
    ...put({ shape: { type: 'sphere', radius: 1 }, continuous: true }),
    ...put({ shape, contacts: 'full' }),
    ...put({ shape, boxes: [box('a'), box('b')], contacts: 'bounds' }),
  ];
  await service.update();
  for (const [i, id] of ids.entries()) service.setTransform(id, at(0.5 * i, 0.3, 0));
  await service.update();
  await service.contact(ids[6], ids[7], { detail: 'full' });
  // An object that changes its kind gives up what the other kind had.
  service.setObject(ids[0], { shape, boxes: [box('c')] });
  service.setObject(ids[9], { shape: CAPSULE });
  await service.update();
  service.removeObjects(Uint32Array.from(ids));
  service.removeMesh(mesh);
}

async function ask(): Promise<void> {
  const mesh = await service.addMesh(icosphere(1, 6));
  const open = await service.addMesh(waves(12));
  const ids = [...put({ shape: { type: 'mesh', mesh } }), ...put({ shape: BOX })];
  ids.push(...put({ shape: { type: 'mesh', mesh: open } }));
  look('main', {});
  await service.update();
  const ball = { type: 'sphere', radius: 0.3 } as const;
  await Promise.all([
    service.pick(100, 100, { snap: ['vertex', 'edge', 'face'], radius: 20 }),
    service.pickAll(100, 100),
    service.pickRegion({ x: 20, y: 20, width: 90, height: 90 }, { mode: 'touch' }),
    service.section([1, 0, 0, -0.1], { caps: true }),
    service.section([0, 0.6, 0.8, -0.01], { weld: 1e-6 }),
    service.inspect({ objects: ids, octree: true, bounds: true }),
    service.sweepAll(ball, at(0, 0, 9), at(0, 0, -9)),
    service.distance(ids[0], ids[5]),
    service.closestPoint([0, 9, 0]),
  ]);
  service.removeView('main');
  service.removeObjects(Uint32Array.from(ids));
  for (const each of [mesh, open]) service.removeMesh(each);
}

async function pose(): Promise<void> {
  const random = new Random(SEED);
  const rig = randomRig(random, { bones: 4, targets: 2 });
  const mesh = await service.addMesh(rig.data);
  const shape = { type: 'mesh', mesh } as const;
  const ids = [...put({ shape, contacts: 'full' }), ...put({ shape, contacts: 'bones' })];
  for (let i = 0; i < 3; i++) {
    poseRandomly(random, rig);
    for (const id of ids) service.setPose(id, poseOf(rig));
    await service.update();
    await service.raycast({ origin: [0, 0, 20], direction: [0, 0, -1] });
  }
  service.removeObjects(Uint32Array.from(ids));
  service.removeMesh(mesh);
}

test.each([
  ['views in which some hide others', seeHidden],
  ['characters that ignore objects, by turns others', walk],
  ['objects that meet', meet],
  ['poses', pose],
  ['what queries look at', ask],
])('%s', async (_, come) => {
  const used: number[] = [];
  for (let i = 0; i < FIRST_ROUNDS + ROUNDS; i++) {
    await come(i);
    await settle();
    used.push(service.stats.usedBytes);
  }
  const growths = used.filter((bytes, i) => i >= FIRST_ROUNDS && bytes > used[i - 1]);
  expect(growths.length, `bytes in use: ${used}`).toBeLessThan(2);
});
