// Materials of different sides on one object, with any groups, against three's Raycaster.
import { trackScene } from 'collision-worker/three';
import {
  BackSide,
  BoxGeometry,
  type BufferGeometry,
  DoubleSide,
  FrontSide,
  IcosahedronGeometry,
  InstancedMesh,
  Mesh,
  MeshBasicMaterial,
  Scene,
  SphereGeometry,
  TorusKnotGeometry,
} from 'three';
import { describe, expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { comparePickAlls, comparePicks, randomCamera, settle } from '../fixtures/three-picks.js';
import { place, randomMatrix } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const RADIUS = 4;
const SIDES = [FrontSide, BackSide, DoubleSide] as const;

/** With groups that leave gaps, are empty or end beyond the last triangle, and overlap or begin within a triangle. */
function grouped(random: Random, geometry: BufferGeometry, materials: number): BufferGeometry {
  const count = geometry.index?.count ?? geometry.attributes.position.count;
  // three reads on if the drawn range does not end with a triangle.
  const isAside = geometry.drawRange.count === Infinity && random.chance(0.5);
  geometry.clearGroups();
  for (let start = 0; start < count; ) {
    const triangles = random.pick([0, 1, 2, 10, 40]);
    const end = Math.min(3 * triangles, count - start - ((count - start) % 3));
    geometry.addGroup(start, random.chance(0.1) && end === count - start ? Infinity : end, random.integer(materials));
    start += Math.max(3, 3 * (triangles + random.pick(isAside ? [0, 0, 1] : [-5, -1, 0, 0, 1, 5])) + Number(isAside));
  }
  return geometry;
}

function someGeometry(random: Random): BufferGeometry {
  const geometry: BufferGeometry = random.pick([
    () => new TorusKnotGeometry(1, 0.35, 30, 7),
    () => new IcosahedronGeometry(1, 2), // no indices
    () => new SphereGeometry(1, 12, 9), // triangles without an area at the poles
    () => new BoxGeometry(1.5, 1, 2, 3, 2, 2),
  ])();
  if (random.chance(0.3)) geometry.setDrawRange(3 * random.integer(20), 3 * (20 + random.integer(60)));
  return geometry;
}

function someObject(random: Random): Mesh {
  const materials = Array.from({ length: 1 + random.integer(5) }, () => {
    return new MeshBasicMaterial({ side: random.pick(SIDES) });
  });
  const geometry = grouped(random, someGeometry(random), materials.length);
  const object = random.chance(0.4) ? new InstancedMesh(geometry, materials, 6) : new Mesh(geometry, materials);
  if (object instanceof InstancedMesh) {
    for (let i = 0; i < object.count; i++) object.setMatrixAt(i, randomMatrix(random, RADIUS / 2));
  }
  place(object, random, RADIUS / 2);
  return object;
}

describe.each([0, 1, 2, 3])(`objects of mixed sides, seed ${SEED} + %i`, (offset) => {
  test('are hit as three has it, however their sides, materials and groups change', { timeout: 120_000 }, async () => {
    const random = new Random(SEED + offset);
    const root = new Scene();
    for (let i = 0; i < 12; i++) root.add(Object.assign(someObject(random), { name: `object ${i}` }));
    const objects = root.children as Mesh<BufferGeometry, MeshBasicMaterial[]>[];
    const tracker = await trackScene(service, root);
    const ids = new Map<Mesh, Uint32Array>();
    let hits = 0;
    for (let round = 0; round < 6; round++) {
      const camera = randomCamera(random, RADIUS);
      await settle(tracker, camera);
      root.updateMatrixWorld();
      expect([...tracker.untracked.values()]).toEqual([]);
      for (const object of objects) {
        const known = ids.get(object) ?? tracker.idsOf(object);
        ids.set(object, known);
        expect(tracker.idsOf(object)).toEqual(known);
        expect(known).toHaveLength(object instanceof InstancedMesh ? object.count : 1);
      }
      const nearest = await comparePicks(tracker, root, camera, random, 60);
      expect(nearest.faults).toEqual([]);
      const all = await comparePickAlls(tracker, root, camera, random, 30);
      expect(all.faults).toEqual([]);
      hits += nearest.hits + all.hits;
      for (const object of objects) {
        const what = random.integer(6);
        if (what === 0) random.pick(object.material).side = random.pick(SIDES);
        else if (what === 1) for (const each of object.material) each.side = random.pick(SIDES);
        else if (what === 2)
          for (const group of object.geometry.groups) group.materialIndex = random.integer(object.material.length);
        else if (what === 3) object.material = object.material.map((each) => each.clone()).reverse();
        else if (what === 4) object.geometry = grouped(random, someGeometry(random), object.material.length);
      }
    }
    expect(hits).toBeGreaterThan(100);
    const { objects: count } = service.stats;
    expect(count).toBe(objects.reduce((sum, { count: instances = 1 }: { count?: number }) => sum + instances, 0));
  });
});
