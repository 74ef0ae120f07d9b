// The garbage that frames produce, as Chromium's heap profiler counts it: bytes, not times.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cdp } from 'vitest/browser';
import { type Allocations, allocationsOf, type Send } from '../fixtures/allocations.js';

const COUNT = 2000;
const SIZE = { width: 800, height: 600 };
/** Bytes. Mostly promises, messages and the camera's margin; an object for each of 2,000 would be 32,000 more. */
const AT_MOST = 26_000;
const send = ((method: string, params?: object) => (cdp() as unknown as { send: Send }).send(method, params)) as Send;

const scene = new Scene();
const instances = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), COUNT);
const camera = new PerspectiveCamera(60, SIZE.width / SIZE.height, 0.1, 1000);
const matrix = new Matrix4();
let service: CollisionService;
let tracker: SceneTracker;
let ids: Uint32Array;

beforeAll(async () => {
  service = await createCollisionService({ builders: 0 });
  const geometry = new BoxGeometry();
  const material = new MeshBasicMaterial();
  for (let i = 0; i < COUNT; i++) {
    const mesh = new Mesh(geometry, material);
    mesh.matrixAutoUpdate = false;
    mesh.matrixWorldAutoUpdate = false;
    scene.add(mesh);
    instances.setMatrixAt(i, matrix.setPosition(2 * i, 50, 0));
  }
  scene.add(instances);
  ids = service.addInstances({ shape: { type: 'sphere', radius: 0.5 } }, COUNT);
  tracker = await trackScene(service, scene);
});
afterAll(() => service?.dispose());

/** Everything that may move, moves, including the camera. */
async function frame(number: number): Promise<void> {
  const { children } = scene;
  for (let i = 0; i < COUNT; i++) {
    const { elements } = children[i].matrixWorld;
    elements[12] = 2 * i;
    elements[13] = Math.sin(0.1 * number + i);
    service.setTransform(ids[i], elements);
  }
  instances.instanceMatrix.needsUpdate = true;
  camera.position.z = 10 + Math.sin(0.1 * number);
  camera.updateMatrixWorld();
  await tracker.update(camera, SIZE, { margin: 'motion' });
}

async function garbage(frames: number, each: (number: number) => Promise<void>): Promise<Allocations> {
  for (let i = 0; i < 600; i++) await each(i); // until all of it is compiled
  const found = await allocationsOf(send, async () => {
    for (let i = 0; i < frames; i++) await each(i);
  });
  const byFunction = found.byFunction.slice(0, 12).map(([name, bytes]) => [name, Math.round(bytes / frames)] as const);
  return { bytes: found.bytes / frames, byFunction: byFunction as [string, number][] };
}

test(`a frame of ${COUNT} moving objects, as many instances and as many of \`setTransform\` leaves little behind`, async () => {
  const { bytes, byFunction } = await garbage(300, frame);
  expect(bytes, JSON.stringify(byFunction)).toBeLessThan(AT_MOST);
  console.log(`${Math.round(bytes)} bytes a frame: ${byFunction.map(([name, own]) => `${name} ${own}`).join(', ')}`);
});

test('and it would be noticed if it left an object for each of them', async () => {
  const kept: { x: number }[] = [];
  const { bytes } = await garbage(100, async (number) => {
    await frame(number);
    for (let i = 0; i < COUNT; i++) kept[i] = { x: i + number };
  });
  expect(bytes).toBeGreaterThan(AT_MOST);
});
