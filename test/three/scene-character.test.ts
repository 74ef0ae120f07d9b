// Characters of a tracker, against the service's own in the same scene.
import type { SceneCharacter, SceneTracker } from 'collision-worker/three';
import { BoxGeometry, Group, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, Object3D, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { KillableService } from '../fixtures/mortal.js';
import { frontCamera, SIZE, settle, track } from '../fixtures/three-picks.js';

withService();

const FRAME = 1 / 60;
const SHAPE = { type: 'capsule', radius: 0.3, from: [0, 0.3, 0], to: [0, 1.5, 0] } as const;

const block = (name: string, x: number, y: number, z: number, size: [number, number, number]): Mesh => {
  const mesh = new Mesh(new BoxGeometry(...size), new MeshBasicMaterial());
  mesh.name = name;
  mesh.position.set(x, y, z);
  return mesh;
};

/** A floor with a wall, stairs of instances, and a figure in a group that is rotated and scaled up. */
function course() {
  const scene = new Scene();
  const floor = block('floor', 0, -0.5, 0, [40, 1, 40]);
  const wall = block('wall', 6, 1, 0, [1, 4, 40]);
  const stairs = new InstancedMesh(new BoxGeometry(0.4, 0.2, 2), new MeshBasicMaterial(), 5);
  for (let i = 0; i < 5; i++) stairs.setMatrixAt(i, new Matrix4().makeTranslation(-2 - 0.4 * i, 0.1 + 0.2 * i, 0));
  const room = new Group();
  room.rotation.y = 1;
  room.scale.setScalar(2);
  const figure = new Group();
  figure.add(block('body', 0, 0.45, 0, [0.3, 0.9, 0.3]));
  room.add(figure);
  scene.add(floor, wall, stairs, room);
  scene.updateMatrixWorld(true);
  return { scene, floor, wall, stairs, room, figure };
}

async function walk(
  tracker: SceneTracker,
  character: SceneCharacter,
  velocity: [number, number, number],
  frames: number,
) {
  for (let i = 0; i < frames; i++) {
    character.advance(velocity, FRAME);
    await tracker.update(frontCamera(), SIZE);
  }
}

const worldOf = (object: Object3D): number[] => {
  object.updateWorldMatrix(true, false);
  return new Vector3().setFromMatrixPosition(object.matrixWorld).toArray();
};

test('walks as the service has it, takes its object along and names what it meets', async () => {
  const { scene, floor, wall, stairs, figure } = course();
  const tracker = await track(service, scene);
  const hero = tracker.createCharacter({ object: figure, shape: SHAPE });
  const body = tracker.idsOf(figure.children[0] as Mesh);
  const own = service.createCharacter({ shape: SHAPE, ignore: body });
  const both = async (velocity: [number, number, number], frames: number) => {
    for (let i = 0; i < frames; i++) {
      own.advance(velocity, FRAME);
      await walk(tracker, hero, velocity, 1);
      expect(hero.state.position.toArray()).toEqual(own.state.position);
      const at = worldOf(figure);
      for (const k of [0, 1, 2] as const) expect(at[k]).toBeCloseTo(own.state.interpolated[k], 9);
    }
  };
  await both([3, 0, 0.5], 150);
  expect(hero.state.ground?.object).toBe(floor);
  expect(hero.state).toBe(hero.state); // it is read once for each answer
  expect(hero.state.isStanding).toBe(true);
  const [touch] = hero.state.touches;
  expect(touch.object).toBe(wall);
  expect(touch.normal.x).toBeCloseTo(-1, 6);
  expect(touch.point.x).toBeCloseTo(5.5, 6);
  // The sides of a BoxGeometry come in this order: +x, -x, … of two faces each.
  expect([2, 3]).toContain(touch.faceIndex);
  expect([4, 5]).toContain(hero.state.ground?.faceIndex);
  hero.set({ position: new Vector3(0, 0.006, 0) });
  own.set({ position: [0, 0.006, 0] });
  await both([-1.5, 0, 0], 90);
  expect(hero.state.ground?.object).toBe(stairs);
  expect(hero.state.ground?.instanceId).toBeGreaterThan(0);
  expect(worldOf(figure)[1]).toBeGreaterThan(0.39);
  tracker.dispose();
});

test('goes through itself, and through what it ignores once that is there', async () => {
  const { scene, wall, figure } = course();
  const tracker = await track(service, scene);
  const late = block('late', 3, 1, 0, [0.5, 4, 40]);
  const hero = tracker.createCharacter({ object: figure, shape: SHAPE, ignore: [late, wall] });
  scene.add(late);
  figure.add(block('hat', 0, 1, 0, [0.3, 0.1, 0.3]));
  scene.updateMatrixWorld(true);
  await settle(tracker, frontCamera());
  await walk(tracker, hero, [4, 0, 0], 150);
  expect(hero.state.position.x).toBeCloseTo(10, 1);
  hero.set({ ignore: [], position: [0, 0.006, 0] });
  await walk(tracker, hero, [4, 0, 0], 90);
  expect(hero.state.position.x).toBeCloseTo(2.75 - 0.3 - 0.006, 4);
  // An object that was removed from the scene is no touch.
  expect(hero.state.touches[0].object).toBe(late);
  scene.remove(late);
  await walk(tracker, hero, [4, 0, 0], 90);
  expect(hero.state.touches[0].object).toBe(wall);
  tracker.dispose();
});

test('has the form and the place of its object where nothing else is said', async () => {
  const { scene, room, figure } = course();
  room.position.set(1, 0.1, 2);
  scene.updateMatrixWorld(true);
  const tracker = await track(service, scene);
  const hero = tracker.createCharacter(figure);
  await walk(tracker, hero, [0, 0, 0], 60);
  // The body is 1.8 high and 0.6 wide, rotated by a radian.
  const radius = 0.3 * (Math.cos(1) + Math.sin(1));
  expect(hero.object).toBe(figure);
  expect(hero.state.position.x).toBeCloseTo(1, 6);
  expect(hero.state.position.y).toBeCloseTo(0.02 * radius, 6);
  await walk(tracker, hero, [3, 0, 0], 150);
  expect(hero.state.position.x).toBeCloseTo(5.5 - 1.02 * radius, 4);
  hero.remove();
  expect(() => hero.move([1, 0, 0])).toThrow(expect.objectContaining({ code: 'UNKNOWN_ID' }));
  const left = worldOf(figure);
  await tracker.update(frontCamera(), SIZE);
  expect(worldOf(figure)).toEqual(left);
  tracker.dispose();
});

test('goes on after a loss of the worker', async () => {
  const mortal = await KillableService.create();
  const { scene, wall, figure } = course();
  const tracker = await track(mortal.service, scene);
  const hero = tracker.createCharacter({ object: figure, shape: SHAPE });
  await walk(tracker, hero, [3, 0, 0], 30);
  const { x } = hero.state.position;
  await mortal.kill();
  await walk(tracker, hero, [3, 0, 0], 120);
  expect(x).toBeGreaterThan(1);
  expect(hero.state.position.x).toBeCloseTo(5.5 - 0.306, 3);
  expect(hero.state.touches[0].object).toBe(wall);
  tracker.dispose();
});

test('bad input is told, and ends nothing', async () => {
  const { scene, figure } = course();
  const tracker = await track(service, scene);
  const hero = tracker.createCharacter({ object: figure, shape: SHAPE });
  const cases: [() => unknown, string][] = [
    [() => tracker.createCharacter(undefined as never), 'options is undefined'],
    [() => tracker.createCharacter({}), 'shape is undefined'],
    [() => tracker.createCharacter(new Object3D()), 'shape is undefined'],
    [() => tracker.createCharacter({ shape: SHAPE, object: {} as never }), 'object is'],
    [() => tracker.createCharacter({ shape: SHAPE, ignore: [7 as never] }), 'ignore[0] is 7'],
    [() => tracker.createCharacter({ shape: SHAPE, position: new Vector3(Number.NaN, 0, 0) }), 'position.x is NaN'],
    [() => tracker.createCharacter({ shape: SHAPE, colour: 1 } as never), 'colour'],
    [() => tracker.createCharacter({ shape: SHAPE, slope: 2 }), 'slope is 2'],
    [() => hero.move([Number.NaN, 0, 0]), 'displacement'],
    [() => hero.advance(new Vector3(), -1), 'seconds is -1'],
    [() => hero.jump(Number.NaN), 'speed'],
    [() => hero.set({ ignore: [figure], skin: 0 }), 'skin is 0'],
  ];
  for (const [call, message] of cases) expect(call, message).toThrow(message);
  await walk(tracker, hero, [1, 0, 0], 60);
  expect(hero.state.position.x).toBeCloseTo(1, 2);
  tracker.dispose();
  expect(() => hero.state).toThrow(expect.objectContaining({ code: 'DISPOSED' }));
  expect(() => tracker.createCharacter(figure)).toThrow(expect.objectContaining({ code: 'DISPOSED' }));
  await service.update();
});
