// Moved vertices, in the core: the tree stays valid, and is the original one when they move back.
import { beforeEach, describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import type { Core } from '../../../src/worker/binding/core.js';
import { bake, indicesOf, startCore } from '../../fixtures/core.js';
import { DEFORMATIONS } from '../../oracle/deformations.js';
import { dragon } from '../../oracle/dragon.js';
import { boxMesh, icosphere, merged, rods, soup, type Triangles, transformed } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

const NAN = Number.NaN;

let core: Core;
beforeEach(async () => {
  core = await startCore();
});

describe(`there and back again, seed ${SEED}`, () => {
  const MESHES: [string, (random: Random) => Triangles][] = [
    ['one triangle', (random) => soup(random, 1, 1, 1)],
    ['a box', () => boxMesh(2, 2, 2)],
    ['five triangles', (random) => soup(random, 5, 1, 1)],
    ['an icosphere', () => icosphere(1, 9)],
    ['rods', (random) => rods(random, 200, 1)],
    ['a soup', (random) => soup(random, 3000, 0.2, 1)],
    ['the dragon', () => dragon(11_102)],
  ];

  test.each(MESHES)('%s, moved in every way', (_, make) => {
    const random = new Random(SEED);
    const mesh = make(random);
    const baked = bake(core, mesh);
    const address = core.loadMesh(baked);
    expect(core.check()).toBeNull();
    const { usedBytes } = core;
    for (const [name, deformation] of DEFORMATIONS) {
      const moved = transformed(mesh, deformation(random));
      const degenerate = countDegenerate(moved);
      if (degenerate === moved.indices.length / 3) {
        expect(() => core.refitMesh(address, moved.positions), name).toThrow(/none of the \d+ triangles has an area/);
        continue;
      }
      expect(core.refitMesh(address, moved.positions), name).toBe(true);
      expect(core.check(), name).toBeNull();
      const info = core.meshInfo(address);
      expect(info, name).toMatchObject({ triangles: mesh.indices.length / 3, degenerate });
      expect(info.cost, name).toBeGreaterThan(0);

      const copy = core.loadMesh(core.bakeMesh(address));
      expect(core.check(), name).toBeNull();
      // Baking derives the data anew from the current vertices, and its size may differ; the mesh stays as it was.
      expect(core.meshInfo(address), name).toEqual(info);
      expect({ ...core.meshInfo(copy), bytes: info.bytes }, name).toEqual(info);
      core.freeMesh(copy);
    }
    expect(core.refitMesh(address, mesh.positions)).toBe(true);
    expect(core.bakeMesh(address)).toEqual(baked);
    expect(core.meshInfo(address).cost).toBe(1);
    expect(core.usedBytes).toBe(usedBytes);
  });

  /** Counts degenerate triangles, like a build. */
  function countDegenerate(mesh: Triangles): number {
    const { usedBytes } = core;
    try {
      const address = core.loadMesh(bake(core, mesh));
      const { degenerate } = core.meshInfo(address);
      core.freeMesh(address);
      return degenerate;
    } catch {
      return mesh.indices.length / 3;
    } finally {
      expect(core.usedBytes).toBe(usedBytes);
    }
  }

  test('without indices', () => {
    const { positions } = soup(new Random(SEED), 100, 0.3, 1);
    const baked = bake(core, { positions });
    const address = core.loadMesh(baked);
    expect(indicesOf(core, address)).toBeUndefined();
    expect(core.refitMesh(address, positions.toReversed())).toBe(true);
    expect(core.check()).toBeNull();
    core.refitMesh(address, positions);
    expect(core.bakeMesh(address)).toEqual(baked);
  });
});

test('indices come back as they were given', () => {
  const { positions, indices } = icosphere(1, 3);
  expect(indicesOf(core, core.loadMesh(bake(core, { positions, indices })))).toEqual(indices);
  const short = core.beginBuild(positions, new Uint16Array(indices));
  while (short.step(1000) < 1);
  expect(indicesOf(core, core.loadMesh(short.finish()))).toEqual(indices);
});

test('moved and scaled by powers of two, it costs the same', () => {
  const mesh = icosphere(1, 9);
  const address = core.loadMesh(bake(core, mesh));
  for (const scale of [2 ** -60, 2 ** -10, 2 ** 10, 2 ** 60]) {
    core.refitMesh(
      address,
      mesh.positions.map((x) => x * scale),
    );
    expect(core.meshInfo(address).cost).toBe(1);
    expect(core.check()).toBeNull();
  }
});

test('where a ray has visited the root alone, and visits two leaves as well, the cost is three times as much', () => {
  // Two clusters of four, each a leaf, that are too small to be hit; then triangles of both swap places. With other clusters, the
  // leaves may be oriented so that they become rods.
  const { positions, indices } = soup(new Random(1), 8, 1e-4, 1e-4);
  const heapsOf = (isFar: (triangle: number) => boolean) =>
    positions.map((x, i) => x + (isFar(Math.floor(i / 9)) ? 1 : 0));
  const address = core.loadMesh(bake(core, { positions: heapsOf((triangle) => triangle < 4), indices }));
  core.refitMesh(
    address,
    heapsOf((triangle) => triangle % 2 === 0),
  );
  expect(core.meshInfo(address).cost).toBeCloseTo(3, 2);
});

test('the more tangled, the dearer; and dearer than a tree that is built for it', () => {
  const mesh = icosphere(1, 9);
  const address = core.loadMesh(bake(core, mesh));
  let last = 1;
  for (const turns of [1, 3, 9]) {
    const twisted = transformed(mesh, (vertex) => vertex.applyAxisAngle(vertex.clone().set(0, 1, 0), turns * vertex.y));
    core.refitMesh(address, twisted.positions);
    const { cost } = core.meshInfo(address);
    expect(cost).toBeGreaterThanOrEqual(last);
    last = cost;
  }

  // Each triangle moves to the place of another one.
  const random = new Random(SEED);
  const crowd = soup(random, 1000, 0.1, 1);
  const crowdAddress = core.loadMesh(bake(core, crowd));
  const shuffled = crowd.positions.slice();
  for (let i = 0; i < 1000; i++) {
    const [a, b] = [9 * i, 9 * random.integer(1000)];
    const triangle = shuffled.slice(a, a + 9);
    shuffled.copyWithin(a, b, b + 9);
    shuffled.set(triangle, b);
  }
  expect(core.refitMesh(crowdAddress, shuffled)).toBe(true);
  const costOf = (mesh: number) => new DataView(core.bakeMesh(mesh)).getFloat64(layout.MESH_COST, true);
  const fresh = core.loadMesh(bake(core, { positions: shuffled, indices: crowd.indices }));
  expect(core.meshInfo(crowdAddress).cost).toBeGreaterThan(5);
  expect(costOf(fresh)).toBeLessThan(1.1 * costOf(core.loadMesh(bake(core, crowd))));
});

describe('what cannot be moved leaves the mesh as it was', () => {
  const BAD: [string, (positions: Float32Array) => Float32Array, RegExp][] = [
    ['a vertex too few', (p) => p.slice(3), /length of positions is 33, expected 36 for its 12 vertices/],
    ['a vertex too many', (p) => new Float32Array([...p, 0, 0, 0]), /length of positions is 39/],
    ['NaN', (p) => p.with(13, NAN), /vertex 4 of positions is \(.*, NaN, .*\), expected finite numbers/],
    ['infinity', (p) => p.with(35, -Infinity), /vertex 11 of positions is \(.*, -Infinity\)/],
    ['all in one point', (p) => p.map((_, i) => i % 3), /none of the 20 triangles has an area/],
    ['all in line', (p) => p.map((_, i) => i - (i % 3)), /none of the 20 triangles has an area/],
  ];

  test.each(BAD)('%s', (_, change, message) => {
    const mesh = icosphere(1, 0);
    const baked = bake(core, mesh);
    const address = core.loadMesh(baked);
    const { usedBytes } = core;
    const badData = expect.objectContaining({ code: 'BAD_DATA', message: expect.stringMatching(message) });
    expect(() => core.refitMesh(address, change(mesh.positions))).toThrow(badData);
    expect(core.bakeMesh(address)).toEqual(baked);
    expect(core.usedBytes).toBe(usedBytes);
  });

  test('a vertex that no triangle of the tree has may be anything', () => {
    const mesh = merged([icosphere(1, 0), { positions: new Float32Array([9, NAN, 9]), indices: new Uint32Array() }]);
    const flat = { ...mesh, indices: new Uint32Array([...mesh.indices, 0, 1, 12]) };
    for (const each of [mesh, flat]) {
      const address = core.loadMesh(bake(core, each));
      expect(core.refitMesh(address, each.positions.with(38, Infinity))).toBe(true);
      expect(core.check()).toBeNull();
    }
  });

  test('a triangle that was left out of the tree and has an area now', () => {
    const mesh = merged([icosphere(1, 2), soup(new Random(SEED), 1, 1, 1)]);
    const last = mesh.positions.length - 9;
    for (const left of [mesh.positions.slice(0, last + 6).fill(0, last), mesh.positions.slice(0, last + 3)]) {
      const positions = new Float32Array(mesh.positions.length).fill(left.length > last + 3 ? 0 : NAN);
      positions.set(left);
      const baked = bake(core, { ...mesh, positions });
      const address = core.loadMesh(baked);
      expect(core.meshInfo(address).degenerate).toBe(1);
      expect(core.refitMesh(address, mesh.positions)).toBe(false);
      expect(core.bakeMesh(address)).toEqual(baked);
      const moved = positions.map((x) => 2 * x);
      expect(core.refitMesh(address, moved)).toBe(true);
      expect(core.meshInfo(address).degenerate).toBe(1);
    }
  });
});
