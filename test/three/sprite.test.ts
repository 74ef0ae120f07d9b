// Sprites are picked as three's Raycaster picks them: facing the camera of the last update.
import { trackScene } from 'collision-worker/three';
import {
  DoubleSide,
  Group,
  type Intersection,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PlaneGeometry,
  Raycaster,
  Scene,
  Sprite,
  SpriteMaterial,
  Vector2,
} from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { shareOf } from '../fixtures/share.js';
import { frontCamera, pickCenter, randomCamera, SIZE, settle, UNRENDERED } from '../fixtures/three-picks.js';
import { place } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const RADIUS = 6;
const SCENES = shareOf(36);
const ROUNDS = 4;
const PICKS = 25;

function randomSprite(random: Random): Sprite {
  const sprite = new Sprite(
    new SpriteMaterial({
      rotation: random.chance(0.5) ? random.range(-4, 4) : 0,
      sizeAttenuation: random.chance(0.6),
    }),
  );
  if (random.chance(0.5)) sprite.center.set(random.range(-0.5, 1.5), random.range(-0.5, 1.5));
  change(random, sprite);
  return sprite;
}

function change(random: Random, sprite: Sprite): void {
  place(sprite, random, RADIUS / 2);
  sprite.scale.multiplyScalar(sprite.material.sizeAttenuation ? 3 : 0.3);
  sprite.visible = random.chance(0.9);
  if (random.chance(0.3)) sprite.material.rotation = random.range(-4, 4);
  if (random.chance(0.1)) sprite.material = new SpriteMaterial({ sizeAttenuation: sprite.material.sizeAttenuation });
}

function differences(pick: Intersection | null, expected: readonly Intersection[]): string[] {
  const [three] = expected;
  if (pick === null || three === undefined)
    return pick === (three ?? null) ? [] : ['one has a hit, the other has none'];
  const isNear = Math.abs(pick.distance - three.distance) <= 1e-6 * three.distance;
  const checks: [string, boolean][] = [
    ['object', pick.object === three.object],
    ['distance', isNear],
    ['point', pick.point.distanceTo(three.point) <= 1e-6 * three.distance],
    ['uv', pick.uv!.distanceTo(three.uv!) < 1e-4],
  ];
  if (three.object instanceof Sprite) {
    checks.push(
      ['keys', Object.keys(pick).sort().join() === Object.keys(three).sort().join()],
      ['face', pick.face === null],
    );
  }
  return checks.flatMap(([name, isRight]) => (isRight ? [] : [name]));
}

test(`${SCENES} scenes that change while they run: picks are those of three's Raycaster, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const faults: string[] = [];
  let hits = 0;
  for (let scene = 0; scene < SCENES; scene++) {
    const root = new Group();
    const group = new Group();
    place(group, random, 2);
    root.add(group);
    const sprites = Array.from({ length: 8 }, () => randomSprite(random));
    for (const sprite of sprites) random.pick([root, group]).add(sprite);
    const wall = new Mesh(new PlaneGeometry(8, 8), new MeshBasicMaterial({ side: DoubleSide }));
    place(wall, random, 2);
    root.add(wall);
    const tracker = await trackScene(service, root, UNRENDERED);
    for (let round = 0; round < ROUNDS; round++) {
      const camera = randomCamera(random, RADIUS);
      await settle(tracker, camera);
      const shown: Object3D[] = [];
      root.traverseVisible((object) => shown.push(object));
      const raycaster = new Raycaster();
      for (let i = 0; i < PICKS; i++) {
        const [x, y] = [random.range(0, SIZE.width), random.range(0, SIZE.height)];
        const pick = await tracker.pick(x, y);
        raycaster.setFromCamera(new Vector2((2 * x) / SIZE.width - 1, 1 - (2 * y) / SIZE.height), camera);
        // Behind an orthographic camera three draws nothing, and its Raycaster hits nothing.
        const found = differences(pick, raycaster.intersectObjects(shown, false));
        if (found.length > 0) faults.push(`scene ${scene}, round ${round}, pixel ${x}, ${y}: ${found.join(', ')}`);
        if (pick?.object instanceof Sprite) hits++;
      }
      for (const sprite of sprites) if (random.chance(0.5)) change(random, sprite);
      const sprite = random.pick(sprites);
      if (sprite.parent === null) root.add(sprite);
      else sprite.removeFromParent();
    }
    expect(tracker.untracked.size).toBe(0);
    tracker.dispose();
  }
  expect(faults).toEqual([]);
  expect(hits).toBeGreaterThan((SCENES * ROUNDS * PICKS) / 15);
  expect(service.stats).toMatchObject({ objects: 0, meshes: 0 });
});

test('turns to the camera of each update, in its views, regions and rays', async () => {
  const sprite = new Sprite();
  const tracker = await trackScene(service, new Scene().add(sprite), UNRENDERED);
  const side = frontCamera();
  side.position.set(10, 0, 0);
  side.lookAt(0, 0, 0);
  for (const camera of [frontCamera(), side]) {
    await settle(tracker, camera);
    const hit = (await pickCenter(tracker))!;
    expect(hit.object).toBe(sprite);
    expect(hit.distance).toBeCloseTo(10, 6);
    const frame = await tracker.update(camera, SIZE);
    const seen: Object3D[] = [];
    frame.forEachVisible(({ object }) => seen.push(object));
    expect(seen[0]).toBe(sprite);
    const region = { x: 0, y: 0, width: 800, height: 600 };
    expect((await tracker.pickRegion(region, { mode: 'enclose' }))[0]).toBe(sprite);
    const ray = new Raycaster(camera.position, camera.position.clone().negate().normalize()).ray;
    expect((await tracker.raycast(ray))?.distance).toBeCloseTo(10, 6);
    // From above only its edge could be hit.
    expect(await tracker.raycast({ origin: [0.1, 9, 0.1], direction: [0, -1, 0] })).toBeNull();
  }
  sprite.visible = false;
  await tracker.update(side, SIZE);
  expect(await pickCenter(tracker)).toBeNull();
  sprite.visible = true;
  sprite.scale.set(0, 1, 1);
  await settle(tracker, side);
  expect(await pickCenter(tracker)).toBeNull();
  sprite.scale.set(2, 2, 1);
  await settle(tracker, side);
  const { uv } = (await pickCenter(tracker))!;
  expect(uv!.distanceTo(new Vector2(0.5, 0.5))).toBeLessThan(1e-4);
});

test('a shape stands for one, where it is, and does not turn', async () => {
  const sprite = new Sprite();
  sprite.position.x = 1;
  let isShaped = true;
  const tracker = await trackScene(service, new Scene().add(sprite), {
    ...UNRENDERED,
    shapeOf: () => (isShaped ? { type: 'sphere', radius: 1, center: [-1, 0, 0] } : undefined),
  });
  await settle(tracker, frontCamera());
  const hit = (await pickCenter(tracker))!;
  expect(hit.object).toBe(sprite);
  expect(hit).toMatchObject({ distance: 9, face: null });
  isShaped = false;
  tracker.changed(sprite);
  await settle(tracker, frontCamera());
  expect(await pickCenter(tracker)).toBeNull();
  sprite.position.x = 0;
  await settle(tracker, frontCamera());
  expect((await pickCenter(tracker))?.distance).toBeCloseTo(10, 6);
});
