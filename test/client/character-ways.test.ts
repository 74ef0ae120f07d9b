// The paths of characters, in sums to a ten thousandth: those of the time when this was written. Other tests check that they
// penetrate nothing and pass through nothing; these sums show when a character walks differently, which may well be better.
// Inputs are rounded to float32, since JavaScript engines differ in the last digits of a sine.
import { type Character, type CharacterOptions, createCollisionService, type Shape, type Vec3 } from 'collision-worker';
import { Euler, Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { CAPSULE, FRAME_SECONDS, terrain } from '../fixtures/character-stage.js';
import { boxMesh, icosphere, merged, rods, transformed } from '../oracle/meshes.js';
import { Random } from '../oracle/random.js';

const WALKERS = 10;
const FRAMES = 150;
const HALF = 9;

/** Obstacles on the ground. */
const THINGS: [
  string,
  (random: Random) => Shape | 'stairs' | 'terrain' | 'rods' | 'balls',
  count: number,
  sums: number[][],
][] = [
  [
    'boxes',
    (random) => ({ type: 'box', halfExtents: sizes(random) }),
    60,
    [
      [-75.6489, 1289.3155, -657.4739, 542, -1048.7037, 327.5783],
      [927.6347, 1195.2861, -391.4414, 545, -1014.7568, 166.6962],
    ],
  ],
  [
    'balls and capsules',
    (random) => round(random),
    60,
    [
      [7205.6402, 991.6716, -1434.1169, 622, -942.4169, 2701.3943],
      [4751.9648, -3014.0103, -4926.591, 571, -934.875, -1679.2253],
    ],
  ],
  [
    'meshes of balls',
    () => 'balls',
    25,
    [
      [309.5955, 1162.8536, -2259.1516, 579, -933.1082, 38781.5662],
      [521.7817, 1655.7305, -1928.5351, 598, -1070.6781, 54456.6556],
    ],
  ],
  [
    'stairs',
    () => 'stairs',
    12,
    [
      [-320.082, 1126.9165, 1319.1663, 524, -1180.3633, 4821.6104],
      [1154.7481, 505.5568, 1435.6149, 548, -1236.0603, 3023.5338],
    ],
  ],
  [
    'hills',
    () => 'terrain',
    1,
    [
      [2282.7711, 1059.623, -916.5989, 634, -1079.1724, 58396.6165],
      [2053.3748, -487.1717, -1554.7635, 596, -1103.6826, 200583.532],
    ],
  ],
  [
    'rods',
    () => 'rods',
    2,
    [
      [3735.9155, 861.4124, -467.3123, 808, -1193.5056, 23387.6195],
      [2800.9492, -1451.4371, -2215.5143, 767, -1259.1121, 5487.7781],
    ],
  ],
];

const sizes = (random: Random): Vec3 => [random.range(0.2, 1.5), random.logRange(0.05, 1.5), random.range(0.2, 1.5)];

function round(random: Random): Shape {
  const radius = random.range(0.1, 0.9);
  if (random.chance(0.5)) return { type: 'sphere', radius };
  const along = random.direction().multiplyScalar(random.range(0.1, 1.2));
  return { type: 'capsule', radius, from: along.toArray(), to: along.negate().toArray() };
}

const MESHES = {
  balls: () => icosphere(1, 3),
  terrain,
  rods: () => rods(new Random(1), 60, HALF),
  stairs: () =>
    merged(
      Array.from({ length: 6 }, (_, i) =>
        transformed(boxMesh(0.35, 0.25 * (i + 1), 2), (v) => v.add(new Vector3(0.35 * i, 0.125 * (i + 1), 0))),
      ),
    ),
};

/** Rotations of the world, and of the characters that walk in it. */
const TURNS = [new Matrix4(), new Matrix4().makeRotationFromEuler(new Euler(0.5, 0.3, -0.9))];

const optionsOf = (random: Random): Partial<CharacterOptions> => ({
  slope: random.pick([Math.PI / 4, 0.3, 1.2]),
  stepHeight: random.pick([0.3, 0.3, 0, 0.6]),
  snap: random.pick([0.3, 0, 0.6]),
  skin: random.pick([0.006, 0.02, 0.1]),
  shape: random.pick([CAPSULE, { ...CAPSULE, from: [0.2, 0.4, 0], to: [-0.1, 1.2, 0.1] }]),
});

const rounded = (numbers: readonly number[]): number[] => numbers.map(Math.fround);
const roundedVec = ({ x, y, z }: Vector3): Vec3 => [Math.fround(x), Math.fround(y), Math.fround(z)];

test.each(THINGS)('among %s', async (_, thing, count, expected) => {
  const found: number[][] = [];
  for (const turn of TURNS) {
    const random = new Random(2);
    const service = await createCollisionService();
    const put = (shape: Shape, matrix: Matrix4, isMoving = false): number =>
      service.addObject({
        ...{ shape, matrix: rounded(matrix.clone().premultiply(turn).elements), contacts: 'none' },
        motion: isMoving ? 'moving' : 'static',
      });
    put({ type: 'box', halfExtents: [HALF, 1, HALF] }, new Matrix4().setPosition(0, -1, 0));
    for (const side of [-1, 1]) {
      put({ type: 'box', halfExtents: [1, 20, HALF] }, new Matrix4().setPosition(side * (HALF + 1), 0, 0));
      put({ type: 'box', halfExtents: [HALF, 20, 1] }, new Matrix4().setPosition(0, 0, side * (HALF + 1)));
    }
    const made = new Map<string, Shape>();
    for (let i = 0; i < count; i++) {
      let shape = thing(random);
      if (typeof shape === 'string') {
        const known = made.get(shape) ?? ({ type: 'mesh', mesh: await service.addMesh(MESHES[shape]()) } as const);
        made.set(shape, known);
        shape = known;
      }
      const place = new Vector3(random.range(-HALF, HALF), random.range(-0.2, 0.6), random.range(-HALF, HALF));
      const lean = random.pick([0, 0, 0.4]);
      const turned = new Euler(random.range(-lean, lean), random.range(0, 6.3), random.range(-lean, lean));
      put(shape, count < 3 ? new Matrix4() : new Matrix4().makeRotationFromEuler(turned).setPosition(place));
    }
    const lift = put({ type: 'box', halfExtents: [1, 0.3, 1] }, new Matrix4(), true);
    const walkers = Array.from({ length: WALKERS }, (): [Character, Vector3] => {
      const start = new Vector3(random.range(-HALF, HALF), 2, random.range(-HALF, HALF)).applyMatrix4(turn);
      const [way, up] = [new Vector3(1, 0, 0), new Vector3(0, 1, 0)].map((v) => v.transformDirection(turn));
      const options = { shape: CAPSULE, ...optionsOf(random), position: roundedVec(start), up: roundedVec(up!) };
      return [service.createCharacter(options), way!];
    });
    const sums = [0, 0, 0, 0, 0, 0];
    for (let frame = 0; frame < FRAMES; frame++) {
      const up = new Matrix4().makeRotationY(0.01 * frame).setPosition(0, Math.sin(0.05 * frame), 0.02 * frame);
      service.setTransform(lift, rounded(up.premultiply(turn).elements));
      for (const [character, way] of walkers) {
        if (random.chance(0.03)) way.set(random.range(-5, 5), 0, random.range(-5, 5)).transformDirection(turn);
        if (random.chance(0.02)) character.jump(random.range(1, 6));
        if (random.chance(0.1)) character.move(roundedVec(random.direction().multiplyScalar(0.1)));
        else character.advance(roundedVec(way.clone().multiplyScalar(4)), FRAME_SECONDS);
      }
      await service.update();
      for (const [{ state }] of walkers) {
        for (let axis = 0; axis < 3; axis++) sums[axis] += state.position[axis];
        sums[3] += Number(state.isStanding) + 100 * Number(state.isBlockedAbove);
        sums[4] += state.depth + state.speed;
        for (const { triangle, point, normal } of state.touches) {
          sums[5] += triangle + point[0] + point[1] + point[2] + normal[0] + normal[1] + normal[2];
        }
      }
    }
    found.push(sums.map((sum) => Math.round(1e4 * sum) / 1e4));
    service.dispose();
  }
  expect(found).toEqual(expected);
});
