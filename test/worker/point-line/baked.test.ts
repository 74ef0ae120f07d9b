// Baked meshes of points and lines: as good as built, detected
// when damaged, harmless when forged; and vertices that move.
import { createCollisionService } from 'collision-worker';
import { Matrix4, Ray, Vector3 } from 'three';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import type { Core, MeshAddress, PlacedDescription } from '../../../src/worker/binding/core.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import { startCore } from '../../fixtures/core.js';
import { BakedMesh, checksumOf } from '../../oracle/baked.js';
import { CORRUPTIONS } from '../../oracle/corruptions.js';
import { type Elements, elementsIn, nearRay, TOPOLOGIES, verticesOf } from '../../oracle/points-lines.js';
import { Random, SEED } from '../../oracle/random.js';

const ROUNDS = Number(process.env.ROUNDS ?? 4000);
const FILTER = {
  ...{ layers: 0xffffffff, side: layout.SIDE_DOUBLE, precision: layout.PRECISION_MESH },
  ...{ ignore: new Uint32Array(), threshold: 0.2 },
};
const FLAGS = layout.FLAG_PICKABLE | layout.FLAG_CULLABLE;
const PLACED: PlacedDescription = {
  ...{ shape: layout.SHAPE_MESH, mesh: 0, flags: FLAGS, layers: 1, matrix: new Matrix4().elements },
  ...{ collidesWith: 1, group: 0, contacts: layout.CONTACTS_ANY, center: [0, 0, 0], extent: [1, 1, 1] },
  ...{ rotation: [0, 0, 0, 1], radius: 0 },
};
const SUSPECT = makeId(0, 1);

let core: Core;
beforeEach(async () => {
  core = await startCore();
});

function bakeElements(in_: Core, { positions, indices, topology }: Elements): ArrayBuffer {
  const build = in_.beginBuild(positions, indices, 0, topology);
  while (build.step(Number.POSITIVE_INFINITY) < 1);
  return build.finish();
}

const refusal = (message = /./) =>
  expect.objectContaining({ name: 'CollisionError', code: 'BAD_DATA', message: expect.stringMatching(message) });

function someRays(random: Random, count: number): Ray[] {
  return Array.from({ length: count }, () => {
    const origin = random.direction().multiplyScalar(3);
    return new Ray(origin, random.point(0.8).sub(origin).normalize());
  });
}

/** All queries that traverse a tree: thick rays, proximity, and overlap of a shape. */
function probe(in_: Core, mesh: MeshAddress, rays: readonly Ray[]) {
  in_.addObjects(Uint32Array.of(SUSPECT), { ...PLACED, mesh });
  const answers = rays.map(({ origin, direction }) => [
    runToEnd(in_.rays.raycastAll({ origin: origin.toArray(), direction: direction.toArray() }, FILTER)),
    runToEnd(in_.volumes.closestPoint(origin.toArray(), Number.POSITIVE_INFINITY, FILTER)),
    runToEnd(
      in_.volumes.overlap(
        { ...PLACED, shape: layout.SHAPE_BOX, extent: [0.1, 0.1, 0.1], center: direction.toArray() },
        FILTER,
      ),
    ),
  ]);
  in_.removeObject(SUSPECT);
  return answers;
}

describe.each(TOPOLOGIES)('%s', (topology) => {
  test(`baked and loaded are the same (seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const service = await createCollisionService();
    onTestFinished(() => service.dispose());
    for (let i = 0; i < 20; i++) {
      const elements = elementsIn(random, topology, 2 + random.integer(500), { indexed: random.chance(0.5) });
      const mesh = await service.addMesh(elements);
      const baked = await service.bakeMesh(mesh);
      const again = await service.addMesh(baked);
      expect(new Uint8Array(await service.bakeMesh(again))).toEqual(new Uint8Array(baked));
      expect(service.meshInfo(again)).toEqual(service.meshInfo(mesh));
      expect(checksumOf(baked)).toBe(new BakedMesh(baked).word(layout.MESH_CHECKSUM));
      const copy = core.loadMesh(baked);
      expect(core.check()).toBeNull();
      core.freeMesh(copy);
    }
  });

  test.each([
    ['with indices', true],
    ['without', false],
  ])(
    `${ROUNDS} corruptions %s, seed ${SEED}: refused, or forged so well that all answers come from the mesh alone`,
    async (_, indexed) => {
      const random = new Random(SEED);
      const original = new Uint8Array(bakeElements(core, elementsIn(random, topology, 300, { indexed })));
      const twin = await startCore();
      const rays = someRays(random, 4);
      const good = probe(core, core.loadMesh(original.buffer), rays);
      const kinds = Object.values(CORRUPTIONS);
      const counts = { refused: 0, forgeryRefused: 0, forgeryLoaded: 0, forgeryRefitted: 0 };
      const vertexCount = new BakedMesh(original.buffer).word(layout.MESH_VERTEX_COUNT);
      for (let round = 0; round < ROUNDS; round++) {
        const bad = random.pick(kinds)(random, original);
        if (bad.length === original.length && bad.every((byte, i) => byte === original[i])) continue;
        expect(() => core.loadMesh(bad.buffer), `round ${round}`).toThrow(refusal());
        counts.refused++;
        if (bad.length < layout.MESH_HEADER_BYTES) continue;
        const forged = new BakedMesh(bad.buffer).seal().buffer;
        // The same forgery in other surroundings.
        const poison = new Uint32Array(2 ** 14).fill(0x3f8ccccd).buffer;
        expect(() => twin.loadMesh(poison)).toThrow(refusal());
        let mesh: MeshAddress;
        try {
          mesh = core.loadMesh(forged);
        } catch (error) {
          expect(error, `forged, round ${round}`).toEqual(refusal());
          counts.forgeryRefused++;
          continue;
        }
        counts.forgeryLoaded++;
        const other = twin.loadMesh(forged);
        expect(probe(twin, other, rays), `forged, round ${round}`).toEqual(probe(core, mesh, rays));
        const positions = Float32Array.from({ length: 3 * vertexCount }, () => random.range(-2, 2));
        if (core.meshInfo(mesh).vertices === vertexCount && core.refitMesh(mesh, positions)) {
          expect(twin.refitMesh(other, positions)).toBe(true);
          const refitted = core.bakeMesh(mesh);
          expect(twin.bakeMesh(other)).toEqual(refitted);
          core.freeMesh(core.loadMesh(refitted));
          counts.forgeryRefitted++;
        }
        core.freeMesh(mesh);
        twin.freeMesh(other);
      }
      expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).toBeGreaterThan(ROUNDS / 100);
      expect(probe(core, core.loadMesh(original.buffer), rays)).toEqual(good);
    },
  );

  test('a forger is refused', () => {
    const baked = () => new BakedMesh(bakeElements(core, elementsIn(new Random(SEED), topology, 300)));
    const firstBlock = (m: BakedMesh) => m.word(layout.MESH_BLOCKS);
    const numbers = topology === 'points' ? 192 : 192;
    const forgeries: [change: (m: BakedMesh) => unknown, message: RegExp][] = [
      [(m) => m.setWord(layout.POINT_LINE_SIZE, 3), /header/],
      [(m) => m.setWord(layout.POINT_LINE_SIZE, topology === 'points' ? 2 : 1), /header/],
      [(m) => m.setWord(layout.MESH_VERSION, layout.POINT_LINE_VERSION_VALUE + 1), /another version/],
      [(m) => m.setWord(layout.MESH_KEPT_COUNT, 301), /header/],
      [(m) => m.setWord(layout.POINT_LINE_SIZE + 4, 1), /header/],
      [(m) => m.setWord(firstBlock(m), 0x7fc00000), /finite/],
      [(m) => m.setWord(firstBlock(m), 0x7f7fffff), /finite/],
      [(m) => m.setWord(firstBlock(m) + numbers, 300), /there is not/],
      [(m) => m.setWord(firstBlock(m) + numbers, 0xffffffff), /there is not/],
      [(m) => m.setWord(layout.MESH_NODES + 0, 0), /header/],
      [(m) => m.view.setBigUint64(layout.MESH_HEADER_BYTES + 24, 1n, true), /finite/],
      [(m) => m.setWord(layout.MESH_EXPONENT, 5), /finite/],
      [(m) => m.view.setFloat64(layout.MESH_RADIUS, Number.NaN, true), /finite/],
      [(m) => m.view.setFloat64(layout.MESH_COST, 0.5, true), /finite/],
    ];
    for (const [i, [change, message]] of forgeries.entries()) {
      const mesh = baked();
      change(mesh);
      expect(() => core.loadMesh(mesh.seal().buffer), `forgery ${i}`).toThrow(refusal(message));
    }
    expect(core.loadMesh(baked().buffer)).toBeGreaterThan(0);
  });

  test(`vertices move (seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const service = await createCollisionService();
    onTestFinished(() => service.dispose());
    for (let round = 0; round < 10; round++) {
      const indexed = random.chance(0.5);
      const elements = elementsIn(random, topology, 1000, { indexed, reach: 0.02 });
      const mesh = await service.addMesh(elements);
      const id = service.addObject({ shape: { type: 'mesh', mesh } });
      for (const reach of [0.1, 50]) {
        const positions = elements.positions.map((x) => x + random.range(-reach, reach));
        await service.updateMesh(mesh, positions);
        const moved = { ...elements, positions };
        for (const ray of someRays(random, 20)) {
          const query = { origin: ray.origin.toArray(), direction: ray.direction.toArray() };
          const hits = await service.raycastAll(query, { threshold: reach });
          const expected = nearRay(moved, new Matrix4(), ray, reach);
          expect(new Set(hits.map(({ element }) => element))).toEqual(new Set(expected.map(({ element }) => element)));
        }
        expect((await service.bakeMesh(mesh)).byteLength).toBeGreaterThan(0);
      }
      // Far from where it was built, a new tree replaces the old one. But lines between any two vertices were
      // scattered far and wide before.
      if (topology === 'points' || !indexed) {
        await expect.poll(() => service.meshInfo(mesh)).toMatchObject({ rebuilds: 1, cost: 1 });
      }
      const broken = elements.positions.slice();
      const [vertex] = verticesOf(elements, 5);
      broken[3 * vertex + 1] = Number.NaN;
      await expect(service.updateMesh(mesh, broken)).rejects.toMatchObject({
        code: 'BAD_DATA',
        message: expect.stringContaining(`updateMesh: vertex ${vertex} of positions is (`),
      });
      service.removeObject(id);
      service.removeMesh(mesh);
    }
  });

  test('what was left out of the tree finds its place in a new one', async () => {
    const service = await createCollisionService();
    onTestFinished(() => service.dispose());
    const positions = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 5, Number.NaN, 1, 5, 0);
    const mesh = await service.addMesh({ positions, topology });
    const id = service.addObject({ shape: { type: 'mesh', mesh } });
    expect(service.meshInfo(mesh)).toMatchObject({ elements: topology === 'points' ? 4 : 2, degenerate: 1 });
    const ray = { origin: new Vector3(0, 5, 9).toArray(), direction: [0, 0, -1] } as const;
    expect(await service.raycast(ray, { threshold: 0.1 })).toBeNull();
    positions[8] = 0;
    await service.updateMesh(mesh, positions);
    expect(service.meshInfo(mesh)).toMatchObject({ degenerate: 0, rebuilds: 1 });
    expect(await service.raycast(ray, { threshold: 0.1 })).toMatchObject({
      object: id,
      element: topology === 'points' ? 2 : 1,
    });
  });
});

test.each(['points', 'lines'] as const)(
  'where a ray has visited the root alone, and visits two leaves of %s as well, the cost is three times as much',
  (topology) => {
    const random = new Random(SEED);
    // Two clusters that are too small to be hit, each filling a leaf; then half of each moves to the other.
    const [leaf, size] = topology === 'points' ? [16, 1] : [8, 2];
    const small = Array.from({ length: 2 * leaf * size }, () => random.point(1e-4).toArray()).flat();
    const heapsOf = (isFar: (element: number) => boolean) =>
      Float32Array.from(small, (x, i) => x + (isFar(Math.floor(i / (3 * size))) ? 1 : 0));
    const positions = heapsOf((element) => element < leaf);
    const build = core.beginBuild(positions, undefined, 0, topology);
    while (build.step(Number.POSITIVE_INFINITY) < 1);
    const mesh = core.loadMesh(build.finish());
    expect(
      core.refitMesh(
        mesh,
        heapsOf((element) => element % 2 === 0),
      ),
    ).toBe(true);
    expect(core.meshInfo(mesh).cost).toBeCloseTo(3, 1);
  },
);
