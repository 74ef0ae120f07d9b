// The core does not clear what it allocates: its results must not depend on the previous contents, nor may it write
// outside its allocations.

import { Matrix4, PerspectiveCamera, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { ViewTable } from '../../src/client/frame/view-table.js';
import * as layout from '../../src/shared/layout.js';
import { bindCore, type Core } from '../../src/worker/binding/core.js';
import { instantiateCore } from '../../src/worker/binding/exports.js';
import { runToEnd } from '../../src/worker/binding/steps.js';
import { bake, startCore, wasm } from '../fixtures/core.js';
import { ALL_FILTER, ANY_TRANSFORM, type NearObject, NearScene } from '../fixtures/near-scene.js';
import { dragon } from '../oracle/dragon.js';
import { randomHull } from '../oracle/hulls.js';
import { icosphere, soup } from '../oracle/meshes.js';
import { TOPOLOGIES } from '../oracle/points-lines.js';
import { Random, SEED } from '../oracle/random.js';
import { randomSolid } from '../oracle/shapes.js';

const HULLS = 12;
const BYTES = 1 << 24;
const FILLINGS: [string, number][] = [
  ['large numbers', 3e38],
  ['large numbers below 0', -3e38],
  ['small numbers', 0.5],
  ['no numbers', Number.NaN],
];

async function startUsedCore(filling: number): Promise<Core> {
  const exports = await instantiateCore(wasm);
  const address = exports.allocate(BigInt(BYTES)) >>> 0;
  new Float32Array(exports.memory.buffer, address, BYTES / 4).fill(filling);
  exports.release(address);
  return bindCore(exports);
}

/** A core's results for meshes with various numbers of triangles. */
function answersOf(core: Core) {
  const random = new Random(SEED);
  const scene = new NearScene(core, new Vector3());
  const meshes = Array.from({ length: HULLS }, (_, i) => randomHull(random, i));
  meshes.push(icosphere(1, 3), soup(random, 61, 1, 0.4), soup(random, 7, 1, 1));
  const baked = meshes.map((mesh) => new Uint8Array(bake(core, mesh)));
  const shapes = meshes.map((mesh) => scene.mesh(mesh));
  const things: NearObject[] = [];
  for (let i = 0; i < 40; i++)
    things.push(scene.add(random.pick(shapes), random.placement(random.point(2), ANY_TRANSFORM)));
  const answers: unknown[] = [];
  for (const { id } of things) {
    const other = random.pick(things).id;
    if (other === id) continue;
    for (const detail of [layout.CONTACTS_ANY, layout.CONTACTS_MANIFOLD]) {
      answers.push(core.pairs.contact(id, other, detail));
    }
  }
  for (let i = 0; i < 100; i++) {
    const [x, y, z] = random.point(3).toArray();
    answers.push(runToEnd(core.volumes.closestPoint([x, y, z], Number.POSITIVE_INFINITY, ALL_FILTER)));
    answers.push(runToEnd(core.volumes.containing([x, y, z], ALL_FILTER)));
  }
  expect(core.check()).toBeNull();
  return { baked, answers };
}

test('what was released is found again, also where the last of it has become a part of something larger', async () => {
  const exports = await instantiateCore(wasm);
  const allocate = (bytes: number) => exports.allocate(BigInt(bytes)) >>> 0;
  const first = allocate(4096);
  allocate(64);
  const last = allocate(4096);
  for (const each of [first, last]) exports.release(each);
  expect(allocate(1 << 24)).toBe(last);
  expect(allocate(4096)).toBe(first);
});

test.each(FILLINGS)(`memory that held %s before, seed ${SEED}`, async (_, filling) => {
  const expected = answersOf(await startCore());
  const { baked, answers } = answersOf(await startUsedCore(filling));
  expect(baked).toEqual(expected.baked);
  expect(answers).toEqual(expected.answers);
});

/** A core whose free memory is in pieces of all sizes, and the guards between them. */
async function startGuardedCore(): Promise<[core: Core, guards: () => Buffer]> {
  const exports = await instantiateCore(wasm);
  const core = bindCore(exports);
  const holes: number[] = [];
  const guards: number[] = [];
  for (let bytes = 64; bytes <= 1 << 18; bytes *= 2) {
    for (let i = 0; i < 30; i++) {
      holes.push(exports.allocate(BigInt(bytes)) >>> 0);
      guards.push(exports.allocate(64n) >>> 0);
    }
  }
  for (const hole of holes) exports.release(hole);
  // Including the allocator's own header in front.
  return [core, () => Buffer.concat(guards.map((guard) => new Uint8Array(exports.memory.buffer, guard - 64, 128)))];
}

test(`queries write nothing beside what they allocated, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const [core, guards] = await startGuardedCore();
  const before = guards();
  const scene = new NearScene(core, new Vector3());
  const shape = scene.mesh(dragon(11_102));
  for (let i = 0; i < 20; i++)
    scene.add(i < 10 ? shape : { shape: randomSolid(random) }, random.placement(random.point(2), ANY_TRANSFORM));
  const view = new ViewTable().recordOf('test', 'view', {
    projection: new PerspectiveCamera(60, 1, 0.1, 100).projectionMatrix.elements,
    view: new Matrix4().makeTranslation(0, 0, -6).elements,
    viewport: { width: 100, height: 100 },
  });
  for (let i = 0; i < 300; i++) {
    const point = random.point(2).toArray();
    runToEnd(core.volumes.closestPoint(point, Number.POSITIVE_INFINITY, ALL_FILTER));
    core.rays.raycastAll({ origin: point, direction: random.direction().toArray(), tMin: 0, tMax: 100 }, ALL_FILTER);
    const [left, bottom, right, top] = [random.next() - 1, random.next() - 1, random.next(), random.next()];
    const region = {
      bounds: [left, bottom, right, top] as const,
      polygon: Float64Array.of(left, bottom, right, bottom, right, top, left, top),
    };
    for (const mode of [layout.REGION_TOUCH, layout.REGION_ENCLOSE] as const)
      runToEnd(core.volumes.pickRegion(view, { ...region, mode }, ALL_FILTER));
    expect(guards().equals(before), `round ${i}`).toBe(true);
  }
});

test.each(['triangles', ...TOPOLOGIES] as const)(
  'a build of %s leaves nothing behind when it ends, fails or is given up',
  async (topology) => {
    const core = await startCore();
    const { positions } = soup(new Random(SEED), 400, 1, 1);
    const indices = Uint32Array.from({ length: positions.length / 3 }, (_, i) => i);
    const builds = [
      () => bake(core, { positions, indices, topology }),
      () => bake(core, { positions, topology }),
      () => {
        const wrong = core.beginBuild(
          positions,
          indices.map((i) => (i === 600 ? 1e6 : i)),
          0,
          topology,
        );
        expect(() => {
          while (wrong.step(0) < 1);
        }).toThrow(/indices\[600\] is 1000000/);
        wrong.abort();
      },
      ...[0, 1, 2, 5].map((steps) => () => {
        const build = core.beginBuild(positions, indices, 0, topology);
        for (let i = 0; i < steps; i++) build.step(0);
        build.abort();
        build.abort();
      }),
    ];
    // At first the core allocates what it keeps.
    for (const build of builds) build();
    const { usedBytes } = core;
    for (const [i, build] of builds.entries()) {
      build();
      expect(core.usedBytes, `build ${i}`).toBe(usedBytes);
    }
  },
);
