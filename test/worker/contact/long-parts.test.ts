// Long hollow parts, such as pipes and ducts, through each other's walls: no contact region is deeper than the overlap of
// their bounding boxes, which separate across both parts sooner than along one.
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { CONTACTS_MANIFOLD } from '../../../src/shared/layout.js';
import { NearScene } from '../../fixtures/near-scene.js';
import type { Triangles } from '../../oracle/meshes.js';
import { ConvexSolid, penetration } from '../../oracle/penetration.js';
import { Random, SEED } from '../../oracle/random.js';

const COUNT = 150;

/** A closed pipe along z: an outer and an inner wall, and a ring at each end. */
function pipe(length: number, outer: number, inner: number, sides: number): Triangles {
  const positions = [-0.5, 0.5].flatMap((end) =>
    [outer, inner].flatMap((radius) =>
      Array.from({ length: sides }, (_, i) => {
        const angle = ((i + 0.5) / sides) * 2 * Math.PI;
        return [radius * Math.cos(angle), radius * Math.sin(angle), end * length];
      }),
    ),
  );
  const at = (end: number, wall: number, i: number) => (2 * end + wall) * sides + (i % sides);
  const indices = Array.from({ length: sides }, (_, i) => {
    const quad = (a: number, b: number, c: number, d: number) => [a, b, c, a, c, d];
    return [
      quad(at(0, 0, i), at(0, 0, i + 1), at(1, 0, i + 1), at(1, 0, i)),
      quad(at(0, 1, i + 1), at(0, 1, i), at(1, 1, i), at(1, 1, i + 1)),
      quad(at(0, 0, i + 1), at(0, 0, i), at(0, 1, i), at(0, 1, i + 1)),
      quad(at(1, 0, i), at(1, 0, i + 1), at(1, 1, i + 1), at(1, 1, i)),
    ].flat();
  });
  return { positions: Float32Array.from(positions.flat()), indices: Uint32Array.from(indices.flat()) };
}

const PARTS: [mesh: Triangles, halfExtents: [number, number, number]][] = [
  [pipe(10, 0.3, 0.25, 24), [0.3, 0.3, 5]],
  [pipe(10, 0.1, 0.08, 12), [0.1, 0.1, 5]],
  [pipe(8, Math.SQRT1_2, Math.SQRT1_2 - 0.03, 4), [0.5, 0.5, 4]],
];

test(`${COUNT} pairs of pipes and ducts, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const parts = PARTS.map(([mesh, halfExtents]) => ({ shape: scene.mesh(mesh), halfExtents }));
  let regions = 0;
  for (let i = 0; i < COUNT; i++) {
    const [p, q] = [random.pick(parts), random.pick(parts)];
    const turn = new Matrix4().makeRotationFromQuaternion(random.rotation()).setPosition(random.point(0.3));
    const [a, b] = [scene.add(p.shape, new Matrix4()), scene.add(q.shape, turn)];
    const contact = scene.core.pairs.contact(a.id, b.id, CONTACTS_MANIFOLD);
    for (const thing of [a, b]) scene.remove(thing);
    if (!contact) continue;
    const boxes = [p, q].map(({ halfExtents }, k) => {
      return new ConvexSolid({ shape: { type: 'box', halfExtents } }, [a, b][k].matrix);
    });
    // A round part's box may be turned about its axis: it is wider across then.
    const most = Math.SQRT2 * penetration(boxes[0], boxes[1]);
    for (const depth of contact.depths) {
      expect(depth, `case ${i}`).toBeLessThan(most);
      regions++;
    }
  }
  expect(regions).toBeGreaterThan(4 * COUNT);
});
