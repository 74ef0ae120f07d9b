// Where two meshes intersected is tried first in the next frame. A
// core with a cache gives the same results as one without history.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { FrameBuilder } from '../../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../../src/client/frame/frame-result.js';
import { makeId } from '../../../../src/shared/ids.js';
import * as layout from '../../../../src/shared/layout.js';
import type { Core, PlacedDescription } from '../../../../src/worker/binding/core.js';
import { bake, startCore } from '../../../fixtures/core.js';
import { icosphere, rods, soup, type Triangles } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';

const OBJECT: PlacedDescription = {
  ...{ shape: layout.SHAPE_MESH, mesh: 0, flags: layout.FLAG_MATRIX, layers: 1, collidesWith: 1, group: 0 },
  ...{ contacts: layout.CONTACTS_ANY, center: [0, 0, 0], extent: [1, 1, 1], rotation: [0, 0, 0, 1], radius: 0 },
  matrix: new Matrix4().elements,
};

/** `a b contained` of each pair in contact. */
function pairsOf(core: Core): string[] {
  const { contacts } = new FrameView(core.frame(new FrameBuilder().seal(1, 1), undefined), []);
  return [...contacts].map(({ a, b, contained }) => `${a} ${b} ${contained}`);
}

test(`while meshes move, deform and become others, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const core = await startCore();
  const shapes: Triangles[] = [icosphere(1, 3), soup(random, 60, 0.4, 1), rods(random, 5, 1)];
  const meshes = shapes.map((mesh) => core.loadMesh(bake(core, mesh)));
  const objects = Array.from({ length: 40 }, (_, slot) => ({
    ...{ id: makeId(slot, 1), mesh: random.integer(3), matrix: random.placement(random.point(2.5)) },
  }));
  const count = { pairs: 0, same: 0 };
  let last = new Set<string>();
  for (let frame = 0; frame < 60; frame++) {
    for (const object of objects) {
      object.matrix.multiply(new Matrix4().makeRotationAxis(random.direction(), 0.02));
      if (random.chance(0.02)) object.mesh = random.integer(3);
      if (random.chance(0.02)) object.matrix = random.placement(random.point(2.5));
    }
    const which = random.integer(3);
    const event = random.next();
    if (event < 0.2) {
      shapes[which] = { ...shapes[which], positions: shapes[which].positions.map((x) => x * 1.02) };
      expect(core.refitMesh(meshes[which], shapes[which].positions)).toBe(true);
    } else if (event < 0.4) {
      // With one of far fewer triangles, or of many again.
      shapes[which] = soup(random, random.pick([1, 5, 100]), 0.5, 1);
      const by = core.loadMesh(bake(core, shapes[which]));
      core.replaceMesh(meshes[which], by);
      core.freeMesh(meshes[which]);
      meshes[which] = by;
    }

    const fresh = await startCore();
    const freshMeshes = shapes.map((mesh) => fresh.loadMesh(bake(fresh, mesh)));
    for (const { id, mesh, matrix } of objects) {
      core.setObject(id, { ...OBJECT, mesh: meshes[mesh], matrix: matrix.elements });
      fresh.setObject(id, { ...OBJECT, mesh: freshMeshes[mesh], matrix: matrix.elements });
    }
    const pairs = pairsOf(core);
    expect(pairs).toEqual(pairsOf(fresh));
    count.pairs += pairs.length;
    count.same += pairs.filter((pair) => last.has(pair)).length;
    last = new Set(pairs);
  }
  expect(count.pairs).toBeGreaterThan(1000);
  expect(count.same).toBeGreaterThan(count.pairs / 2);
});
