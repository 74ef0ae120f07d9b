// Baked meshes that were damaged, which the checksum detects, or refitted.
import { createCollisionService } from 'collision-worker';
import { Matrix4 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import type { MeshData } from '../../../src/shared/types.js';
import type { Core, MeshAddress } from '../../../src/worker/binding/core.js';
import {
  badDataError,
  GOOD,
  MESH_OBJECT,
  probe,
  probeDerived,
  raysAt,
  SUSPECT,
  unindexed,
} from '../../fixtures/baked-probes.js';
import { bake, startCore } from '../../fixtures/core.js';
import { ALL_FILTER } from '../../fixtures/near-scene.js';
import { BakedMesh, checksumOf, FLAT } from '../../oracle/baked.js';
import { CORRUPTIONS } from '../../oracle/corruptions.js';
import { icosphere, rods, soup } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { randomRig } from '../../oracle/rigs.js';

const ROUNDS = Number(process.env.ROUNDS ?? 10_000);

let core: Core;
beforeEach(async () => {
  core = await startCore();
});

/** A ball of radius 1 with three bones and two targets. */
function rigged(random: Random): MeshData {
  return randomRig(random, { bones: 3, targets: 2, triangles: icosphere(1, 3) }).data;
}

describe(`the checksum, seed ${SEED}`, () => {
  test.each([1, 2, 3, 4, 5, 9, 17, 33, 100])('of %i triangles is what its description says', (count) => {
    const mesh = soup(new Random(SEED), count, 0.5, 1);
    for (const baked of [bake(core, mesh), bake(core, unindexed(mesh))]) {
      expect(checksumOf(baked)).toBe(new BakedMesh(baked).word(layout.MESH_CHECKSUM));
    }
  });

  test('tells every single flipped bit', () => {
    const bytes = new Uint8Array(bake(core, soup(new Random(SEED), 9, 0.5, 1)));
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      bytes[bit >> 3] ^= 1 << (bit & 7);
      expect(() => core.loadMesh(bytes.buffer), `bit ${bit}`).toThrow(badDataError());
      bytes[bit >> 3] ^= 1 << (bit & 7);
    }
    expect(core.loadMesh(bytes.buffer)).toBeGreaterThan(0);
  });

  test('tells any two words that were swapped', () => {
    const mesh = new BakedMesh(bake(core, soup(new Random(SEED), 9, 0.5, 1)));
    const sum = checksumOf(mesh.buffer);
    for (let i = layout.MESH_CHECKED; i < mesh.buffer.byteLength; i += 4) {
      for (let k = layout.MESH_CHECKED; k < i; k += 4) {
        const [a, b] = [mesh.word(i), mesh.word(k)];
        if (a === b) continue;
        mesh.setWord(i, b).setWord(k, a);
        expect(checksumOf(mesh.buffer), `${i} and ${k}`).not.toBe(sum);
        mesh.setWord(i, a).setWord(k, b);
      }
    }
  });
});

test('a mesh of another version is told from one with other faults', () => {
  for (const other of [-1, 1]) {
    const bytes = bake(core, icosphere(1, 1));
    new Uint32Array(bytes)[layout.MESH_VERSION / 4] += other;
    expect(() => core.loadMesh(bytes)).toThrow(badDataError(/another version/));
  }
});

describe(`${ROUNDS} corruptions, seed ${SEED}`, () => {
  const MESHES: [string, () => ArrayBuffer][] = [
    ['icosphere', () => bake(core, icosphere(1, 4))],
    ['a ball that bones and targets move', () => bake(core, rigged(new Random(SEED)))],
    ['rods, without indices', () => bake(core, unindexed(rods(new Random(SEED), 30, 1)))],
  ];

  /** Fills memory with a word, where the next mesh will be and around it, and frees it. */
  function poison(in_: Core, word: number) {
    const bytes = new Uint32Array(2 ** 14).fill(word).buffer;
    expect(() => in_.loadMesh(bytes)).toThrow(badDataError(/not a baked mesh/));
  }

  test.each(MESHES)('%s: refused, or forged so well that all answers come from the mesh alone', async (_, make) => {
    const random = new Random(SEED);
    const original = new Uint8Array(make());
    // The same forged mesh in two cores, in different surroundings: reading beyond it gives different results.
    const twin = await startCore();
    const contactCores = [await startCore(), await startCore()];
    for (const each of [core, twin, ...contactCores]) {
      each.addObjects(Uint32Array.of(GOOD), { ...MESH_OBJECT, mesh: each.loadMesh(original.buffer) });
    }
    let rays: Float32Array;
    do rays = raysAt(random, 8);
    while (!core.rays.raycastMany(rays, ALL_FILTER).objects.includes(GOOD));
    const good = core.rays.raycastMany(rays, ALL_FILTER);
    probe(core, core.loadMesh(original.buffer), rays); // leaves the scene's tables at their maximum size
    let { usedBytes } = core;
    let growths = 0;

    const kinds = Object.entries(CORRUPTIONS);
    const counts = { refused: 0, forgeryRefused: 0, forgeryLoaded: 0, forgeryRefitted: 0 };
    const vertexCount = new BakedMesh(original.buffer).word(layout.MESH_VERTEX_COUNT);
    for (let round = 0; round < ROUNDS / MESHES.length; round++) {
      const [kind, corrupt] = random.pick(kinds);
      const bad = corrupt(random, original);
      if (bad.length === original.length && bad.every((byte, i) => byte === original[i])) continue;
      expect(() => core.loadMesh(bad.buffer), `${kind}, round ${round}`).toThrow(badDataError());
      counts.refused++;

      if (bad.length < layout.MESH_HEADER_BYTES) continue;
      const forged = new BakedMesh(bad.buffer).seal().buffer;
      poison(core, 0);
      poison(twin, 0x3f8ccccd); // 1.1 as a coordinate, out of range as an integer
      let mesh: MeshAddress;
      try {
        mesh = core.loadMesh(forged);
      } catch (error) {
        expect(error, `${kind}, forged, round ${round}`).toEqual(badDataError());
        expect(() => twin.loadMesh(forged)).toThrow(badDataError());
        counts.forgeryRefused++;
        continue;
      }
      counts.forgeryLoaded++;
      const other = twin.loadMesh(forged);
      expect(probe(twin, other, rays), `${kind}, forged, round ${round}`).toEqual(probe(core, mesh, rays));
      // In cores of their own, since contacts leave scratch memory behind; and not all, since they take long.
      if (counts.forgeryLoaded % 5 === 0) {
        const [derived, derivedToo] = contactCores.map((each, i) => {
          poison(each, i === 0 ? 0 : 0x3f8ccccd);
          const address = each.loadMesh(forged);
          const answer = probeDerived(each, address, rays);
          each.freeMesh(address);
          return answer;
        });
        expect(derivedToo, `${kind}, forged, round ${round}`).toEqual(derived);
      }
      // A refit does not read beyond it either, and its result
      // is a mesh, or is refused where forged numbers were huge.
      const positions = Float32Array.from({ length: 3 * vertexCount }, () => random.range(-2, 2));
      if (core.meshInfo(mesh).vertices === vertexCount && isRefitted(core, mesh, positions)) {
        expect(isRefitted(twin, other, positions)).toBe(true);
        const refitted = core.bakeMesh(mesh);
        expect(twin.bakeMesh(other), `${kind}, forged, refitted, round ${round}`).toEqual(refitted);
        const again = loadedOrRefused(core, refitted);
        expect(loadedOrRefused(twin, refitted) === null).toBe(again === null);
        if (again !== null) counts.forgeryRefitted++;
      }
      core.freeMesh(mesh);
      twin.freeMesh(other);
      if (core.usedBytes > usedBytes) growths++;
      usedBytes = Math.max(usedBytes, core.usedBytes);
      if (round % 100 === 0) expect(core.rays.raycastMany(rays, ALL_FILTER)).toEqual(good);
    }
    console.log(counts);
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(ROUNDS / 50);
    expect(core.rays.raycastMany(rays, ALL_FILTER)).toEqual(good);
    expect(core.check()).toBeNull();
    // Stacks grow now and then, and stay so. A leak would occur in most rounds.
    expect(growths).toBeLessThan(10);
  });
});

/** Loads a mesh and frees it. Returns null if it is refused. */
function loadedOrRefused(core: Core, baked: ArrayBuffer): true | null {
  let mesh: MeshAddress;
  try {
    mesh = core.loadMesh(baked);
  } catch (error) {
    expect(error).toEqual(badDataError());
    return null;
  }
  core.freeMesh(mesh);
  return true;
}

/** Also returns false if the indices are forged so that no triangle has an area. */
function isRefitted(core: Core, mesh: MeshAddress, positions: Float32Array): boolean {
  try {
    return core.refitMesh(mesh, positions);
  } catch (error) {
    expect(error).toMatchObject({ code: 'BAD_DATA', message: expect.stringMatching(/none of the .* has an area/) });
    return false;
  }
}

describe(`a mesh that was refitted, some triangles to nothing, seed ${SEED}`, () => {
  const MESHES: [string, () => { positions: Float32Array; indices?: Uint32Array }][] = [
    ['with indices', () => soup(new Random(SEED), 500, 0.3, 1)],
    ['without indices', () => unindexed(soup(new Random(SEED), 500, 0.3, 1))],
  ];

  test.each(MESHES)('%s, is baked and loaded, answers, and goes back', (_, make) => {
    const random = new Random(SEED);
    const mesh = make();
    const original = bake(core, mesh);
    const positions = mesh.positions.map((x) => 0.7 * x + 0.1);
    const corners = mesh.indices ?? Uint32Array.from({ length: 1500 }, (_, i) => i);
    let flat = 0;
    for (let i = 0; i < corners.length; i += 3) {
      if (!random.chance(0.3)) continue;
      flat++;
      const at = 3 * corners[i];
      for (const to of [corners[i + 1], corners[i + 2]]) positions.copyWithin(3 * to, at, at + 3);
    }
    const address = core.loadMesh(original);
    expect(core.refitMesh(address, positions)).toBe(true);
    expect(core.meshInfo(address).degenerate).toBe(flat);
    const refitted = core.bakeMesh(address);
    const words = new BakedMesh(refitted);
    const marked = Array.from({ length: 4 * words.blockCount }, (_, i) => words.word(words.triangleAt(i >> 2, i & 3)));
    expect(marked.filter((triangle) => triangle >= FLAT && triangle !== 0xffffffff)).toHaveLength(flat);

    const copy = core.loadMesh(refitted);
    expect(core.check()).toBeNull();
    // Data that had to be derived anew is only in the baked mesh.
    expect(core.meshInfo(copy)).toEqual({ ...core.meshInfo(address), bytes: refitted.byteLength });
    const rays = raysAt(random, 500);
    core.addObjects(Uint32Array.of(GOOD), { ...MESH_OBJECT, mesh: core.loadMesh(bake(core, icosphere(1, 4))) });
    const answers = probe(core, address, rays);
    expect(answers.first.objects).toContain(SUSPECT);
    expect(answers.a.length).toBeGreaterThan(0);
    expect(probe(core, copy, rays)).toEqual(answers);
    // Like a tree built for these positions, which leaves out the flat triangles.
    expect(probe(core, core.loadMesh(bake(core, { ...mesh, positions })), rays)).toEqual(answers);

    expect(core.refitMesh(copy, mesh.positions)).toBe(true);
    expect(core.bakeMesh(copy)).toEqual(original);
  });
});

test(`a service refuses what was damaged or forged and goes on, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const service = await createCollisionService();
  const mesh = await service.addMesh(icosphere(1, 4));
  const object = service.addObject({ shape: { type: 'mesh', mesh } });
  const baked = await service.bakeMesh(mesh);
  const ray = { origin: [0.1, 0.2, 5], direction: [0, 0, -1] } as const;
  await service.update();
  const hit = await service.raycast(ray);
  expect(hit?.object).toBe(object);
  const { usedBytes } = service.stats;
  for (const [kind, corrupt] of Object.entries(CORRUPTIONS)) {
    const original = new Uint8Array(baked);
    let bad = corrupt(random, original);
    while (Buffer.from(bad).equals(original)) bad = corrupt(random, original);
    await expect(service.addMesh(bad.buffer), kind).rejects.toEqual(badDataError(/^addMesh: /));
  }
  const forged = new BakedMesh(baked);
  forged.setLinks(0, { firstNode: 0 }).seal();
  await expect(service.addMesh(forged.buffer)).rejects.toEqual(badDataError(/^addMesh: .*link/));
  expect(await service.raycast(ray)).toEqual(hit);
  await service.update(); // brings new statistics
  expect(service.stats).toMatchObject({ meshes: 1, pending: 0 });
  expect(service.stats.usedBytes).toBeLessThanOrEqual(usedBytes + 4096);
  service.addObject({
    shape: { type: 'mesh', mesh: await service.addMesh(baked) },
    matrix: new Matrix4().makeTranslation(0, 0, 2).elements,
  });
  const nearer = await service.raycast(ray);
  expect(nearer?.triangle).toBe(hit!.triangle);
  expect(nearer?.distance).toBeCloseTo(hit!.distance - 2, 12);
  service.dispose();
});
