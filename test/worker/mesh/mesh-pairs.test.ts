// Mesh against mesh in the core: every pair of intersecting triangles, against exact arithmetic over all of them.
import { Matrix4, PlaneGeometry, TorusGeometry, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../src/client/frame/frame-result.js';
import { CONTACTS_ANY } from '../../../src/shared/layout.js';
import type { Core, MeshAddress } from '../../../src/worker/binding/core.js';
import { bake, intersectingTriangles, meshesIntersect, startCore } from '../../fixtures/core.js';
import { NearScene, PLACES } from '../../fixtures/near-scene.js';
import {
  boxMesh,
  icosphere,
  merged,
  rods,
  soup,
  type Triangles,
  transformed,
  trianglesOf,
  waves,
  welded,
} from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { trianglePairs } from '../../oracle/triangle-pairs.js';

const POSES = 20;
const PAIRS = 2000;

let core: Core;
beforeEach(async () => {
  core = await startCore();
});

/** Meshes whose coordinates stay exact under their poses, where these are on a grid. */
const MESHES: [name: string, make: (random: Random) => [Triangles, Triangles], pose: (random: Random) => Matrix4][] = [
  ['soups', (random) => [soup(random, 200, 0.2, 1), soup(random, 150, 0.3, 1)], anyPose],
  ['soups of needles', (random) => [needles(random), needles(random)], anyPose],
  ['icospheres', () => [icosphere(1, 4), icosphere(0.5, 3)], anyPose],
  ['rods', (random) => [rods(random, 50, 1), rods(random, 40, 1)], anyPose],
  ['walls of blocks that touch', () => [wall(), wall()], gridPose],
  ['one triangle and a wall', () => [corner(), wall()], gridPose],
  ['voxels', (random) => [voxels(random), voxels(random)], gridPose],
  ['staircases', () => [staircase(), staircase()], gridPose],
  ['a cube and a stack of the same', () => [boxMesh(2, 2, 2), stack()], gridPose],
  ['sheets of cells', () => [sheet(), sheet()], gridPose],
  ['a sheet of cells and voxels', (random) => [sheet(), voxels(random)], gridPose],
  ['meshes of very different sizes', (random) => [sheets(random), icosphere(1, 2)], anyPose],
];

describe(`the pairs of triangles that meet, over ${POSES} poses, seed ${SEED}`, () => {
  test.each(MESHES)('%s', (_, make, pose) => {
    const random = new Random(SEED);
    const [a, b] = make(random);
    const [meshA, meshB] = [load(a), load(b)];
    let [total, most] = [0, 0];
    for (let i = 0; i < POSES; i++) {
      const matrix = pose(random);
      const expected = bruteForce(a, b, matrix);
      total += expected.length;
      most = Math.max(most, expected.length);
      expect(listed(meshA, meshB, matrix)).toEqual(expected);
      expect(meshesIntersect(core, meshA, meshB, matrix.elements)).toBe(expected.length > 0);
      const turned = matrix.clone().invert();
      if (pose !== gridPose) continue; // only there is the inverse exact, too
      expect(meshesIntersect(core, meshB, meshA, turned.elements)).toBe(expected.length > 0);
      expect(swapped(listed(meshB, meshA, turned))).toEqual(expected);
    }
    console.log(`${total} pairs, ${most} in one pose`);
    expect(total).toBeGreaterThan(POSES);
  });
});

describe.each(PLACES)(`${PAIRS} pairs of meshes, in both orders, %s, seed ${SEED}`, (_, place) => {
  test('touch where exact arithmetic has a pair of triangles that meet', async () => {
    const scene = await NearScene.at(place);
    const random = new Random(SEED);
    const shapes = someMeshes(random).map((mesh) => scene.mesh(mesh));
    const expected: boolean[] = [];
    const ids: string[] = [];
    let touching = 0;
    for (let i = 0; i < PAIRS; i++) {
      const [a, b] = [random.pick(shapes), random.pick(shapes)];
      // Each pair far from the others, at a position that costs the exact poses no digit.
      const middle = new Vector3(i % 20, Math.floor(i / 20) % 20, Math.floor(i / 400)).multiplyScalar(64);
      const isExact = random.chance(0.5);
      const from = isExact ? new Matrix4() : random.placement(new Vector3(), { low: 0.5, high: 2, mirrored: 0.3 });
      const to = isExact
        ? touchingPose(random, a.triangles!, b.triangles!)
        : random.placement(random.direction().multiplyScalar(random.range(0, 2.5)), { mirrored: 0.3, sheared: 0.3 });
      const pair = trianglePairs(a.triangles!, b.triangles!, from.clone().invert().multiply(to));
      const put = (shape: typeof a, matrix: Matrix4, away: number) => {
        const there = new Vector3().setFromMatrixPosition(matrix).add(middle);
        there.x += away;
        return scene.add(shape, matrix.clone().setPosition(there), { contacts: CONTACTS_ANY }).id;
      };
      const orders = [
        [put(a, from, 0), put(b, to, 0)],
        [put(b, to, 2048), put(a, from, 2048)],
      ];
      for (const order of orders) {
        expected.push(pair.length > 0);
        ids.push(order.join(':'));
      }
      if (isExact && pair.length > 0) touching++;
    }
    const { contacts } = new FrameView(scene.core.frame(new FrameBuilder().seal(1, 1), undefined), []);
    const found = new Set(Array.from(contacts, (each) => `${each.a}:${each.b}`));
    expect(ids.filter((key, i) => found.has(key) !== expected[i])).toEqual([]);
    expect(found.size).toBe(expected.filter((isMeeting) => isMeeting).length);
    console.log(`${found.size / 2} of ${PAIRS} pairs meet, ${touching} of them in poses that are exact`);
    expect(touching).toBeGreaterThan(PAIRS / 4);
    expect(found.size).toBeLessThan(2 * 0.9 * PAIRS);
  });
});

/** Small meshes whose sums of coordinates are exact. */
function someMeshes(random: Random): Triangles[] {
  const meshes = [
    icosphere(1, 1),
    icosphere(0.5, 0),
    boxMesh(1, 2, 0.5),
    boxMesh(1, 1, 1),
    welded(new TorusGeometry(0.8, 0.3, 5, 8)),
    trianglesOf(new PlaneGeometry(2, 2, 3, 3)),
    waves(5),
    soup(random, 12, 0.5, 1),
    soup(random, 30, 0.2, 1),
  ];
  return meshes.map((mesh) =>
    transformed(mesh, (vertex) =>
      vertex
        .multiplyScalar(2 ** 16)
        .round()
        .divideScalar(2 ** 16),
    ),
  );
}

/** Brings a vertex of b, perhaps mirrored, onto one of a or onto the midpoint of an edge, or aligns two bounds. */
function touchingPose(random: Random, a: Triangles, b: Triangles): Matrix4 {
  const vertex = ({ positions, indices }: Triangles) =>
    new Vector3().fromArray(positions, 3 * random.pick([...indices]));
  const signs = new Vector3(random.pick([-1, 1]), random.pick([-1, 1]), random.pick([-1, 1]));
  const matrix = new Matrix4().makeScale(signs.x, signs.y, signs.z);
  const target = vertex(a);
  if (random.chance(0.3)) {
    const first = 3 * random.integer(a.indices.length / 3);
    const [p, q] = [a.indices[first], a.indices[first + 1]].map((i) => new Vector3().fromArray(a.positions, 3 * i));
    target.lerpVectors(p, q, 0.5);
  }
  if (random.chance(0.3)) {
    // The topmost vertex of a and the lowest of b, at random positions above each other.
    const [high, low] = [highest(a, 1), highest(b, -signs.z)];
    return matrix.setPosition(random.integer(9) / 8 - 0.5, random.integer(9) / 8 - 0.5, high - low * signs.z);
  }
  return matrix.setPosition(target.sub(vertex(b).applyMatrix4(matrix)));
}

/** The z coordinate of the highest vertex, or the lowest for a sign of -1. */
function highest({ positions }: Triangles, sign: number): number {
  let best = -Infinity;
  for (let i = 2; i < positions.length; i += 3) best = Math.max(best, sign * positions[i]);
  return sign * best;
}

function load(mesh: Triangles): MeshAddress {
  return core.loadMesh(bake(core, mesh));
}

/** The pairs as text, sorted. */
function listed(a: MeshAddress, b: MeshAddress, matrix: Matrix4): string[] {
  const pairs = intersectingTriangles(core, a, b, matrix.elements);
  return Array.from({ length: pairs.length / 2 }, (_, i) => `${pairs[2 * i]} ${pairs[2 * i + 1]}`).sort();
}

function swapped(pairs: string[]): string[] {
  return pairs.map((pair) => pair.split(' ').reverse().join(' ')).sort();
}

function bruteForce(a: Triangles, b: Triangles, matrix: Matrix4): string[] {
  return trianglePairs(a, b, matrix)
    .map(([i, j]) => `${i} ${j}`)
    .sort();
}

function anyPose(random: Random): Matrix4 {
  return random.placement(random.point(0.7), { mirrored: 0.2 });
}

/** Quarter turns and integer translations. */
function gridPose(random: Random): Matrix4 {
  const turn = () => random.integer(4) * (Math.PI / 2);
  const matrix = new Matrix4()
    .makeRotationX(turn())
    .multiply(new Matrix4().makeRotationY(turn()))
    .multiply(new Matrix4().makeRotationZ(turn()));
  matrix.elements.forEach((element, i) => {
    matrix.elements[i] = Math.round(element);
  });
  return matrix.setPosition(random.integer(5) - 2, random.integer(5) - 2, random.integer(5) - 2);
}

/** 4 × 2 × 1 blocks of 2 × 2 × 2, face to face. */
function wall(): Triangles {
  const block = boxMesh(2, 2, 2);
  const blocks: Triangles[] = [];
  for (let x = 0; x < 4; x++)
    for (let y = 0; y < 2; y++) blocks.push(moved(block, new Vector3(2 * x - 3, 2 * y - 1, 0)));
  return merged(blocks);
}

/** Half of the cells of a grid are cubes, each with all of its faces. */
function voxels(random: Random): Triangles {
  const cube = boxMesh(1, 1, 1);
  const cubes: Triangles[] = [];
  for (let i = 0; i < 48; i++) {
    if (random.chance(0.5)) cubes.push(moved(cube, new Vector3(i % 4, Math.floor(i / 4) % 4, Math.floor(i / 16))));
  }
  return merged(cubes);
}

/** Six steps, each a block from the floor up. */
function staircase(): Triangles {
  const steps = [1, 2, 3, 4, 5, 6].map((i) => moved(boxMesh(1, i, 2), new Vector3(i - 3, i / 2, 0)));
  return merged(steps);
}

function stack(): Triangles {
  return merged([0, 1, 2, 3, 4, 5].map((i) => moved(boxMesh(2, 2, 2), new Vector3(0, 2 * i - 4, 0))));
}

/** 8 × 8 squares of two triangles each. */
function sheet(): Triangles {
  return trianglesOf(new PlaneGeometry(8, 8, 8, 8));
}

function corner(): Triangles {
  return { positions: new Float32Array([0, 0, 1, 2, 0, 1, 0, 2, 1]), indices: Uint32Array.of(0, 1, 2) };
}

function moved(mesh: Triangles, by: Vector3): Triangles {
  return transformed(mesh, (vertex) => vertex.add(by));
}

/** Triangles a thousand times larger than the ones near their centres. */
function sheets(random: Random): Triangles {
  const corners = Array.from({ length: 60 }, () => {
    const [a, b] = [random.point(1000), random.point(1000)];
    return [a, b, random.point(1).sub(a).sub(b)];
  }).flat();
  return {
    positions: new Float32Array(corners.flatMap((corner) => corner.toArray())),
    indices: Uint32Array.from(corners, (_, i) => i),
  };
}

function needles(random: Random): Triangles {
  return transformed(soup(random, 150, 1, 1), (vertex) => vertex.multiply(new Vector3(1, 1e-4, 1)));
}
