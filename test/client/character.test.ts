// Characters through the service. That nobody penetrates anything
// is checked with `overlap`, which knows nothing of characters.
import type { CharacterState, Vec3 } from 'collision-worker';
import { Euler, Matrix4, Quaternion, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import {
  addBlock,
  addFloor,
  CAPSULE,
  createHero,
  FRAME_SECONDS,
  overlapping,
  RADIUS,
  SKIN,
  service,
  terrain,
  translation,
  walk,
  withService,
} from '../fixtures/character-stage.js';
import { KillableService } from '../fixtures/mortal.js';
import { boxMesh } from '../oracle/meshes.js';

withService();

describe('a character', () => {
  test('falls as a body does, and stands', async () => {
    const ground = addFloor();
    const character = createHero([0, 5, 0]);
    await service.update();
    expect(character.state.position).toEqual([0, 5, 0]);
    await walk(character, [0, 0, 0], 30);
    // Half a second in steps: g t² / 2 and what the steps add.
    expect(character.state.position[1]).toBeCloseTo(5 - (9.81 * 30 * 31) / 2 / 3600, 9);
    expect(character.state.isStanding).toBe(false);
    await walk(character, [0, 0, 0], 60);
    const { position, isStanding, ground: under, speed } = character.state;
    expect(position[1]).toBeCloseTo(SKIN, 6);
    expect(isStanding).toBe(true);
    expect(speed).toBe(0);
    expect(under).toMatchObject({ object: ground, triangle: -1 });
    expect(under!.normal[1]).toBeCloseTo(1, 9);
  });

  test.each<Vec3>([
    [0, 0.2, 0],
    [0.2, 0, 0],
    [0, 0, 0.2],
    [0.2, 0.1, -0.1],
    [-0.1, -0.2, 0.05],
  ])('whose capsule goes %d, %d, %d to both sides stands on its own lowest end', async (...half) => {
    addFloor();
    const from = half.map((value) => -value) as unknown as Vec3;
    const shape = { type: 'capsule', radius: RADIUS, from, to: half } as const;
    const character = service.createCharacter({ shape, position: [0, 1, 0] });
    const [, y] = await walk(character, [0, 0, 0], 60);
    expect(y).toBeCloseTo(Math.abs(half[1]) + RADIUS + SKIN, 6);
  });

  test('walks as fast as it is told, and slides along a wall', async () => {
    addFloor();
    const wall = addBlock(5, 2, 0, [1, 2, 50]);
    const character = createHero();
    const [x] = await walk(character, [3, 0, 0], 60);
    expect(x).toBeCloseTo(3, 6);
    await walk(character, [3, 0, 2], 60);
    const { position, touches } = character.state;
    expect(position[0]).toBeCloseTo(4 - RADIUS - SKIN, 5);
    expect(position[2]).toBeCloseTo(2, 5);
    expect(touches.map(({ object }) => object)).toContain(wall);
    expect(touches.find(({ object }) => object === wall)!.normal[0]).toBeCloseTo(-1, 6);
  });

  test.each([20, 60, -20, -45])('slides along a wall that is turned by %i degrees', async (degrees) => {
    addFloor();
    const angle = (degrees * Math.PI) / 180;
    const turn = new Matrix4().makeRotationY(angle);
    const wall = new Matrix4().makeTranslation(0, 2, -1 - 1.5);
    const matrix = turn.clone().multiply(wall).elements;
    service.addObject({ shape: { type: 'box', halfExtents: [50, 2, 1] }, matrix, contacts: 'none' });
    const [normal, along] = [new Vector3(0, 0, 1), new Vector3(1, 0, 0)].map((each) => each.applyMatrix4(turn));
    const character = createHero();
    const velocity = new Vector3(0, 0, -3);
    const before = new Vector3(...(await walk(character, velocity.toArray(), 60)));
    const after = new Vector3(...(await walk(character, velocity.toArray(), 30)));
    for (const place of [before, after]) expect(normal!.dot(place)).toBeCloseTo(RADIUS + SKIN - 1.5, 5);
    expect(after.sub(before).dot(along!)).toBeCloseTo(velocity.dot(along!) / 2, 5);
  });

  test('stops in a corner of three walls without trembling', async () => {
    addFloor();
    addBlock(5, 2, 0, [1, 2, 50]);
    addBlock(0, 2, 5, [50, 2, 1]);
    const lean = new Matrix4().compose(
      new Vector3(4.6, 2, 4.6),
      new Quaternion().setFromEuler(new Euler(0, -Math.PI / 4, 0.2)),
      new Vector3(1, 1, 1),
    );
    service.addObject({ shape: { type: 'box', halfExtents: [1, 3, 3] }, matrix: lean.elements });
    const character = createHero([2, SKIN, 2]);
    const first = await walk(character, [3, 0, 2.5], 200);
    const second = await walk(character, [3, 0, 2.5], 10);
    expect(new Vector3(...second).distanceTo(new Vector3(...first))).toBeLessThan(1e-6);
    expect((await overlapping(second)).length).toBe(0);
  });

  test('climbs stairs up and down, but nothing higher than a step', async () => {
    addFloor();
    for (let i = 0; i < 8; i++) addBlock(3 + 0.4 * i, 0.1 * (i + 1), 0, [0.2, 0.1 * (i + 1), 2]);
    const character = createHero();
    let [x, y] = await walk(character, [2, 0, 0], 60 * 2.5);
    expect(x).toBeCloseTo(5, 2);
    expect(y).toBeGreaterThan(1);
    for (let i = 0; i < 150; i++) {
      [x, y] = await walk(character, [-2, 0, 0], 1);
      expect(character.state.isStanding).toBe(true);
    }
    expect(x).toBeCloseTo(0, 2);
    expect(y).toBeCloseTo(SKIN, 4);
    addBlock(0, 0.2, 3, [3, 0.2, 1]);
    await walk(character, [0, 0, 2], 120);
    expect(character.state.position[2]).toBeCloseTo(2 - RADIUS - SKIN, 4);
  });

  test.each([10, 20, 30, 40, 50, 60, 70])('a ramp of %i degrees', async (degrees) => {
    addFloor();
    const angle = (degrees * Math.PI) / 180;
    const ramp = new Matrix4().makeRotationZ(angle).setPosition(2, 0, 0);
    const body = new Matrix4().makeTranslation(10, -1, 0);
    service.addObject({ shape: { type: 'box', halfExtents: [10, 1, 5] }, matrix: ramp.multiply(body).elements });
    const character = createHero();
    const [x, y] = await walk(character, [2, 0, 0], 150);
    if (degrees < 45) {
      // Horizontally it is as fast as on flat ground.
      expect(x).toBeCloseTo(5, 1);
      expect(y).toBeGreaterThan((x - 2.3) * Math.tan(angle) * 0.9);
      const stood = await walk(character, [0, 0, 0], 60);
      expect(new Vector3(...stood).distanceTo(new Vector3(x, y, 0))).toBeLessThan(1e-3);
    } else {
      expect(y).toBeLessThan(RADIUS);
      character.set({ position: [4, 2 * Math.tan(angle) + 1, 0] });
      const high = await walk(character, [0, 0, 0], 30);
      const low = await walk(character, [0, 0, 0], 90);
      expect(low[1]).toBeLessThan(high[1] - 0.3);
    }
    expect((await overlapping(character.state.position)).length).toBe(0);
  });

  test('jumps, and hits its head', async () => {
    addFloor();
    addBlock(0, 3.5, 0, [2, 1, 2]);
    const character = createHero();
    await walk(character, [0, 0, 0], 2);
    character.jump(6);
    let highest = 0;
    for (let i = 0; i < 20; i++) highest = Math.max(highest, (await walk(character, [0, 0, 0], 1))[1]);
    expect(highest).toBeCloseTo(2.5 - 1.8 - SKIN, 5);
    await walk(character, [0, 0, 0], 60);
    expect(character.state.isStanding).toBe(true);
  });

  test.each([1e-9, 1e-4, 0.1, 0.4])('jumps along a wall that leans over it by %d, and is not blocked', async (lean) => {
    addFloor();
    const wall = new Matrix4().makeRotationZ(lean);
    // The wall's face begins at the character's foot.
    const [x, y] = [RADIUS + SKIN + Math.cos(lean), -0.3 * Math.tan(lean)];
    wall.setPosition(x, y, 0);
    service.addObject({
      ...{ shape: { type: 'box', halfExtents: [1, 5, 5] }, matrix: wall.elements, contacts: 'none' },
    });
    const [beside, free] = [createHero(), createHero([-20, SKIN, 0])];
    await walk(beside, [0, 0, 0], 2);
    await walk(free, [0, 0, 0], 2);
    const highest = [0, 0];
    for (const character of [beside, free]) character.jump(4);
    for (let i = 0; i < 40; i++) {
      for (const [k, character] of [beside, free].entries()) {
        character.advance([0, 0, 0], FRAME_SECONDS);
        highest[k] = Math.max(highest[k], character.state.position[1]);
      }
      await service.update();
      expect(beside.state.isBlockedAbove, `frame ${i}`).toBe(false);
    }
    expect(highest[1]).toBeGreaterThan(0.7);
    expect(highest[0] / highest[1]).toBeGreaterThan(0.99 * Math.cos(lean) ** 2);
    expect(highest[0] / highest[1]).toBeLessThan(1 + 1e-9);
  });

  test('walks where up is no axis, and is blocked by nothing', async () => {
    const turn = new Matrix4().makeRotationFromEuler(new Euler(0.5, 0.3, -0.9));
    service.addObject({
      shape: { type: 'box', halfExtents: [50, 1, 50] },
      matrix: turn.clone().multiply(new Matrix4().makeTranslation(0, -1, 0)).elements,
      contacts: 'none',
    });
    const rounded = (x: number, y: number, z: number): Vec3 => {
      const { x: u, y: v, z: w } = new Vector3(x, y, z).applyMatrix4(turn);
      return [Math.fround(u), Math.fround(v), Math.fround(w)];
    };
    const character = service.createCharacter({ shape: CAPSULE, position: rounded(0, SKIN, 0), up: rounded(0, 1, 0) });
    for (let i = 0; i < 40; i++) {
      const angle = 0.3 * i;
      await walk(character, rounded(4 * Math.cos(angle), 0, 4 * Math.sin(angle)), 1);
      expect(character.state.isBlockedAbove, `frame ${i}`).toBe(false);
      if (i > 0) expect(character.state.isStanding, `frame ${i}`).toBe(true);
    }
  });

  test.each([
    ['a ceiling that leans', 0.6, 3.2],
    ['two of a steep roof', 1.2, 3.5],
  ])('rises no farther below %s', async (_, angle, height) => {
    addFloor();
    for (const side of angle > 0.8 ? [-1, 1] : [1]) {
      const roof = new Matrix4().makeRotationZ(-side * angle);
      // Half the thickness above where the roof's face crosses the middle.
      roof.setPosition(new Vector3(0, 1 / Math.cos(angle) + height, 0));
      service.addObject({
        ...{ shape: { type: 'box', halfExtents: [8, 1, 8] }, matrix: roof.elements, contacts: 'none' },
      });
    }
    const character = createHero();
    await walk(character, [0, 0, 0], 2);
    character.jump(8);
    let isBlocked = false;
    for (let i = 0; i < 20 && !isBlocked; i++) {
      await walk(character, [0, 0, 0], 1);
      isBlocked = character.state.isBlockedAbove;
    }
    expect(isBlocked).toBe(true);
    expect(character.state.speed).toBe(0);
    expect(await overlapping(character.state.position)).toEqual(new Uint32Array());
  });

  test('goes with a lift, with a bridge that turns, and is pushed by what moves into it', async () => {
    addFloor();
    const lift = addBlock(0, 0.1, 0, [1, 0.1, 1]);
    const character = createHero([0.5, 0.2 + SKIN, 0]);
    await walk(character, [0, 0, 0], 5);
    for (let i = 0; i < 60; i++) {
      service.setTransform(lift, translation(0.02 * i, 0.1 + 0.05 * i, 0));
      await walk(character, [0, 0, 0], 1);
      expect(character.state.ground?.object).toBe(lift);
    }
    expect(character.state.position[0]).toBeCloseTo(0.5 + 0.02 * 59, 3);
    expect(character.state.position[1]).toBeCloseTo(0.2 + 0.05 * 59 + SKIN, 3);
    for (let i = 0; i < 60; i++) {
      const turn = new Matrix4().makeRotationY((i * Math.PI) / 120).setPosition(0.02 * 59, 0.1 + 0.05 * 59, 0);
      service.setTransform(lift, turn.elements);
      await walk(character, [0, 0, 0], 1);
    }
    const turned = new Vector3(0.5, 0, 0).applyAxisAngle(new Vector3(0, 1, 0), (59 * Math.PI) / 120);
    expect(character.state.position[0]).toBeCloseTo(0.02 * 59 + turned.x, 2);
    expect(character.state.position[2]).toBeCloseTo(turned.z, 2);
    character.set({ position: [0, SKIN, 20] });
    const ram = addBlock(-5, 1, 20, [1, 1, 1]);
    for (let i = 0; i <= 100; i++) {
      service.setTransform(ram, translation(-5 + 0.1 * i, 1, 20));
      await walk(character, [0, 0, 0], 1);
    }
    expect(character.state.position[0]).toBeGreaterThanOrEqual(6 + RADIUS);
    expect(await overlapping(character.state.position)).toEqual(new Uint32Array());
  });

  test('is pushed out through the nearest face of what comes over its middle, which it touches as a whole', async () => {
    const character = service.createCharacter({ shape: CAPSULE, position: [0, 0, 0], gravity: 0 });
    const over = addBlock(0.4, 0.9, 0, [0.6, 2, 3]);
    character.move([0, 0, 0]);
    await service.update();
    expect(character.state.position[0]).toBeCloseTo(-0.2 - RADIUS - SKIN, 6);
    expect(character.state.touches.map(({ object, triangle }) => [object, triangle])).toEqual([[over, -1]]);
    expect((await overlapping(character.state.position)).length).toBe(0);
  });

  test.each([0.1, 0.35, 0.6])(
    'climbs a step of its step height, %d, and none higher by two skins more',
    async (stepHeight) => {
      addFloor();
      const heights = [-1, 0, 1, 3, 4].map((skins) => stepHeight + skins * SKIN);
      const ends: boolean[] = [];
      for (const [i, height] of heights.entries()) {
        addBlock(3, height - 1, 10 * i, [1, 1, 2]);
        const character = service.createCharacter({ shape: CAPSULE, position: [0, SKIN, 10 * i], stepHeight });
        const [x, y] = await walk(character, [2, 0, 0], 80);
        ends.push(x > 2.5);
        expect(y).toBeCloseTo(x > 2.5 ? height + SKIN : SKIN, 3);
        character.remove();
      }
      expect(ends).toEqual([true, true, true, false, false]);
    },
  );

  test('that walks off an edge by its own way has no ground in the air', async () => {
    addBlock(0, -1, 0, [1, 1, 1]);
    const character = createHero();
    for (let i = 0; i < 90; i++) {
      character.move([0.02, -0.001, 0]);
      await service.update();
      const { position, ground, isStanding } = character.state;
      if (position[0] > 1 + RADIUS + SKIN) expect([ground, isStanding], `at ${position}`).toEqual([null, false]);
    }
    expect(character.state.position[0]).toBeGreaterThan(1.5);
  });

  test('many at once go each by its own ways, in their order, and those that are gone disturb nobody', async () => {
    const many = Array.from({ length: 300 }, (_, i) => createHero([4 * i, 100, 0]));
    for (const [i, each] of many.entries()) each.move([0, 0, 0.01 * i]);
    for (const [i, each] of many.entries()) if (i % 7 === 0) each.remove();
    for (const [i, each] of many.entries()) if (i % 7 !== 0) each.move([0.001 * i, 0, 0.5]);
    const late = createHero([-50, 100, 0]); // where another one was
    await service.update();
    expect(late.state.position).toEqual([-50, 100, 0]);
    for (const [i, each] of many.entries()) {
      if (i % 7 === 0) continue;
      const [x, y, z] = each.state.position;
      expect(x).toBeCloseTo(4 * i + 0.001 * i, 9);
      expect(y).toBe(100);
      expect(z).toBeCloseTo(0.01 * i + 0.5, 9);
    }
    // A jump between two velocities: applied in the order of the calls.
    addFloor();
    const jumper = createHero([20, SKIN, 0]);
    await walk(jumper, [0, 0, 0], 2);
    jumper.advance([1, 0, 0], 5 * FRAME_SECONDS);
    jumper.jump(4);
    jumper.advance([0, 0, 1], FRAME_SECONDS);
    await service.update();
    expect(jumper.state.position[0]).toBeCloseTo(20 + 5 / 60, 9);
    expect(jumper.state.position[2]).toBeCloseTo(1 / 60, 9);
    expect(jumper.state.speed).toBeGreaterThan(3);
  });

  test.each([
    [0, 1, 0],
    [0, 0, 1],
    [1, 2, -3],
  ] as const)('with %d, %d, %d up, says where it touches what, and which way that faces', async (...up) => {
    const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), new Vector3(...up).normalize());
    const turned = (...v: Vec3): Vec3 => new Vector3(...v).applyQuaternion(turn).toArray();
    const put = (half: Vec3, ...place: Vec3) => {
      const matrix = new Matrix4().compose(new Vector3(...turned(...place)), turn, new Vector3(1, 1, 1)).elements;
      return service.addObject({ shape: { type: 'box', halfExtents: half }, matrix, contacts: 'none' });
    };
    const ground = put([50, 1, 50], 100, 19, -70);
    const wall = put([1, 5, 50], 104, 20, -70);
    const shape = { ...CAPSULE, from: turned(...CAPSULE.from), to: turned(...CAPSULE.to) };
    const position = turned(100, 20 + SKIN, -70);
    const character = service.createCharacter({ shape, position, up });
    for (let i = 0; i < 90; i++) {
      character.advance(turned(3, 0, 0), FRAME_SECONDS);
      await service.update();
    }
    const { touches, ground: under } = character.state;
    expect([touches.map(({ object }) => object), under?.object]).toEqual([[wall], ground]);
    const back = turn.clone().invert();
    const place = new Vector3(...touches[0].point).applyQuaternion(back);
    expect(place.x).toBeCloseTo(103, 6);
    expect(place.y).toBeGreaterThan(20);
    expect(place.y).toBeLessThan(20 + 1.8);
    expect(place.z).toBeCloseTo(-70, 6);
    const [normal, floorNormal] = [touches[0].normal, under!.normal].map((v) =>
      new Vector3(...v).applyQuaternion(back),
    );
    expect(normal.distanceTo(new Vector3(-1, 0, 0))).toBeLessThan(1e-6);
    expect(floorNormal.distanceTo(new Vector3(0, 1, 0))).toBeLessThan(1e-6);
    expect(new Vector3(...under!.point).applyQuaternion(back).y).toBeCloseTo(20, 6);
  });

  test('does not pass through what is thin, however fast', async () => {
    const mesh = await service.addMesh(boxMesh(0.001, 20, 20));
    const wall = service.addObject({ shape: { type: 'mesh', mesh }, matrix: translation(50, 0, 0) });
    const bullet = service.createCharacter({
      shape: { type: 'capsule', radius: 0.0005, from: [0, 0, 0], to: [0, 0, 0] },
      ...{ stepHeight: 0, gravity: 0 },
    });
    bullet.move([1000, 0, 0]);
    await service.update();
    expect(bullet.state.position[0]).toBeCloseTo(50 - 0.0005 - 0.0005, 4);
    expect(bullet.state.touches[0].object).toBe(wall);
  });

  test('walks the same way at any frame rate, to the last bit', async () => {
    const land = await service.addMesh(terrain());
    service.addObject({ shape: { type: 'mesh', mesh: land }, motion: 'static' });
    const ends: Vec3[][] = [];
    for (const rate of [60, 30, 144, 60]) {
      const character = createHero([0, 3, 0]);
      const places: Vec3[] = [];
      while (character.state.steps < 120) {
        character.advance([1.5, 0, 0.7], 1 / rate);
        await service.update();
        if (character.state.steps % 24 === 0) places[character.state.steps / 24] = character.state.position;
      }
      ends.push([places[1], places[3], places[5]]);
      character.remove();
    }
    for (const end of ends) expect(end).toEqual(ends[0]);
  });

  test('takes an object along', async () => {
    addFloor();
    const body = service.addObject({ shape: CAPSULE, contacts: 'none' });
    const character = service.createCharacter({ shape: CAPSULE, position: [0, SKIN, 0], object: body });
    const [x] = await walk(character, [2, 0, 0], 30);
    const hit = await service.raycast({ origin: [x, 1, -5], direction: [0, 0, 1] });
    expect(hit?.object).toBe(body);
    character.set({ position: [10, SKIN, 0] });
    await service.update();
    expect((await service.raycast({ origin: [10, 1, -5], direction: [0, 0, 1] }))?.object).toBe(body);
    character.remove();
    expect(() => character.move([1, 0, 0])).toThrow('one that was not removed');
    expect(() => character.state).toThrow(expect.objectContaining({ code: 'UNKNOWN_ID' }));
    await service.update();
  });
});

test('after a loss a character is where it was, and falls on as it fell', async () => {
  const mortal = await KillableService.create();
  const calm = service;
  const ends: CharacterState[] = [];
  for (const each of [mortal.service, calm]) {
    const body = each.addObject({ shape: CAPSULE, contacts: 'none' });
    const character = each.createCharacter({ shape: CAPSULE, position: [0, 50, 0], object: body });
    for (let i = 0; i < 40; i++) {
      character.advance([1, 0, 0], 0.01);
      await each.update();
      if (i === 20 && each === mortal.service) await mortal.kill();
    }
    const [x, y] = character.state.position;
    expect((await each.raycast({ origin: [x, y + 1, -5], direction: [0, 0, 1] }))?.object).toBe(body);
    ends.push(character.state);
  }
  expect(ends[0].position).toEqual(ends[1].position);
  expect(ends[0].speed).toBe(ends[1].speed);
  expect(ends[0].steps).toBe(ends[1].steps);
  expect(ends[1].steps).toBeGreaterThan(20);
  expect(mortal.events).toEqual(['lost', 'restored']);
});

test('bad input is told', async () => {
  const character = createHero();
  const shape = CAPSULE;
  const cases: [() => unknown, string][] = [
    [() => service.createCharacter(undefined as never), 'options is undefined'],
    [() => service.createCharacter({ shape: { type: 'box' } as never }), 'shape.type'],
    [() => service.createCharacter({ shape: { ...shape, radius: 0 } }), 'shape.radius'],
    [() => service.createCharacter({ shape, up: [0, 0, 0] }), 'up is'],
    [() => service.createCharacter({ shape, slope: 2 }), 'slope is 2'],
    [() => service.createCharacter({ shape, skin: 0 }), 'skin is 0'],
    [() => service.createCharacter({ shape, step: 0 }), 'step is 0'],
    [() => service.createCharacter({ shape, ignore: [77] }), 'ignore[0] is 77'],
    [() => service.createCharacter({ shape, object: 77 }), 'object is 77'],
    [() => service.createCharacter({ shape, colour: 1 } as never), 'colour'],
    [() => character.move([Number.NaN, 0, 0]), 'displacement'],
    [() => character.advance([0, 0, 0], -1), 'seconds is -1'],
    [() => character.jump(Number.POSITIVE_INFINITY), 'speed'],
  ];
  for (const [call, message] of cases) expect(call).toThrow(message);
  await service.update();
  expect(character.state.position).toEqual([0, SKIN, 0]);
});

test.each([0, 1, 2, 3])('it goes through the %i objects that it ignores, and through no other', async (count) => {
  addFloor();
  const walls = [2, 4, 6].map((x) => addBlock(x, 1, 0, [0.1, 2, 5]));
  const start = { shape: CAPSULE, position: [0, SKIN, 0] as Vec3 };
  const character = service.createCharacter({ ...start, ignore: walls.slice(0, count) });
  const [x] = await walk(character, [6, 0, 0], 100);
  if (count < 3) expect(x).toBeCloseTo(2 + 2 * count - 0.1 - RADIUS - SKIN, 6);
  else expect(x).toBeGreaterThan(9);
  // Another list replaces the first one.
  character.set({ position: start.position, ignore: walls.slice(1) });
  expect((await walk(character, [6, 0, 0], 100))[0]).toBeCloseTo(2 - 0.1 - RADIUS - SKIN, 6);
});
