// Baked meshes that were forged, which the checksum does not
// detect: each is refused, or gives the same results as before.
import { beforeEach, describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import type { Core } from '../../../src/worker/binding/core.js';
import { badDataError, probe, raysAt, SUSPECT, unindexed } from '../../fixtures/baked-probes.js';
import { bake, startCore } from '../../fixtures/core.js';
import {
  BakedMesh,
  BONE_HAS_HIT,
  BONE_HIT_MAX,
  BONE_HIT_MIN,
  BONE_PAD,
  BONE_USED,
  DEFORM_ABSOLUTE,
  DEFORM_BONE_COUNT,
  DEFORM_MAX_REST,
  DEFORM_MIN_REST,
  DEFORM_PAD,
  DEFORM_REACH,
  DEFORM_TARGET_COUNT,
  DEFORM_VERTEX_COUNT,
  DERIVED_BYTES,
  DERIVED_CLUSTER_COUNT,
  DERIVED_CONVEX,
  DERIVED_FAR_COUNT,
  DERIVED_PART_COUNT,
  FLAT,
  NODE_BLOCKS,
  NODE_CHILDREN,
  NODE_MAX,
  NODE_MIN,
  NODE_ORIGIN,
  NODE_QUATERNION,
  NODE_SCALE,
} from '../../oracle/baked.js';
import { farPairs, icosphere, soup } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { randomRig } from '../../oracle/rigs.js';

let core: Core;
beforeEach(async () => {
  core = await startCore();
});

describe('a forger is refused', () => {
  // Nodes in the middle of the tree: with children of both kinds, with nodes only, with blocks only.
  const mixed = (m: BakedMesh) => m.nodesWhere(({ inner, count }) => inner > 0 && inner < count)[1];
  const upper = (m: BakedMesh) => m.nodesWhere(({ inner, count }, node) => node > 0 && inner === count)[1];
  const lowest = (m: BakedMesh) => m.nodesWhere(({ inner, count }) => inner === 0 && count === 4);
  const word = (m: BakedMesh, node: number, offset: number, change: (word: number) => number) =>
    m.setWord(m.nodeAt(node) + offset, change(m.word(m.nodeAt(node) + offset)) >>> 0);
  const float = (m: BakedMesh, offset: number, value: number) => m.view.setFloat32(m.nodeAt(1) + offset, value, true);
  const double = (m: BakedMesh, offset: number, value: number) => m.view.setFloat64(offset, value, true);

  const LINKS: [what: string, forge: (mesh: BakedMesh) => unknown, message: RegExp][] = [
    ['nodes behind the last', (m) => m.setLinks(upper(m), { firstNode: m.nodeCount }), /link/],
    ['nodes of which one is behind the last', (m) => m.setLinks(upper(m), { firstNode: m.nodeCount - 1 }), /link/],
    ['nodes far away', (m) => m.setLinks(upper(m), { firstNode: 0xffffff }), /link/],
    ['a node linked to itself', (m) => m.setLinks(upper(m), { firstNode: upper(m) }), /link/],
    ['a link to the root', (m) => m.setLinks(upper(m), { firstNode: 0 }), /link/],
    ['a link upwards', (m) => m.setLinks(mixed(m), { firstNode: 1 }), /link/],
    ["another's nodes", (m) => m.setLinks(upper(m), { firstNode: m.links(mixed(m)).firstNode }), /link/],
    ["some of another's nodes", (m) => m.setLinks(upper(m), { firstNode: m.links(upper(m)).firstNode - 1 }), /link/],
    ['a node left out', (m) => m.setLinks(upper(m), { firstNode: m.links(upper(m)).firstNode + 1 }), /link/],
    ['blocks behind the last', (m) => m.setLinks(mixed(m), { firstBlock: m.blockCount }), /link/],
    ['blocks far away', (m) => m.setLinks(mixed(m), { firstBlock: 0x1fffffff }), /link/],
    ["another's blocks", (m) => m.setLinks(lowest(m)[1], { firstBlock: m.links(lowest(m)[0]).firstBlock }), /link/],
    ["some of another's blocks", (m) => m.setLinks(mixed(m), { firstBlock: m.links(mixed(m)).firstBlock - 1 }), /link/],
    ['a block left out', (m) => m.setLinks(mixed(m), { firstBlock: m.links(mixed(m)).firstBlock + 1 }), /link/],
    ['each block once, but a subtree here and there', (m) => swapBlocks(m, lowest(m)[0], lowest(m).at(-1)!), /link/],
    ['a node where a block was', (m) => m.setLinks(mixed(m), { inner: m.links(mixed(m)).inner + 1 }), /link/],
    ['a block where a node was', (m) => m.setLinks(upper(m), { inner: m.links(upper(m)).inner - 1 }), /link/],
    ['nodes behind the last one', (m) => m.setLinks(m.nodeCount - 1, { inner: 1 }), /link/],
    ['a block forgotten', (m) => m.setLinks(mixed(m), { count: m.links(mixed(m)).count - 1 }), /link/],
    ['the last block forgotten', (m) => m.setLinks(holder(m), { count: m.links(holder(m)).count - 1 }), /link/],
    ['one more block', (m) => m.setLinks(narrow(m), { count: 1 + m.links(narrow(m)).count }), /link/],
    ['one more node', (m) => m.setWord(layout.MESH_NODE_COUNT, m.nodeCount + 1), /header/],
    ['more nodes than children', (m) => m.setLinks(lowest(m)[0], { inner: 5 }), /finite/],
    ['seven nodes', (m) => m.setLinks(upper(m), { inner: 7 }), /finite/],
    ['a tree that is a list', (m) => asList(m), /deeper/],
    ['nodes that begin with no number', (m) => word(m, 1, NODE_CHILDREN, (w) => w & 0x3fffffff), /finite/],
    ['nodes that begin with too large a number', (m) => word(m, 1, NODE_CHILDREN, (w) => w | 0x20000000), /finite/],
    ['nodes that begin with a sign', (m) => word(m, 1, NODE_CHILDREN, (w) => w | 0x80000000), /finite/],
    ['blocks that begin with no number', (m) => word(m, 1, NODE_BLOCKS, (w) => w & 0x3fffffff), /finite/],
    ['blocks that begin with too large a number', (m) => word(m, 1, NODE_BLOCKS, (w) => w | 0x20000000), /finite/],
    ['blocks that begin with a sign', (m) => word(m, 1, NODE_BLOCKS, (w) => w | 0x80000000), /finite/],
  ];

  const NUMBERS: typeof LINKS = [
    ['a quaternion of length 0', (m) => m.view.setBigUint64(m.nodeAt(1) + NODE_QUATERNION, 0n, true), /finite/],
    ...[0, 1, 2].flatMap((axis): typeof LINKS => [
      [`an origin that is none, ${axis}`, (m) => float(m, NODE_ORIGIN + 4 * axis, Number.NaN), /finite/],
      [`an origin at infinity, ${axis}`, (m) => float(m, NODE_ORIGIN + 4 * axis, -Infinity), /finite/],
      [`an origin far away, ${axis}`, (m) => float(m, NODE_ORIGIN + 4 * axis, 17), /finite/],
      [`steps that are none, ${axis}`, (m) => float(m, NODE_SCALE + 4 * axis, Number.NaN), /finite/],
      [`infinite steps, ${axis}`, (m) => float(m, NODE_SCALE + 4 * axis, Infinity), /finite/],
      [`steps backwards, ${axis}`, (m) => float(m, NODE_SCALE + 4 * axis, -0.01), /finite/],
      [`bounds inside out, ${axis}`, (m) => insideOut(m, axis, 0), /finite/],
      [`bounds of the last child inside out, ${axis}`, (m) => insideOut(m, axis, 3), /finite/],
    ]),
    ['a vertex that is none', (m) => m.setWord(m.blockAt(1) + 20, 0x7fc00000), /finite/],
    ['a vertex far outside', (m) => m.setWord(m.blockAt(1) + 20, 0x7f7fffff), /finite/],
    ['a triangle behind the last', (m) => m.setWord(m.triangleAt(2, 0), m.word(layout.MESH_TRIANGLE_COUNT)), /finite/],
    [
      'a flat triangle behind the last',
      (m) => m.setWord(m.triangleAt(2, 0), FLAT + m.word(layout.MESH_TRIANGLE_COUNT)),
      /finite/,
    ],
    ['a triangle before the first', (m) => m.setWord(m.triangleAt(2, 0), 0xfffffffe), /finite/],
    ['a triangle less', (m) => m.setWord(m.triangleAt(2, 1), 0xffffffff), /there is not/],
    ['a flat triangle that is counted', (m) => m.setWord(m.triangleAt(2, 0), FLAT + 5), /there is not/],
    ['a block without its first triangle', (m) => without(m.setWord(m.triangleAt(2, 0), 0xffffffff)), /finite/],
    ['an index behind the last', (m) => m.setWord(m.lastIndexAt, m.word(layout.MESH_VERTEX_COUNT)), /there is not/],
    ['fewer vertices', (m) => m.setWord(layout.MESH_VERTEX_COUNT, 5), /there is not/],
    ['a scale out of range', (m) => m.setWord(layout.MESH_EXPONENT, 1024), /finite/],
    ['a scale below range', (m) => m.setWord(layout.MESH_EXPONENT, -128), /finite/],
    ['a scale half as large', (m) => m.setWord(layout.MESH_EXPONENT, m.word(layout.MESH_EXPONENT) - 1), /finite/],
    ['an offset that is none', (m) => double(m, layout.MESH_OFFSET + 8, Number.NaN), /finite/],
    ['an offset that nobody needs', (m) => double(m, layout.MESH_OFFSET + 8, 0.5), /finite/],
    [
      'bounds of a point',
      (m) => [0, 8, 16, 24, 32, 40].forEach((at) => void double(m, layout.MESH_MIN + at, 0)),
      /finite/,
    ],
    ['a low bound that is none', (m) => double(m, layout.MESH_MIN, Number.NaN), /finite/],
    ['a high bound beyond float32', (m) => double(m, layout.MESH_MAX + 16, 1e39), /finite/],
    ['low above high', (m) => double(m, layout.MESH_MIN + 8, 2), /finite/],
    ...[layout.MESH_COST, layout.MESH_BUILT_COST].flatMap((at): typeof LINKS => [
      [`a cost that is none, ${at}`, (m) => double(m, at, Number.NaN), /finite/],
      [`an infinite cost, ${at}`, (m) => double(m, at, Infinity), /finite/],
      [`a cost of nothing, ${at}`, (m) => double(m, at, 0), /finite/],
      [`a cost less than nothing, ${at}`, (m) => double(m, at, -5), /finite/],
    ]),
    ['no triangles', (m) => m.setWord(layout.MESH_KEPT_COUNT, 0), /header/],
    [
      'more kept than given',
      (m) => m.setWord(layout.MESH_KEPT_COUNT, 1 + m.word(layout.MESH_TRIANGLE_COUNT)),
      /header/,
    ],
    ['indices half there', (m) => m.setWord(layout.MESH_INDEXED, 2), /header/],
    ['sizes that wrap around', (m) => m.setWord(layout.MESH_NODE_COUNT, 0x04000000 + m.nodeCount), /header/],
  ];

  /** Sets a word of the derived data. */
  function derived(mesh: BakedMesh, offset: number, value: number): BakedMesh {
    return mesh.setWord(mesh.derivedAt(offset), value);
  }

  function short(mesh: BakedMesh, at: number, value: number): BakedMesh {
    mesh.view.setInt16(at, value, true);
    return mesh;
  }

  const DERIVED: typeof LINKS = [
    ['dipoles elsewhere', (m) => m.setWord(layout.MESH_DIPOLES, m.word(layout.MESH_DIPOLES) + 16), /header/],
    ['derived elsewhere', (m) => m.setWord(layout.MESH_DERIVED, m.word(layout.MESH_DERIVED) - 64), /header/],
    ['derived in front of the header', (m) => m.setWord(layout.MESH_DERIVED, 0xffffff00), /header/],
    ['a state', (m) => m.setWord(layout.MESH_DERIVED_STATE, 1), /header/],
    ['the end of the header', (m) => m.setWord(layout.MESH_HEADER_BYTES - 4, 1), /header/],
    ['a third way to face', (m) => m.setWord(layout.MESH_FACING, 2), /header/],
    ['no radius', (m) => double(m, layout.MESH_RADIUS, 0), /finite/],
    ['a radius that is none', (m) => double(m, layout.MESH_RADIUS, Number.NaN), /finite/],
    ['a dipole that is none', (m) => m.setWord(m.word(layout.MESH_DIPOLES) + 100, 0x7fc00000), /finite/],
    ['more derived', (m) => derived(m, DERIVED_BYTES, m.word(m.derivedAt(DERIVED_BYTES)) + 16), /header/],
    ['less derived', (m) => derived(m, DERIVED_BYTES, 32), /header/],
    ['convex without a hull', (m) => derived(m, DERIVED_CLUSTER_COUNT, 0), /header/],
    ['not convex, with a hull', (m) => derived(m, DERIVED_CONVEX, 0), /header/],
    ['convex twice', (m) => derived(m, DERIVED_CONVEX, 2), /header/],
    ['more far neighbours', (m) => derived(m, DERIVED_FAR_COUNT, 2), /header/],
    ['far neighbours that wrap around', (m) => derived(m, DERIVED_FAR_COUNT, 0x20000000), /header/],
    ['no part', (m) => derived(m, DERIVED_PART_COUNT, 0), /header/],
    ['more parts', (m) => derived(m, DERIVED_PART_COUNT, 5), /header/],
    ['parts that wrap around', (m) => derived(m, DERIVED_PART_COUNT, 0x40000001), /header/],
    ['another number of clusters', (m) => derived(m, DERIVED_CLUSTER_COUNT, 4), /header/],
    ['clusters that wrap around', (m) => derived(m, DERIVED_CLUSTER_COUNT, 0x80000000), /header/],
    ['something behind the counts', (m) => derived(m, DERIVED_CLUSTER_COUNT + 4, 1), /header/],
    ['a neighbour in front of the first', (m) => short(m, m.neighbourAt(0, 1), -1), /there is not/],
    ['a neighbour behind the last', (m) => short(m, m.neighbourAt(4 * m.blockCount - 1, 2), 1), /there is not/],
    ['a part behind the last', (m) => m.setWord(m.partsAt, 4 * m.blockCount), /there is not/],
    ['other clusters in the hull', (m) => m.setWord(m.hullAt, m.word(m.hullAt) + 4), /header/],
    ['other planes in the hull', (m) => m.setWord(m.hullAt + 4, m.word(m.hullAt + 4) + 1), /header/],
    ['a hull that is whole twice', (m) => m.setWord(m.hullAt + 8, 2), /header/],
    ['a cluster that is nowhere', (m) => m.setWord(m.hullAt + 16, 0x7f800000), /finite/],
    ['a corner that is none', (m) => m.setWord(cornersAt(m) + 20, 0x7fc00000), /finite/],
    ['a corner far outside', (m) => m.setWord(cornersAt(m) + 20, 0x40400000), /finite/],
    ['a plane that is none', (m) => m.setWord(m.buffer.byteLength - 4, 0x7fc00000), /finite/],
    ['a plane far outside', (m) => m.setWord(m.buffer.byteLength - 4, 0x41000000), /finite/],
  ];

  /** Changes a word of the header of the data for deformation. */
  const deform = (m: BakedMesh, offset: number, change: (word: number) => number) =>
    m.setWord(m.deformAt(offset), change(m.word(m.deformAt(offset))) >>> 0);
  const single = (m: BakedMesh, offset: number, value: number) => m.view.setFloat32(m.deformAt(offset), value, true);
  const [NAN, INFINITE] = [0x7fc00000, 0x7f800000];
  const second = (m: BakedMesh) => m.boneBoxAt(1);

  const DEFORM: typeof LINKS = [
    ['more that deforms', (m) => m.setWord(layout.MESH_DEFORM_BYTES, m.word(layout.MESH_DEFORM_BYTES) + 16), /header/],
    ['too little that deforms', (m) => m.setWord(layout.MESH_DEFORM_BYTES, 16), /header/],
    ['another number of vertices that move', (m) => deform(m, DEFORM_VERTEX_COUNT, (n) => n - 1), /header/],
    ['another number of bones', (m) => deform(m, DEFORM_BONE_COUNT, (n) => n + 1), /header/],
    ['another number of targets', (m) => deform(m, DEFORM_TARGET_COUNT, (n) => n + 1), /header/],
    ['targets that are half places', (m) => deform(m, DEFORM_ABSOLUTE, () => 2), /header/],
    ['something behind the counts of bones', (m) => deform(m, DEFORM_PAD, () => 1), /header/],
    ...[Number.NaN, -1, Infinity].map((value): (typeof LINKS)[0] => [
      `a reach of ${value}`,
      (m) => single(m, DEFORM_REACH, value),
      /finite/,
    ]),
    ...[Number.NaN, -Infinity, 1e30].map((value): (typeof LINKS)[0] => [
      `weights that lack ${value} at least`,
      (m) => single(m, DEFORM_MIN_REST, value),
      /finite/,
    ]),
    ...[Number.NaN, Infinity].map((value): (typeof LINKS)[0] => [
      `weights that lack ${value} at most`,
      (m) => single(m, DEFORM_MAX_REST, value),
      /finite/,
    ]),
    ['a vertex at rest that is none', (m) => m.setWord(m.restAt + 20, NAN), /finite/],
    ['a vertex at rest at infinity', (m) => m.setWord(m.weightsAt - 8, INFINITE), /finite/],
    ['a weight that is none', (m) => m.setWord(m.weightsAt + 4, NAN), /finite/],
    ['an infinite weight of the last vertex', (m) => m.setWord(m.bonesAt - 4, INFINITE), /finite/],
    ['a bone behind the last', (m) => m.view.setUint16(m.bonesAt + 2, 3, true), /finite/],
    ['a bone of the last vertex behind the last', (m) => m.view.setUint16(lastBoneAt(m), 0xffff, true), /finite/],
    ...Array.from({ length: 12 }, (_, i): (typeof LINKS)[0] => [
      `an axis or a place of a bone's box that is ${i % 2 === 0 ? 'none' : 'far away'}, ${i}`,
      (m) => double(m, second(m) + 8 * i, i % 2 === 0 ? Number.NaN : -1e301),
      /finite/,
    ]),
    ...[0, 8, 16].flatMap((axis): typeof LINKS => [
      [`a hit box that leaves its bone's, ${axis}`, (m) => double(m, second(m) + BONE_HIT_MIN + axis, -1.01), /finite/],
      [`a hit box that ends beyond, ${axis}`, (m) => double(m, second(m) + BONE_HIT_MAX + axis, 1.01), /finite/],
      [`a hit box from nowhere, ${axis}`, (m) => double(m, second(m) + BONE_HIT_MIN + axis, Number.NaN), /finite/],
      [`a hit box to nowhere, ${axis}`, (m) => double(m, second(m) + BONE_HIT_MAX + axis, Number.NaN), /finite/],
      [`a hit box inside out, ${axis}`, (m) => hitInsideOut(m, axis), /finite/],
    ]),
    ['a bone that is used twice', (m) => m.setWord(second(m) + BONE_USED, 2), /finite/],
    ['two hit boxes of a bone', (m) => m.setWord(second(m) + BONE_HAS_HIT, 2), /finite/],
    ['a hit box of a bone without a vertex', (m) => m.setWord(second(m) + BONE_USED, 0), /finite/],
    ['something behind a box', (m) => m.setWord(second(m) + BONE_PAD, 1), /finite/],
    ['something at the end of a box', (m) => m.setWord(second(m) + BONE_PAD + 4, 1), /finite/],
    ['a range of a target that is none', (m) => m.setWord(m.targetRangeAt(1) + 8, NAN), /finite/],
    ['a shift that is none', (m) => m.setWord(m.shiftsAt + 4, NAN), /finite/],
    ['a place of a target at infinity', (m) => m.setWord(m.placesAt + 4, INFINITE), /finite/],
  ];

  function lastBoneAt(mesh: BakedMesh): number {
    return mesh.bonesAt + 8 * mesh.word(layout.MESH_VERTEX_COUNT) - 2;
  }

  function hitInsideOut(mesh: BakedMesh, axis: number): void {
    const [low, high] = [second(mesh) + BONE_HIT_MIN + axis, second(mesh) + BONE_HIT_MAX + axis];
    const [from, to] = [mesh.view.getFloat64(low, true), mesh.view.getFloat64(high, true)];
    expect(from).toBeLessThan(to);
    double(mesh, low, to);
    double(mesh, high, from);
  }

  test.each(DEFORM)('of bones and targets: %s', (_, forge, message) => {
    const rig = randomRig(new Random(SEED), { bones: 3, targets: 2, relative: false, triangles: icosphere(1, 3) });
    const mesh = new BakedMesh(bake(core, rig.data));
    expect(mesh.word(second(mesh) + BONE_HAS_HIT)).toBe(1);
    core.freeMesh(core.loadMesh(mesh.seal().buffer));
    forge(mesh);
    const { usedBytes } = core;
    expect(() => core.loadMesh(mesh.seal().buffer)).toThrow(badDataError(message));
    expect(core.usedBytes).toBe(usedBytes);
  });

  function cornersAt(mesh: BakedMesh): number {
    return mesh.hullAt + 16 + 24 * mesh.word(mesh.derivedAt(DERIVED_CLUSTER_COUNT));
  }

  test('a far neighbour behind the last', () => {
    const mesh = new BakedMesh(bake(core, farPairs(72_000)));
    const count = mesh.word(mesh.derivedAt(DERIVED_FAR_COUNT));
    expect(count).toBeGreaterThan(60_000);
    const last = mesh.farAt + 8 * (count - 1);
    for (const [at, value] of [
      [last + 4, 4 * mesh.blockCount],
      [last, 16 * mesh.blockCount],
    ]) {
      const bad = new BakedMesh(mesh.buffer).setWord(at, value).seal().buffer;
      expect(() => core.loadMesh(bad)).toThrow(badDataError(/there is not/));
    }
    // If a neighbour that is looked up is not in the list, there is none.
    expect(core.loadMesh(new BakedMesh(mesh.buffer).setWord(last, 0).seal().buffer)).toBeGreaterThan(0);
  });

  /** Returns a node with less than four children, all of them blocks, in the middle of the tree. */
  function narrow(mesh: BakedMesh): number {
    return mesh.nodesWhere(({ inner, count }) => inner === 0 && count < 4)[2];
  }

  /** Returns the node that has the last block. */
  function holder(mesh: BakedMesh): number {
    const last = (m: BakedMesh) =>
      m.nodesWhere(({ firstBlock, inner, count }) => count > inner && firstBlock + count - inner === m.blockCount);
    return last(mesh)[0];
  }

  function swapBlocks(mesh: BakedMesh, a: number, b: number) {
    const { firstBlock } = mesh.links(a);
    mesh.setLinks(a, { firstBlock: mesh.links(b).firstBlock }).setLinks(b, { firstBlock });
  }

  function insideOut(mesh: BakedMesh, axis: number, child: number) {
    const node = mesh.nodeAt(lowest(mesh)[0]) + child;
    const [low, high] = [mesh.view.getUint8(node + NODE_MIN[axis]), mesh.view.getUint8(node + NODE_MAX[axis])];
    expect(low).toBeLessThan(high);
    mesh.view.setUint8(node + NODE_MIN[axis], high);
    mesh.view.setUint8(node + NODE_MAX[axis], low);
  }

  /** The mesh with one triangle less in its header. */
  function without(mesh: BakedMesh): BakedMesh {
    return mesh.setWord(layout.MESH_KEPT_COUNT, mesh.word(layout.MESH_KEPT_COUNT) - 1);
  }

  /** Every node has the next one as its first child, and blocks in the other places while there are enough. */
  function asList(mesh: BakedMesh): BakedMesh {
    let firstBlock = 0;
    for (let node = 0; node < mesh.nodeCount; node++) {
      const inner = node + 1 < mesh.nodeCount ? 1 : 0;
      const leaves = Math.min(4 - inner, mesh.blockCount - firstBlock - inner);
      mesh.setLinks(node, { count: inner + leaves, inner, firstNode: node + 1, firstBlock });
      firstBlock += leaves;
    }
    expect(firstBlock).toBe(mesh.blockCount);
    return mesh;
  }

  test.each([...LINKS, ...NUMBERS, ...DERIVED])('%s', (_, forge, message) => {
    const mesh = new BakedMesh(bake(core, icosphere(1, 9)));
    forge(mesh);
    const { usedBytes } = core;
    expect(() => core.loadMesh(mesh.seal().buffer)).toThrow(badDataError(message));
    expect(core.usedBytes).toBe(usedBytes);
  });

  test('a scale, vertices and sizes without indices', () => {
    const mesh = new BakedMesh(bake(core, unindexed(icosphere(1, 4))));
    mesh.setWord(layout.MESH_VERTEX_COUNT, mesh.word(layout.MESH_VERTEX_COUNT) + 1).seal();
    expect(() => core.loadMesh(mesh.buffer)).toThrow(badDataError(/header/));
  });

  test('more triangles in blocks than there are', () => {
    const mesh = new BakedMesh(bake(core, unindexed(icosphere(1, 4))));
    for (let block = 0; block < mesh.blockCount; block++) {
      for (let lane = 0; lane < 4; lane++) mesh.setWord(mesh.triangleAt(block, lane), FLAT);
    }
    mesh.setWord(mesh.triangleAt(0, 0), 0);
    mesh.setWord(layout.MESH_KEPT_COUNT, 1);
    mesh.setWord(layout.MESH_TRIANGLE_COUNT, 5).setWord(layout.MESH_VERTEX_COUNT, 15).seal();
    expect(() => core.loadMesh(mesh.buffer)).toThrow(badDataError(/there is not/));
  });

  test('what keeps an open mesh open, said wrongly', () => {
    const { positions, indices } = icosphere(1, 4);
    const original = bake(core, { positions, indices: indices.subarray(3) });
    const triangles = indices.length / 3 - 1;
    const FORGERIES: ((mesh: BakedMesh) => unknown)[] = [
      ...[Number.NaN, Infinity, -1].map((weld) => (m: BakedMesh) => double(m, layout.MESH_CLOSING_WELD, weld)),
      (m) => m.setWord(layout.MESH_OPEN_EDGES, 0),
      (m) => m.setWord(layout.MESH_OPEN_TRIANGLE, triangles),
      (m) => m.setWord(layout.MESH_OPEN_EDGE, 3),
    ];
    for (const forge of FORGERIES) {
      const mesh = new BakedMesh(original);
      forge(mesh);
      expect(() => core.loadMesh(mesh.seal().buffer)).toThrow(badDataError(/header/));
    }
  });

  // Four indices are checked together, with a remainder of up to three.
  test.each([5, 6, 7, 8])('one of the last indices beyond the vertices, of %d triangles', (triangles) => {
    const { positions, indices } = icosphere(1, 1);
    for (let fromEnd = 1; fromEnd <= 8; fromEnd++) {
      const mesh = new BakedMesh(bake(core, { positions, indices: indices.subarray(0, 3 * triangles) }));
      const at = mesh.word(layout.MESH_INDICES) + 4 * (3 * triangles - fromEnd);
      mesh.setWord(at, mesh.word(layout.MESH_VERTEX_COUNT) - 1).seal();
      expect(() => core.loadMesh(mesh.buffer)).not.toThrow();
      mesh.setWord(at, mesh.word(layout.MESH_VERTEX_COUNT)).seal();
      expect(() => core.loadMesh(mesh.buffer)).toThrow(badDataError(/there is not/));
    }
  });

  /** A baked soup whose tree has this many nodes. */
  function bakeNodes(random: Random, nodeCount: number): ArrayBuffer {
    const triangles = soup(random, 1000, 0.3, 1);
    for (let count = 300; count < 1000; count++) {
      const baked = bake(core, { ...triangles, indices: triangles.indices.subarray(0, 3 * count) });
      if (new BakedMesh(baked).nodeCount === nodeCount) return baked;
    }
    throw new Error(`no tree has ${nodeCount} nodes`);
  }

  test(`a list of 66 nodes, seed ${SEED}`, () => {
    const mesh = asList(new BakedMesh(bakeNodes(new Random(SEED), 66))).seal();
    expect(() => core.loadMesh(mesh.buffer)).toThrow(badDataError(/deeper/));
  });

  test(`a tree as deep as may be, whose boxes are everywhere, still answers rightly, seed ${SEED}`, () => {
    const random = new Random(SEED);
    const baked = bakeNodes(random, 65); // as a list 64 levels deep
    const mesh = asList(new BakedMesh(baked));
    for (let node = 0; node < mesh.nodeCount; node++) {
      const at = mesh.nodeAt(node);
      mesh.view.setBigUint64(at + NODE_QUATERNION, 0x7fff000000000000n, true);
      for (let axis = 0; axis < 3; axis++) {
        mesh.view.setFloat32(at + NODE_ORIGIN + 4 * axis, -3, true);
        mesh.view.setFloat32(at + NODE_SCALE + 4 * axis, 6 / 255, true);
        mesh.setWord(at + NODE_MIN[axis], 0).setWord(at + NODE_MAX[axis], 0xffffffff);
      }
    }
    const rays = raysAt(random, 500);
    const answers = [baked, mesh.seal().buffer].map((data) => probe(core, core.loadMesh(data), rays));
    expect(answers[0].first.objects).toContain(SUSPECT);
    expect(answers[1]).toEqual(answers[0]);
  });
});
