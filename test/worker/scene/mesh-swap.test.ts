// A mesh that moves or is replaced, among objects of other meshes, which are skipped 16 at a time.
import { expect, test } from 'vitest';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import { bindCore, type PlacedDescription } from '../../../src/worker/binding/core.js';
import { instantiateCore } from '../../../src/worker/binding/exports.js';
import { bake, startCore, wasm } from '../../fixtures/core.js';
import { icosphere } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

const COUNT = 2000;
const FILTER = {
  ...{ layers: 0xffffffff, side: layout.SIDE_DOUBLE, precision: layout.PRECISION_MESH, ignore: new Uint32Array() },
};

test(`every object has the mesh as it is now, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const core = await startCore();
  const { positions, indices } = icosphere(1, 2);
  /** The address and the radius of each mesh. */
  const meshes = Array.from({ length: 3 }, () => ({
    address: core.loadMesh(bake(core, { positions, indices })),
    radius: 1,
  }));
  // One mesh has few objects, one none at first, one many; -1 is a box.
  const meshOf: number[] = Array.from({ length: COUNT }, (_, i) => (random.chance(0.5) ? 2 : i % 700 === 3 ? 0 : -1));
  const ids = Array.from({ length: COUNT }, (_, slot) => makeId(slot, 1));
  const describe = (i: number): PlacedDescription => ({
    ...{ shape: meshOf[i] < 0 ? layout.SHAPE_BOX : layout.SHAPE_MESH, mesh: meshes[meshOf[i]]?.address ?? 0 },
    ...{ flags: layout.FLAG_PICKABLE, layers: 1, collidesWith: 1, group: 0, contacts: layout.CONTACTS_NONE },
    ...{ center: [0, 0, 0], extent: [1, 1, 1], rotation: [0, 0, 0, 1], radius: 0 },
    matrix: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 50 * i, 0, 0, 1],
  });
  for (const [i, id] of ids.entries()) core.addObjects(Uint32Array.of(id), describe(i));
  const rays = new Float32Array(8 * COUNT);
  for (let i = 0; i < COUNT; i++) rays.set([50 * i, 0, 30, 0, 0, 0, -1, Number.POSITIVE_INFINITY], 8 * i);

  for (let round = 0; round < 40; round++) {
    const mesh = meshes[random.integer(3)];
    mesh.radius = random.range(2, 20);
    const moved = positions.map((x) => mesh.radius * x);
    if (random.chance(0.5)) {
      expect(core.refitMesh(mesh.address, moved)).toBe(true);
    } else {
      const copy = core.copyMesh(mesh.address);
      expect(core.refitMesh(copy, moved)).toBe(true);
      core.replaceMesh(mesh.address, copy);
      core.freeMesh(mesh.address);
      mesh.address = copy;
    }
    // Some get another mesh, or are removed and added again.
    for (let k = 0; k < 3; k++) {
      const i = random.integer(COUNT);
      meshOf[i] = random.integer(4) - 1;
      if (random.chance(0.5)) core.removeObject(ids[i]);
      core.setObject(ids[i], describe(i));
    }
    const { distances } = core.rays.raycastMany(rays, FILTER);
    const radii = Array.from(distances, (distance) => 30 - distance);
    for (let i = 0; i < COUNT; i++) {
      const { radius } = meshes[meshOf[i]] ?? { radius: 1 };
      expect(Math.abs(radii[i] / radius - 1), `round ${round}, object ${i}`).toBeLessThan(0.2);
    }
  }
  expect(core.check()).toBeNull();
});

test('where each object has a mesh of its own, hardly any other is looked at', async () => {
  const exports = await instantiateCore(wasm);
  const core = bindCore(exports);
  const baked = bake(core, icosphere(1, 0));
  const addresses = Array.from({ length: COUNT }, () => core.loadMesh(baked));
  for (const [i, mesh] of addresses.entries()) {
    core.addObjects(Uint32Array.of(makeId(i, 1)), {
      ...{ shape: layout.SHAPE_MESH, mesh, flags: layout.FLAG_PICKABLE, layers: 1, collidesWith: 1, group: 0 },
      ...{ contacts: layout.CONTACTS_NONE, center: [0, 0, 0], extent: [1, 1, 1], rotation: [0, 0, 0, 1], radius: 0 },
    });
  }
  let looked = 0;
  for (const [i, mesh] of addresses.entries()) {
    expect(exports.mayHaveMesh(i & ~15, mesh)).toBeTruthy();
    for (let first = 0; first < COUNT; first += 16) if (exports.mayHaveMesh(first, mesh)) looked += 16;
  }
  // One in 256 has the same tag by chance.
  expect(looked / COUNT).toBeLessThan(COUNT / 8);
});
