// Meshes at the limits of float32: extents that vanish beside the mesh's size, denormal ones, and the largest possible
// coordinates. Each is built, refitted and intersected with its own copy.
import { Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Core } from '../../../src/worker/binding/core.js';
import { bake, meshesIntersect, startCore } from '../../fixtures/core.js';
import type { Triangles } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const DENORMAL = 2 ** -149;
const LARGEST = 2 ** 127;

let core: Core;
beforeEach(async () => {
  core = await startCore();
});

/** A grid of squares in x and z, with a random height for each vertex. */
function sheet(random: Random, size: number, height: number, cells = 12): Triangles {
  const positions: number[] = [];
  for (let i = 0; i <= cells; i++) {
    for (let k = 0; k <= cells; k++) {
      positions.push(size * (i / cells - 0.5), height * random.pick([-1, 1, 0.5]), size * (k / cells - 0.5));
    }
  }
  const indices: number[] = [];
  for (let i = 0; i < cells; i++) {
    for (let k = 0; k < cells; k++) {
      const at = i * (cells + 1) + k;
      indices.push(at, at + 1, at + cells + 1, at + 1, at + cells + 2, at + cells + 1);
    }
  }
  return { positions: new Float32Array(positions), indices: Uint32Array.from(indices) };
}

/** Squares above each other that differ in y alone. */
function stack(random: Random, size: number, height: number, layers: number): Triangles {
  const squares = Array.from({ length: layers }, () => sheet(random, size, height, 1));
  return {
    positions: new Float32Array(squares.flatMap(({ positions }) => [...positions])),
    indices: Uint32Array.from(squares.flatMap(({ indices }, i) => [...indices].map((index) => index + 4 * i))),
  };
}

function turned({ positions, indices }: Triangles, axis: number): Triangles {
  const moved = positions.map((_, i) => positions[i - (i % 3) + (((i % 3) + axis) % 3)]);
  return { positions: moved, indices };
}

const HEIGHTS = [0, DENORMAL, 1e-44, 1e-41, 1e-39, 1e-38, 4.7e-38, 1e-37, 1e-36, 1e-30, 1e-20, 1e-8];

describe.each([0, 1, 2])('an extent along axis %d', (axis) => {
  test.each(HEIGHTS)(`of ± %d beside a size of 1, seed ${SEED}`, (height) => {
    const random = new Random(SEED);
    for (const cells of [1, 3, 12]) checkMesh(turned(sheet(random, 1, height, cells), axis));
    for (const layers of [2, 3, 6, 20]) checkMesh(turned(stack(random, 1, height, layers), axis));
  });

  test.each([1e-30, 1e-20, 1, 1e20, 1e38])(`of next to nothing beside a size of %d, seed ${SEED}`, (size) => {
    for (const height of [DENORMAL, size * 1e-45, size * 1e-39, size * 1e-37, size * 1e-20]) {
      checkMesh(turned(sheet(new Random(SEED), size, height), axis));
      checkMesh(turned(stack(new Random(SEED), size, height, 6), axis));
    }
  });
});

test.each([
  ['all extents denormal', 64 * DENORMAL],
  ['the smallest normal ones', 2 ** -126],
  ['the largest ones', LARGEST],
])(`%s, seed ${SEED}`, (_, size) => {
  const random = new Random(SEED);
  for (const height of [1, 0.5, 1e-3]) checkMesh(sheet(random, size, size * height));
});

test(`clusters 10³⁸ times smaller than what lies between them, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (const size of [1e-39, 1e-30, 1e-20]) {
    const positions = Array.from({ length: 60 }, (_, i) => {
      // float32 has such small numbers only about the origin.
      const at = new Vector3(i % 2, 0, 0).multiplyScalar(i % 4 === 1 ? 1 : 0);
      return [0, 1, 2].flatMap(() =>
        random
          .point(i % 4 === 1 ? 0.5 : size)
          .add(at)
          .toArray(),
      );
    });
    checkMesh({
      positions: new Float32Array(positions.flat()),
      indices: Uint32Array.from({ length: 180 }, (_, i) => i),
    });
  }
});

/** Builds the mesh among others of the same core, of which no byte may change. */
function checkMesh(mesh: Triangles): void {
  const other = core.loadMesh(bake(core, sheet(new Random(SEED), 1, 0.1)));
  const before = new Uint8Array(core.bakeMesh(other));
  const baked = bake(core, mesh);
  const address = core.loadMesh(baked);
  expect(core.check()).toBe(null);
  expect(Buffer.compare(new Uint8Array(core.bakeMesh(other)), before)).toBe(0);
  const info = core.meshInfo(address);
  expect(info.triangles).toBe(mesh.indices.length / 3);
  expect(info.degenerate).toBe(0);
  expect(Number.isFinite(info.cost)).toBe(true);
  // A refit with the same vertices gives the same bytes.
  expect(core.refitMesh(address, mesh.positions)).toBe(true);
  expect(Buffer.compare(new Uint8Array(core.bakeMesh(address)), new Uint8Array(baked))).toBe(0);
  expect(core.check()).toBe(null);
  expect(meshesIntersect(core, address, address, IDENTITY)).toBe(true);
  core.freeMesh(address);
  core.freeMesh(other);
}
