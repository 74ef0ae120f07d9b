// Boxes that represent objects of a scene: what hits and contacts report of them, until the options change.
import type { NamedBox } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, Scene, SphereGeometry, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

withService();

const material = new MeshBasicMaterial();
const HANDS: NamedBox[] = [
  { name: 'left', center: [-2, 0, 0], halfExtents: [0.5, 0.5, 0.5] },
  { name: 'right', center: [2, 0, 0], halfExtents: [0.5, 0.5, 0.5] },
];
const OBB = { precision: 'obb' } as const;
const DOWN = new Vector3(0, -1, 0);

test('a mesh has them, and loses them with the options', async () => {
  const scene = new Scene();
  const ball = new Mesh(new SphereGeometry(1), material);
  const crate = new Mesh(new BoxGeometry(1, 1, 1), material);
  crate.position.x = 2.5;
  scene.add(crate, ball);
  let boxes: NamedBox[] | undefined = HANDS;
  const tracker = await trackScene(service, scene, {
    contacts: 'bounds',
    updateMatrixWorld: true,
    objectOptions: (object) => (object === ball && boxes ? { boxes } : {}),
  });
  const step = () => tracker.update(frontCamera(), SIZE);
  let frame = await step();
  const [contact] = frame.contactsOf(ball);
  expect([contact.a.object, contact.b.object]).toEqual([ball, crate]);
  expect(contact.boxes).toEqual([{ boxA: 'right', boxB: null }]);
  expect(contact.bones).toEqual([]);
  const [turned] = frame.contactsOf(crate);
  expect(turned.boxes).toEqual([{ boxA: null, boxB: 'right' }]);
  const asked = await tracker.contact(crate, ball, { detail: 'bounds' });
  expect(asked?.boxes).toEqual([{ boxA: null, boxB: 'right' }]);
  const hit = await tracker.raycast({ origin: [-2, 9, 0], direction: DOWN }, OBB);
  expect(hit).toMatchObject({ object: ball, box: 'left', distance: 8.5 });
  expect(hit).not.toHaveProperty('bone');
  const exact = await tracker.raycast({ origin: [0, 9, 0], direction: DOWN });
  expect(exact).toMatchObject({ object: ball });
  expect(exact).not.toHaveProperty('box');

  boxes = undefined;
  tracker.changed(ball);
  await step();
  frame = await step();
  expect(frame.contactsOf(ball)).toHaveLength(0);
  expect(await tracker.raycast({ origin: [-2, 9, 0], direction: DOWN }, OBB)).toBeNull();
  expect(await tracker.raycast({ origin: [0, 9, 0], direction: DOWN }, OBB)).toMatchObject({ object: ball });
});

test('all instances have them', async () => {
  const scene = new Scene();
  const instances = new InstancedMesh(new SphereGeometry(1), material, 3);
  for (let i = 0; i < 3; i++) instances.setMatrixAt(i, new Matrix4().makeTranslation(0, 0, 10 * i));
  scene.add(instances);
  const objectOptions = () => ({ boxes: HANDS });
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true, objectOptions });
  await tracker.update(frontCamera(), SIZE);
  const hit = await tracker.raycast({ origin: [2, 9, 20], direction: DOWN }, OBB);
  expect(hit).toMatchObject({ object: instances, instanceId: 2, box: 'right' });
});

test('what is no mesh says why it is left out', async () => {
  const scene = new Scene();
  const ball = new Mesh(new SphereGeometry(1), material);
  scene.add(ball);
  const tracker = await trackScene(service, scene, {
    updateMatrixWorld: true,
    shapeOf: () => ({ type: 'sphere', radius: 1 }),
    objectOptions: () => ({ boxes: HANDS }),
  });
  await tracker.update(frontCamera(), SIZE);
  expect([...tracker.untracked.values()].map(({ message }) => message)).toEqual([
    expect.stringMatching(/boxes .* expected none, as the shape is no mesh/),
  ]);
});
