// How long the main thread is blocked at a time while large scenes are added, changed
// and removed; the times are printed. No test asserts a time, only that everything is
// added, and removed, twice, and that existing objects are hit meanwhile.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import { Group, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, Scene, SphereGeometry, Vector3 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sheetOf } from '../fixtures/sheet.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

/**
 * The share of the whole, which is 20,000 geometries, 18 million triangles, a million instances and 50,000 Meshes:
 * `VITE_PART=1 npx vitest run --project browser --silent=false test/three/hitches.browser.test.ts`
 */
const PART = Number(import.meta.env.VITE_PART ?? 0.02);
const material = new MeshBasicMaterial();

let service: CollisionService;
let scene: Scene;
let tracker: SceneTracker;
let lines: string[];
beforeEach(async () => {
  service = await createCollisionService();
  const other = cube(1);
  other.position.y = -3;
  scene = new Scene().add(other);
  scene.updateMatrixWorld();
  tracker = await trackScene(service, scene);
  lines = [];
});
afterEach(async () => {
  await tracker.update(frontCamera(), SIZE);
  tracker.dispose();
  service.dispose();
  console.info(lines.join('\n'));
});

/**
 * Runs frames until `isDone`, and records the longest of our tasks between them: in the frames, and from task to task.
 */
async function during(what: string, isDone: () => boolean): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  let [isOver, longest, longestFrame, turns] = [false, 0, 0, 0];
  let last = performance.now();
  port1.onmessage = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    turns++;
    if (!isOver) port2.postMessage(null);
  };
  port2.postMessage(null);
  const begun = performance.now();
  for (let frame = 0; frame === 0 || !isDone(); frame++) {
    expect(frame, what).toBeLessThan(20_000);
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    tracker.update(frontCamera(), SIZE);
    longestFrame = Math.max(longestFrame, performance.now() - start);
    // Existing objects are hit, whatever else comes and goes.
    if (frame % 20 === 0) expect((await hitAt(0, -3))?.object).toBe(scene.children[0]);
  }
  isOver = true;
  const ms = [performance.now() - begun, longest, longestFrame].map((each) => each.toFixed(1));
  lines.push(`${what}: ${ms[0]} ms, ${turns} turns, the longest ${ms[1]} ms; the longest update ${ms[2]} ms`);
}

const hitAt = (x: number, y: number) => {
  return tracker.raycast({ origin: new Vector3(x, y, 5), direction: new Vector3(0, 0, -1) });
};
const isQuiet = () => tracker.pending.length === 0;

test('many geometries come, leave, come again, and are disposed of', async () => {
  const count = Math.ceil(20_000 * PART);
  const group = new Group();
  for (let i = 0; i < count; i++) {
    const mesh = new Mesh(new SphereGeometry(0.4, 8, 4), material);
    mesh.position.set(2 * i, 0, 0);
    group.add(mesh);
  }
  group.updateMatrixWorld();
  for (const again of ['', ' again']) {
    scene.add(group);
    await during(`${count} geometries come${again}`, () => service.stats.objects === count + 1 && isQuiet());
    expect((await hitAt(2 * (count - 1), 0))?.object).toBe(group.children[count - 1]);
    scene.remove(group);
    await during(`${count} geometries leave${again}`, () => service.stats.meshes === 1);
    expect(await hitAt(0, 0)).toBeNull();
  }
});

test('a large mesh comes, and leaves', async () => {
  const side = Math.ceil(Math.sqrt(9_000_000 * PART));
  const mesh = new Mesh(sheetOf(side), material);
  for (const again of ['', ' again']) {
    scene.add(mesh);
    scene.updateMatrixWorld();
    await during(`${2 * side * side} triangles come${again}`, () => service.stats.objects === 2 && isQuiet());
    expect((await hitAt(0.5, 0.25))?.object).toBe(mesh);
    scene.remove(mesh);
    await during(`${2 * side * side} triangles leave${again}`, () => service.stats.meshes === 1);
  }
});

test('many instances come, half of them go, and the others', async () => {
  const count = Math.ceil(1_000_000 * PART);
  const forest = new InstancedMesh(new SphereGeometry(0.4, 8, 4), material, count);
  for (let i = 0; i < count; i++) forest.setMatrixAt(i, new Matrix4().makeTranslation(2 * i, 0, 0));
  for (const again of ['', ' again']) {
    forest.count = count;
    scene.add(forest);
    scene.updateMatrixWorld();
    await during(`${count} instances come${again}`, () => service.stats.objects === count + 1 && isQuiet());
    expect(await hitAt(2 * (count - 1), 0)).toMatchObject({ object: forest, instanceId: count - 1 });
    forest.count = count / 2;
    await during(`half of them go${again}`, () => service.stats.objects === count / 2 + 1 && isQuiet());
    expect(await hitAt(2 * (count - 1), 0)).toBeNull();
    scene.remove(forest);
    await during(`the others leave${again}`, () => service.stats.objects === 1);
    expect(await hitAt(0, 0)).toBeNull();
  }
});

test('many Meshes turn invisible by an ancestor, and visible', async () => {
  const count = Math.ceil(50_000 * PART);
  const group = new Group();
  const geometry = new SphereGeometry(0.4, 8, 4);
  for (let i = 0; i < count; i++) {
    const mesh = new Mesh(geometry, material);
    mesh.position.set(2 * i, 0, 0);
    group.add(mesh);
  }
  group.updateMatrixWorld();
  scene.add(group);
  await during(`${count} Meshes come`, () => service.stats.objects === count + 1 && isQuiet());
  for (const again of ['', ' again']) {
    group.visible = false;
    // At once: a query after the update in which it is hidden does not hit it.
    tracker.update(frontCamera(), SIZE);
    const some = [0, count >> 1, count - 1];
    expect(await Promise.all(some.map((i) => hitAt(2 * i, 0)))).toEqual([null, null, null]);
    group.visible = true;
    tracker.update(frontCamera(), SIZE);
    const shown = await Promise.all(some.map((i) => hitAt(2 * i, 0)));
    expect(shown.map((hit) => hit?.object)).toEqual(some.map((i) => group.children[i]));
    group.visible = false;
    await during(`${count} Meshes turn invisible${again}`, () => true);
    group.visible = true;
    await during(`${count} Meshes turn visible${again}`, () => true);
  }
  scene.remove(group);
  await during(`${count} Meshes leave`, () => service.stats.objects === 1);
});
