// Seeded walkers on a course of everything that is hard for a character. Nobody penetrates anything by more than the skin
// (checked by the contacts of smaller capsules that follow them and know nothing of characters) or passes through a wall
// (checked by rays along the paths of their centres). `WALKERS=200 WALK_STEPS=10000 LEVEL=500000` walks all of it.
import {
  type Character,
  type CollisionService,
  createCollisionService,
  type MeshData,
  NO_OBJECT,
  type ObjectId,
  type Vec3,
} from 'collision-worker';
import { Euler, Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { levelOf } from '../bench/work/level.js';
import { boxMesh, merged, transformed } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

const { WALKERS = '24', WALK_STEPS = '300', LEVEL = '8000' } = process.env;
const COUNT = Number(WALKERS);
const STEPS = Number(WALK_STEPS);

const RADIUS = 0.3;
const SKIN = 0.006;
const TALL = 1.8;
const STEP_HEIGHT = 0.35;
const STEP = 1 / 60;
const GRAVITY = 9.81;
const CAPSULE = { type: 'capsule', radius: RADIUS, from: [0, RADIUS, 0], to: [0, TALL - RADIUS, 0] } as const;
/** A smaller capsule, the core: nothing may penetrate it. */
const CORE = { ...CAPSULE, radius: RADIUS - SKIN };

// Layers: static objects, moving objects, and the cores.
const STILL = 1;
const MOVING = 2;
const CORES = 4;

/** Half the side of each section of the course. */
const HALF = 12;
/** The level is beside the course. */
const LEVEL_AT = 200;

interface Course {
  service: CollisionService;
  lift: ObjectId;
  bridge: ObjectId;
  /** Half the side of the level. */
  levelHalf: number;
}

async function courseOf(): Promise<Course> {
  const service = await createCollisionService();
  const still = { layers: STILL, collidesWith: CORES, contacts: 'any', motion: 'static' } as const;
  const box = (center: Vec3, halfExtents: Vec3, turn = new Euler()): ObjectId => {
    const matrix = new Matrix4().makeRotationFromEuler(turn).setPosition(...center).elements;
    return service.addObject({ ...still, shape: { type: 'box', halfExtents }, matrix });
  };
  const mesh = async (data: MeshData, x: number): Promise<ObjectId> => {
    const matrix = new Matrix4().makeTranslation(x, 0, 0).elements;
    return service.addObject({ ...still, shape: { type: 'mesh', mesh: await service.addMesh(data) }, matrix });
  };
  const walled = (x: number, half: number) => {
    for (const side of [-1, 1]) {
      box([x + side * (half + 1), 0, 0], [1, 30, half + 2]);
      box([x, 0, side * (half + 1)], [half + 2, 30, 1]);
    }
  };
  // Stairs: separate boxes in one direction, one mesh in the other.
  box([0, -1, 0], [HALF, 1, HALF]);
  walled(0, HALF);
  for (let i = 0; i < 8; i++) box([-9 + 0.4 * i, 0.125 * (i + 1), -9], [0.2, 0.125 * (i + 1), 1.5]);
  box([-5.3, 1, -9], [0.5, 1, 1.5]);
  const steps = Array.from({ length: 8 }, (_, i) => {
    return transformed(boxMesh(0.35, 0.28 * (i + 1), 3), (v) => v.add(new Vector3(4 + 0.35 * i, 0.14 * (i + 1), -9)));
  });
  await mesh(merged(steps), 0);
  // Ramps of 10 to 70 degrees.
  for (let i = 0; i < 7; i++) {
    const angle = ((10 + 10 * i) * Math.PI) / 180;
    box([-9 + 3 * i, 0.9 * Math.sin(angle) - 0.1, 9], [1, 0.2, 1.2], new Euler(angle, 0, 0));
  }
  // A corner of three walls; a gap that is wide enough, and one that is too narrow.
  box([9, 1.5, -2], [0.1, 1.5, 1.5]);
  box([7.5, 1.5, -3.4], [1.5, 1.5, 0.1], new Euler(0, 0.3, 0));
  box([7.2, 1.5, -1], [1, 1.5, 0.1], new Euler(0, 0, 0.3));
  for (const [x, gap] of [
    [-9, 2 * (RADIUS + SKIN) + 0.02],
    [-6, 2 * RADIUS - 0.02],
  ]) {
    box([x, 1.5, 2 + gap / 2 + 1], [0.8, 1.5, 1]);
    box([x, 1.5, 2 - gap / 2 - 1], [0.8, 1.5, 1]);
  }
  const moving = { layers: MOVING, collidesWith: CORES, contacts: 'any' } as const;
  const lift = service.addObject({ ...moving, shape: { type: 'box', halfExtents: [1.2, 3, 1.2] } });
  const bridge = service.addObject({ ...moving, shape: { type: 'box', halfExtents: [2.5, 0.15, 0.5] } });

  await mesh(slivers(), LEVEL_AT);
  walled(LEVEL_AT, HALF);
  const level = levelOf(new Random(1), Number(LEVEL));
  await mesh(level.mesh, 2 * LEVEL_AT);
  walled(2 * LEVEL_AT, level.half - 0.5);
  return { service, lift, bridge, levelHalf: level.half - 0.5 };
}

/** Uneven ground of columns and rows as narrow as a ten thousandth of a unit, with thin walls on it. */
function slivers(): MeshData {
  const lines: number[] = [];
  const random = new Random(3);
  for (let x = -HALF - 1; x < HALF + 1; x += random.logRange(1e-4, 2)) lines.push(x);
  lines.push(HALF + 1);
  const side = lines.length;
  const positions = new Float32Array(
    lines.flatMap((x) => lines.flatMap((z) => [x, 0.5 * Math.sin(x) * Math.cos(0.8 * z), z])),
  );
  const indices: number[] = [];
  for (let i = 0; i + 1 < side; i++) {
    for (let k = 0; k + 1 < side; k++) {
      const a = i * side + k;
      indices.push(a, a + 1, a + side, a + 1, a + side + 1, a + side);
    }
  }
  const walls = [-6, 0, 6].map((x) => transformed(boxMesh(0.01, 6, 4), (v) => v.add(new Vector3(x, 0, x / 2))));
  return merged([{ positions, indices: new Uint32Array(indices) }, ...walls]);
}

/**
 * Moves the moving objects to where they are at a time: the lift is solid down to the ground, so that nobody gets under it.
 */
function moveAll({ service, lift, bridge }: Course, seconds: number): void {
  service.setTransform(lift, new Matrix4().makeTranslation(0, -2.9 + 1 - Math.cos(0.7 * seconds), -4).elements);
  const turn = new Matrix4().makeRotationY(0.4 * seconds).setPosition(0, 0.15, 3.5);
  service.setTransform(bridge, turn.elements);
}

class Walker {
  readonly character: Character;
  readonly #random: Random;
  readonly #speed: number;
  angle = 0;
  #left = 0;
  /** Where the walker was when it chose its direction. */
  from: Vec3;
  /** Whether it has got no farther in its direction, and then in the opposite one. */
  isStuck = false;
  stuckTwice = 0;

  constructor(service: CollisionService, random: Random, position: Vec3, object: ObjectId | undefined) {
    this.#random = random;
    this.#speed = random.range(1, 6);
    this.from = position;
    this.character = service.createCharacter({
      ...{
        shape: CAPSULE,
        position,
        skin: SKIN,
        stepHeight: STEP_HEIGHT,
        gravity: GRAVITY,
        step: STEP,
        layers: STILL | MOVING,
      },
      ...(object === undefined ? {} : { object }),
    });
  }

  get speed(): number {
    return this.#speed;
  }

  /** The velocity of the next step. */
  decide(): Vec3 {
    if (this.#left-- <= 0) this.#turn();
    return [this.#speed * Math.cos(this.angle), 0, this.#speed * Math.sin(this.angle)];
  }

  #turn(): void {
    const [x, , z] = this.character.state.position;
    const way = Math.hypot(x - this.from[0], z - this.from[2]);
    const wasStuck = this.isStuck;
    this.isStuck = way < 0.02;
    if (wasStuck && this.isStuck) this.stuckTwice++;
    this.from = this.character.state.position;
    this.#left = 20 + this.#random.integer(80);
    // A walker that is stuck turns back.
    this.angle = this.isStuck ? this.angle + Math.PI : this.#random.range(-Math.PI, Math.PI);
    if (!this.isStuck && this.#random.chance(0.1)) this.character.jump(this.#random.range(2, 5));
  }
}

function startOf(random: Random, { levelHalf }: Course, i: number): Vec3 {
  const half = [HALF, HALF, levelHalf][i % 3] - 1;
  return [LEVEL_AT * (i % 3) + random.range(-half, half), 6.5, random.range(-half, half)];
}

test(`walkers on a course are in nothing, pass no wall and are not stuck (seed ${SEED})`, async () => {
  const course = await courseOf();
  const { service } = course;
  const random = new Random(SEED);
  const walkers = Array.from({ length: COUNT }, (_, i) => {
    const core = service.addObject({ shape: CORE, layers: CORES, collidesWith: STILL | MOVING, contacts: 'any' });
    return new Walker(service, new Random(SEED * 1000 + i), startOf(random, course, i), core);
  });
  const rays = new Float32Array(8 * COUNT);
  let standing = 0;
  let pushed = 0;
  try {
    for (let step = 0; step < STEPS; step++) {
      moveAll(course, step * STEP);
      const before = walkers.map(({ character }) => character.state);
      for (const walker of walkers) walker.character.advance(walker.decide(), STEP);
      const { contacts } = await service.update();
      for (const [i, { character, speed }] of walkers.entries()) {
        const { position, isStanding, depth, ground, touches } = character.state;
        const at = `walker ${i}, step ${step}, at ${position}`;
        expect(position.every(Number.isFinite), at).toBe(true);
        expect(depth, at).toBe(0);
        const way = new Vector3(...position).sub(new Vector3(...before[i].position));
        const length = way.length();
        way.toArray(rays, 8 * i + 4);
        rays.set([before[i].position[0], before[i].position[1] + TALL / 2, before[i].position[2], 0], 8 * i);
        if (length > 0) way.divideScalar(length).toArray(rays, 8 * i + 4);
        else rays.set([0, 1, 0], 8 * i + 4);
        rays[8 * i + 7] = length;
        const moving = (id: ObjectId | undefined) => id === course.lift || id === course.bridge;
        if (
          moving(ground?.object) ||
          moving(before[i].ground?.object) ||
          touches.some(({ object }) => moving(object))
        ) {
          pushed++;
          continue;
        }
        // No faster than it walks; up by a step or a slope, down by as much or as far as it falls.
        const across = Math.hypot(position[0] - before[i].position[0], position[2] - before[i].position[2]);
        const up = position[1] - before[i].position[1];
        if (isStanding) standing++;
        expect(across, at).toBeLessThan(
          speed * STEP + 2 * SKIN + Math.max(-before[i].speed, 0) * STEP + GRAVITY * STEP ** 2,
        );
        expect(up, at).toBeLessThan(Math.max(STEP_HEIGHT + speed * STEP, before[i].speed * STEP) + 2 * SKIN);
        const fall = Math.max(-before[i].speed, 0) + GRAVITY * STEP;
        expect(-up, at).toBeLessThan(fall * STEP + RADIUS + speed * STEP + 2 * SKIN);
        expect(position[1], at).toBeGreaterThan(-4);
      }
      const inside = Array.from(contacts.a, (a, k) => [a, contacts.b[k]]);
      expect(inside, `step ${step}: ${walkers.map(({ character }) => character.state.position).join('; ')}`).toEqual(
        [],
      );
      const { objects } = await service.raycastMany(rays, { layers: STILL });
      expect(
        [...objects].flatMap((object, i) =>
          object === NO_OBJECT ? [] : [[i, object, rays.subarray(8 * i, 8 * i + 8)]],
        ),
        `step ${step}`,
      ).toEqual([]);
    }
    const stuck = walkers.map(({ stuckTwice }) => stuckTwice);
    console.log(
      `seed ${SEED}: ${standing} of ${COUNT * STEPS} stand, ${pushed} on or at what moves, stuck: ${stuck.filter(Boolean)}`,
    );
    expect(standing).toBeGreaterThan(COUNT * STEPS * 0.3);
    expect(stuck).toEqual(walkers.map(() => 0));
  } finally {
    service.dispose();
  }
}, 1_200_000);

test(`the same walk is the same to the last bit again, and at any frame rate (seed ${SEED})`, async () => {
  const ends: number[][] = [];
  for (const rate of [60, 60, 30, 144]) {
    const course = await courseOf();
    const { service } = course;
    moveAll(course, 0);
    const random = new Random(SEED);
    const walkers = Array.from({ length: COUNT }, (_, i) => {
      return new Walker(service, new Random(SEED * 1000 + i), startOf(random, course, i), undefined);
    });
    // A new direction every half a second, which is a whole number of frames at each rate.
    const frames = Math.floor(STEPS / 30) * (rate / 2);
    let ways: Vec3[] = [];
    for (let frame = 0; frame < frames; frame++) {
      if (frame % (rate / 2) === 0) {
        ways = walkers.map(({ speed, character }) => {
          const angle = random.range(-Math.PI, Math.PI);
          if (random.chance(0.1)) character.jump(4);
          return [speed * Math.cos(angle), 0, speed * Math.sin(angle)];
        });
      }
      for (const [i, { character }] of walkers.entries()) character.advance(ways[i], 1 / rate);
      await service.update();
    }
    ends.push(walkers.flatMap(({ character: { state } }) => [...state.position, state.speed, state.steps]));
    service.dispose();
  }
  expect(ends[0].at(-1)).toBe(Math.floor(STEPS / 30) * 30);
  for (const end of ends) expect(end).toEqual(ends[0]);
}, 1_200_000);
