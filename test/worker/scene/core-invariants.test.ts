// Below the public API: the core's own checker after random histories.
import { Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../src/client/frame/frame-builder.js';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import { bindCore, type Core, type MeshAddress, type PlacedDescription } from '../../../src/worker/binding/core.js';
import { instantiateCore } from '../../../src/worker/binding/exports.js';
import { bake, startCore, wasm } from '../../fixtures/core.js';
import { dragon } from '../../oracle/dragon.js';
import { icosphere, rods, soup, type Triangles } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

let core: Core;
beforeEach(async () => {
  core = await startCore();
});

describe(`after random histories, seed ${SEED}`, () => {
  const PLACES: [name: string, position: (random: Random) => Vector3][] = [
    ['in a cube', (random) => random.point(100)],
    ['all in one point', () => new Vector3(3, 4, 5)],
    ['in a plane', (random) => random.point(100).setY(0)],
    ['in two heaps, 10⁶ units apart', (random) => random.point(10).addScalar(random.pick([0, 1e6]))],
    ['from very near to very far', (random) => random.direction().multiplyScalar(random.logRange(1e-6, 1e9))],
  ];

  test.each(PLACES)('every structure holds: objects %s', async (_, position) => {
    const random = new Random(SEED);
    const meshes = [icosphere(1, 1), soup(random, 20, 0.3, 1)].map((mesh) => core.loadMesh(bake(core, mesh)));
    const alive = new Map<number, number>(); // id by slot
    const generations = new Map<number, number>();
    const staging = new FrameBuilder();
    const matrix = () =>
      random.placement(position(random), { low: 0.01, high: 100, mirrored: 0.2, sheared: 0.2 }).elements;

    let out: ArrayBuffer | undefined;
    for (let frame = 1; frame <= 60; frame++) {
      for (let i = random.integer(100); i > 0; i--) {
        const slot = random.integer(1500);
        const id = alive.get(slot);
        const description = { ...describeShape(random, meshes), matrix: matrix() };
        if (id === undefined) {
          const generation = (generations.get(slot) ?? 0) + 1;
          generations.set(slot, generation);
          alive.set(slot, makeId(slot, generation));
          core.addObjects(Uint32Array.of(makeId(slot, generation)), description);
        } else if (random.chance(0.3)) {
          alive.delete(slot);
          core.removeObject(id);
        } else {
          core.setObject(id, description);
        }
      }
      for (const id of alive.values()) if (random.chance(0.3)) staging.setSingle(id, matrix());
      const input = staging.seal(frame, 1);
      out = core.frame(input, out);
      staging.restart(input);
      expect(core.check(), `frame ${frame}`).toBeNull();
    }
    expect(alive.size).toBeGreaterThan(500);

    for (const id of alive.values()) core.removeObject(id);
    expect(core.check()).toBeNull();
  });
});

test(`the checker finds any one damaged cell, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const exports = await instantiateCore(wasm);
  const checked = bindCore(exports);
  const description = describeShape(random, []);
  for (let slot = 0; slot < 500; slot++) {
    const { elements } = random.placement(random.point(100));
    checked.addObjects(Uint32Array.of(makeId(slot, 1)), { ...description, matrix: elements });
  }
  expect(checked.check()).toBeNull();

  const memory = new Float32Array(exports.memory.buffer);
  // Where the cells were before they needed more room, nothing is read any more, whatever is changed.
  const isLookedAt = (at: number): boolean => {
    const changes = [0, 1, 2, 3, 4, 5].map((i) => {
      const before = memory[at + i];
      memory[at + i] = i < 3 ? -1000 : 1000;
      const fault = checked.check();
      memory[at + i] = before;
      return fault;
    });
    return changes.some((fault) => fault !== null);
  };
  const leaves = leavesIn(memory).filter(isLookedAt);
  expect(leaves.length).toBeGreaterThan(7);
  const expectFault = (at: number, value: number, fault: string) => {
    const before = memory[at];
    memory[at] = value;
    expect(checked.check(), `${before} is ${value}`).toBe(fault);
    memory[at] = before;
    expect(checked.check()).toBeNull();
  };
  for (const at of leaves) {
    for (let axis = 0; axis < 3; axis++) {
      expectFault(at + axis, -1000, "a cell's bounds do not hold what is below it");
      expectFault(at + 3 + axis, 1000, "a cell's bounds do not hold what is below it");
      expectFault(at - 4 + axis, 1000, 'an object is in a cell that it does not belong to');
    }
  }
});

test('the checker finds an object that has another id in one of the places where it is kept', async () => {
  const random = new Random(SEED);
  const exports = await instantiateCore(wasm);
  const checked = bindCore(exports);
  const description = describeShape(random, []);
  // Of a generation that makes ids that no other number equals.
  const ids = Array.from({ length: 20 }, (_, slot) => makeId(slot, 5));
  for (const id of ids) {
    const { elements } = random.placement(random.point(100));
    checked.addObjects(Uint32Array.of(id), { ...description, matrix: elements });
  }
  expect(checked.check()).toBeNull();
  const words = new Uint32Array(exports.memory.buffer);
  const faults = new Set<string | null>();
  for (let at = words.indexOf(ids[13]); at >= 0; at = words.indexOf(ids[13], at + 1)) {
    words[at] = makeId(13, 6);
    faults.add(checked.check());
    words[at] = ids[13];
  }
  expect(checked.check()).toBeNull();
  expect(faults).toContain('an object is in the slot of another id');
  expect(faults).toContain('what a tree holds of an object is not what the object is');
});

/** Where bounds of leaves with objects are: stored twice in a row, since a leaf has no objects but its own. */
function leavesIn(memory: Float32Array): number[] {
  const leaves: number[] = [];
  for (let at = 0; at + 12 <= memory.length; at++) {
    const [bounds, own] = [memory.subarray(at, at + 6), memory.subarray(at + 6, at + 12)];
    if ([0, 1, 2].every((axis) => bounds[axis] < bounds[axis + 3]) && bounds.every((value, i) => value === own[i]))
      leaves.push(at);
  }
  return leaves;
}

function describeShape(random: Random, meshes: MeshAddress[]): PlacedDescription {
  const isMesh = meshes.length > 0 && random.chance(0.5);
  const isMixed = isMesh && random.chance(0.5);
  return {
    shape: isMesh ? layout.SHAPE_MESH : layout.SHAPE_BOX,
    mesh: isMesh ? random.pick(meshes) : 0,
    flags:
      layout.FLAG_PICKABLE |
      layout.FLAG_CULLABLE |
      (random.chance(0.5) ? layout.FLAG_STATIC : 0) |
      (isMixed ? layout.FLAG_FACE_SIDES : 0),
    faceSides: isMixed ? faceSides(1 + random.integer(3)) : undefined,
    layers: 1,
    collidesWith: 1,
    group: 0,
    contacts: random.chance(0.8) ? layout.CONTACTS_NONE : layout.CONTACTS_ANY,
    center: [0, 0, 0],
    extent: [1, 2, 3],
    rotation: random.rotation().toArray(),
    radius: 0,
  };
}

/** The sides in rotation, one per triangle, for this many triangles. */
function faceSides(runs: number): Uint32Array {
  return Uint32Array.from({ length: runs }, (_, i) => (i << layout.FACE_SHIFT) | (1 + (i % 3)));
}

describe('lists of sides', () => {
  const ball = () => core.loadMesh(bake(core, icosphere(1, 9)));
  const described = (mesh: MeshAddress, runs: number): PlacedDescription => ({
    ...{ shape: layout.SHAPE_MESH, mesh, layers: 1, collidesWith: 0, group: 0, contacts: layout.CONTACTS_NONE },
    ...{ flags: runs > 0 ? layout.FLAG_PICKABLE | layout.FLAG_FACE_SIDES : layout.FLAG_PICKABLE },
    ...{ center: [0, 0, 0], extent: [0, 0, 0], rotation: [0, 0, 0, 1], radius: 0 },
    faceSides: runs > 0 ? faceSides(runs) : undefined,
  });
  const idOf = (i: number) => makeId(i, 1);
  const many = Uint32Array.from({ length: 1000 }, (_, i) => idOf(i));

  test('are shared by all with the same one, and freed with the last of them', () => {
    const mesh = ball();
    core.addObjects(many, described(mesh, 0));
    expect(core.check()).toBeNull(); // now there is room for all
    const { usedBytes } = core;
    for (const id of many) core.setObject(id, described(mesh, 500));
    const oneList = core.usedBytes - usedBytes;
    expect(oneList).toBeGreaterThanOrEqual(4 * 500);
    expect(oneList).toBeLessThan(3 * 4 * 500);
    expect(core.check()).toBeNull();
    for (const id of many) core.setObject(id, described(mesh, 1 + ((id >> layout.GENERATION_BITS) % 100)));
    expect(core.check()).toBeNull();
    for (const id of many.subarray(0, 900)) core.setObject(id, described(mesh, 0));
    for (const id of many.subarray(900)) core.removeObject(id);
    expect(core.usedBytes).toBe(usedBytes);
    expect(core.check()).toBeNull();
    core.addObjects(many.subarray(900), described(mesh, 3));
    for (const id of many) core.removeObject(id);
    expect(core.usedBytes).toBeLessThan(usedBytes);
    core.addObjects(many, described(mesh, 0));
    expect(core.usedBytes).toBe(usedBytes);
    for (const id of many) core.removeObject(id);
    core.freeMesh(mesh);
  });

  test('are found among thousands, whether or not their hashes meet', () => {
    const mesh = ball();
    const { usedBytes } = core;
    const random = new Random(SEED);
    const lists = Array.from({ length: 3000 }, () =>
      Uint32Array.from({ length: 2 }, (_, i) => ((10 * i + random.integer(9)) << 2) | (1 + random.integer(3))),
    );
    for (let round = 0; round < 2; round++) {
      for (const [i, list] of lists.entries()) {
        core.addObjects(Uint32Array.of(idOf(i)), { ...described(mesh, 1), faceSides: list });
      }
      expect(core.check()).toBeNull();
      const order = lists.map((_, i) => i).sort(() => random.next() - 0.5);
      for (const i of order) core.removeObject(idOf(i));
      expect(core.check()).toBeNull();
    }
    // The rest is room for objects.
    const grown = core.usedBytes - usedBytes;
    for (const [i, list] of lists.entries()) {
      core.addObjects(Uint32Array.of(idOf(i)), { ...described(mesh, 1), faceSides: list });
      core.removeObject(idOf(i));
    }
    expect(core.usedBytes - usedBytes).toBe(grown);
    core.freeMesh(mesh);
  });
});

describe('meshes', () => {
  const random = new Random(SEED);
  const MESHES: [string, Triangles][] = [
    ['one triangle', soup(random, 1, 1, 1)],
    ['five triangles', soup(random, 5, 1, 1)],
    ['an icosphere', icosphere(1, 9)],
    ['rods', rods(random, 200, 1)],
    ['a soup', soup(random, 3000, 0.2, 1)],
    ['a soup of large triangles', soup(random, 500, 5, 1)],
    ['the same triangle 1,000 times', repeated(soup(random, 1, 1, 1), 1000)],
    ['the dragon', dragon(47_794)],
  ];

  test.each(MESHES)(`the tree of %s holds, seed ${SEED}`, (_, mesh) => {
    const baked = bake(core, mesh);
    const address = core.loadMesh(baked);
    expect(core.check()).toBeNull();
    expect(core.meshInfo(address)).toMatchObject({ triangles: mesh.indices.length / 3, degenerate: 0 });
    expect(core.bakeMesh(address)).toEqual(baked);
  });

  test.each([
    ['closed', 1],
    ['open', 0.9],
  ])('building gives the same bytes each time, and in any slices: a mesh that is %s', (_, part) => {
    const { positions, indices: all } = dragon(11_102);
    const indices = all.subarray(0, 3 * Math.round((part * all.length) / 3));
    const build = core.beginBuild(positions, indices);
    let steps = 0;
    for (let last = 0, fraction = 0; fraction < 1; last = fraction, steps++) {
      fraction = build.step(0);
      expect(fraction).toBeGreaterThanOrEqual(last);
    }
    expect(steps).toBeGreaterThan(3);
    expect(build.finish()).toEqual(bake(core, { positions, indices }));
  });

  test('what is freed is used again', () => {
    const mesh = dragon(11_102);
    const cycle = () => {
      core.freeMesh(core.loadMesh(bake(core, mesh)));
      const build = core.beginBuild(mesh.positions, mesh.indices);
      build.step(0);
      build.abort();
    };
    for (let i = 0; i < 10; i++) cycle();
    const { usedBytes, memoryBytes } = core;
    for (let i = 0; i < 50; i++) cycle();
    expect([core.usedBytes, core.memoryBytes]).toEqual([usedBytes, memoryBytes]);
  });
});

function repeated({ positions, indices }: Triangles, times: number): Triangles {
  return {
    positions,
    indices: Uint32Array.from({ length: indices.length * times }, (_, i) => indices[i % indices.length]),
  };
}
