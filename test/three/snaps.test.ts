// Picks in a scene that snap: in terms of its objects, ignoring foreign ones; and measurements from them.
import { measure, type SceneSnap, trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  BoxGeometry,
  BufferGeometry,
  CylinderGeometry,
  InstancedMesh,
  LineSegments,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  Plane,
  Points,
  Scene,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { HAS_INSTANCES } from '../fixtures/three-batches.js';
import { SIZE } from '../fixtures/three-picks.js';

withService();

const camera = new PerspectiveCamera(50, SIZE.width / SIZE.height, 0.1, 100);
camera.position.set(2, 3, 12);
camera.lookAt(0, 0, 0);
camera.updateMatrixWorld();

function pixelsOf(point: Vector3): [number, number] {
  const { x, y } = point.clone().project(camera);
  return [((x + 1) / 2) * SIZE.width, ((1 - y) / 2) * SIZE.height];
}

async function tracked(scene: Scene) {
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true });
  await tracker.update(camera, SIZE);
  const snapAt = async (point: Vector3, snap: SceneSnap['kind'][], dx = 1, dy = 1, radius = 8) => {
    const [x, y] = pixelsOf(point);
    const hit = await tracker.pick(x + dx, y + dy, { snap, radius });
    return hit?.snap ?? null;
  };
  return { tracker, snapAt };
}

const close = (a: Vector3, b: Vector3) => expect(a.distanceTo(b)).toBeLessThan(1e-5);

test('snaps name objects, instances, faces, lines and points', async () => {
  const scene = new Scene();
  const material = new MeshBasicMaterial();
  const box = new Mesh(new BoxGeometry(1, 1, 1), material);
  const boxes = new InstancedMesh(new BoxGeometry(1, 1, 1), material, 2);
  for (let i = 0; i < 2; i++) boxes.setMatrixAt(i, new Matrix4().makeTranslation(2 + 2 * i, 0, 0));
  const batch = new BatchedMesh(2, 100, 200, material);
  // In older versions a geometry is an instance.
  const add = () => batch.addGeometry(new BoxGeometry(1, 1, 1));
  const shape = HAS_INSTANCES ? add() : -1;
  for (let i = 0; i < 2; i++) {
    const instance = HAS_INSTANCES ? batch.addInstance(shape) : add();
    batch.setMatrixAt(instance, new Matrix4().makeTranslation(-2 - 2 * i, 0, 0));
  }
  const lines = new LineSegments(new BufferGeometry().setFromPoints([0, 1, 2, 3].map((i) => new Vector3(i, 2, 0))));
  const points = new Points(new BufferGeometry().setFromPoints([new Vector3(-1, 2, 0), new Vector3(-3, 2, 0)]));
  scene.add(box, boxes, batch, lines, points);
  const { snapAt } = await tracked(scene);

  const corner = await snapAt(new Vector3(0.5, 0.5, 0.5), ['vertex', 'edge']);
  expect(corner).toMatchObject({ kind: 'vertex', object: box, faceIndex: expect.any(Number) });
  close(corner!.point, new Vector3(0.5, 0.5, 0.5));
  expect(await snapAt(new Vector3(4, 0.5, 0.5), ['midpoint'])).toMatchObject({
    kind: 'midpoint',
    object: boxes,
    instanceId: 1,
  });
  expect(await snapAt(new Vector3(-4.5, 0.5, 0.5), ['vertex'])).toMatchObject({ object: batch, instanceId: 1 });
  expect(await snapAt(new Vector3(2.5, 2, 0), ['midpoint'])).toMatchObject({ object: lines, index: 2 });
  expect(await snapAt(new Vector3(-3, 2, 0), ['vertex'])).toMatchObject({ object: points, index: 1 });
});

test('beside everything the intersection is of the feature; what is not near one has none', async () => {
  const scene = new Scene();
  const box = new Mesh(new BoxGeometry(1, 1, 1), new MeshBasicMaterial());
  scene.add(box);
  const { tracker } = await tracked(scene);
  const corner = new Vector3(-0.5, 0.5, 0.5);
  const [x, y] = pixelsOf(corner);
  const hit = await tracker.pick(x - 4, y - 4, { snap: ['vertex'] });
  expect(hit).toMatchObject({ object: box, faceIndex: expect.any(Number), snap: { kind: 'vertex', object: box } });
  close(hit!.point, corner);
  expect(hit!.distance).toBeCloseTo(camera.position.distanceTo(corner), 6);
  expect(await tracker.pick(x - 40, y - 40, { snap: ['vertex'] })).toBeNull();
  const [u, v] = pixelsOf(new Vector3(0, 0, 0.5));
  expect(await tracker.pick(u, v, { snap: ['vertex'] })).toMatchObject({ object: box, snap: null });
  expect((await tracker.pick(u, v))!.snap).toBeUndefined();
});

test('others in the same service have no features here, and hide nothing', async () => {
  const scene = new Scene();
  scene.add(new Mesh(new BoxGeometry(1, 1, 1), new MeshBasicMaterial()));
  const { snapAt } = await tracked(scene);
  const corner = new Vector3(0.5, 0.5, 0.5);
  const before = corner.clone().lerp(camera.position, 0.3);
  const matrix = new Matrix4().setPosition(before).elements;
  const stranger = service.addObject({ shape: { type: 'box', halfExtents: [0.4, 0.4, 0.4] }, matrix });
  await service.update();
  const [x, y] = pixelsOf(corner);
  expect((await service.pick(x, y, { snap: ['vertex'] }))!.object).toBe(stranger);
  expect(await snapAt(corner, ['vertex'])).toMatchObject({ kind: 'vertex', object: scene.children[0] });
  expect(await snapAt(before.clone().add(new Vector3(0.4, 0.4, 0.4)), ['vertex'])).toBeNull();
});

test('the newest pick does not answer one that snaps, nor the other way round', async () => {
  const scene = new Scene();
  scene.add(new Mesh(new BoxGeometry(1, 1, 1), new MeshBasicMaterial()));
  const { tracker } = await tracked(scene);
  const [x, y] = pixelsOf(new Vector3(0.5, 0.5, 0.5));
  const latest = true;
  for (const each of [tracker, service]) {
    const hovers = () => each.pick(x - 4, y - 4, { latest });
    const snapping = () => each.pick(x - 4, y - 4, { latest, snap: ['vertex'] });
    const asked = [snapping, snapping, hovers, hovers, snapping, hovers, hovers, hovers];
    const hits = await Promise.all(asked.map((ask) => ask()));
    const kinds = hits.map((hit) => hit!.snap?.kind);
    expect(kinds).toEqual(asked.map((ask) => (ask === snapping ? 'vertex' : undefined)));
  }
});

test('materials decide what is drawn: sides and clipping planes', async () => {
  const scene = new Scene();
  const clipped = new MeshBasicMaterial({ clippingPlanes: [new Plane(new Vector3(-1, 0, 0), 0.2)] });
  scene.add(new Mesh(new BoxGeometry(1, 1, 1), clipped));
  const renderer = { localClippingEnabled: true, clippingPlanes: [] };
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true, renderer: renderer as never });
  await tracker.update(camera, SIZE);
  const [x, y] = pixelsOf(new Vector3(0.5, 0.5, 0.5));
  expect((await tracker.pick(x, y, { snap: ['vertex'] }))?.snap ?? null).toBeNull();
  const [u, v] = pixelsOf(new Vector3(-0.5, 0.5, 0.5));
  expect((await tracker.pick(u, v, { snap: ['vertex'] }))?.snap).toMatchObject({ kind: 'vertex' });
});

test('measures from snaps, intersections and vectors', async () => {
  const scene = new Scene();
  const plate = new Mesh(new BoxGeometry(4, 0.2, 2), new MeshBasicMaterial());
  const pipe = new Mesh(new CylinderGeometry(0.5, 0.5, 2, 24), new MeshBasicMaterial());
  plate.position.y = -1.1;
  pipe.position.set(0, 1, 0);
  scene.add(plate, pipe);
  const { tracker, snapAt } = await tracked(scene);
  const top = await snapAt(new Vector3(1.2, -1, 0.4), ['face'], 0, 0);
  expect(top!.kind).toBe('face');
  const rim = await snapAt(new Vector3(0, 2, 0), ['center'], 2, 1);
  expect(rim).toMatchObject({ kind: 'center', object: pipe });
  expect(rim!.radius).toBeCloseTo(0.5, 5);
  expect(measure(top!, rim!).distance).toBeCloseTo(3, 5);
  expect(measure(rim!, new Vector3(0, 5, 0))).toMatchObject({ angle: null, distance: expect.closeTo(3, 5) });
  const front = await snapAt(new Vector3(1, -1.1, 1), ['face'], 0, 0);
  expect(measure(top!, front!).angle).toBeCloseTo(Math.PI / 2, 6);
  const [x, y] = pixelsOf(new Vector3(0, -1, 1));
  const edge = await tracker.pick(x, y + 2, { snap: ['edge'] });
  expect(measure(edge!, top!).distance).toBeCloseTo(0, 6);
  expect(measure(edge!, { a: new Vector3(-1, 0, 0), b: new Vector3(1, 0, 0) }).angle).toBeCloseTo(0, 6);
  expect(() => measure(null as never, top!)).toThrowError(/measure: a is null/);
});
