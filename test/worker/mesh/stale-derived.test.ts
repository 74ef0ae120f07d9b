// Vertices of a mesh move: its data besides the tree is derived anew, at once if the mesh is small, else in steps,
// and contacts are answered meanwhile.
import { Matrix4 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../src/client/frame/frame-result.js';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import { type Core, createCore, type MeshAddress } from '../../../src/worker/binding/core.js';
import { bake, startCore, wasm } from '../../fixtures/core.js';
import { limitMemory } from '../../fixtures/limit-memory.js';
import { icosphere, type Triangles } from '../../oracle/meshes.js';

const LARGE = icosphere(1, 20); // 8,820 triangles
const SMALL = icosphere(1, 9); // 2,000
const LARGER = (mesh: Triangles) => mesh.positions.map((x) => 1.5 * x);
const [A, B] = [makeId(0, 1), makeId(1, 1)];

let core: Core;
beforeEach(async () => {
  core = await startCore();
});

function place(mesh: MeshAddress): void {
  for (const [i, id] of [A, B].entries()) {
    core.addObjects(Uint32Array.of(id), {
      ...{ shape: layout.SHAPE_MESH, mesh, flags: 0, layers: 1, collidesWith: 1, group: 0 },
      ...{
        contacts: layout.CONTACTS_MANIFOLD,
        center: [0, 0, 0],
        extent: [1, 1, 1],
        rotation: [0, 0, 0, 1],
        radius: 0,
      },
      matrix: new Matrix4().makeRotationX(i).setPosition(2 * i, 0.3 * i, 0).elements,
    });
  }
}

const contact = () => core.pairs.contact(A, B, layout.CONTACTS_MANIFOLD);
const contactsOf = (frame: ArrayBuffer) => new FrameView(core.frame(frame, undefined), []).contacts;

/** The contact of meshes that are built with these positions. */
async function contactOf(mesh: Triangles, positions: Float32Array) {
  const own = core;
  core = await startCore();
  const address = core.loadMesh(bake(core, mesh));
  // The same tree, with all data derived at once.
  core.refitMesh(address, positions);
  place(core.loadMesh(core.bakeMesh(address)));
  const expected = contact();
  core = own;
  expect(expected).not.toBeNull();
  return expected;
}

test('of few triangles: at once', async () => {
  const mesh = core.loadMesh(bake(core, SMALL));
  place(mesh);
  core.refitMesh(mesh, LARGER(SMALL));
  expect(core.isFresh(mesh)).toBe(false);
  expect(contact()).toEqual(await contactOf(SMALL, LARGER(SMALL)));
  expect(core.isFresh(mesh)).toBe(true);
  expect(core.isDerivationPending).toBe(false);
});

describe('of many triangles', () => {
  let mesh: MeshAddress;
  beforeEach(() => {
    mesh = core.loadMesh(bake(core, LARGE));
    place(mesh);
    core.refitMesh(mesh, LARGER(LARGE));
  });

  test('nothing is derived before it is asked for', () => {
    expect(core.isDerivationPending).toBe(false);
    expect(core.pairs.contact(A, B, layout.CONTACTS_BOUNDS)).not.toBeNull();
    expect(core.isDerivationPending).toBe(false);
    expect(core.derive(Number.POSITIVE_INFINITY)).toBe(false);
    expect(core.isFresh(mesh)).toBe(false);
  });

  test('contacts go on as those of a mesh that is not convex, until it is there', async () => {
    const meanwhile = contact();
    expect(meanwhile).not.toBeNull();
    expect(core.isDerivationPending).toBe(true);
    let steps = 1;
    while (core.derive(0)) {
      steps++;
      expect(core.isFresh(mesh)).toBe(false);
      expect(contact()).toEqual(meanwhile);
    }
    // A step is only a part of it.
    expect(steps).toBeGreaterThan(20);
    expect(core.isFresh(mesh)).toBe(true);
    const after = contact();
    expect(after).toEqual(await contactOf(LARGE, LARGER(LARGE)));
    expect(after).not.toEqual(meanwhile);
    expect(meanwhile!.depths[0]).toBeCloseTo(after!.depths[0], 2);
    expect(core.check()).toBeNull();
  });

  test('a frame asks for it as well', () => {
    const builder = new FrameBuilder();
    expect(contactsOf(builder.seal(1, 1, 0)).count).toBe(1);
    expect(core.isDerivationPending).toBe(true);
    while (core.derive(0));
    expect(core.isFresh(mesh)).toBe(true);
    expect(contactsOf(builder.seal(2, 1, 0)).count).toBe(1);
    expect(core.isDerivationPending).toBe(false);
  });

  test('they move again meanwhile: it begins anew, and is of the last', async () => {
    contact();
    for (let i = 0; i < 5; i++) expect(core.derive(0)).toBe(true);
    const positions = LARGE.positions.map((x) => 1.25 * x);
    core.refitMesh(mesh, positions);
    expect(core.isDerivationPending).toBe(false);
    contact();
    while (core.derive(0));
    expect(contact()).toEqual(await contactOf(LARGE, positions));
  });

  test.each(['before it has begun', 'while it is under way'])('the mesh goes %s', (when) => {
    const other = core.loadMesh(bake(core, LARGE));
    contact();
    if (when !== 'before it has begun') expect(core.derive(0)).toBe(true);
    for (const id of [A, B]) core.removeObject(id);
    core.freeMesh(mesh);
    expect(core.isDerivationPending).toBe(false);
    expect(core.derive(0)).toBe(false);
    core.freeMesh(other);
    // Only the tables of the scene are left.
    const { usedBytes } = core;
    core.freeMesh(core.loadMesh(bake(core, LARGE)));
    expect(core.usedBytes).toBe(usedBytes);
  });

  test('it is baked in steps as it was when that was asked', () => {
    const now = core.bakeMesh(core.loadMesh(bakeInSteps(() => {})));
    const later = bakeInSteps(() => core.refitMesh(mesh, LARGE.positions));
    expect(later).toEqual(now);
    expect(core.bakeMesh(mesh)).toEqual(bake(core, LARGE));
  });

  test('what was derived apart from the tree, for want of room there, is baked with it', () => {
    // The hull of a ball is larger than the data kept for one with a dent.
    const round = LARGER(LARGE);
    const dented = round.map((x, i) => (i < 3 ? 0.5 * x : x));
    const baked = bake(core, { ...LARGE, positions: dented });
    for (const id of [A, B]) core.removeObject(id);
    mesh = core.loadMesh(baked);
    place(mesh);
    core.refitMesh(mesh, round);
    const expected = bakeInSteps(() => {});
    expect(expected.byteLength).toBeGreaterThan(baked.byteLength);
    contact();
    while (core.derive(0));
    expect(core.isFresh(mesh)).toBe(true);
    expect(core.meshInfo(mesh).bytes).toBe(expected.byteLength);
    // Now there is nothing to derive.
    expect(bakeInSteps(() => {}, 3)).toEqual(expected);
  });

  function bakeInSteps(inBetween: () => void, fewest = 20): ArrayBuffer {
    const baking = core.beginBake(mesh);
    let steps = 0;
    while (baking.step(0) < 1) if (++steps === 5) inBetween();
    expect(steps).toBeGreaterThan(fewest);
    return baking.finish();
  }

  test('a bake that is given up leaves nothing', () => {
    core.beginBake(mesh).abort();
    const { usedBytes } = core;
    const baking = core.beginBake(mesh);
    for (let i = 0; i < 5; i++) baking.step(0);
    baking.abort();
    expect(core.usedBytes).toBe(usedBytes);
  });
});

test('without memory for it, contacts go on without, until the vertices move again', async () => {
  const baked = bake(core, LARGE);
  core = await createCore(limitMemory(wasm, 64));
  const mesh = core.loadMesh(baked);
  place(mesh);
  core.refitMesh(mesh, LARGER(LARGE));
  const meanwhile = contact();
  const hog: MeshAddress[] = [];
  const ball = bake(await startCore(), icosphere(1, 3));
  try {
    for (;;) hog.push(core.loadMesh(ball));
  } catch (error) {
    expect(error).toMatchObject({ code: 'OUT_OF_MEMORY' });
  }
  while (core.derive(0));
  expect(core.isDerivationPending).toBe(false);
  expect(core.isFresh(mesh)).toBe(false);
  expect(contact()).toEqual(meanwhile);
  expect(core.isDerivationPending).toBe(false);
  for (const each of hog) core.freeMesh(each);
  core.refitMesh(mesh, LARGER(LARGE));
  contact();
  while (core.derive(0));
  expect(core.isFresh(mesh)).toBe(true);
});
