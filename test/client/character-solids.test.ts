// Solids that characters stand on and cannot pass: boxes mirrored by
// their matrices, edges, gaps, and courses and hills of all kinds.
import type { Vec3 } from 'collision-worker';
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
import { boxMesh, merged, transformed } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

test.each([
  [-1, 1, 1],
  [1, -1, 1],
  [1, 1, -1],
])('boxes are as solid where a scale of %d, %d, %d mirrors them', async (...signs) => {
  const put = (place: Vec3, size: Vec3) => {
    const scale = new Vector3(...size).multiply(new Vector3(...signs));
    const matrix = new Matrix4().compose(new Vector3(...place), new Quaternion(), scale);
    service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] }, matrix: matrix.elements, contacts: 'none' });
  };
  put([0, -1, 0], [50, 1, 50]);
  const far = 2 - RADIUS - SKIN;
  for (const side of [-1, 1]) {
    put([side * 3, 2, 0], [1, 2, 50]);
    put([0, 2, side * 3], [50, 2, 1]);
  }
  put([0, 3, 0], [50, 1, 50]);
  const character = createHero();
  for (const [vx, vz] of [
    [6, 0],
    [0, 6],
    [-6, 0],
    [0, -6],
  ] as const) {
    const [x, y, z] = await walk(character, [vx, 0, vz], 40);
    if (vx !== 0) expect(x).toBeCloseTo(Math.sign(vx) * far, 5);
    else expect(z).toBeCloseTo(Math.sign(vz) * far, 5);
    expect(y).toBeCloseTo(SKIN, 6);
  }
  character.jump(5);
  let top = 0;
  for (let frame = 0; frame < 15; frame++) top = Math.max(top, (await walk(character, [0, 0, 0], 1))[1]);
  expect(top).toBeCloseTo(2 - 1.8 - SKIN, 5);
});

/** A rectangle between two corners, seen from the side from which its winding is counterclockwise. */
function sheet(from: Vector3, one: Vector3, other: Vector3): ReturnType<typeof merged> {
  const corners = [from, from.clone().add(one), from.clone().add(one).add(other), from.clone().add(other)];
  return {
    positions: Float32Array.from(corners.flatMap((corner) => corner.toArray())),
    indices: Uint32Array.of(0, 1, 2, 0, 2, 3),
  };
}

describe.each([
  ['one mesh', true],
  ['two', false],
])('an edge between a level face and a wall, of %s', (_, isOne) => {
  const top = sheet(new Vector3(-2, 0, -2), new Vector3(0, 0, 4), new Vector3(2, 0, 0));
  // It leans, but is too steep to stand on.
  const wall = sheet(new Vector3(0.5, -2, -2), new Vector3(-0.5, 2, 0), new Vector3(0, 0, 4));
  test.each([
    ['the face comes first', [top, wall]],
    ['the wall comes first', [wall, top]],
  ])('carries who lands on it, where %s', async (_, faces) => {
    const meshes = await Promise.all((isOne ? [merged(faces)] : faces).map((face) => service.addMesh(face)));
    for (const mesh of meshes) service.addObject({ shape: { type: 'mesh', mesh }, contacts: 'none' });
    // Where the capsule touches the edge, the slope is too steep to stand on.
    const character = createHero([0.8 * RADIUS, 1, 0]);
    const [x, y] = await walk(character, [0, 0, 0], 60);
    expect(character.state.isStanding).toBe(true);
    expect(x).toBeCloseTo(0.8 * RADIUS, 6);
    expect(y).toBeCloseTo(Math.sqrt((RADIUS + SKIN) ** 2 - (0.8 * RADIUS) ** 2) - RADIUS, 4);
    expect(character.state.ground!.normal[1]).toBeCloseTo(1, 9);
  });
});

describe('a gap that is too narrow for a character', () => {
  const WIDTH = 0.4;
  test.each<[string, (side: number) => Promise<void> | void]>([
    ['boxes', (side) => void addBlock(side * (1 + WIDTH / 2), 2, 0, [1, 2, 50])],
    [
      'meshes',
      async (side) => {
        const mesh = await service.addMesh(transformed(boxMesh(1, 4, 100), (v) => v.add(new Vector3(0, 2, 0))));
        const matrix = translation(side * (0.5 + WIDTH / 2), 0, 0);
        service.addObject({ shape: { type: 'mesh', mesh }, matrix, contacts: 'none' });
      },
    ],
    [
      'capsules',
      (side) => {
        const shape = { type: 'capsule', radius: 1, from: [0, 0, -50], to: [0, 0, 50] } as const;
        service.addObject({ shape, matrix: translation(side * (1 + WIDTH / 2), 1, 0), contacts: 'none' });
      },
    ],
  ])('of %s: how deep it is in the nearer one is told', async (_, build) => {
    addFloor();
    for (const side of [-1, 1]) await build(side);
    const character = createHero();
    for (let frame = 0; frame < 5; frame++) {
      const [x] = await walk(character, [0, 0, 0], 1);
      if (frame === 0) continue; // its first position is taken as it is
      expect(character.state.depth).toBeGreaterThan(0);
      expect(character.state.depth).toBeCloseTo(RADIUS - (WIDTH / 2 - Math.abs(x)), 6);
    }
  });
});

describe.each(['boxes', 'a mesh', 'a solid mesh'] as const)('a course of %s', (kind) => {
  const PARTS: [Vec3, Vec3][] = [
    [
      [0, -1, 0],
      [50, 1, 50],
    ],
    [
      [8, 2, 0],
      [1, 2, 50],
    ],
    ...Array.from({ length: 6 }, (_, i): [Vec3, Vec3] => [
      [3 + 0.4 * i, 0.1 * (i + 1), 0],
      [0.2, 0.1 * (i + 1), 2],
    ]),
  ];
  const ways = new Map<string, Vec3[]>();

  test.each([
    [1, 0, 'y'],
    [1e-3, 0, 'y'],
    [1e3, 0, 'z'],
    [1, 1e6, 'y'],
    [1, 1e6, 'z'],
    [1e-3, 1e3, 'y'],
  ] as const)('is the same %d times as large, %d away, with %s up', async (size, away, up) => {
    const turned = ([x, y, z]: Vec3): Vec3 => (up === 'y' ? [x, y, z] : [x, -z, y]);
    const scaled = (v: Vec3): Vec3 => turned(v).map((each) => size * each) as unknown as Vec3;
    const placed = (v: Vec3): Vec3 => scaled(v).map((each) => away + each) as unknown as Vec3;
    const contacts = 'none';
    if (kind === 'boxes') {
      for (const [centre, half] of PARTS) {
        const halfExtents = scaled(half).map(Math.abs) as unknown as Vec3;
        service.addObject({ shape: { type: 'box', halfExtents }, matrix: translation(...placed(centre)), contacts });
      }
    } else {
      const course = PARTS.map(([centre, [x, y, z]]) =>
        transformed(boxMesh(2 * x, 2 * y, 2 * z), (v) => v.add(new Vector3(...centre))),
      );
      const change = (v: Vector3) => v.set(...scaled(v.toArray()));
      const bodies = kind === 'a mesh' ? [merged(course)] : course;
      for (const body of bodies) {
        const mesh = await service.addMesh(transformed(body, change));
        const solid = kind === 'a solid mesh';
        service.addObject({ shape: { type: 'mesh', mesh, solid }, matrix: translation(away, away, away), contacts });
      }
    }
    const shape = { ...CAPSULE, radius: size * RADIUS, from: scaled(CAPSULE.from), to: scaled(CAPSULE.to) };
    const options = { shape, up: turned([0, 1, 0]), gravity: 9.81 * size };
    const character = service.createCharacter({ ...options, position: placed([0, 1, 0]) });
    const way: Vec3[] = [];
    for (let i = 0; i < 240; i++) {
      character.advance(scaled([2, 0, 0.3]), FRAME_SECONDS);
      await service.update();
      if (i % 20 !== 19) continue;
      const { position } = character.state;
      expect((await service.overlap(shape, translation(...position))).length).toBe(0);
      const [x, y, z] = position.map((each) => (each - away) / size);
      way.push(up === 'y' ? [x, y, z] : [x, z, -y]);
    }
    // Up the stairs, down behind them, and along the wall.
    expect(Math.max(...way.map(([, y]) => y))).toBeGreaterThan(1);
    expect(way.at(-1)![0]).toBeCloseTo(7 - RADIUS - SKIN, 4);
    expect(way.at(-1)![1]).toBeCloseTo(SKIN, 4);
    if (ways.size === 0) ways.set(kind, way);
    for (const [i, place] of way.entries()) {
      for (const k of [0, 1, 2] as const) expect(place[k]).toBeCloseTo(ways.get(kind)![i][k], 4);
    }
  });
});

test(`walkers are never inside of anything (seed ${SEED})`, async () => {
  const random = new Random(SEED);
  const land = await service.addMesh(terrain());
  service.addObject({ shape: { type: 'mesh', mesh: land }, motion: 'static' });
  for (let i = 0; i < 30; i++) {
    const turn = new Quaternion().setFromEuler(
      new Euler(random.range(-1, 1), random.range(-3, 3), random.range(-1, 1)),
    );
    const scale = new Vector3(random.range(0.3, 1.5), random.range(0.3, 1.5), random.range(0.3, 1.5));
    const place = new Vector3(random.range(-9, 9), random.range(-1, 2), random.range(-9, 9));
    const shapes = [
      { type: 'box', halfExtents: [1, 1, 1] },
      { type: 'sphere', radius: 1 },
      { type: 'capsule', radius: 0.5, from: [-1, 0, 0], to: [1, 0, 0] },
    ] as const;
    service.addObject({
      shape: shapes[i % 3],
      matrix: new Matrix4().compose(place, turn, scale).elements,
      contacts: 'none',
    });
  }
  const walkers = Array.from({ length: 12 }, () => createHero([random.range(-8, 8), 6, random.range(-8, 8)]));
  let standing = 0;
  const ways = walkers.map(() => 0);
  for (let step = 0; step < 240; step++) {
    for (const [i, walker] of walkers.entries()) {
      if (step % 40 === 0) ways[i] = random.range(-Math.PI, Math.PI);
      walker.advance([3 * Math.cos(ways[i]), 0, 3 * Math.sin(ways[i])], FRAME_SECONDS);
      if (step % 60 === 30) walker.jump(5);
    }
    await service.update();
    for (const walker of walkers) {
      const { position, isStanding, depth } = walker.state;
      if (isStanding) standing++;
      if (depth > 0) continue; // the state reports it
      const inside = await overlapping(position, RADIUS - SKIN);
      expect([...inside], `step ${step}, at ${position}`).toEqual([]);
    }
  }
  console.log(`seed ${SEED}: ${standing} of ${12 * 240} states stand`);
  expect(standing).toBeGreaterThan(12 * 240 * 0.2);
  expect(walkers.every(({ state }) => state.depth < RADIUS)).toBe(true);
}, 60_000);
