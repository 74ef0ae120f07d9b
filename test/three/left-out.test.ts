// One invalid object leaves out only itself, and is reported once; `changed` calls the caller's functions again.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneDrawable, type SceneObjectOptions, trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  Line,
  LineLoop,
  LineSegments,
  type Mesh,
  MeshBasicMaterial,
  Points,
  Scene,
  SkinnedMesh,
} from 'three';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { frontCamera, pickCenter, SIZE, settle, UNRENDERED } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

let service: CollisionService;
let said: string[];
beforeEach(async () => {
  service = await createCollisionService();
  said = [];
  vi.spyOn(console, 'warn').mockImplementation((message) => said.push(message));
});
afterEach(() => {
  vi.restoreAllMocks();
  service.dispose();
});

/** A cube in the middle, and an invalid one in front of it. */
function pair(): { scene: Scene; good: Mesh; bad: Mesh } {
  const [good, bad] = [cube(), cube()];
  bad.name = 'bad';
  bad.position.z = 3;
  return { scene: new Scene().add(bad, good), good, bad };
}

test.each(['objectOptions', 'shapeOf'] as const)(
  'what %s throws when it is asked again takes away the object that stands, until it is asked once more',
  async (name) => {
    const { scene, good, bad } = pair();
    let isBad = false;
    const ask = (object: Mesh) => {
      if (object === bad && isBad) throw new Error('no more');
      return undefined;
    };
    const tracker = await trackScene(service, scene, { ...UNRENDERED, [name]: ask });
    await settle(tracker, frontCamera());
    expect((await pickCenter(tracker))?.object).toBe(bad);
    isBad = true;
    tracker.changed(bad);
    await settle(tracker, frontCamera());
    expect((await pickCenter(tracker))?.object).toBe(good);
    expect([...tracker.untracked.keys()]).toEqual([bad]);
    expect(said).toEqual([expect.stringMatching(/the Mesh "bad" is left out: .*no more/)]);
    isBad = false;
    tracker.changed(bad);
    await settle(tracker, frontCamera());
    expect((await pickCenter(tracker))?.object).toBe(bad);
    expect(tracker.untracked.size).toBe(0);
  },
);

test.each(['objectOptions', 'shapeOf'] as const)(
  'what %s throws leaves out one object, until it is asked again',
  async (name) => {
    const { scene, good, bad } = pair();
    let isBad = true;
    const tracker = await trackScene(service, scene, {
      ...UNRENDERED,
      [name]: (object: Mesh) => {
        if (object === bad && isBad) throw new Error('no idea');
        return undefined;
      },
    });
    for (let i = 0; i < 3; i++) await settle(tracker, frontCamera());
    expect([...tracker.untracked.keys()]).toEqual([bad]);
    expect(tracker.untracked.get(bad)).toMatchObject({ code: 'INVALID_ARGUMENT', cause: new Error('no idea') });
    expect(said).toEqual([expect.stringMatching(/the Mesh "bad" is left out: .*no idea/)]);
    expect((await pickCenter(tracker))?.object).toBe(good);
    isBad = false;
    await settle(tracker, frontCamera());
    expect((await pickCenter(tracker))?.object).toBe(good); // its change was not reported
    tracker.changed(scene);
    await settle(tracker, frontCamera());
    expect((await pickCenter(tracker))?.object).toBe(bad);
    expect(tracker.untracked.size).toBe(0);
    expect(said).toHaveLength(1);
  },
);

test('a bad geometry is said once, and the frame goes on', async () => {
  const { scene, good, bad } = pair();
  const tracker = await trackScene(service, scene, UNRENDERED);
  bad.geometry = 7 as never;
  for (let i = 0; i < 3; i++) await tracker.update(frontCamera(), SIZE);
  expect([...tracker.untracked.keys()]).toEqual([bad]);
  expect(said).toEqual([expect.stringContaining('the Mesh "bad" is left out')]);
  expect((await pickCenter(tracker))?.object).toBe(good);
  bad.geometry = new BoxGeometry();
  await settle(tracker, frontCamera());
  expect((await pickCenter(tracker))?.object).toBe(bad);
});

test('what could not be read is tried again when it is its turn, though it is still the same', async () => {
  const { scene, good, bad } = pair();
  const tracker = await trackScene(service, scene, UNRENDERED);
  const { layers } = bad;
  bad.layers = null as never;
  await settle(tracker, frontCamera());
  expect([...tracker.untracked.keys()]).toEqual([bad]);
  expect((await pickCenter(tracker))?.object).toBe(good);
  bad.layers = layers;
  const end = performance.now() + 10_000;
  while (tracker.untracked.size > 0 && performance.now() < end) await tracker.update(frontCamera(), SIZE);
  await settle(tracker, frontCamera());
  expect((await pickCenter(tracker))?.object).toBe(bad);
  expect(said).toHaveLength(1);
});

const CLASSES: Record<string, () => SceneDrawable> = {
  SkinnedMesh: () => new SkinnedMesh(new BoxGeometry(), new MeshBasicMaterial()),
  Points: () => new Points(new BoxGeometry()),
  Line: () => new Line(new BoxGeometry()),
  LineSegments: () => new LineSegments(new BoxGeometry()),
  LineLoop: () => new LineLoop(new BoxGeometry()),
};
test.each(Object.keys(CLASSES))('a shape stands for a %s', async (kind) => {
  const object = CLASSES[kind]();
  object.scale.setScalar(2);
  let radius = 1;
  const tracker = await trackScene(service, new Scene().add(object), {
    ...UNRENDERED,
    shapeOf: (asked) => (asked === object && radius > 0 ? { type: 'sphere', radius } : undefined),
    objectOptions: () => ({ contacts: 'any' }),
  });
  await settle(tracker, frontCamera());
  expect(tracker.untracked.size).toBe(0);
  const hit = (await pickCenter(tracker))!;
  expect(hit.object).toBe(object);
  expect(hit).toMatchObject({ face: null, faceIndex: null });
  expect(hit.distance).toBeCloseTo(8, 6);
  object.position.x = 30;
  await tracker.update(frontCamera(), SIZE);
  expect(await pickCenter(tracker)).toBeNull();
  object.position.x = 0;
  // Without the shape it is tracked as itself, or left out, and with another shape it is tracked again.
  const isLeftOut = kind === 'SkinnedMesh';
  for (radius of [0, 2]) {
    tracker.changed(object);
    await settle(tracker, frontCamera());
    expect(tracker.untracked.get(object)?.code).toBe(radius === 0 && isLeftOut ? 'BAD_DATA' : undefined);
    if (radius > 0) expect((await pickCenter(tracker))?.distance).toBe(6);
    else if (isLeftOut) expect(await pickCenter(tracker)).toBeNull();
    else expect((await tracker.pick(450, 250, { radius: 100 }))?.index).toBeGreaterThanOrEqual(0);
  }
  expect(said).toEqual(isLeftOut ? [expect.stringContaining(`the ${kind} is left out`)] : []);
});

test('`changed` asks for options again, and tells the service those that are others', async () => {
  const { scene, bad } = pair();
  let options: SceneObjectOptions = { pickable: false, contacts: 'any', motion: 'static' };
  const tracker = await trackScene(service, scene, { ...UNRENDERED, contacts: 'any', objectOptions: () => options });
  const ids = [...tracker.idsOf(bad)];
  await settle(tracker, frontCamera());
  expect(await pickCenter(tracker)).toBeNull();
  const set = vi.spyOn(service, 'setObject');
  tracker.changed(bad);
  await settle(tracker, frontCamera());
  expect(set).not.toHaveBeenCalled();
  options = { motion: 'moving' };
  tracker.changed(bad);
  await settle(tracker, frontCamera());
  expect((await pickCenter(tracker))?.object).toBe(bad);
  expect([...tracker.idsOf(bad)]).toEqual(ids);
  // It moves from now on, and is visited in every frame.
  bad.position.x = 50;
  await tracker.update(frontCamera(), SIZE);
  expect(await pickCenter(tracker)).toBeNull();
});

test('`changed` is about objects of three, of a tracker in use', async () => {
  const tracker = await trackScene(service, new Scene());
  expect(() => tracker.changed({} as never)).toThrow(/changed: object is an object, expected an Object3D/);
  expect(() => tracker.changed(cube())).not.toThrow(); // of another scene
  tracker.dispose();
  expect(() => tracker.changed(cube())).toThrow(expect.objectContaining({ code: 'DISPOSED' }));
});
