// Baked meshes that were damaged, which the checksum tells, or forged, which it does not.
import { readFileSync } from 'node:fs';
import { createCollisionService } from 'collision-worker';
import { Matrix4 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { Staging } from '../../src/client/staging.js';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import { type Core, createCore, type MeshAddress, type PlacedDescription } from '../../src/worker/core.js';
import { BakedMesh, checksumOf, LEAF } from '../oracle/baked.js';
import { CORRUPTIONS } from '../oracle/corruptions.js';
import { icosphere, rods, soup, type Triangles } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

const ROUNDS = 10_000;
const FILTER = { layers: 0xffffffff, side: layout.SIDE_DOUBLE, ignore: new Uint32Array() };
const PLACED: PlacedDescription = {
  ...{ shape: layout.SHAPE_MESH, mesh: 0, flags: layout.FLAG_PICKABLE | layout.FLAG_CULLABLE, layers: 1 },
  ...{ collidesWith: 1, group: 0, contacts: layout.CONTACTS_ANY, center: [0, 0, 0], extent: [1, 1, 1] },
  ...{ rotation: [0, 0, 0, 1], radius: 0 },
};
const [GOOD, SUSPECT, BOX] = [makeId(0, 1), makeId(1, 1), makeId(2, 1)];

const wasm = readFileSync(new URL('../../build/core.wasm', import.meta.url));
let core: Core;
beforeEach(async () => {
  core = await createCore(wasm);
});

function bake({ positions, indices }: { positions: Float32Array; indices?: Uint32Array }): ArrayBuffer {
  const build = core.beginBuild(positions, indices);
  while (build.step(1000) < 1);
  return build.finish();
}

/** The same triangles without indices. */
function spread({ positions, indices }: Triangles): { positions: Float32Array } {
  return {
    positions: Float32Array.from(
      { length: indices.length * 3 },
      (_, i) => positions[3 * indices[Math.floor(i / 3)] + (i % 3)],
    ),
  };
}

const refusal = (message = /./) =>
  expect.objectContaining({ name: 'CollisionError', code: 'BAD_DATA', message: expect.stringMatching(message) });

/** Rays towards a ball of radius 1: eight numbers each. */
function raysAt(random: Random, count: number): Float32Array {
  const rays = new Float32Array(count * 8);
  for (let i = 0; i < rays.length; i += 8) {
    const origin = random.direction().multiplyScalar(3);
    const direction = random.point(0.8).sub(origin);
    rays.set([...origin.toArray(), 0, ...direction.toArray(), Number.POSITIVE_INFINITY], i);
  }
  return rays;
}

/** Everything that traverses a mesh: rays, first and any hit, and pairs with a mesh and with a box. */
function probe(in_: Core, mesh: MeshAddress, rays: Float32Array) {
  const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
  const place = () => {
    in_.addObjects(Uint32Array.of(SUSPECT), { ...PLACED, mesh, matrix: at(0.3) });
    in_.addObjects(Uint32Array.of(BOX), { ...PLACED, shape: layout.SHAPE_BOX, matrix: at(1) });
  };
  place();
  const ignore = Uint32Array.of(GOOD, BOX);
  const first = in_.raycastMany(rays, { ...FILTER, ignore });
  const any: boolean[] = [];
  for (let i = 0; i < rays.length; i += 8) {
    const ray = { origin: triple(rays, i), direction: triple(rays, i + 4) };
    any.push(in_.anyHit(ray, { ...FILTER, ignore }));
  }
  const out = in_.frame(new Staging().seal(1, 1), undefined);
  const words = new Uint32Array(out);
  const listed = (offset: number) => {
    const start = words[offset / 4] / 4;
    return Array.from(words.subarray(start, start + words[layout.OUT_PAIR_COUNT / 4]));
  };
  in_.removeObject(SUSPECT);
  in_.removeObject(BOX);
  in_.frame(new Staging().seal(2, 1), undefined);
  return { first, any, a: listed(layout.OUT_PAIR_A), b: listed(layout.OUT_PAIR_B) };
}

const triple = (from: Float32Array, at: number) => [from[at], from[at + 1], from[at + 2]] as const;

describe(`the checksum, seed ${SEED}`, () => {
  test.each([1, 2, 3, 4, 5, 9, 17, 33, 100])('of %i triangles is what its description says', (count) => {
    const mesh = soup(new Random(SEED), count, 0.5, 1);
    for (const baked of [bake(mesh), bake(spread(mesh))]) {
      expect(checksumOf(baked)).toBe(new BakedMesh(baked).word(layout.MESH_CHECKSUM));
    }
  });

  test('tells every single flipped bit', () => {
    const bytes = new Uint8Array(bake(soup(new Random(SEED), 9, 0.5, 1)));
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      bytes[bit >> 3] ^= 1 << (bit & 7);
      expect(() => core.loadMesh(bytes.buffer), `bit ${bit}`).toThrow(refusal());
      bytes[bit >> 3] ^= 1 << (bit & 7);
    }
    expect(core.loadMesh(bytes.buffer)).toBeGreaterThan(0);
  });

  test('tells any two words that were swapped', () => {
    const mesh = new BakedMesh(bake(soup(new Random(SEED), 9, 0.5, 1)));
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

describe(`${ROUNDS} corruptions, seed ${SEED}`, () => {
  const MESHES: [string, () => ArrayBuffer][] = [
    ['icosphere', () => bake(icosphere(1, 4))],
    ['rods, without indices', () => bake(spread(rods(new Random(SEED), 30, 1)))],
  ];

  /** Leaves memory behind that looks like that, where the next mesh will be and around it. */
  function poison(in_: Core, word: number) {
    const bytes = new Uint32Array(2 ** 14).fill(word).buffer;
    expect(() => in_.loadMesh(bytes)).toThrow(refusal(/not a baked mesh/));
  }

  test.each(MESHES)('%s: refused, or forged so well that all answers come from the mesh alone', async (_, make) => {
    const random = new Random(SEED);
    const original = new Uint8Array(make());
    // The same forged mesh in two cores, in different surroundings: what reads beyond it answers differently.
    const twin = await createCore(wasm);
    const rays = raysAt(random, 8);
    for (const each of [core, twin]) {
      each.addObjects(Uint32Array.of(GOOD), { ...PLACED, mesh: each.loadMesh(original.buffer) });
    }
    const good = core.raycastMany(rays, FILTER);
    expect(good.objects).toContain(GOOD);
    const { usedBytes } = core;

    const kinds = Object.entries(CORRUPTIONS);
    const counts = { refused: 0, forgeryRefused: 0, forgeryLoaded: 0 };
    for (let round = 0; round < ROUNDS / MESHES.length; round++) {
      const [kind, corrupt] = random.pick(kinds);
      const bad = corrupt(random, original);
      if (bad.length === original.length && bad.every((byte, i) => byte === original[i])) continue;
      expect(() => core.loadMesh(bad.buffer), `${kind}, round ${round}`).toThrow(refusal());
      counts.refused++;

      if (bad.length < layout.MESH_HEADER_BYTES) continue;
      const forged = new BakedMesh(bad.buffer).seal().buffer;
      poison(core, 0);
      poison(twin, 0x3f8ccccd); // 1.1 as a coordinate, beyond everything as a number
      let mesh: MeshAddress;
      try {
        mesh = core.loadMesh(forged);
      } catch (error) {
        expect(error, `${kind}, forged, round ${round}`).toEqual(refusal());
        expect(() => twin.loadMesh(forged)).toThrow(refusal());
        counts.forgeryRefused++;
        continue;
      }
      counts.forgeryLoaded++;
      const other = twin.loadMesh(forged);
      expect(probe(twin, other, rays), `${kind}, forged, round ${round}`).toEqual(probe(core, mesh, rays));
      core.freeMesh(mesh);
      twin.freeMesh(other);
      if (round % 100 === 0) expect(core.raycastMany(rays, FILTER)).toEqual(good);
    }
    console.log(counts);
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(ROUNDS / 50);
    expect(core.raycastMany(rays, FILTER)).toEqual(good);
    expect(core.check()).toBeNull();
    expect(core.usedBytes - usedBytes).toBeLessThan(4096); // tables of the scene
  });
});

describe('a forger is refused', () => {
  const inner = (mesh: BakedMesh) => [...mesh.links()].filter(({ child }) => child < LEAF);
  const outer = (mesh: BakedMesh) => [...mesh.links()].filter(({ child }) => child >= LEAF);

  const FORGERIES: [what: string, forge: (mesh: BakedMesh) => unknown, message: RegExp][] = [
    ['a link to a node behind the last', (m) => m.setWord(inner(m)[3].at, m.nodeCount), /link/],
    ['a link to a node far away', (m) => m.setWord(inner(m)[3].at, 0x7fffffff), /link/],
    ['a node linked to itself', (m) => m.setWord(inner(m)[3].at, inner(m)[3].node), /link/],
    ['a link to the root', (m) => m.setWord(inner(m)[3].at, 0), /link/],
    ['a link upwards', (m) => m.setWord(inner(m).at(-1)!.at, 1), /link/],
    ['a node linked twice', (m) => m.setWord(inner(m)[1].at, inner(m)[2].child), /link/],
    ['a link to a block behind the last', (m) => m.setWord(outer(m)[3].at, LEAF + m.blockCount), /link/],
    ['a link to a block far away', (m) => m.setWord(outer(m)[3].at, 0xffffffff), /link/],
    ['a block linked twice', (m) => m.setWord(outer(m)[3].at, outer(m)[4].child), /link/],
    ['a node where a block was', (m) => m.setWord(outer(m)[3].at, m.nodeCount - 1), /link/],
    ['a link behind the last child', (m) => m.setWord(unused(m).at, 0), /link/],
    ['a child that there is not', (m) => m.setWord(m.coveredAt(unused(m).node), 15), /link|number/],
    ['a node linked once more', (m) => linkOnceMore(m, m.nodeCount - 1), /link/],
    ['a block linked once more', (m) => linkOnceMore(m, LEAF + m.blockCount - 1), /link/],
    ['a child forgotten', (m) => m.setWord(m.coveredAt(m.nodeCount - 1), 1), /link/],
    ['a fifth child', (m) => m.setWord(m.coveredAt(0), 31), /number/],
    ['a tree that is a list', (m) => asList(m), /deeper/],
    ['a bound that is none', (m) => m.setWord(m.nodeAt(1), 0x7fc00000), /number/],
    ['a bound that is infinite', (m) => m.setWord(m.nodeAt(1), 0xff800000), /number/],
    ['bounds inside out', (m) => m.setWord(m.nodeAt(1), 0x40400000), /number/],
    ['a vertex that is none', (m) => m.setWord(m.blockAt(1) + 20, 0x7fc00000), /number/],
    ['a vertex far outside', (m) => m.setWord(m.blockAt(1) + 20, 0x7f7fffff), /number/],
    ['a triangle behind the last', (m) => m.setWord(m.triangleAt(2, 0), m.word(layout.MESH_TRIANGLE_COUNT)), /number/],
    ['a triangle before the first', (m) => m.setWord(m.triangleAt(2, 0), 0xfffffffe), /number/],
    ['a triangle less', (m) => m.setWord(m.triangleAt(2, 0), 0xffffffff), /number/],
    ['an index behind the last', (m) => m.setWord(m.buffer.byteLength - 4, m.word(layout.MESH_VERTEX_COUNT)), /number/],
    ['fewer vertices', (m) => m.setWord(layout.MESH_VERTEX_COUNT, 5), /number/],
    ['a scale out of range', (m) => m.setWord(layout.MESH_EXPONENT, 1024), /number/],
    ['a scale below range', (m) => m.setWord(layout.MESH_EXPONENT, -128), /number/],
    ['an offset that is none', (m) => m.view.setFloat64(layout.MESH_OFFSET + 8, Number.NaN, true), /number/],
    ['a low bound that is none', (m) => m.view.setFloat64(layout.MESH_LOW, Number.NaN, true), /number/],
    ['a high bound beyond float32', (m) => m.view.setFloat64(layout.MESH_HIGH + 16, 1e39, true), /number/],
    ['low above high', (m) => m.view.setFloat64(layout.MESH_LOW + 8, 2, true), /number/],
    ['no triangles', (m) => m.setWord(layout.MESH_KEPT_COUNT, 0), /header/],
    [
      'more kept than given',
      (m) => m.setWord(layout.MESH_KEPT_COUNT, 1 + m.word(layout.MESH_TRIANGLE_COUNT)),
      /header/,
    ],
    ['indices half there', (m) => m.setWord(layout.MESH_INDEXED, 2), /header/],
    ['sizes that wrap around', (m) => m.setWord(layout.MESH_NODE_COUNT, 0x02000000 + m.nodeCount), /header/],
  ];

  /** A place for a child that is not used. */
  function unused(mesh: BakedMesh): { node: number; at: number } {
    for (let node = 0; ; node++) if (mesh.word(mesh.coveredAt(node)) < 15) return { node, at: mesh.childAt(node, 3) };
  }

  /** From an unused place, with the bounds of a sister. */
  function linkOnceMore(mesh: BakedMesh, child: number) {
    const { node, at } = unused(mesh);
    expect(node).toBeLessThan(mesh.nodeCount - 1);
    for (let bound = mesh.nodeAt(node); bound < mesh.childAt(node, 0); bound += 16) {
      mesh.setWord(bound + 12, mesh.word(bound));
    }
    mesh.setWord(at, child).setWord(mesh.coveredAt(node), mesh.word(mesh.coveredAt(node)) | 8);
  }

  /** Every node has the next one as its first child, blocks in the other places. */
  function asList(mesh: BakedMesh): BakedMesh {
    let block = 0;
    let last = -1;
    for (const { node, at } of [...mesh.links()]) {
      const isFirst = node !== last;
      last = node;
      mesh.setWord(at, isFirst && node + 1 < mesh.nodeCount ? node + 1 : LEAF + block++);
    }
    expect(block).toBe(mesh.blockCount);
    return mesh;
  }

  test.each(FORGERIES)('%s', (_, forge, message) => {
    const mesh = new BakedMesh(bake(icosphere(1, 9)));
    forge(mesh);
    const { usedBytes } = core;
    expect(() => core.loadMesh(mesh.seal().buffer)).toThrow(refusal(message));
    expect(core.usedBytes).toBe(usedBytes);
  });

  test('a scale, vertices and sizes without indices', () => {
    const mesh = new BakedMesh(bake(spread(icosphere(1, 4))));
    mesh.setWord(layout.MESH_VERTEX_COUNT, mesh.word(layout.MESH_VERTEX_COUNT) + 1).seal();
    expect(() => core.loadMesh(mesh.buffer)).toThrow(refusal(/header/));
  });

  test(`a tree as deep as may be, whose boxes are everywhere, still answers rightly, seed ${SEED}`, () => {
    // So many nodes that as a list they are 64 deep.
    const random = new Random(SEED);
    const triangles = soup(random, 1000, 0.3, 1);
    const bakeSome = (count: number) => bake({ ...triangles, indices: triangles.indices.subarray(0, 3 * count) });
    let count = 300;
    while (new BakedMesh(bakeSome(count)).nodeCount !== 65) count++;
    const baked = bakeSome(count);
    const mesh = new BakedMesh(baked);
    expect(count).toBeLessThan(1000);
    asList(mesh);
    for (let node = 0; node < mesh.nodeCount; node++) {
      mesh.setWord(mesh.rotatedAt(node), 0);
      for (let word = 0; word < 24; word++) {
        mesh.view.setFloat32(mesh.nodeAt(node) + 4 * word, word < 12 ? -3 : 3, true);
      }
    }
    const rays = raysAt(random, 500);
    const answers = [baked, mesh.seal().buffer].map((data) => probe(core, core.loadMesh(data), rays));
    expect(answers[0].first.objects).toContain(SUSPECT);
    expect(answers[1]).toEqual(answers[0]);
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
    const bad = corrupt(random, new Uint8Array(baked));
    await expect(service.addMesh(bad.buffer), kind).rejects.toEqual(refusal(/^addMesh: /));
  }
  const forged = new BakedMesh(baked);
  const link = forged.links().next().value!;
  await expect(service.addMesh(forged.setWord(link.at, 0).seal().buffer)).rejects.toEqual(refusal(/^addMesh: .*link/));
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
