// With a threshold, a line was tested at its closest point to the ray, whether or not planes cut that point away: what was left of
// it was not hit, though with a radius in pixels it was.
import { type CollisionService, createCollisionService, type Vec3 } from 'collision-worker';
import { Line3, Plane, Vector3 } from 'three';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random, SEED } from '../oracle/random.js';

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());

async function addLine(ends: readonly Vector3[]): Promise<number> {
  const positions = Float32Array.from(ends.flatMap((end) => end.toArray()));
  return service.addObject({ shape: { type: 'mesh', mesh: await service.addMesh({ positions, topology: 'lines' }) } });
}

test('an upright line is hit from above where a plane cuts it', async () => {
  const line = await addLine([new Vector3(2, 0, 0), new Vector3(2, 3, 0)]);
  const ray = { origin: [2.125, 12, 0], direction: [0, -1, 0] } as const;
  for (const [clip, clipIntersection, height] of [
    [[0, 1, 0, -1], false, 1],
    [[0, 1, 0, -1, 0, -1, 0, 2.5], false, 1],
    [[0, 1, 0, -2, 0, -1, 0, -1], true, 2],
  ] as const) {
    const options = { threshold: 0.25, clip, clipIntersection };
    const hit = await service.raycast(ray, options);
    expect(hit, `${clip}`).toMatchObject({ object: line, distance: 12 - height, distanceToRay: 0.125 });
    expect(hit!.point).toEqual([2, height, 0]);
    expect(await service.raycastAll(ray, options)).toEqual([hit]);
    expect(await service.lineOfSight(ray.origin, [2.125, -5, 0], options)).toBe(false);
  }
  expect(await service.raycast(ray, { threshold: 0.25, clip: [0, 1, 0, -4] })).toBeNull();
  service.removeObject(line);
});

test(`a line is hit within a threshold as what is left of it, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  let moved = 0;
  for (let round = 0; round < 200; round++) {
    const plane = new Plane(random.direction(), random.range(-0.3, 0.3));
    const ends = [random.point(1), random.point(1)];
    for (const end of ends) end.fromArray(Float32Array.from(end.toArray()));
    const [a, b] = ends.map((end) => plane.distanceToPoint(end));
    if (a < 0 && b < 0) continue;
    const cut = ends[0].clone().lerp(ends[1], a / (a - b));
    const left = new Line3(a < 0 ? cut : ends[0], b < 0 ? cut : ends[1]);
    const line = await addLine(ends);
    for (let i = 0; i < 5; i++) {
      const direction = random.direction();
      const offset = random.direction().multiplyScalar(0.2);
      const origin = left.at(random.range(0, 1), new Vector3()).addScaledVector(direction, -5).add(offset);
      const options = { threshold: 0.19, clip: [...plane.normal, plane.constant] };
      const hit = await service.raycast(
        { origin: origin.toArray() as Vec3, direction: direction.toArray() as Vec3 },
        options,
      );
      // The distance from the ray is convex along the line: a ternary search finds where it is least.
      let [from, to] = [0, 1];
      const distanceAt = (s: number) => {
        const point = left.at(s, new Vector3()).sub(origin);
        return point.addScaledVector(direction, -point.dot(direction)).length();
      };
      for (let step = 0; step < 100; step++) {
        const [p, q] = [from + (to - from) / 3, to - (to - from) / 3];
        if (distanceAt(p) < distanceAt(q)) to = q;
        else from = p;
      }
      const least = distanceAt(from);
      if (Math.abs(least - options.threshold) < 1e-6) continue;
      expect(hit !== null, `round ${round}, ray ${i}`).toBe(least < options.threshold);
      if (!hit) continue;
      expect(hit.distanceToRay).toBeCloseTo(least, 6);
      const height = plane.distanceToPoint(new Vector3(...hit.point));
      expect(height).toBeGreaterThan(-1e-12);
      if (Math.abs(height) < 1e-12) moved++;
    }
    service.removeObject(line);
  }
  expect(moved, 'hits where the plane cuts').toBeGreaterThan(10);
});
