// Mesh against mesh in the core: every pair of triangles that meet, against exact arithmetic over all of them.
import { Matrix4, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Core, MeshAddress } from '../../src/worker/core.js';
import { bake, startCore } from '../core.js';
import { type Corners, trianglesMeet } from '../oracle/exact.js';
import { boxMesh, icosphere, merged, rods, soup, type Triangles, transformed } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

const POSES = 20;

let core: Core;
beforeEach(async () => {
  core = await startCore();
});

/** Coordinates that stay exact under the poses that they are given, where these are on a grid. */
const MESHES: [name: string, make: (random: Random) => [Triangles, Triangles], pose: (random: Random) => Matrix4][] = [
  ['soups', (random) => [soup(random, 200, 0.2, 1), soup(random, 150, 0.3, 1)], anyPose],
  ['soups of needles', (random) => [needles(random), needles(random)], anyPose],
  ['icospheres', () => [icosphere(1, 4), icosphere(0.5, 3)], anyPose],
  ['rods', (random) => [rods(random, 25, 1), rods(random, 20, 1)], anyPose],
  ['walls of blocks that touch', () => [wall(), wall()], gridPose],
  ['one triangle and a wall', () => [corner(), wall()], gridPose],
  ['meshes of very different sizes', (random) => [sheets(random), icosphere(1, 2)], anyPose],
];

describe(`the pairs of triangles that meet, over ${POSES} poses, seed ${SEED}`, () => {
  test.each(MESHES)('%s', (_, make, pose) => {
    const random = new Random(SEED);
    const [a, b] = make(random);
    const [meshA, meshB] = [load(a), load(b)];
    let total = 0;
    for (let i = 0; i < POSES; i++) {
      const matrix = pose(random);
      const expected = bruteForce(a, b, matrix);
      total += expected.length;
      expect(listed(meshA, meshB, matrix)).toEqual(expected);
      expect(core.meshesIntersect(meshA, meshB, matrix.elements)).toBe(expected.length > 0);
      const turned = matrix.clone().invert();
      if (pose !== gridPose) continue; // only there is the inverse exact too
      expect(core.meshesIntersect(meshB, meshA, turned.elements)).toBe(expected.length > 0);
      expect(swapped(listed(meshB, meshA, turned))).toEqual(expected);
    }
    expect(total).toBeGreaterThan(POSES);
  });
});

function load(mesh: Triangles): MeshAddress {
  return core.loadMesh(bake(core, mesh));
}

/** Sorted, as text. */
function listed(a: MeshAddress, b: MeshAddress, matrix: Matrix4): string[] {
  const pairs = core.intersectingTriangles(a, b, matrix.elements);
  return Array.from({ length: pairs.length / 2 }, (_, i) => `${pairs[2 * i]} ${pairs[2 * i + 1]}`).sort();
}

function swapped(pairs: string[]): string[] {
  return pairs.map((pair) => pair.split(' ').reverse().join(' ')).sort();
}

function bruteForce(a: Triangles, b: Triangles, matrix: Matrix4): string[] {
  const found: string[] = [];
  const triangles = cornersOf(b, matrix);
  cornersOf(a, new Matrix4()).forEach((p, i) => {
    triangles.forEach((q, j) => {
      if (boundsMeet(p, q) && trianglesMeet(p, q)) found.push(`${i} ${j}`);
    });
  });
  return found.sort();
}

function boundsMeet(p: Corners, q: Corners): boolean {
  return (['x', 'y', 'z'] as const).every((axis) => {
    const [from, to] = [p.map((v) => v[axis]), q.map((v) => v[axis])];
    return Math.min(...from) <= Math.max(...to) && Math.min(...to) <= Math.max(...from);
  });
}

function cornersOf({ positions, indices }: Triangles, matrix: Matrix4): Corners[] {
  const corner = (i: number) => new Vector3().fromArray(positions, indices[i] * 3).applyMatrix4(matrix);
  return Array.from({ length: indices.length / 3 }, (_, t) => [corner(3 * t), corner(3 * t + 1), corner(3 * t + 2)]);
}

function anyPose(random: Random): Matrix4 {
  return random.placement(random.point(0.7), { mirrored: 0.2 });
}

/** Quarter turns and whole steps. */
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

function corner(): Triangles {
  return { positions: new Float32Array([0, 0, 1, 2, 0, 1, 0, 2, 1]), indices: Uint32Array.of(0, 1, 2) };
}

function moved(mesh: Triangles, by: Vector3): Triangles {
  return transformed(mesh, (vertex) => vertex.add(by));
}

/** Triangles a thousand times larger than what is near their middles. */
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
