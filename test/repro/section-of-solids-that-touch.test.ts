// The nesting of outlines was tested at points on outlines: if solids of one mesh touch, such a point is on another outline, too,
// and one solid was taken for a hole in its neighbour.
import { type CollisionService, createCollisionService, type Section } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { boxMesh, merged, type Triangles, transformed } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';
import { flatLoop, loopArea } from '../oracle/sections.js';

/**
 * A block in the plane: low xy and high xy, and the block in which it is a hole. Their depths differ, so that none share edges.
 */
type Block = readonly [number, number, number, number, (number | undefined)?];

const SCENES: [string, Block[]][] = [
  [
    'side by side, as high',
    [
      [0, 0, 1, 1],
      [1, -1, 2, 1],
    ],
  ],
  [
    'side by side, the one in the midst of the other',
    [
      [0, -2, 1, 2],
      [1, -1, 2, 1],
    ],
  ],
  [
    'one on the other',
    [
      [0, 0, 1, 1],
      [0, 1, 2, 2],
      [0, 2, 1, 3],
    ],
  ],
  [
    'corner to corner',
    [
      [0, 0, 1, 1],
      [1, 1, 2, 2],
      [2, 2, 3, 3],
      [1, -1, 2, 0],
    ],
  ],
  [
    'beside a hollow one',
    [
      [0, 0, 1, 1],
      [1, -1, 4, 2],
      [2, 0.25, 3, 0.75, 1],
    ],
  ],
  [
    'about a hollow one',
    [
      [1, 1, 4, 4],
      [0, 1, 1, 4],
      [4, 1, 5, 4],
      [1, 0, 4, 1],
      [1, 4, 4, 5],
      [2, 2, 3, 3, 0],
    ],
  ],
];

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());

function meshOf(blocks: readonly Block[]): Triangles {
  return merged(
    blocks.map(([x, y, s, t], i) =>
      transformed(boxMesh(s - x, t - y, 2 + i), (v) => v.add(new Vector3((x + s) / 2, (y + t) / 2, 0))),
    ),
  );
}

async function sectionOf(mesh: Triangles, matrix: Matrix4, plane: readonly number[]): Promise<Section> {
  const handle = await service.addMesh({ positions: mesh.positions.slice(), indices: mesh.indices.slice() });
  const id = service.addObject({ shape: { type: 'mesh', mesh: handle }, matrix: matrix.elements });
  await service.update();
  const section = await service.section(plane, { caps: true });
  service.removeObject(id);
  service.removeMesh(handle);
  return section;
}

/** Compares with the definition of the blocks. */
function compare(section: Section, blocks: readonly Block[], normal: Vector3, name: string): void {
  const blockOf = Array.from(section.closed, (_, i) => Math.floor(section.triangles[section.starts[i]] / 12));
  expect(
    [...blockOf].sort((a, b) => a - b),
    name,
  ).toEqual(blocks.map((_, i) => i));
  let expected = 0;
  for (const [outline, block] of blockOf.entries()) {
    const [x, y, s, t, hole = -1] = blocks[block];
    const parent = section.parents[outline];
    expect(parent < 0 ? -1 : blockOf[parent], `${name}: around block ${block}`).toBe(hole);
    const loop = flatLoop(section.points, section.starts[outline], section.starts[outline + 1], normal, 0);
    const area = (s - x) * (t - y) * (hole < 0 ? 1 : -1);
    expect(loopArea(loop), `${name}: block ${block}`).toBeCloseTo(area, 4);
    expected += area;
  }
  let filled = 0;
  const at = (i: number) => new Vector3().fromArray(section.points, 3 * section.caps[i]);
  for (let i = 0; i < section.caps.length; i += 3) {
    filled +=
      at(i + 1)
        .sub(at(i))
        .cross(at(i + 2).sub(at(i)))
        .dot(normal) / 2;
  }
  expect(filled, name).toBeCloseTo(expected, 4);
}

test.each(SCENES)(`solids of one mesh are no holes in each other: %s, seed ${SEED}`, async (name, blocks) => {
  const random = new Random(SEED);
  for (let i = 0; i < 8; i++) {
    // Mirrored, with x and y swapped, in both orders.
    const place = ([x, y, s, t, hole]: Block): Block => {
      const [a, b, c, d] = [i & 1 ? -s : x, i & 2 ? -t : y, i & 1 ? -x : s, i & 2 ? -y : t];
      return i & 4 ? [b, a, d, c, hole] : [a, b, c, d, hole];
    };
    const placed = blocks.map(place);
    const last = blocks.length - 1;
    const reversed = placed
      .toReversed()
      .map(([x, y, s, t, hole]): Block => [x, y, s, t, hole === undefined ? undefined : last - hole]);
    for (const order of [placed, reversed]) {
      const mesh = meshOf(order);
      compare(await sectionOf(mesh, new Matrix4(), [0, 0, 1, 0]), order, new Vector3(0, 0, 1), `${name}, ${i}`);
      // Rotated, touching blocks touch only to within rounding.
      const matrix = random.placement(random.point(i % 2 ? 1e4 : 1));
      const normal = new Vector3(0, 0, 1).transformDirection(matrix);
      const plane = [...normal, -normal.dot(new Vector3().setFromMatrixPosition(matrix))];
      compare(await sectionOf(mesh, matrix, plane), order, normal, `${name}, ${i}, turned`);
    }
  }
});

test('among so many that each looks to its left alone', async () => {
  const blocks: Block[] = [];
  for (let i = 0; i < 100; i++) {
    const [x, y] = [5 * i, 3 * (i % 7)];
    blocks.push([x, y, x + 1, y + 1], [x + 1, y - 1, x + 4, y + 2], [x + 2, y + 0.25, x + 3, y + 0.75, 3 * i + 1]);
  }
  const mesh = meshOf(blocks);
  const turned = new Matrix4().makeRotationAxis(new Vector3(1, 2, 3).normalize(), 0.7);
  for (const matrix of [new Matrix4(), new Matrix4().makeScale(-1, 1, 1), turned]) {
    const normal = new Vector3(0, 0, 1).transformDirection(matrix);
    compare(await sectionOf(mesh, matrix, [...normal, 0]), blocks, normal, 'many');
  }
});
