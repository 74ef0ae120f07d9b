// The core's meshes as the worker sees them: what it reads from them, and what it refuses.
import type { MeshData } from 'collision-worker';
import { Matrix4 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Core } from '../../src/worker/binding/core.js';
import { bake, indicesOf, meshesIntersect, startCore } from '../fixtures/core.js';
import { boxMesh, icosphere, type Triangles } from '../oracle/meshes.js';

let core: Core;
beforeEach(async () => {
  core = await startCore();
});

const load = (mesh: MeshData) => core.loadMesh(bake(core, mesh));

/** The same triangles, unindexed. */
function unindexed({ positions, indices }: Triangles): MeshData {
  return {
    positions: Float32Array.from(Array.from(indices, (i) => [...positions.subarray(3 * i, 3 * i + 3)]).flat()),
  };
}

describe('what is known of a mesh', () => {
  const ball = icosphere(1, 4);

  test('that is closed', () => {
    const baked = bake(core, ball);
    expect(core.meshInfo(core.loadMesh(baked))).toEqual({
      ...{ topology: 'triangles', elements: ball.indices.length / 3 },
      ...{ triangles: ball.indices.length / 3, vertices: ball.positions.length / 3, degenerate: 0 },
      ...{ closed: true, openEdges: 0, openEdge: null, closingWeld: null, bytes: baked.byteLength, cost: 1 },
      ...{ bones: 0, morphs: 0 },
    });
  });

  // Three faces of a tetrahedron: the corner at which each begins determines which of its edges is the open one.
  test.each([0, 1, 2])('that is open, with corners from number %d on', (first) => {
    const corners = [
      [0, 0, 0],
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ];
    const faces = [
      [0, 2, 1],
      [0, 1, 3],
      [1, 2, 3],
    ].map((face) => [0, 1, 2].map((k) => face[(first + k) % 3]));
    const mesh = { positions: new Float32Array(corners.flat()), indices: Uint32Array.from(faces.flat()) };
    const { closed, openEdges, openEdge } = core.meshInfo(load(mesh));
    expect([closed, openEdges]).toEqual([false, 3]);
    const { triangle, edge, from, to } = openEdge!;
    const ends = [edge, edge === 2 ? 0 : edge + 1].map((k) => corners[faces[triangle][k]]);
    expect([from, to].map(String).sort()).toEqual(ends.map(String).sort());
    // The corners of the missing face.
    expect([from, to].map(String)).not.toContain(String(corners[1]));
  });

  test('are its indices, where it has any', () => {
    const meshes = [ball, unindexed(ball), boxMesh(1, 2, 3)].map(load);
    expect(meshes.map((mesh) => indicesOf(core, mesh))).toEqual([ball.indices, undefined, boxMesh(1, 2, 3).indices]);
  });
});

describe('vertices that move', () => {
  test('are as many as before, and finite', () => {
    const mesh = load(boxMesh(1, 1, 1));
    const before = core.bakeMesh(mesh);
    const { positions } = boxMesh(1, 1, 1);
    expect(() => core.refitMesh(mesh, positions.subarray(3))).toThrow(
      `the length of positions is ${positions.length - 3}, expected ${positions.length} for its ${positions.length / 3} vertices`,
    );
    const broken = positions.slice();
    broken.set([5, Number.NaN, 7], 6);
    expect(() => core.refitMesh(mesh, broken)).toThrow('vertex 2 of positions is (5, NaN, 7)');
    expect(core.bakeMesh(mesh)).toEqual(before);
  });

  test('take no memory but their own', () => {
    const [ball, beside] = [icosphere(1, 20), icosphere(1, 2)];
    const [mesh, other] = [ball, beside].map(load);
    const before = core.bakeMesh(other);
    for (let i = 0; i < 3; i++)
      expect(
        core.refitMesh(
          mesh,
          ball.positions.map((x) => x * (i + 2)),
        ),
      ).toBe(true);
    expect(core.check()).toBeNull();
    expect(core.bakeMesh(other)).toEqual(before);
  });
});

test('meshes meet where their triangles do', () => {
  const [small, large] = [boxMesh(1, 1, 1), boxMesh(3, 3, 3)].map(load);
  const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
  expect([0, 0.9, 1.5, 2.1].map((x) => meshesIntersect(core, large, small, at(x)))).toEqual([
    false,
    false,
    true,
    false,
  ]);
});
