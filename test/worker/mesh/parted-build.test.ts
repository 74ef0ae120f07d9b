// A tree built by two builders is that of one builder, to the byte: whichever is faster, in slices and in one piece, and if the
// second one never delivers.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Core, MeshBuild } from '../../../src/worker/binding/core.js';
import { startCore } from '../../fixtures/core.js';
import { dragon } from '../../oracle/dragon.js';
import { boxMesh, merged, rods, soup, type Triangles, transformed, waves } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

let core: Core;
let other: Core;
beforeAll(async () => {
  core = await startCore();
  other = await startCore();
});

interface Options {
  weld: number;
  isFast: boolean;
}

function whole({ positions, indices }: Partial<Triangles>, { weld, isFast }: Options): Buffer {
  return finished(core.beginBuild(positions!, indices, weld, 'triangles', {}, isFast), Infinity);
}

function finished(build: MeshBuild, budget: number): Buffer {
  let told = 0;
  for (let fraction = 0; fraction < 1; told = fraction) {
    fraction = build.step(budget);
    expect(fraction).toBeGreaterThanOrEqual(told);
  }
  return Buffer.from(build.finish());
}

/** The second part of a tree, and the data derived for it. */
function partsOf({ positions, indices }: Partial<Triangles>, options: Options, budget: number): ArrayBuffer[] {
  const build = other.beginSecond({ positions: positions!, indices, ...options });
  const finish = () => {
    while (build.step(budget) < 1);
    return build.finish();
  };
  const part = finish();
  return part.byteLength === 0 ? [] : [part, finish()];
}

/**
 * Builds with a second part that arrives after it was asked for this many times; its derived data arrives with it, or never.
 */
function parted(mesh: Partial<Triangles>, options: Options, comes: number, budget: number, isDerived = true) {
  const parts = partsOf(mesh, options, budget).slice(0, isDerived ? 2 : 1);
  let asked = 0;
  const second = () => (asked++ < comes ? undefined : parts.shift());
  const { weld, isFast } = options;
  const build = core.beginBuild(mesh.positions!, mesh.indices, weld, 'triangles', {}, isFast, second);
  return { tree: finished(build, budget), asked, left: parts.length };
}

/** Most triangles lie in one corner of the mesh. */
function lopsided(random: Random): Triangles {
  const small = transformed(soup(random, 9000, 0.1, 1), (v) => v.multiplyScalar(1e-3));
  return merged([small, soup(random, 600, 1, 9), boxMesh(20, 20, 20)]);
}

function withoutIndices({ positions, indices }: Triangles): Partial<Triangles> {
  return { positions: Float32Array.from([...indices].flatMap((i) => [...positions.subarray(3 * i, 3 * i + 3)])) };
}

describe(`seed ${SEED}`, () => {
  const MESHES: [string, (random: Random) => Partial<Triangles>, isParted?: boolean][] = [
    ['the dragon', () => dragon(11102)],
    ['a soup', (random) => soup(random, 5000, 0.1, 1)],
    ['a soup without indices', (random) => withoutIndices(soup(random, 3000, 0.1, 1))],
    ['rods', (random) => rods(random, 4000, 1)],
    ['waves', () => waves(60)],
    ['most of it in a corner', lopsided],
    ['two that lie in one place', () => merged([dragon(11102), dragon(11102)])],
    ['a hundred in each of fifty places', (random) => merged(Array(100).fill(soup(random, 50, 0.1, 1)))],
    ['three thousand times the same triangle', (random) => merged(Array(3000).fill(soup(random, 1, 1, 1))), false],
    [
      'in groups, many of them in one place',
      (random) => merged([dragon(11102), ...Array(6000).fill(soup(random, 1, 0.01, 0.1)), soup(random, 3000, 1, 9)]),
    ],
    ['no more than are cut without cells', (random) => soup(random, 256, 0.1, 1), false],
  ];
  for (const isFast of [false, true]) {
    test.each(MESHES)(`%s, ${isFast ? 'fast' : 'good'}`, (_, make, isParted = true) => {
      const mesh = make(new Random(SEED));
      for (const weld of [0, 1e-6]) {
        const options = { weld, isFast };
        const one = whole(mesh, options);
        const first = parted(mesh, options, 0, Infinity);
        expect(first.asked).toBe(isParted ? 2 : 0);
        expect(first.left).toBe(0);
        expect(first.tree.equals(one), 'in one piece').toBe(true);
        const { tree, left } = parted(mesh, options, 0, Infinity, false);
        expect(tree.equals(one), 'derived by one').toBe(true);
        expect(left).toBe(0);
        // A builder that continues alone in slices asks in each; so the part arrives at any time from then on, or never.
        const never = parted(mesh, options, Infinity, 0);
        expect(never.left).toBe(isParted ? 2 : 0);
        expect(never.tree.equals(one), 'alone').toBe(true);
        for (const share of [0, 0.3, 0.8]) {
          const { tree, left } = parted(mesh, options, Math.floor(share * never.asked), 0);
          expect(left).toBe(0);
          expect(tree.equals(one), `after ${share} of ${never.asked} slices`).toBe(true);
        }
      }
    });
  }
});

test('what the second builder has made, the first one does not make again', () => {
  for (const mesh of [dragon(11102), soup(new Random(SEED), 5000, 0.1, 1)]) {
    const options = { weld: 0, isFast: false };
    const parts = partsOf(mesh, options, Infinity);
    const slicesWith = (count: number) => {
      const left = parts.slice(0, count);
      const build = core.beginBuild(mesh.positions, mesh.indices, 0, 'triangles', {}, false, () => left.shift());
      let slices = 1;
      while (build.step(0) < 1) slices++;
      build.abort();
      return slices;
    };
    const [alone, withTree, withAll] = [0, 1, 2].map(slicesWith);
    expect(withTree).toBeLessThan(alone!);
    expect(withAll).toBeLessThan(withTree!);
  }
});

test('what breaks off leaves no memory behind', () => {
  const mesh = dragon(47794);
  const options = { weld: 0, isFast: false };
  const parts = partsOf(mesh, options, Infinity);
  const used = [core, other].map(({ usedBytes }) => usedBytes);
  for (let steps = 1, isDone = false; !isDone; steps = Math.ceil(steps * 1.3)) {
    const left = [...parts];
    const first = core.beginBuild(mesh.positions, mesh.indices, 0, 'triangles', {}, false, () => left.shift());
    const second = other.beginSecond({ ...mesh, ...options });
    let finished = 0;
    for (let i = 0; i < steps && !isDone; i++) {
      isDone = first.step(0) === 1;
      if (finished < 2 && second.step(0) === 1) {
        second.finish();
        finished++;
      }
    }
    first.abort();
    second.abort();
    expect([core, other].map(({ usedBytes }) => usedBytes)).toEqual(used);
  }
});

test('a mesh that is bad is refused as by one builder', () => {
  const positions = new Float32Array(300);
  const build = other.beginSecond({ positions, indices: new Uint32Array([0, 1, 100]), weld: 0, isFast: false });
  expect(() => build.step(Infinity)).toThrow('indices[2] is 100, expected 0 to 99');
});
