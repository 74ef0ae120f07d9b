// Welding of vertices, against all pairs of them; and edges that keep a mesh open, against counts.
import { type CollisionService, createCollisionService, type MeshData } from 'collision-worker';
import { meshDataFromGeometry, trackScene } from 'collision-worker/three';
import * as three from 'three';
import { Matrix4, Mesh, Scene, Vector3 } from 'three';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Core } from '../../../src/worker/binding/core.js';
import { bake, indicesOf, startCore } from '../../fixtures/core.js';
import { isClosed } from '../../oracle/closed.js';
import { boxMesh, icosphere, merged, soup, type Triangles } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { clustersOf, openEdgesOf } from '../../oracle/weld.js';
import { windingNumber } from '../../oracle/winding.js';

let core: Core;
beforeAll(async () => {
  core = await startCore();
});

/** The built mesh's indices and statistics. */
function built(data: MeshData, weld: number) {
  const mesh = core.loadMesh(bake(core, data, weld));
  const found = { indices: indicesOf(core, mesh), info: core.meshInfo(mesh), check: core.check() };
  core.freeMesh(mesh);
  expect(found.check).toBeNull();
  return found;
}

async function startService(): Promise<CollisionService> {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  return service;
}

const curve = new three.CatmullRomCurve3([new Vector3(-1, 0, 0), new Vector3(0, 1, 0), new Vector3(1, 0, 0)]);
const ring = new three.CatmullRomCurve3([new Vector3(-1, 0, 0), new Vector3(0, 1, 0), new Vector3(1, 0, 0)], true);
/** three's own geometries; the surfaces of solids are closed by this weld. */
const WELD = 1e-6;
const SOLIDS: [name: string, geometry: three.BufferGeometry][] = [
  ['BoxGeometry', new three.BoxGeometry()],
  ['SphereGeometry', new three.SphereGeometry()],
  ['CylinderGeometry', new three.CylinderGeometry()],
  ['ConeGeometry', new three.ConeGeometry()],
  ['TorusGeometry', new three.TorusGeometry()],
  ['TorusKnotGeometry', new three.TorusKnotGeometry()],
  ['CapsuleGeometry', new three.CapsuleGeometry()],
  ['TubeGeometry, closed', new three.TubeGeometry(ring, 64, 0.1, 8, true)],
  ['LatheGeometry', new three.LatheGeometry()],
  ['ExtrudeGeometry', new three.ExtrudeGeometry()],
  ['TetrahedronGeometry', new three.TetrahedronGeometry()],
  ['OctahedronGeometry', new three.OctahedronGeometry(1, 2)],
  ['DodecahedronGeometry', new three.DodecahedronGeometry()],
  ['IcosahedronGeometry', new three.IcosahedronGeometry(1, 3)],
];
const SURFACES: [name: string, geometry: three.BufferGeometry][] = [
  ['PlaneGeometry', new three.PlaneGeometry()],
  ['PlaneGeometry of small squares', new three.PlaneGeometry(1, 1, 1100, 4)],
  ['CircleGeometry', new three.CircleGeometry()],
  ['RingGeometry', new three.RingGeometry()],
  ['ShapeGeometry', new three.ShapeGeometry()],
  ['TubeGeometry', new three.TubeGeometry(curve, 64, 0.1)],
  ['a cylinder without caps', new three.CylinderGeometry(1, 1, 1, 32, 1, true)],
  ['half a sphere', new three.SphereGeometry(1, 32, 16, 0, Math.PI)],
];

describe(`clusters, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const [tiny, huge] = [1e-30, 1e30];
  const ulps = (value: number, steps: number) => {
    const bits = new Uint32Array(new Float32Array([value]).buffer);
    bits[0] += steps;
    return new Float32Array(bits.buffer)[0];
  };
  const CLOUDS: [name: string, positions: number[], weld: number][] = [
    ['anywhere', Array.from({ length: 900 }, () => random.range(-1, 1)), 0.12],
    ['anywhere, of a huge size', Array.from({ length: 900 }, () => random.range(-huge, huge)), 0.12 * huge],
    ['anywhere, of a tiny size', Array.from({ length: 900 }, () => random.range(-tiny, tiny)), 0.12 * tiny],
    ['anywhere, far away', Array.from({ length: 900 }, () => 1e6 + random.range(-1, 1)), 0.12],
    ['on a grid, a hair farther apart', Array.from({ length: 900 }, () => random.integer(8)), 1],
    ['on a grid, a hair nearer', Array.from({ length: 900 }, () => random.integer(8)), 1.0001],
    ['on a grid, diagonals included', Array.from({ length: 600 }, () => random.integer(30)), 1.5],
    ['a chain', Array.from({ length: 300 }, (_, i) => [0.9 * ((i * 7) % 100), i % 3 && 1e-3, i % 2 && 5]).flat(), 1],
    [
      'pairs at every distance',
      Array.from({ length: 200 }, (_, i) => [10 * (i >> 1), (i % 2) * (i / 100), 0]).flat(),
      1,
    ],
    ['about zero', Array.from({ length: 300 }, () => random.pick([0, -0, 2.4e-16, -2.4e-16, 1, ulps(1, 1)])), 1e-20],
    ['about zero, less near', Array.from({ length: 300 }, () => random.pick([0, -0, 2.4e-16, -2.4e-16, 1])), 3e-16],
    [
      'by the least that float32 knows',
      Array.from({ length: 300 }, () => random.pick([0, 1e-45, 3e-45, 1e-44])),
      2e-45,
    ],
    ['many in one place', Array.from({ length: 900 }, (_, i) => (i < 450 ? 5 : random.range(0, 10))), 0.5],
  ];
  test.each(CLOUDS)('%s', (_, positions, weld) => {
    const all = Float32Array.from(positions);
    const count = all.length / 3;
    const expected = clustersOf(all, weld);
    // Each vertex in some triangle; and one triangle with an area, of vertices that are far from the others.
    const far = 4 * all.reduce((most, each) => Math.max(most, Math.abs(each)), 0) + 10 * weld;
    const data = Float32Array.from([...all, far, far, far, 2 * far, far, far, far, 3 * far, far]);
    const corners = Array.from({ length: count }, (_, i) => [i, (i + 1) % count, (i + 2) % count]).flat();
    const indices = Uint32Array.from([...corners, count, count + 1, count + 2]);
    const found = built({ positions: data, indices }, weld).indices!;
    expect([...found]).toEqual([...corners.map((i) => expected[i]), count, count + 1, count + 2]);
    const clusters = new Set(expected).size;
    expect(clusters).toBeLessThan(count);
    expect(clusters).toBeGreaterThan(1);
  });

  test('only what triangles have is joined, and nothing by way of a vertex that is not finite', () => {
    const positions = Float32Array.from([0, 0, 0, 0.9, 0, 0, 1.8, 0, 0, 0, 5, 0, Number.NaN, 0, 0, 7, 7, 7]);
    expect([...built({ positions, indices: Uint32Array.of(0, 2, 3, 0, 4, 3) }, 1).indices!]).toEqual([
      0, 2, 3, 0, 4, 3,
    ]);
    expect([...built({ positions, indices: Uint32Array.of(0, 2, 3, 1, 5, 3) }, 1).indices!]).toEqual([
      0, 0, 3, 0, 5, 3,
    ]);
  });

  test('all others are joined, whatever coordinate is not finite', () => {
    // Pairs on a parabola, and triangles of three pairs.
    const coordinates = Array.from({ length: 12 }, (_, i) => [10 * (i >> 1), i & 1, (i >> 1) ** 2]).flat();
    const corners = Array.from({ length: 36 }, (_, i) => (Math.floor(i / 3) + 2 * (i % 3)) % 12);
    for (let at = 0; at < coordinates.length; at++) {
      const positions = Float32Array.from(coordinates.with(at, random.pick([Number.NaN, Infinity, -Infinity])));
      const pair = Math.floor(at / 6);
      const expected = corners.map((i) => (i >> 1 === pair ? i : i & ~1));
      expect([...built({ positions, indices: Uint32Array.from(corners) }, 1.5).indices!], `${at}`).toEqual(expected);
    }
  });

  // Quadratic work on this many would take minutes.
  test('many vertices in few places', { timeout: 20_000 }, () => {
    const copies = 20_000;
    const one = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    const positions = new Float32Array(12 * copies);
    for (let i = 0; i < copies; i++) positions.set(one, 12 * i);
    const faces = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3];
    const indices = Uint32Array.from({ length: 12 * copies }, (_, i) => 4 * Math.floor(i / 12) + faces[i % 12]);
    const { info, indices: found } = built({ positions, indices }, 0.1);
    expect(info.closed).toBe(true);
    expect(found!.findIndex((corner, i) => corner !== faces[i % 12])).toBe(-1);
  });
});

describe('three’s forms', () => {
  test.each(SOLIDS)('%s is closed by 1e-6, and what is said without is so', (_, geometry) => {
    const data = meshDataFromGeometry(geometry);
    const welded = built(data, WELD);
    expect(welded.info).toMatchObject({ closed: true, openEdges: 0, openEdge: null, closingWeld: null });
    expect(isClosed({ positions: data.positions, indices: welded.indices! })).toBe(true);

    const { info } = built(data, 0);
    const open = openEdgesOf(data);
    expect([info.closed, info.openEdges]).toEqual([open.size === 0, open.size]);
    if (info.closed) return;
    const { triangle, edge, from, to } = info.openEdge!;
    const ends = [from, to].map((end) => `${end}`);
    expect(open.has(ends.sort().join(' '))).toBe(true);
    const corner = (k: number) => data.indices![3 * triangle + (k % 3)];
    const places = [corner(edge), corner(edge + 1)].map((i) => `${data.positions.subarray(3 * i, 3 * i + 3)}`);
    expect(places.sort()).toEqual(ends.sort());
    expect(built(data, info.closingWeld!).info.closed).toBe(true);
    expect(built(data, info.closingWeld! / 1.03).info.closed).toBe(false);
  });

  test.each(SURFACES)('%s stays open, and no weld is named', (_, geometry) => {
    const data = meshDataFromGeometry(geometry);
    const { info } = built(data, WELD);
    const { openEdges, closingWeld } = info;
    expect([info.closed, closingWeld]).toEqual([false, null]);
    expect(built(data, 0).info.openEdges).toBe(openEdgesOf(data).size);
    expect(openEdges).toBeGreaterThan(2);
  });

  test('seams of any width and size: the least weld is found', () => {
    const random = new Random(SEED);
    for (let round = 0; round < 40; round++) {
      const { positions, indices } = icosphere(random.logRange(1e-3, 1e3), 3);
      // Every triangle separate, its corners off by up to a ten thousandth.
      const size = Math.max(...positions);
      const own = [...indices].flatMap((i) => [...positions.subarray(3 * i, 3 * i + 3)]);
      const off = size * random.logRange(1e-7, 1e-4);
      const data = { positions: Float32Array.from(own, (each) => each + random.range(-off, off)) };
      const { info } = built(data, 0);
      if (info.closed) continue;
      expect(info.openEdges).toBe(openEdgesOf(data).size);
      expect(info.closingWeld).toBeLessThan(4 * off);
      expect(built(data, info.closingWeld!).info.closed).toBe(true);
      expect(built(data, info.closingWeld! / 1.03).info.closed).toBe(false);
    }
  });

  test('random triangles, some of them merged: as many open edges as counted', () => {
    const random = new Random(SEED);
    for (let round = 0; round < 30; round++) {
      const box = boxMesh(1, 1, 1);
      const some = Uint32Array.from(box.indices.slice(0, 3 * (1 + random.integer(12))));
      const parts: Triangles[] = [
        { positions: box.positions, indices: some },
        soup(random, 1 + random.integer(20), 1, 2),
      ];
      if (random.chance(0.5)) parts.push(parts[0]);
      const data = merged(parts);
      expect(built(data, 0).info.openEdges).toBe(openEdgesOf(data).size);
    }
  });
});

describe('through the service', () => {
  test('what cannot be a weld is refused', async () => {
    const service = await startService();
    const data = boxMesh(1, 1, 1);
    for (const weld of [Number.NaN, -1, Number.POSITIVE_INFINITY, '1', null]) {
      await expect(service.addMesh(data, { weld: weld as number })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining('weld'),
      });
    }
    for (const weld of [2, 1e300]) {
      await expect(service.addMesh(data, { weld })).rejects.toMatchObject({
        code: 'BAD_DATA',
        message: expect.stringContaining(`vertices nearer than ${weld} are one`),
      });
    }
    const baked = await service.bakeMesh(await service.addMesh(data, { weld: 1e-320 }));
    await expect(service.addMesh(baked, { weld: 1 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(service.meshInfo(await service.addMesh(baked, { weld: 0 })).closed).toBe(true);
  });

  test('the error for a solid that is open says what keeps it so', async () => {
    const service = await startService();
    const addSolid = async (geometry: three.BufferGeometry) => {
      const mesh = await service.addMesh(meshDataFromGeometry(geometry));
      return service.addObject({ shape: { type: 'mesh', mesh, solid: true } });
    };
    await expect(addSolid(new three.SphereGeometry())).rejects.toThrow(
      /not closed: 32 edges .*edge 0 of triangle 0, from \(0, 1, 0\) to \(-0\.195.*; weld: 2\.\d+e-16 closes it/,
    );
    await expect(addSolid(new three.PlaneGeometry())).rejects.toThrow(/4 edges .*; no small weld closes it/);
  });

  test('a welded sphere is solid, also on the very plane of its seam, and hits keep their triangles', async () => {
    const service = await startService();
    const random = new Random(SEED);
    const data = meshDataFromGeometry(new three.SphereGeometry(1, 24, 12).toNonIndexed());
    const mesh = await service.addMesh(data, { weld: WELD });
    const plain = await service.addMesh(data);
    const id = service.addObject({ shape: { type: 'mesh', mesh, solid: true } });
    const corners = Uint32Array.from({ length: data.positions.length / 3 }, (_, i) => i);
    for (let i = 0; i < 200; i++) {
      const point = random.point(1.2);
      if (i % 2) point.z = 0;
      if (i % 4 === 3) point.y = 0;
      const number = windingNumber({ positions: data.positions, indices: corners }, point);
      const around = await service.containing(point.toArray());
      expect(around.length === 1, `${point.toArray()}`).toBe(Math.abs(number) > 0.5);
    }
    const inner = service.addObject({ shape: { type: 'sphere', radius: 0.1 } });
    const { contacts } = await service.update();
    expect([...contacts]).toMatchObject([{ a: id, b: inner }]);
    service.removeObject(inner);

    const other = service.addObject({ shape: { type: 'mesh', mesh: plain } });
    for (let i = 0; i < 100; i++) {
      const ray = {
        origin: random.direction().multiplyScalar(3).toArray(),
        direction: [0, 0, 0] as [number, number, number],
      };
      ray.direction = random
        .point(0.5)
        .sub(new Vector3(...ray.origin))
        .toArray();
      const welded = await service.raycast(ray, { ignore: [other] });
      const without = await service.raycast(ray, { ignore: [id] });
      expect(welded?.triangle).toBe(without?.triangle);
      expect(welded?.distance ?? 0).toBeCloseTo(without?.distance ?? 0, 12);
    }
  });

  test('vertices that move stay welded, in the old tree and in a new one; so do baked meshes', async () => {
    const service = await startService();
    const random = new Random(SEED);
    const data = meshDataFromGeometry(new three.SphereGeometry(1, 24, 12));
    const mesh = await service.addMesh(data, { weld: WELD });
    const id = service.addObject({ shape: { type: 'mesh', mesh, solid: true } });
    // The ends of the seam move apart; a rough surface, so that the tree is built anew.
    const torn = data.positions.map((each) => 1.5 * each + random.range(-0.02, 0.02));
    await service.updateMesh(mesh, torn);
    expect(service.meshInfo(mesh).closed).toBe(true);
    expect([...(await service.containing([0.1, 0, 0]))]).toEqual([id]);
    await service.updateMesh(
      mesh,
      data.positions.map(() => random.range(-1, 1)),
    );
    await expect.poll(() => service.meshInfo(mesh)).toMatchObject({ closed: true, rebuilds: 1 });
    await service.updateMesh(mesh, torn);
    const copy = await service.addMesh(await service.bakeMesh(mesh));
    expect(service.meshInfo(copy).closed).toBe(true);
    service.addObject({ shape: { type: 'mesh', mesh: copy, solid: true } });
    for (const point of [
      [0.1, 0, 0],
      [0, 0, 1.2],
      [1.6, 0, 0],
      [0, -1.3, 0],
    ] as const) {
      expect([0, 2]).toContain((await service.containing(point)).length);
    }
  });

  test('a tracked object asks for it; without, it says why it is not solid', async () => {
    const service = await startService();
    const scene = new Scene();
    const geometry = new three.SphereGeometry();
    const [welded, open] = [new Mesh(geometry), new Mesh(geometry)];
    open.position.x = 5;
    scene.add(welded, open);
    const tracker = await trackScene(service, scene, {
      objectOptions: (object) => ({ solid: true, weld: object === welded ? WELD : 0 }),
    });
    expect([...tracker.untracked.keys()]).toEqual([open]);
    expect(tracker.untracked.get(open)!.message).toMatch(/32 edges .*; weld: 2\.\d+e-16 closes it/);
    expect([...(await service.containing([0, 0, 0]))]).toEqual([...tracker.idsOf(welded)]);
    expect(new Matrix4().equals(welded.matrixWorld)).toBe(true);
  });
});
