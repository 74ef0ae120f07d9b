// Data derived from a mesh besides its tree: neighbours, connected
// parts, convexity; against plain code without the core.
import {
  BoxGeometry,
  type BufferGeometry,
  CylinderGeometry,
  Euler,
  IcosahedronGeometry,
  Matrix4,
  SphereGeometry,
  TorusGeometry,
  Vector3,
} from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Core } from '../../../src/worker/binding/core.js';
import { bake, startCore } from '../../fixtures/core.js';
import { BakedMesh } from '../../oracle/baked.js';
import { boxMesh, farPairs, icosphere, soup, type Triangles, transformed, waves, welded } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { convexityError, halfEdges, partsOfTriangles, weldedCorners } from '../../oracle/topology.js';

let core: Core;
beforeEach(async () => {
  core = await startCore();
});

const turned = (geometry: BufferGeometry) =>
  welded(geometry.applyMatrix4(new Matrix4().makeRotationFromEuler(new Euler(0.3, 0.5, 0.7))));

/** A rotated box of 48 triangles per side. */
const thin = (width: number, height: number, depth: number) =>
  transformed(welded(new BoxGeometry(1, 1, 1, 4, 6, 4)), (vertex) =>
    vertex.multiply(new Vector3(width, height, depth)).applyEuler(new Euler(0.3, 0.5, 0.7)),
  );

/** Several meshes in one. */
function together(...meshes: Triangles[]): Triangles {
  const positions: number[] = [];
  const indices: number[] = [];
  for (const mesh of meshes) {
    const first = positions.length / 3;
    for (const x of mesh.positions) positions.push(x);
    for (const i of mesh.indices) indices.push(first + i);
  }
  return { positions: Float32Array.from(positions), indices: Uint32Array.from(indices) };
}

function unwelded({ positions, indices }: Triangles): Triangles {
  return {
    positions: Float32Array.from([...indices].flatMap((i) => [...positions.slice(3 * i, 3 * i + 3)])),
    indices: indices.map((_, i) => i),
  };
}

/** Triangles around one vertex, more than any list of edges is searched for. */
function fan(count: number): Triangles {
  const positions = [0, 0, 0.2];
  for (let i = 0; i < count; i++) {
    const angle = (2 * Math.PI * i) / count;
    positions.push(Math.cos(angle), Math.sin(angle), 0);
  }
  const indices = Array.from({ length: count }, (_, i) => [0, 1 + i, 1 + ((i + 1) % count)]).flat();
  return { positions: Float32Array.from(positions), indices: Uint32Array.from(indices) };
}

/** A fan whose pairs of triangles are alternately short and long, so that they are not consecutive in the tree. */
function gear(teeth: number): Triangles {
  const rim = Array.from({ length: 2 * teeth }, (_, i) => {
    const angle = (Math.PI * i) / teeth;
    const radius = i % 4 < 2 ? 1 : 8;
    return [radius * Math.cos(angle), radius * Math.sin(angle), 0.1 * (i % 3)];
  });
  const last = rim.length;
  const indices = Array.from({ length: last }, (_, i) => [last, i, (i + 1) % last]).flat();
  return { positions: Float32Array.from([...rim.flat(), 0, 0, 1]), indices: Uint32Array.from(indices) };
}

/** Up to a dozen triangles at one edge, on either side of it. */
function books(random: Random, count: number): Triangles {
  const positions: number[] = [];
  const indices: number[] = [];
  for (let i = 0; i < count; i++) {
    const first = positions.length / 3;
    positions.push(i, 0, 0, i, 0, 1);
    const pages = 2 + random.integer(11);
    for (let page = 0; page < pages; page++) {
      positions.push(i + Math.cos(page), Math.sin(page), random.next());
      indices.push(...(random.next() < 0.5 ? [first, first + 1] : [first + 1, first]), first + 2 + page);
    }
  }
  return { positions: Float32Array.from(positions), indices: Uint32Array.from(indices) };
}

/** Triangles between few vertices: many at each edge, and more at a vertex than fit into any waiting list. */
function tangle(random: Random, vertices: number, triangles: number): Triangles {
  const positions = Float32Array.from({ length: 3 * vertices }, () => random.next());
  const indices = Array.from({ length: triangles }, () => {
    const a = random.integer(vertices);
    const b = (a + 1 + random.integer(vertices - 1)) % vertices;
    const others = [...Array(vertices).keys()].filter((i) => i !== a && i !== b);
    return [a, b, others[random.integer(others.length)]];
  });
  return { positions, indices: Uint32Array.from(indices.flat()) };
}

/** Some corners get a vertex of their own where others share one. */
function seamed(random: Random, { positions, indices }: Triangles): Triangles {
  const more = [...positions];
  const own = indices.map((i) => {
    if (random.next() > 0.1) return i;
    more.push(...positions.subarray(3 * i, 3 * i + 3).map((x) => (x === 0 ? -x : x)));
    return more.length / 3 - 1;
  });
  return { positions: Float32Array.from(more), indices: own };
}

const moved = (mesh: Triangles, x: number) => transformed(mesh, (vertex) => vertex.setX(vertex.x + x));
const random = new Random(SEED);
const MESHES: [string, Triangles][] = [
  ['a ball', icosphere(1, 9)],
  ['a ball, each corner a vertex', unwelded(icosphere(1, 9))],
  ['a fan of 3,000', fan(3000)],
  ['a gear of 1,500 teeth', gear(1500)],
  ['waves, open', waves(40)],
  ['waves with seams', seamed(random, waves(40))],
  ['books', books(random, 60)],
  ['a tangle', tangle(random, 60, 500)],
  ['a tangle, each corner a vertex', unwelded(tangle(random, 40, 300))],
  ['soup', soup(random, 400, 0.3, 1)],
  [
    'three balls and a box',
    together(icosphere(1, 3), moved(icosphere(1, 3), 5), moved(boxMesh(1, 2, 3), 9), icosphere(3, 2)),
  ],
  ['a ball twice', together(icosphere(1, 3), icosphere(1, 3))],
  [
    'two boxes that share a vertex',
    together(
      boxMesh(2, 2, 2),
      transformed(boxMesh(2, 2, 2), (v) => v.addScalar(2)),
    ),
  ],
];

describe(`neighbours, seed ${SEED}`, () => {
  test.each(MESHES)('%s: across an edge in opposite directions, mutual, and none is missing', (_, mesh) => {
    const baked = new BakedMesh(bake(core, mesh));
    const corners = weldedCorners(mesh);
    const ends = (triangle: number, edge: number) => [
      corners[3 * triangle + edge],
      corners[3 * triangle + ((edge + 1) % 3)],
    ];
    const matched = new Map<string, number>();
    for (let slot = 0; slot < 4 * baked.blockCount; slot++) {
      const triangle = baked.triangleIn(slot);
      if (triangle < 0) continue;
      for (let edge = 0; edge < 3; edge++) {
        const other = baked.neighbour(slot, edge);
        if (other < 0) continue;
        const [from, to] = ends(triangle, edge);
        const back = [0, 1, 2].find((k) => ends(baked.triangleIn(other), k).join() === `${to},${from}`);
        if (back === undefined || baked.neighbour(other, back) !== slot)
          throw new Error(`${slot}, edge ${edge}: ${other}`);
        matched.set(`${from},${to}`, 1 + (matched.get(`${from},${to}`) ?? 0));
      }
    }
    const half = halfEdges(corners);
    for (const [key, count] of half) {
      const opposite = half.get(key.split(',').reverse().join()) ?? 0;
      if ((matched.get(key) ?? 0) !== Math.min(count, opposite)) throw new Error(`edge ${key}`);
    }
  });

  test('that are too far away for 16 bits are in a list', () => {
    const count = 72_000;
    const baked = new BakedMesh(bake(core, farPairs(count)));
    expect(baked.partsAt - baked.farAt).toBeGreaterThan(8 * count);
    const slots = new Map<number, number>();
    for (let slot = 0; slot < 4 * baked.blockCount; slot++) slots.set(baked.triangleIn(slot), slot);
    for (const i of [0, 1, 2, 17_000, 17_001, 35_998, 35_999]) {
      const [left, right] = [slots.get(2 * i)!, slots.get(2 * i + 1)!];
      expect([0, 1, 2].map((edge) => baked.neighbour(left, edge))).toEqual([right, -1, -1]);
      expect([0, 1, 2].map((edge) => baked.neighbour(right, edge))).toEqual([left, -1, -1]);
    }
  });

  test('of 5,000 triangles in one place there are few, and they take no time', () => {
    const one = boxMesh(1, 1, 1);
    const baked = new BakedMesh(bake(core, together(...Array.from({ length: 400 }, () => one))));
    expect(baked.parts).toHaveLength(1);
  });
});

describe(`connected parts, seed ${SEED}`, () => {
  test.each(MESHES)('%s', (_, mesh) => {
    const baked = new BakedMesh(bake(core, mesh));
    const parts = partsOfTriangles(weldedCorners(mesh));
    const found = baked.parts.map((slot) => parts[baked.triangleIn(slot)]);
    expect(found.toSorted((a, b) => a - b)).toEqual([...new Set(parts)].toSorted((a, b) => a - b));
  });
});

/** 20 triangles over the corners of an icosahedron, with a winding number of seven; no edge is concave. */
function greatIcosahedron(): Triangles {
  const { positions } = welded(new IcosahedronGeometry(1, 0));
  const at = (i: number) => new Vector3().fromArray(positions, 3 * i);
  const isLong = (i: number, j: number) => Math.abs(at(i).dot(at(j)) + 1 / Math.sqrt(5)) < 1e-3;
  const indices: number[] = [];
  for (let i = 0; i < 12; i++) {
    for (let j = i + 1; j < 12; j++) {
      for (let k = j + 1; k < 12; k++) {
        if (!isLong(i, j) || !isLong(j, k) || !isLong(i, k)) continue;
        const isOut =
          at(j)
            .sub(at(i))
            .cross(at(k).sub(at(i)))
            .dot(at(i)) > 0;
        indices.push(i, ...(isOut ? [j, k] : [k, j]));
      }
    }
  }
  return { positions, indices: Uint32Array.from(indices) };
}

/** A ball with one vertex moved towards the centre. */
const dented = (detail: number, depth: number) =>
  transformed(icosphere(1, detail), (vertex) => (vertex.x > 0.999 ? vertex.multiplyScalar(1 - depth) : vertex));

describe('convexity', () => {
  const CONVEX: [string, Triangles][] = [
    ['a ball', icosphere(1, 9)],
    ['a ball, inside out', { ...icosphere(1, 9), indices: icosphere(1, 9).indices.toReversed() }],
    ['a sphere of quads', turned(new SphereGeometry(1, 40, 20))],
    ['a box', boxMesh(1, 2, 3)],
    ['a box of many triangles', welded(new BoxGeometry(1, 2, 3, 12, 12, 12))],
    ['a turned box of many triangles', turned(new BoxGeometry(1, 2, 3, 12, 12, 12))],
    ['a turned cylinder of many triangles', turned(new CylinderGeometry(1, 1, 2, 30, 20))],
    ['a plate', thin(1, 1, 1e-4)],
    ['a needle', thin(1, 1e-4, 1e-4)],
    ['a ball far from its origin', transformed(icosphere(1, 5), (vertex) => vertex.addScalar(1000))],
    ...['x', 'y', 'z'].map((name, axis): [string, Triangles] => {
      const beside = new Vector3().setComponent(axis, 2);
      return [`a ball beside its origin, along ${name}`, transformed(icosphere(1, 5), (vertex) => vertex.add(beside))];
    }),
  ];
  const CONCAVE: [string, Triangles][] = [
    ['a torus', welded(new TorusGeometry(1, 0.3, 20, 30))],
    ['a ball with a dent', dented(9, 0.1)],
    ['a ball with a dent of a hundredth', dented(9, 0.01)],
    ['a large ball with a small dent', dented(50, 0.003)],
    [
      'a box with a pit in a flat side',
      transformed(welded(new BoxGeometry(2, 2, 2, 12, 12, 12)), (v) =>
        Math.hypot(v.x, v.y, v.z - 1) < 0.01 ? v.setZ(v.z - 0.005) : v,
      ),
    ],
    ['two balls', together(icosphere(1, 3), moved(icosphere(1, 3), 5))],
    ['a ball in a ball', together(icosphere(1, 3), icosphere(2, 3))],
    ['what winds around its middle seven times', greatIcosahedron()],
    // Each edge is concave by less than a tenth of a thousandth of the size.
    [
      'a dish of many triangles',
      transformed(icosphere(1, 60), (v) => v.setZ(v.z > 0 ? v.z * 0.01 * (v.x * v.x + v.y * v.y) : v.z)),
    ],
    ['half a ball, which has no inside', { ...icosphere(1, 9), indices: icosphere(1, 9).indices.slice(0, 900) }],
  ];

  test.each(CONVEX)('%s is convex', (_, mesh) => {
    expect(convexityError(mesh)).toBeLessThan(1e-4);
    expect(new BakedMesh(bake(core, mesh)).isConvex).toBe(true);
  });

  test.each(CONCAVE)('%s is not convex', (name, mesh) => {
    if (!name.startsWith('half') && mesh.indices.length < 10_000) expect(convexityError(mesh)).toBeGreaterThan(1e-3);
    expect(new BakedMesh(bake(core, mesh)).isConvex).toBe(false);
  });
});

test('what is derived is a fifth more than tree, triangles and indices of what is not convex', () => {
  const mesh = welded(new TorusGeometry(1, 0.3, 150, 150));
  const baked = bake(core, mesh);
  expect((3 * baked.byteLength) / mesh.indices.length).toBeLessThan(80);
});
