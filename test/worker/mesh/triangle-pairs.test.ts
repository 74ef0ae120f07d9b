// Triangle against triangle: whether they intersect, against exact
// arithmetic, most of them below the service, where that is fast.
import { Matrix4, Triangle } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Core, MeshAddress } from '../../../src/worker/binding/core.js';
import { bake, meshesIntersect, startCore } from '../../fixtures/core.js';
import { PLACES, Twin } from '../../fixtures/twin.js';
import { type Corners, trianglesIntersect } from '../../oracle/exact.js';
import { Random, SEED } from '../../oracle/random.js';
import { TRIANGLE_KINDS, type TrianglePair } from '../../oracle/triangle-kinds.js';

/** Of each kind. PAIRS=20000 checks more. */
const PAIRS = Number(process.env.PAIRS ?? 6000);
const SERVED = 30;
const IDENTITY = new Matrix4().elements;

describe(`${PAIRS} pairs of triangles meet exactly where they do, in both orders, seed ${SEED}`, () => {
  let core: Core;
  beforeEach(async () => {
    core = await startCore();
  });

  test.each(TRIANGLE_KINDS)('%s', (_, make) => {
    const random = new Random(SEED);
    const wrong: string[] = [];
    let meeting = 0;
    for (let i = 0; i < PAIRS; i++) {
      const [a, b] = anyPair(random, make);
      const expected = trianglesIntersect(a, b);
      meeting += Number(expected);
      const meshes = [load(a), load(b)] as const;
      const found = [meshes, meshes.toReversed()].map(([p, q]) => meshesIntersect(core, p, q, IDENTITY));
      if (found[0] !== expected || found[1] !== expected) wrong.push(`${inWords([a, b], expected)}: ${found}`);
      for (const mesh of meshes) core.freeMesh(mesh);
    }
    expect(wrong).toEqual([]);
    expect(meeting).toBeGreaterThan(PAIRS / 50);
  });

  function load(corners: Corners): MeshAddress {
    return core.loadMesh(bake(core, meshOf(corners)));
  }
});

test.each(PLACES)(`${SERVED} pairs of each kind in a frame, in both orders, %s, seed ${SEED}`, async (_, place) => {
  const twin = await Twin.create();
  const random = new Random(SEED);
  const pairs = TRIANGLE_KINDS.flatMap(([, make]) => Array.from({ length: SERVED }, () => anyPair(random, make)));
  const meshes = await Promise.all(pairs.map((pair) => Promise.all(pair.map((corners) => twin.mesh(meshOf(corners))))));
  const expected = pairs.map(([a, b]) => trianglesIntersect(a, b));
  for (const isTurned of [false, true]) {
    // Each pair far from the others.
    const ids = meshes.map((pair, i) => {
      const there = new Matrix4().setPosition(place.x, place.y, place.z + 1000 * i);
      return (isTurned ? pair.toReversed() : pair).map((mesh) => twin.add(mesh, there));
    });
    const { contacts } = await twin.service.update();
    const found = new Set(Array.from(contacts, ({ a, b }) => `${a} ${b}`));
    const isFound = ids.map(([a, b]) => found.has(`${Math.min(a, b)} ${Math.max(a, b)}`));
    expect(pairs.flatMap((pair, i) => (isFound[i] === expected[i] ? [] : [inWords(pair, expected[i])]))).toEqual([]);
    for (const id of ids.flat()) twin.remove(id);
  }
  twin.dispose();
});

/** Pairs of triangles that have an area. */
function anyPair(random: Random, make: (random: Random) => TrianglePair): TrianglePair {
  for (;;) {
    const pair = make(random);
    if (pair.every((corners) => new Triangle(...corners).getArea() > 0)) return pair;
  }
}

function inWords([a, b]: TrianglePair, isMeeting: boolean): string {
  const show = (corners: Corners) => JSON.stringify(corners.map((corner) => corner.toArray()));
  return `${show(a)} ${isMeeting ? 'meets' : 'misses'} ${show(b)}`;
}

function meshOf(corners: Corners) {
  const [a, b, c] = corners;
  return {
    positions: Float32Array.of(a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z),
    indices: Uint32Array.of(0, 1, 2),
  };
}
