// Trees that are built well and trees that are built fast: each is valid, the
// same in slices and in one piece, and gives the same results as the other.
import { createCollisionService } from 'collision-worker';
import { beforeAll, describe, expect, test } from 'vitest';
import type { MeshData } from '../../../src/shared/types.js';
import type { Core } from '../../../src/worker/binding/core.js';
import { addMeshObject, filterOf } from '../../bench/inner.js';
import { raysAround } from '../../bench/work/rays.js';
import { startCore } from '../../fixtures/core.js';
import { BakedMesh, NODE_MAX, NODE_MIN, NODE_SCALE } from '../../oracle/baked.js';
import { dragon } from '../../oracle/dragon.js';
import { boxMesh, merged, rods, soup, type Triangles, transformed } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

let core: Core;
beforeAll(async () => {
  core = await startCore();
});

/** Bakes a mesh in slices of this many milliseconds. */
function baked({ positions, indices }: MeshData, isFast: boolean, budget: number): ArrayBuffer {
  const build = core.beginBuild(positions, indices, 0, 'triangles', {}, isFast);
  while (build.step(budget) < 1);
  return build.finish();
}

/**
 * Half the summed area of all boxes of a tree, in its own space, in which a mesh has an extent of about 1: the expected number of
 * boxes hit by random rays.
 */
function areaOf(baked: ArrayBuffer): number {
  const mesh = new BakedMesh(baked);
  let sum = 0;
  for (let node = 0; node < mesh.nodeCount; node++) {
    const at = mesh.nodeAt(node);
    const along = (axis: number, child: number) =>
      mesh.view.getFloat32(at + NODE_SCALE + 4 * axis, true) *
      (mesh.view.getUint8(at + NODE_MAX[axis] + child) - mesh.view.getUint8(at + NODE_MIN[axis] + child));
    for (let child = 0; child < mesh.links(node).count; child++) {
      const [x, y, z] = [along(0, child), along(1, child), along(2, child)];
      sum += x * y + y * z + z * x;
    }
  }
  return sum;
}

async function distances(mesh: ArrayBuffer, rays: Float32Array): Promise<Float64Array> {
  const world = await startCore();
  addMeshObject(world, world.loadMesh(mesh));
  return world.rays.raycastMany(rays, filterOf()).distances;
}

/** A thousand triangles in a place that is one cell of the whole, which is a million times as large. */
function teapotInStadium(random: Random): Triangles {
  const stadium = transformed(boxMesh(2, 2, 2), (v) => v.multiplyScalar(1e3));
  return merged([stadium, soup(random, 1000, 1e-4, 1e-3), soup(random, 600, 300, 900)]);
}

/** Six thousand triangles in one place, and some a thousand times as far away. */
function farAndMany(random: Random): Triangles {
  return merged([...Array(6000).fill(soup(random, 1, 1, 1)), soup(random, 100, 1, 1e3)]);
}

describe(`seed ${SEED}`, () => {
  const MESHES: [string, (random: Random) => Triangles][] = [
    ['the dragon', () => dragon(11102)],
    ['a soup', (random) => soup(random, 5000, 0.1, 1)],
    ['a teapot in a stadium', teapotInStadium],
    ['three thousand times the same triangle', (random) => merged(Array(3000).fill(soup(random, 1, 1, 1)))],
    ['rods, whose cells are in groups', (random) => rods(random, 1500, 1)],
    ['in groups, far apart and many in one place', (random) => merged([dragon(11102), farAndMany(random)])],
    ['no more than are cut without cells', (random) => soup(random, 256, 0.1, 1)],
    ['one more', (random) => soup(random, 257, 0.1, 1)],
    [
      'a line of triangles',
      (random) => transformed(soup(random, 3000, 1e-3, 1), (v) => v.set(v.x * 1e3, v.y * 1e-3, v.z * 1e-3)),
    ],
  ];
  test.each(MESHES)('%s', async (_, make) => {
    const random = new Random(SEED);
    const mesh = make(random);
    const rays = raysAround(random, mesh.positions, 300);
    const good = baked(mesh, false, Infinity),
      fast = baked(mesh, true, Infinity);
    for (const [whole, isFast] of [
      [good, false],
      [fast, true],
    ] as const) {
      const address = core.loadMesh(whole);
      expect(core.check()).toBeNull();
      core.freeMesh(address);
      expect(Buffer.compare(Buffer.from(baked(mesh, isFast, 0)), Buffer.from(whole)), 'in slices').toBe(0);
    }
    expect(await distances(fast, rays)).toEqual(await distances(good, rays));
  });
});

// Query results do not show how good a tree is. These areas are those of the trees when this was written; less is better.
test.each<[string, (random: Random) => Triangles, good: number, fast: number]>([
  ['the dragon', () => dragon(11102), 49.18, 54.97],
  ['a soup', (random) => soup(random, 5000, 0.1, 1), 525.2, 533.2],
  ['rods', (random) => rods(random, 1500, 1), 859.9, 900.1],
  [
    'the same triangle three thousand times',
    (random) => merged(Array(3000).fill(soup(random, 1, 1, 1))),
    1168.9,
    2083.8,
  ],
])('the boxes of %s have no larger area than they had', (_, make, good, fast) => {
  const mesh = make(new Random(1));
  expect(areaOf(baked(mesh, false, Infinity))).toBeLessThan(1.0005 * good);
  expect(areaOf(baked(mesh, true, Infinity))).toBeLessThan(1.0005 * fast);
});

describe('quality of addMesh', () => {
  test('fast is another tree with the same answers, and stays so when vertices move', async () => {
    const service = await createCollisionService();
    const mesh = dragon(47794);
    const rays = raysAround(new Random(SEED), mesh.positions, 500);
    const answers: Float64Array[] = [],
      trees: Buffer[] = [];
    for (const quality of ['good', 'fast'] as const) {
      const id = await service.addMesh(mesh, { quality });
      const object = service.addObject({ shape: { type: 'mesh', mesh: id } });
      answers.push((await service.raycastMany(rays)).distances);
      trees.push(Buffer.from(await service.bakeMesh(id)));
      service.removeObject(object);
      service.removeMesh(id);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(trees[1].equals(trees[0])).toBe(false);
    expect(trees[1].equals(Buffer.from(baked(mesh, true, Infinity)))).toBe(true);
    expect(trees[0].equals(Buffer.from(baked(mesh, false, Infinity)))).toBe(true);
    service.dispose();
  });

  test('is refused where it means nothing', async () => {
    const service = await createCollisionService();
    const { positions, indices } = boxMesh(1, 1, 1);
    const tree = await service.bakeMesh(await service.addMesh({ positions, indices }));
    const add = (data: MeshData | ArrayBuffer, quality: unknown) =>
      service.addMesh(data as MeshData, { quality: quality as 'fast' });
    await expect(add({ positions, indices }, 'best')).rejects.toThrow('one of "good", "fast"');
    await expect(add(tree, 'fast')).rejects.toThrow('none for a baked mesh');
    await expect(add({ positions, topology: 'points' }, 'fast')).rejects.toThrow("'good' for points");
    await expect(add({ positions, topology: 'points' }, 'good')).resolves.toBeDefined();
    service.dispose();
  });
});
