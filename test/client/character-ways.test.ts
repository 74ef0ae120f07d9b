// Where characters walk, in sums to a ten thousandth: the ways of when this was written. Other tests tell that they are in nothing and
// pass through nothing; these sums tell of whoever walks otherwise, which may well be better. What goes in is rounded to float32, as
// engines of JavaScript differ in the last digits of a sine.
import { type Character, type CharacterOptions, createCollisionService, type Shape, type Vec3 } from 'collision-worker';
import { Euler, Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { CAPSULE, FRAME, terrain } from '../fixtures/character-stage.js';
import { boxMesh, icosphere, merged, rods, transformed } from '../oracle/meshes.js';
import { Random } from '../oracle/random.js';

const WALKERS = 10;
const FRAMES = 150;
const HALF = 9;

/** What is in the way, over the ground. */
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
      [-75.6488, 1289.3155, -657.4739, 542, -1048.7037, 329.9652],
      [891.5957, 1134.4425, -392.2091, 454, -1031.3979, 257.6952],
    ],
  ],
  [
    'balls and capsules',
    (random) => round(random),
    60,
    [
      [7205.6395, 991.6691, -1434.1169, 622, -942.5804, 2701.3997],
      [4646.9205, -3088.1294, -4940.7072, 520, -1105.8662, -1662.9703],
    ],
  ],
  [
    'meshes of balls',
    () => 'balls',
    25,
    [
      [309.6043, 1162.8534, -2259.1572, 779, -933.1082, 38749.8329],
      [495.544, 1570.4279, -1958.2356, 1035, -1107.8389, 55363.202],
    ],
  ],
  [
    'stairs',
    () => 'stairs',
    12,
    [
      [-319.8826, 1107.4091, 1319.086, 643, -1202.9746, 4847.1083],
      [1085.8791, 416.4215, 1448.022, 603, -1259.9123, 5353.3837],
    ],
  ],
  [
    'hills',
    () => 'terrain',
    1,
    [
      [2282.7711, 1059.623, -916.5988, 634, -1079.1724, 58418.8164],
      [1986.4097, -546.3819, -1563.4751, 480, -1159.3966, 256093.2891],
    ],
  ],
  [
    'rods',
    () => 'rods',
    2,
    [
      [3735.9155, 861.4124, -467.3123, 908, -1193.5056, 23364.8195],
      [2738.8131, -1505.947, -2223.3911, 726, -1290.0683, 5509.4873],
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

/** The world is turned by this, and so are those who walk in it. */
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
        else character.advance(roundedVec(way.clone().multiplyScalar(4)), FRAME);
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
