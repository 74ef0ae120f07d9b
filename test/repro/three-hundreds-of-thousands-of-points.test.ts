// With hundreds of thousands of points along a ray, the tracker took five microseconds of the main thread for each hit that it
// turned into three's Intersection, where three's Raycaster takes less than one to find it: 400,000 blocked the page for two
// seconds. They are assigned field by field since; no test can assert that time on a busy machine, so this one compares the
// Intersections.
import { BufferAttribute, BufferGeometry, Points, Ray, Raycaster, Vector3, Vector4 } from 'three';
import { expect, test } from 'vitest';
import type { BuiltMesh } from '../../src/client/three/geometry/shared-mesh.js';
import { intersectionOf } from '../../src/client/three/query/intersection.js';
import type { Hit } from '../../src/shared/types.js';

const COUNT = 100_000;

const positions = new Float32Array(3 * COUNT);
for (let i = 0; i < COUNT; i++) positions.set([0.01 * (i % 3), 0, -0.001 * i], 3 * i);
const points = new Points(new BufferGeometry().setAttribute('position', new BufferAttribute(positions, 3)));
const raycaster = new Raycaster();
raycaster.ray = new Ray(new Vector3(0, 0, 1), new Vector3(0, 0, -1));
raycaster.params.Points.threshold = 0.1;

const mesh = { primitive: 'points', runs: [{ start: 0 }], index: null } as unknown as BuiltMesh;
const hits = Array.from({ length: COUNT }, (_, i): Hit => {
  const point = [0, 0, -0.001 * i] as const;
  const ids = { object: 1, triangle: -1, element: i, bone: -1, frame: 1 };
  return {
    ...ids,
    distance: 1 + 0.001 * i,
    point,
    normal: [0, 0, 1],
    barycentric: [0, 0, 0],
    distanceToRay: 0.01 * (i % 3),
  };
});
const eye = new Vector4(0, 0, 1, 1);

test('points that are hit become the Intersections that three makes of them', () => {
  const ours = hits.map((hit) => intersectionOf(hit, { object: points, instanceId: undefined }, mesh, eye));
  const threes = raycaster.intersectObject(points);
  expect(ours).toHaveLength(COUNT);
  expect(threes).toHaveLength(COUNT);
  for (let i = 0; i < COUNT; i += 97) {
    const { face, faceIndex, barycoord, ...rest } = ours[i];
    expect([face, faceIndex, barycoord]).toEqual([null, null, null]);
    const expected = threes[i];
    expect(rest.index).toBe(expected.index);
    expect(rest.distanceToRay).toBeCloseTo(expected.distanceToRay!, 6);
    expect(rest.point.distanceTo(expected.point)).toBeLessThan(1e-5);
  }
});
