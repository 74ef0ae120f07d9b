// The outline that contains another was searched for among those that begin farther to the left in the plane. If a hole
// shares a wall with its hollow solid, rounding decided which begins first: such a hole was taken for a solid of its own.
import { createCollisionService } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { boxMesh, merged, transformed } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

test(`a hole at a wall is inside of what it is in, however both are tilted, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const service = await createCollisionService();
  // The first one is hollowed by four others, one at each of its walls; their depths differ, so that none share edges.
  const places = [
    [4, 4, 0, 0],
    [1, 1, -1.5, -0.5],
    [1, 1, 1.5, 0.5],
    [1, 1, -0.5, -1.5],
    [1, 1, 0.5, 1.5],
  ];
  const blocks = places.map(([width, height, x, y], i) =>
    transformed(boxMesh(width, height, 2 + i), (vertex) => vertex.add(new Vector3(x, y, 0))),
  );
  const { positions, indices } = merged(blocks);
  const mesh = await service.addMesh({ positions, indices });
  const id = service.addObject({ shape: { type: 'mesh', mesh } });
  for (let i = 0; i < 40; i++) {
    const angle = random.range(-1.5, 1.5);
    const matrix = i & 1 ? new Matrix4().makeRotationX(angle) : new Matrix4().makeRotationY(angle);
    matrix.setPosition(random.point(i & 2 ? 1e4 : 1));
    service.setTransform(id, matrix.elements);
    await service.update();
    const normal = new Vector3(0, 0, 1).transformDirection(matrix);
    const plane = [...normal, -normal.dot(new Vector3(0, 0, random.range(-0.9, 0.9)).applyMatrix4(matrix))];
    const { triangles, starts, parents } = await service.section(plane);
    const blockOf = Array.from(parents, (_, k) => Math.floor(triangles[starts[k]] / 12));
    const around = blockOf.map((block, k) => [block, parents[k] < 0 ? -1 : blockOf[parents[k]]]);
    expect(
      around.sort(([a], [b]) => a - b),
      `${i}: by ${angle}`,
    ).toEqual([0, 1, 2, 3, 4].map((block) => [block, block === 0 ? -1 : 0]));
  }
  service.dispose();
});
