// Exact results of meshes: what is built, baked, moved and derived is byte-identical to before. See README.md.
import { Matrix4, Vector3 } from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import type { MeshData } from '../../../src/shared/types.js';
import type { Core } from '../../../src/worker/binding/core.js';
import { bake, indicesOf, startCore } from '../../fixtures/core.js';
import { Answers, block, ExactRandom, onClock, surface, World } from '../../fixtures/exact-answers.js';
import { meshKinds, scaled } from '../../fixtures/exact-meshes.js';
import { icosphere, merged, soup, type Triangles } from '../../oracle/meshes.js';

let core: Core;
beforeAll(async () => {
  core = await startCore();
});

const KINDS = meshKinds(new ExactRandom(1));

function built(mesh: MeshData, weld = 0, isFast = false, deform = {}): ArrayBuffer {
  const build = core.beginBuild(mesh.positions, mesh.indices, weld, mesh.topology, deform, isFast);
  while (build.step(Number.POSITIVE_INFINITY) < 1);
  return build.finish();
}

function spread({ positions, indices }: Triangles): MeshData {
  return { positions: Float32Array.from([...indices].flatMap((i) => [...positions.subarray(3 * i, 3 * i + 3)])) };
}

test('built well, fast, welded and of vertices that follow one another', () => {
  const answers = new Answers();
  for (const [name, mesh] of KINDS) {
    answers.try(`${name}: baked`, () => built(mesh));
    answers.try(`${name}: fast`, () => built(mesh, 0, true));
    for (const weld of [1e-6, 0.05, 0.4]) answers.try(`${name}: welded`, () => built(spread(mesh), weld));
    answers.try(`${name}: Uint16`, () => built({ ...mesh, indices: Uint16Array.from(mesh.indices) }));
    const address = core.loadMesh(built(spread(mesh)));
    answers.add(`${name}: info`, [core.meshInfo(address), indicesOf(core, address)]);
    core.freeMesh(address);
  }
  answers.check();
  expect(core.check()).toBeNull();
});

test('built of two parts', async () => {
  const answers = new Answers();
  const other = await startCore();
  const random = new ExactRandom(2);
  const meshes = [
    soup(random, 900, 0.1, 1),
    icosphere(1, 8),
    merged([scaled(soup(random, 700, 0.1, 1), 1e-3), soup(random, 60, 1, 9)]),
    merged(Array(12).fill(soup(random, 40, 0.2, 1))),
  ];
  for (const mesh of meshes) {
    for (const isFast of [false, true]) {
      const second = other.beginSecond({ ...mesh, weld: 0, isFast });
      const finish = () => {
        while (second.step(Number.POSITIVE_INFINITY) < 1);
        return second.finish();
      };
      const part = finish();
      const parts = part.byteLength === 0 ? [] : [part, finish()];
      // Not their bytes: an unused word holds whatever was in memory there.
      answers.add(
        'the second part',
        parts.map(({ byteLength }) => byteLength),
      );
      const build = core.beginBuild(mesh.positions, mesh.indices, 0, 'triangles', {}, isFast, () => parts.shift());
      while (build.step(Number.POSITIVE_INFINITY) < 1);
      answers.add('the whole', build.finish());
    }
  }
  answers.check();
});

test('built, loaded and baked in slices', () => {
  const answers = new Answers();
  onClock('late', () => {
    for (const [name, mesh] of KINDS.slice(3)) {
      const build = core.beginBuild(mesh.positions, mesh.indices, 0, 'triangles', {});
      const told: number[] = [];
      do told.push(build.step(0));
      while (told.at(-1)! < 1);
      const load = core.beginLoad(build.finish());
      let slices = 1;
      while (!load.step(0)) slices++;
      const address = load.finish();
      const baking = core.beginBake(address);
      while (baking.step(0) < 1) slices++;
      answers.add(name, [told, slices, baking.finish()]);
      core.freeMesh(address);
    }
  });
  answers.check();
});

/** Functions that move the vertices. */
const MOVES: [string, (v: Vector3, i: number) => Vector3][] = [
  ['stretched', (v) => v.set(3 * v.x, 0.5 * v.y, v.z)],
  ['in disorder', (v, i) => v.set(v.x + ((i * 7) % 5) / 10, v.y - ((i * 3) % 7) / 10, v.z + (i % 2))],
  ['flat', (v) => v.setZ(0.25)],
  ['in one point', (v) => v.set(1, 2, 3)],
  ['far away', (v) => v.addScalar(1e7)],
  ['tiny', (v) => v.multiplyScalar(1e-20)],
  ['not finite', (v, i) => (i === 2 ? v.setX(Number.NaN) : v)],
];

test('moved, with what is derived of them', () => {
  const answers = new Answers();
  for (const [name, mesh] of KINDS) {
    for (const [move, change] of MOVES) {
      const address = core.loadMesh(bake(core, mesh));
      const positions = mesh.positions.slice();
      const vertex = new Vector3();
      for (let i = 0; i < positions.length; i += 3) {
        change(vertex.fromArray(positions, i), i / 3).toArray(positions, i);
      }
      answers.try(`${name}: moved`, () => [core.refitMesh(address, positions), core.bakeMesh(address)]);
      answers.try(`${name}: moved copies`, () => {
        const refit = core.beginRefit(address, mesh.positions, true);
        let isMoved: boolean | undefined;
        while (isMoved === undefined) isMoved = refit.step(Number.POSITIVE_INFINITY);
        if (!isMoved) {
          refit.abort();
          return false;
        }
        const copy = refit.finish();
        const baked = core.bakeMesh(copy);
        core.freeMesh(copy);
        return [baked, move];
      });
      core.freeMesh(address);
    }
  }
  answers.check();
  expect(core.check()).toBeNull();
});

test('derived when a contact asks for it', () => {
  const answers = new Answers();
  for (const [name, mesh] of KINDS.slice(2, -3)) {
    const world = new World(core);
    const address = core.loadMesh(bake(core, mesh));
    core.refitMesh(
      address,
      mesh.positions.map((x, i) => x * (1 + 0.2 * (i % 3))),
    );
    const things = [
      world.add(surface(address)),
      world.add(block([0.6, 0.7, 0.8]), new Matrix4().setPosition(0.7, 0, 0)),
    ];
    const contact = () => core.pairs.contact(things[0]!, things[1]!, layout.CONTACTS_MANIFOLD);
    answers.add(`${name}: before`, contact());
    answers.add(
      `${name}: slices`,
      onClock('late', () => [1, 2, 3, 4, 5, 6, 7, 8].map(() => core.derive(0))),
    );
    while (core.derive(Number.POSITIVE_INFINITY));
    answers.add(`${name}: derived`, [core.isFresh(address), core.bakeMesh(address), contact()]);
    for (const id of things) core.removeObject(id);
    core.freeMesh(address);
  }
  answers.check();
});

describe('that cannot be', () => {
  const bad: [string, () => MeshData][] = [
    ['without triangles', () => ({ positions: Float32Array.of(1, 2, 3), indices: new Uint32Array() })],
    ['an index beyond the vertices', () => ({ positions: new Float32Array(9), indices: Uint32Array.of(0, 1, 3) })],
    ['of one point', () => ({ positions: new Float32Array(9), indices: Uint32Array.of(0, 1, 2) })],
    ['without a finite triangle', () => ({ positions: new Float32Array(9).fill(Number.NaN) })],
    ['points that are not finite', () => ({ positions: new Float32Array(9).fill(Infinity), topology: 'points' })],
    [
      'lines with an index beyond the vertices',
      () => ({ positions: new Float32Array(9), indices: Uint32Array.of(0, 7), topology: 'lines' }),
    ],
  ];
  test.each(bad)('%s', (_, make) => {
    let told = 'nothing';
    try {
      built(make());
    } catch (error) {
      told = `${error}`;
    }
    expect(told).toMatchSnapshot();
  });
});

test('of points and lines', () => {
  const answers = new Answers();
  const random = new ExactRandom(3);
  const clouds = [1, 3, 30, 700].map((count) => soup(random, count, 0.3, 1).positions);
  clouds.push(
    new Float32Array(90).fill(0.5),
    clouds[2]!.map((x) => 1e6 + x),
    clouds[2]!.map((x) => 1e-20 * x),
  );
  clouds.push(
    clouds[2]!.map((x, i) => (i % 3 === 0 ? x : 0)),
    clouds[2]!.map((x, i) => (i % 7 === 0 ? Number.NaN : x)),
  );
  for (const topology of ['points', 'lines'] as const) {
    for (const cloud of clouds) {
      const positions = topology === 'lines' ? cloud.subarray(0, 6 * Math.floor(cloud.length / 6)) : cloud;
      if (positions.length === 0) continue;
      answers.try(`${topology}: baked`, () => built({ positions, topology }));
      const indices = Uint32Array.from({ length: 20 }, () => random.integer(positions.length / 3));
      answers.try(`${topology}: with indices`, () => built({ positions, indices, topology }));
      answers.try(`${topology}: moved`, () => {
        const address = core.loadMesh(built({ positions, indices, topology }));
        const moved = positions.map((x, i) => x * (1 + (i % 3)) + 0.1 * (i % 5));
        const answer = [core.refitMesh(address, moved), core.bakeMesh(address), core.meshInfo(address)];
        core.freeMesh(address);
        return answer;
      });
    }
  }
  answers.check();
  expect(core.check()).toBeNull();
});
