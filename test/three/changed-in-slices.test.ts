// Thousands of objects that change at once, since they share a material,
// are examined in slices, and a query sees all of them up to date.
import { trackScene } from 'collision-worker/three';
import {
  BackSide,
  BoxGeometry,
  DoubleSide,
  FrontSide,
  Group,
  Mesh,
  MeshBasicMaterial,
  OctahedronGeometry,
  Scene,
} from 'three';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { comparePicks, frontCamera, randomCamera, SIZE } from '../fixtures/three-picks.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const RADIUS = 12;
const MESHES = 2000;
const ROUNDS = 40;
/** Milliseconds by the test's clock between two checks of it: each slice is as small as possible. */
const LOOK = 5;

beforeEach(() => {
  const clock = performance.now();
  let looks = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock + LOOK * looks++);
});
afterEach(() => vi.restoreAllMocks());

test(`materials, geometries and layers of thousands change in the midst of other changes, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const materials = Array.from({ length: 3 }, () => new MeshBasicMaterial());
  const geometries = [new BoxGeometry(), new OctahedronGeometry()];
  const scene = new Scene();
  const crowd = Array.from({ length: MESHES }, () => {
    const mesh = new Mesh(random.pick(geometries), random.pick(materials));
    mesh.position.copy(random.point(RADIUS));
    return mesh;
  });
  scene.add(...crowd);
  scene.updateMatrixWorld();
  const tracker = await trackScene(service, scene);
  const camera = randomCamera(random, RADIUS);
  const setObject = vi.spyOn(service, 'setObject');
  let [late, hits] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const material = random.pick(materials);
    const change = random.integer(5);
    if (change === 0) material.side = random.pick([FrontSide, BackSide, DoubleSide]);
    if (change === 1) material.visible = !material.visible;
    if (change === 2) for (const mesh of crowd) mesh.material = random.chance(0.9) ? material : mesh.material;
    if (change === 3) for (const mesh of crowd) mesh.geometry = random.pick(geometries);
    if (change === 4) for (const mesh of crowd) mesh.layers.set(random.chance(0.3) ? 1 : 0);
    setObject.mockClear();
    const answer = tracker.update(camera, SIZE);
    if (setObject.mock.calls.length > 100) late++;
    for (let tasks = random.integer(3); tasks > 0; tasks--) await new Promise((resolve) => setTimeout(resolve));
    await answer;
    if (random.chance(0.3)) continue; // changed again in the midst of it
    const next = tracker.update(camera, SIZE);
    const compared = await comparePicks(tracker, scene, camera, random, 25);
    expect(compared.faults, `round ${round}`).toEqual([]);
    hits += compared.hits;
    await next;
  }
  expect(late).toBeGreaterThan(3);
  expect(hits).toBeGreaterThan(50);
});

test('a material that thousands share changes in slices, without another frame', async () => {
  const material = new MeshBasicMaterial();
  const geometry = new BoxGeometry();
  const crowd = new Group().add(...Array.from({ length: MESHES }, () => new Mesh(geometry, material)));
  const scene = new Scene().add(crowd);
  const camera = frontCamera();
  scene.updateMatrixWorld();
  const tracker = await trackScene(service, scene);
  await tracker.update(camera, SIZE);
  const setObject = vi.spyOn(service, 'setObject');
  material.side = BackSide;
  const frame = tracker.update(camera, SIZE);
  const { length: inFrame } = setObject.mock.calls;
  expect(inFrame).toBeGreaterThan(100);
  expect(inFrame).toBeLessThan(MESHES / 2);
  await frame;
  await vi.waitFor(() => expect(setObject).toHaveBeenCalledTimes(MESHES));
  expect(await service.pickAll(SIZE.width / 2 + 9, SIZE.height / 2)).toHaveLength(MESHES);
  // A query does not wait for it.
  for (const [side, hits] of [
    [DoubleSide, 2 * MESHES],
    [FrontSide, MESHES],
  ] as const) {
    material.side = side;
    const shown = tracker.update(camera, SIZE);
    expect(await tracker.pickAll(SIZE.width / 2 + 9, SIZE.height / 2)).toHaveLength(hits);
    await shown;
  }
  tracker.dispose();
});
