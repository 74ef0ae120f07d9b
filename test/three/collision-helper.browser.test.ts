// CollisionHelper and StatsOverlay: what they draw is checked in pixels.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { CollisionHelper, type CollisionHelperOptions, type SceneTracker, StatsOverlay } from 'collision-worker/three';
import { type LineSegments, Raycaster, Scene, Vector3, WebGLRenderer } from 'three';
import { beforeEach, expect, test, vi } from 'vitest';
import { frontCamera, pickCenter, SIZE, track } from '../fixtures/three-picks.js';
import { cube, overlappingCubes } from '../fixtures/three-scenes.js';

let service: CollisionService;
let renderer: WebGLRenderer;
beforeEach(async () => {
  service = await createCollisionService();
  renderer = new WebGLRenderer({ antialias: false });
  renderer.setSize(SIZE.width, SIZE.height);
  return () => {
    service.dispose();
    renderer.dispose();
  };
});

const PLACES = [new Vector3(), new Vector3(1e6, -1e6, 1e6)];
const camera = frontCamera();

/** The pixels that are not black. */
function drawn(scene: Scene): Set<number> {
  renderer.render(scene, camera);
  const gl = renderer.getContext();
  const bytes = new Uint8Array(4 * SIZE.width * SIZE.height);
  gl.readPixels(0, 0, SIZE.width, SIZE.height, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
  const found = new Set<number>();
  for (let i = 0; i < SIZE.width * SIZE.height; i++)
    if (bytes[4 * i] + bytes[4 * i + 1] + bytes[4 * i + 2] > 60) found.add(i);
  return found;
}

/** Two black cubes that overlap, in front of the camera. */
async function build(place = new Vector3(), options?: CollisionHelperOptions) {
  const { left, right, scene } = overlappingCubes(place, camera);
  for (const each of [left, right]) each.material.color.set(0);
  const tracker = await track(service, scene, camera, { contacts: 'full', updateMatrixWorld: true });
  const helper = new CollisionHelper(tracker, options ?? {});
  scene.add(helper);
  return { left, right, scene, tracker, helper };
}

async function frames(tracker: SceneTracker): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await tracker.update(camera, SIZE);
    await service.inspect(); // the helper's requests are answered before
  }
}

/** Where a place is drawn, as a pixel number of `drawn`. */
function near(pixels: Set<number>, point: Vector3): boolean {
  const { x, y } = point.clone().project(camera);
  const [column, row] = [Math.floor(((x + 1) / 2) * SIZE.width), Math.floor(((y + 1) / 2) * SIZE.height)];
  for (let dx = -2; dx <= 2; dx++) {
    for (let dy = -2; dy <= 2; dy++) if (pixels.has((row + dy) * SIZE.width + column + dx)) return true;
  }
  return false;
}

test.each(PLACES)('bounds are drawn where the objects are: %o', async (place) => {
  const { scene, tracker, helper } = await build(place, { bounds: true, contacts: false });
  expect(drawn(scene).size).toBe(0);
  await frames(tracker);
  const pixels = drawn(scene);
  expect(pixels.size).toBeGreaterThan(500);
  for (const corner of [
    new Vector3(-1, -1, 1),
    new Vector3(-1, 0.5, 1),
    new Vector3(-1, 1, -1),
    new Vector3(2.5, 1.3, 1),
  ]) {
    expect(near(pixels, corner.add(place)), `${corner.toArray()}`).toBe(true);
  }
  expect(near(pixels, new Vector3(-2, 0, 1).add(place))).toBe(false);
  helper.dispose();
  expect(helper.parent).toBeNull();
  expect(drawn(scene).size).toBe(0);
});

test.each([
  ['trees', { levels: [0, 3] }],
  ['cells', { octree: true }],
  ['contacts', {}],
  ['frusta', { views: ['map'] }],
] as [string, CollisionHelperOptions][])('%s are drawn', async (name, options) => {
  const { left, scene, tracker, helper } = await build(new Vector3(), { contacts: false });
  helper.dispose();
  const trees = name === 'trees' ? { trees: [left, { object: left }] } : {};
  scene.add(new CollisionHelper(tracker, { contacts: name === 'contacts', ...trees, ...options }));
  const map = frontCamera();
  map.far = 14;
  map.position.set(4, 3, 12);
  map.lookAt(0, 0, 0);
  map.updateMatrixWorld();
  map.updateProjectionMatrix();
  tracker.setView(map, SIZE, 'map');
  await frames(tracker);
  expect(drawn(scene).size).toBeGreaterThan(20);
});

test('hits, rays and regions are drawn when they are answered, and named', async () => {
  const { scene, tracker, helper } = await build(new Vector3(), { contacts: false });
  await tracker.update(camera, SIZE);
  expect((await pickCenter(tracker))?.object.name).toBe('left');
  expect(helper.hitName).toBe('Mesh "left"');
  expect(drawn(scene).size).toBeGreaterThan(0);
  await tracker.raycast({ origin: [-3, 0, 5], direction: [0, 0, -1] });
  expect(helper.hitName).toBe('');
  const before = drawn(scene).size;
  await tracker.pickRegion({ x: 200, y: 150, width: 300, height: 200 });
  const pixels = drawn(scene);
  expect(pixels.size).toBeGreaterThan(before);
});

test('bounds have a colour by what the view makes of them', async () => {
  const cubes = [0, 1, 2, 3].map(() => cube());
  const [, hidden, crossing, outside] = cubes;
  camera.position.set(0, 0, 10);
  camera.updateMatrixWorld();
  hidden.position.set(0, 0, -20);
  outside.position.set(0, 0, 30);
  const scene = new Scene().add(...cubes);
  // Half of it is beyond the right border.
  crossing.position.set(10 * Math.tan((camera.fov * Math.PI) / 360) * camera.aspect, 0, 0);
  const tracker = await track(service, scene, camera, { culling: { occlusion: true }, updateMatrixWorld: true });
  const helper = new CollisionHelper(tracker, { bounds: true, contacts: false });
  scene.add(helper);
  await frames(tracker);
  // Objects that do not move sleep.
  for (const each of cubes) each.position.y += 1e-4;
  await tracker.update(camera, SIZE);
  await service.inspect();
  const lines = (helper.children as LineSegments[]).find(({ visible }) => visible)!;
  const { array } = lines.geometry.getAttribute('color');
  // 24 edge ends each, in the order of their ids.
  const ids = cubes.map((each) => tracker.idsOf(each)[0]);
  const sorted = ids.toSorted((one, other) => one - other);
  const colours = ids.map((id) => [...array.slice(96 * sorted.indexOf(id), 96 * sorted.indexOf(id) + 3)]);
  expect(colours).toEqual([
    [60, 220, 100],
    [80, 160, 255],
    [255, 220, 60],
    [150, 150, 150],
  ]);
});

test.each(PLACES)('what is hovered over has its name beside it: %o', async (place) => {
  const { left, scene, tracker, helper } = await build(place, { contacts: false, hits: false });
  left.name = 'a name of some length';
  await tracker.update(camera, SIZE);
  expect(drawn(scene).size).toBe(0);
  const hit = (await pickCenter(tracker))!;
  const pixels = drawn(scene);
  expect(pixels.size).toBeGreaterThan(100);
  const { x, y } = hit.point.clone().project(camera);
  const [column, row] = [((x + 1) / 2) * SIZE.width, ((y + 1) / 2) * SIZE.height];
  for (const pixel of pixels) {
    const [right, up] = [(pixel % SIZE.width) - column, Math.floor(pixel / SIZE.width) - row];
    expect(right > 8 && right < 320 && up > 8 && up < 36, `${right}, ${up}`).toBe(true);
  }
  await tracker.raycast({ origin: [-3, 0, 5], direction: [0, 0, -1] });
  expect(drawn(scene).size).toBe(0);
  helper.dispose();
  scene.add(new CollisionHelper(tracker, { contacts: false, hits: false, names: false }));
  await pickCenter(tracker);
  expect(drawn(scene).size).toBe(0);
});

test('what sleeps is drawn in violet', async () => {
  const { left, scene, tracker, helper } = await build(new Vector3(), { contacts: false, bounds: true });
  const colours = (): string[] => {
    const lines = helper.children.find((each) => each.visible) as LineSegments;
    const { array } = lines.geometry.attributes.color;
    return [0, 24].map((end) => Array.from(array.slice(4 * end, 4 * end + 3)).join());
  };
  await frames(tracker);
  await frames(tracker);
  expect(colours()).toEqual(Array(2).fill('150,110,255'));
  left.position.x -= 0.1;
  await tracker.update(camera, SIZE);
  await service.inspect();
  expect(colours()).toEqual(['60,220,100', '150,110,255']);
  expect(drawn(scene).size).toBeGreaterThan(100);
});

test('it is neither tracked nor hit, and asks for nothing while it is not visible', async () => {
  const { left, scene, tracker, helper } = await build(new Vector3(), { bounds: true, octree: true });
  await frames(tracker);
  expect(service.stats.objects).toBe(2);
  expect(tracker.untracked.size).toBe(0);
  const raycaster = new Raycaster(new Vector3(0, 0, 10), new Vector3(0, 0, -1));
  expect(raycaster.intersectObject(scene, true)[0].object).toBe(left);
  expect(raycaster.intersectObject(helper, true)).toEqual([]);
  const inspect = vi.spyOn(service, 'inspect');
  helper.visible = false;
  await tracker.update(camera, SIZE);
  expect(inspect).not.toHaveBeenCalled();
  helper.visible = true;
  await tracker.update(camera, SIZE);
  await vi.waitFor(() => expect(inspect).toHaveBeenCalledTimes(1), 10_000);
  helper.dispose();
  await tracker.update(camera, SIZE);
  expect(inspect).toHaveBeenCalledTimes(1);
});

test('lines are refreshed when objects move, and end with the tracker', async () => {
  const { left, tracker, helper } = await build(new Vector3(), { bounds: true, contacts: false });
  await frames(tracker);
  const shown = () => (helper.children as LineSegments[]).find(({ visible }) => visible)!;
  const first = shown().geometry.getAttribute('position').array.slice(0, 72);
  left.position.x -= 2;
  await frames(tracker);
  const moved = shown().geometry.getAttribute('position').array.slice(0, 72);
  expect(Array.from(moved, (each, i) => Math.round(each - first[i]))).toEqual(
    Array.from({ length: 72 }, (_, i) => (i % 3 === 0 ? -2 : 0)),
  );
  tracker.dispose();
  expect(helper.children).toEqual([]);
});

test('options that are none are errors', async () => {
  const { tracker } = await build();
  const error = expect.objectContaining({ code: 'INVALID_ARGUMENT' });
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  const lengths = [0, [5], proxy].map((normalLength) => ({ normalLength }));
  for (const options of [
    { octre: true },
    { octree: 1 },
    ...lengths,
    { trees: 1 },
    { trees: proxy },
    { views: 'main' },
  ]) {
    expect(() => new CollisionHelper(tracker, options as never)).toThrow(error);
  }
  expect(() => new CollisionHelper({} as never)).toThrow(error);
  expect(() => new StatsOverlay({} as never)).toThrow(error);
  tracker.dispose();
  expect(() => new CollisionHelper(tracker)).toThrow(expect.objectContaining({ code: 'DISPOSED' }));
});

test('the overlay says what frames cost and how much there is', async () => {
  const { tracker } = await build();
  const overlay = new StatsOverlay(tracker);
  document.body.append(overlay.element);
  await tracker.update(camera, SIZE);
  await vi.waitFor(() => expect(overlay.element.textContent).toMatch(/objects 2/), 10_000);
  const { textContent } = overlay.element;
  for (const line of [/worker +\d+\.\d\d ms/, /main +\d+\.\d\d ms/, /queue +\d/, /pairs +1/, /memory +\d+\.\d of/]) {
    expect(textContent).toMatch(line);
  }
  overlay.dispose();
  expect(overlay.element.isConnected).toBe(false);
});
