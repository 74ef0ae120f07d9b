// Exact answers about rare meshes: large ones, almost closed ones, invalid ones, and meshes that change while they are processed.
// See README.md.
import { Matrix4 } from 'three';
import { test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import type { MeshData } from '../../../src/shared/types.js';
import { bake, startCore } from '../../fixtures/core.js';
import { Answers, block, ExactRandom, onClock, solid, surface, World } from '../../fixtures/exact-answers.js';
import { heightField, hills, lumpyBall, ring, scaled, withoutLast } from '../../fixtures/exact-meshes.js';
import { BakedMesh } from '../../oracle/baked.js';
import { boxMesh, farPairs, icosphere, merged, soup, type Triangles } from '../../oracle/meshes.js';

test('closed, and what would close them', async () => {
  const answers = new Answers();
  const random = new ExactRandom(163);
  const core = await startCore();
  const apart = ({ positions, indices }: Triangles, gap: number): MeshData => {
    const corners = [...indices].flatMap((k) => [...positions.subarray(3 * k, 3 * k + 3)]);
    return { positions: Float32Array.from(corners, (x) => x + gap * random.range(-1, 1)) };
  };
  const bodies = [
    boxMesh(2, 2, 2),
    icosphere(1, 3),
    withoutLast(icosphere(1, 3), 1),
    merged([boxMesh(1, 1, 1), scaled(icosphere(1, 2), 1e-3)]),
  ];
  for (const body of bodies) {
    for (const gap of [0, 1e-7, 1e-4, 1e-2, 0.2]) {
      for (const weld of gap === 1e-4 ? [0, 1e-6, 2e-2] : [0]) {
        answers.try('info', () => {
          const mesh = core.loadMesh(bake(core, apart(body, gap), weld));
          const info = [core.meshInfo(mesh), core.bakeMesh(mesh)];
          core.freeMesh(mesh);
          return info;
        });
      }
    }
  }
  answers.check();
});

test('large meshes, whose triangles are far from their neighbours', async () => {
  const answers = new Answers();
  const core = await startCore();
  // Long triangles lead from both ends to one edge: the tree has one side before the other.
  const mesh = core.loadMesh(bake(core, farPairs(17_000)));
  answers.add('info', core.meshInfo(mesh));
  answers.add('baked', core.bakeMesh(mesh));
  // The tree is copied in several steps, because the data derived from it are out of date.
  const { positions } = farPairs(17_000);
  core.refitMesh(
    mesh,
    positions.map((x, i) => (i % 3 === 1 ? 2 * x : x)),
  );
  answers.add('baked', core.bakeMesh(mesh));
  answers.try('welded', () => bake(core, heightField(50, hills), 1e-3));
  answers.check();
});

test('headers that hold what belongs to a core, or anything in a place of nothing', async () => {
  const answers = new Answers();
  const core = await startCore();
  const baked = bake(core, boxMesh(1, 2, 3));
  for (let word = 0; word < layout.MESH_HEADER_BYTES; word += 4) {
    for (const value of [1, 0x3f800000, 0x80000000]) {
      const forged = new BakedMesh(baked);
      forged.setWord(word, value);
      if (word !== layout.MESH_CHECKSUM) forged.seal();
      answers.try('header', () => {
        const mesh = core.loadMesh(forged.buffer);
        const answer = [core.meshInfo(mesh), core.bakeMesh(mesh)];
        core.freeMesh(mesh);
        return answer;
      });
    }
  }
  answers.check();
});

test('skins that are none', async () => {
  const answers = new Answers();
  const core = await startCore();
  const { positions, indices } = boxMesh(1, 1, 1);
  const vertices = positions.length / 3;
  for (let i = 0; i < 12; i++) {
    const weights = new Float32Array(4 * vertices).fill(0.25);
    const bones = new Uint8Array(4 * vertices);
    if (i % 2) weights[5 * i] = [Number.NaN, Number.POSITIVE_INFINITY][(i % 4) >> 1]!;
    else bones[3 * i + 1] = 9;
    answers.try('skins', () => bake(core, { positions, indices, skin: { bones, weights, boneCount: 3 } }));
  }
  for (const bad of [Number.NaN, Number.NEGATIVE_INFINITY]) {
    const target = positions.map((x, i) => (i === 7 ? bad : x));
    answers.try('targets', () =>
      bake(core, { positions, indices, morphs: { targets: [positions, target], relative: true } }),
    );
  }
  answers.check();
});

test('meshes that are moved, baked and freed while they are derived', async () => {
  const answers = new Answers();
  const random = new ExactRandom(164);
  const world = await World.create();
  const { core } = world;
  for (let round = 0; round < 3; round++) {
    const bodies = [
      lumpyBall(random, 6, 0.3),
      icosphere(1, 8),
      ring(1, 0.3, 20, 10),
      boxMesh(2, 1, 1),
      icosphere(1, 3),
    ];
    const meshes = bodies.map((body) => world.mesh(body));
    for (const [i, mesh] of meshes.entries())
      core.refitMesh(
        mesh,
        bodies[i]!.positions.map((x, k) => x * (1 + 0.1 * (k % 3))),
      );
    const ids = meshes.map((mesh, i) => world.add(solid(mesh), new Matrix4().setPosition(0.5 * i, 0, 0)));
    for (let i = 0; i + 1 < ids.length; i++)
      answers.add('contacts', core.pairs.contact(ids[i]!, ids[i + 1]!, layout.CONTACTS_MANIFOLD));
    const told: unknown[] = [core.isDerivationPending];
    onClock('late', () => {
      const refit = core.beginRefit(meshes[0]!, bodies[0]!.positions, true);
      const baking = core.beginBake(meshes[1]!);
      let [isMoved, done, slices] = [undefined as boolean | undefined, 0, 0];
      while (isMoved === undefined || done < 1) {
        if (slices === 2) core.freeMesh(meshes[2]!);
        if (slices === 1) core.removeObject(ids[2]!);
        told.push(
          core.derive(0),
          meshes.map((mesh, i) => i === 2 || core.isFresh(mesh)),
          baking.isReading,
        );
        if (isMoved === undefined && slices > round) isMoved = refit.step(0);
        if (done < 1) done = baking.step(0);
        told.push(done, ++slices);
      }
      const copy = refit.finish();
      told.push(baking.finish(), core.bakeMesh(copy));
      if (round === 1) core.replaceMesh(meshes[0]!, copy);
      while (core.derive(0)) told.push(meshes.map((mesh, i) => i === 2 || core.isFresh(mesh)));
      for (const [i, id] of ids.entries()) if (i !== 2) core.removeObject(id);
      told.push(core.copyMesh(meshes[3]!) > 0, core.bakeMesh(meshes[0]!), core.bakeMesh(meshes[4]!));
    });
    answers.add('told', told);
  }
  answers.check();
});

test('large meshes that are moved and wait to be derived, of which some change again or go', async () => {
  const answers = new Answers();
  const world = await World.create();
  const { core } = world;
  const body = heightField(46, hills);
  const meshes = Array.from({ length: 6 }, () => world.mesh(body));
  const ids = meshes.map((mesh, i) => world.add(surface(mesh), new Matrix4().setPosition(5 * i, 0, 0)));
  const near = ids.map((_, i) => world.add(block([0.3, 0.3, 0.3]), new Matrix4().setPosition(5 * i, 0, 0)));
  const told: unknown[] = [];
  const moved = (by: number) => body.positions.map((x, k) => (k % 3 === 2 ? by * x : x));
  for (let round = 0; round < 3; round++) {
    for (const mesh of meshes) core.refitMesh(mesh, moved(1 + round));
    for (const [i, id] of ids.entries()) told.push(core.pairs.contact(id, near[i]!, layout.CONTACTS_MANIFOLD));
    told.push(core.isDerivationPending);
    // Copies the derived data before the copy of the mesh is complete.
    const refit = core.beginRefit(meshes[2]!, moved(2), true);
    onClock('late', () => {
      for (let slice = 0; slice < 3; slice++) told.push(core.derive(0));
    });
    core.refitMesh(meshes[round]!, moved(3));
    if (round === 1) {
      core.removeObject(ids[3]!);
      core.freeMesh(meshes.splice(3, 1)[0]!);
      ids.splice(3, 1);
      near.splice(3, 1);
    }
    for (let slice = 0; slice < 60; slice++) {
      if (slice % 5 === 1) told.push(refit.step(slice < 40 ? 0 : Number.POSITIVE_INFINITY));
      if (slice === 57) told.push(core.bakeMesh(refit.finish()));
      onClock('late', () => told.push(core.derive(0)));
      told.push(meshes.map((mesh) => core.isFresh(mesh)));
    }
    while (core.derive(Number.POSITIVE_INFINITY));
    told.push(
      meshes.map((mesh) => core.isFresh(mesh)),
      core.bakeMesh(meshes[1]!),
    );
  }
  answers.add('told', told);
  answers.check();
});

test('points and lines that are built, moved and checked in slices', async () => {
  const answers = new Answers();
  const random = new ExactRandom(165);
  const core = await startCore();
  onClock('late', () => {
    for (const topology of ['points', 'lines'] as const) {
      for (const count of [30, 600, 3000]) {
        const { positions } = soup(random, count, 0.3, 1);
        const build = core.beginBuild(
          positions.subarray(0, 6 * Math.floor(positions.length / 6)),
          undefined,
          0,
          topology,
          {},
        );
        const told: number[] = [];
        do told.push(build.step(0));
        while (told.at(-1)! < 1);
        const load = core.beginLoad(build.finish());
        while (!load.step(0)) told.push(-1);
        const mesh = load.finish();
        const refit = core.beginRefit(
          mesh,
          positions.map((x) => 1.5 * x),
          true,
        );
        while (refit.step(0) === undefined) told.push(-2);
        answers.add(topology, [told, core.bakeMesh(refit.finish())]);
      }
    }
  });
  answers.check();
});
