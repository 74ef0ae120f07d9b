// Clearances and continuous objects of a scene, and teleported objects.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneTracker, type TrackOptions, trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  BoxGeometry,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Scene,
  SphereGeometry,
} from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { HAS_INSTANCES } from '../fixtures/three-batches.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const material = new MeshBasicMaterial();
const step = (tracker: SceneTracker) => tracker.update(frontCamera(), SIZE);

function named<T extends Object3D>(object: T, name: string): T {
  object.name = name;
  return object;
}

async function tracked(scene: Scene, options: Record<string, object>): Promise<SceneTracker> {
  const objectOptions: TrackOptions['objectOptions'] = ({ name }) => options[name];
  return trackScene(service, scene, { contacts: 'manifold', updateMatrixWorld: true, objectOptions });
}

test('a clearance, until the options say something else', async () => {
  const scene = new Scene();
  const box = named(new Mesh(new BoxGeometry(2, 2, 2), material), 'box');
  const other = named(new Mesh(new BoxGeometry(2, 2, 2), material), 'other');
  other.position.x = 2.5;
  scene.add(box, other);
  const options: Record<string, object> = { box: { clearance: 0.4 }, other: { clearance: 0.2 } };
  const tracker = await tracked(scene, options);
  const frame = await step(tracker);
  const [contact] = frame.contactsOf(other);
  expect([contact.b.object, contact.time, contact.begun]).toEqual([box, 1, true]);
  expect(contact.depths[0]).toBeCloseTo(-0.5, 5);
  expect([...contact.normals].map(Math.round)).toEqual([-1, 0, 0]);
  expect(contact.points[0]).toBeCloseTo(1.25, 5);
  const asked = await tracker.contact(box, other);
  expect(asked?.depths[0]).toBeCloseTo(-0.5, 5);
  options.box = {};
  tracker.changed(box);
  await step(tracker);
  expect((await step(tracker)).result.contacts.count).toBe(0);
});

test('a bullet passes a wall, and does not where it was teleported; so do instances', async () => {
  const scene = new Scene();
  const wall = named(new Mesh(new BoxGeometry(0.02, 20, 20), material), 'wall');
  const bullet = named(new Mesh(new SphereGeometry(0.05, 8, 6), material), 'bullet');
  const swarm = named(new InstancedMesh(new SphereGeometry(0.05, 8, 6), material, 3), 'swarm');
  const place = (x: number) => {
    bullet.position.x = x;
    for (let i = 0; i < 3; i++) swarm.setMatrixAt(i, new Matrix4().makeTranslation(x, i + 1, 0));
    swarm.instanceMatrix.needsUpdate = true;
  };
  place(-9);
  scene.add(wall, bullet, swarm);
  const continuous = { continuous: true, group: 1 };
  const tracker = await tracked(scene, { bullet: continuous, swarm: continuous, wall: { motion: 'static' } });
  expect((await step(tracker)).result.contacts.count).toBe(0);
  place(9);
  const frame = await step(tracker);
  const found: [string, number | undefined, number][] = [];
  frame.forEachContact((a, b, _, { time }) => {
    const other = a.object === wall ? b : a;
    found.push([other.object.name, other.instanceId, time]);
  });
  expect(found.length).toBe(4);
  for (const [, , time] of found) expect(Math.abs(time - 0.5)).toBeLessThan(0.01);
  place(-9);
  tracker.teleport(scene);
  expect((await step(tracker)).result.contacts.count).toBe(0);
  place(9);
  tracker.teleport(swarm);
  const last = await step(tracker);
  expect(last.contactsOf(bullet).length).toBe(1);
  expect(last.contactsOf(swarm).length).toBe(0);
  expect(() => tracker.teleport({} as Object3D)).toThrow(/teleport: object/);
});

test('the way of a frame that is lost with its worker is on the next one, of meshes, of instances and of a batch', async () => {
  const mortal = await KillableService.create();
  service.dispose();
  ({ service } = mortal);
  const scene = new Scene();
  const wall = named(new Mesh(new BoxGeometry(0.02, 40, 40), material), 'wall');
  const geometry = new SphereGeometry(0.05, 8, 6);
  const bullet = named(new Mesh(geometry, material), 'bullet');
  const swarm = named(new InstancedMesh(geometry, material, 3), 'swarm');
  const batch = named(new BatchedMesh(2, 200, 600, material), 'batch');
  const form = batch.addGeometry(geometry);
  const batched = HAS_INSTANCES ? [0, 1].map(() => batch.addInstance(form)) : [form, batch.addGeometry(geometry)];
  const matrix = new Matrix4();
  const place = (x: number) => {
    bullet.position.x = x;
    for (let i = 0; i < 3; i++) swarm.setMatrixAt(i, matrix.makeTranslation(x, i + 1, 0));
    swarm.instanceMatrix.needsUpdate = true;
    for (const i of batched) batch.setMatrixAt(i, matrix.makeTranslation(x, -i - 1, 0));
  };
  place(-9);
  scene.add(wall, bullet, swarm, batch);
  const continuous = { continuous: true, group: 1 };
  const options = { bullet: continuous, swarm: continuous, batch: continuous, wall: { motion: 'static' } };
  const tracker = await tracked(scene, options);
  expect((await step(tracker)).result.contacts.count).toBe(0);
  place(-8);
  expect((await step(tracker)).result.contacts.count).toBe(0);
  for (let round = 0; round < 2; round++) {
    const side = round === 0 ? 1 : -1;
    mortal.workers.at(-1)!.hold();
    place(8 * side);
    const lost = expect(step(tracker)).rejects.toMatchObject({ code: 'WORKER_LOST' });
    await mortal.kill();
    await lost;
    const { contacts } = (await step(tracker)).result;
    expect(contacts.count).toBe(6);
    for (const time of contacts.time) expect(Math.abs(time - 0.5)).toBeLessThan(0.01);
    expect((await step(tracker)).result.contacts.count).toBe(0);
  }
});
