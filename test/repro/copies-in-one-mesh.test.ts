// Copies of a closed surface in one mesh add up, and so did the errors of their far fields: with 60 coincident spheres,
// points up to 1.03 radii from the centre were inside, with 130 up to 1.48. `closestPoint` of such a solid was 0 there.

import { Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { runToEnd } from '../../src/worker/binding/steps.js';
import { ALL_FILTER, NearScene, PLACES } from '../fixtures/near-scene.js';
import { boundsOf, boxMesh, icosphere, merged, type Triangles, transformed } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';
import { windingNumber } from '../oracle/winding.js';

const POINTS = 150;
const COPIES = [1, 2, 60, 130, 500];
const SCALES = [1e-3, 1, 1e3];

const insideOut = ({ positions, indices }: Triangles): Triangles => ({ positions, indices: indices.slice().reverse() });
const mirrored = (mesh: Triangles): Triangles => transformed(mesh, (vertex) => vertex.setX(-vertex.x));
const shrunk = (mesh: Triangles, factor: number): Triangles =>
  transformed(mesh, (vertex) => vertex.multiplyScalar(factor));

/** The surfaces that are copied, about the size of 1. */
const SURFACES: [name: string, surface: Triangles][] = [
  ['a ball', icosphere(1, 1)],
  ['a box', boxMesh(1, 2, 1.5)],
  ['a ball inside out', insideOut(icosphere(1, 1))],
  ['a ball in a mirror', mirrored(icosphere(1, 1))],
  ['a ball in a ball', merged([icosphere(1, 1), shrunk(icosphere(1, 1), 0.6)])],
  ['a hollow ball', merged([icosphere(1, 1), insideOut(shrunk(icosphere(1, 1), 0.6))])],
];
/** Surfaces that are not closed. */
const OPEN: [name: string, surface: Triangles][] = [
  ['a ball with a hole', withoutTriangles(icosphere(1, 1), 3)],
  ['half a ball', withoutTriangles(icosphere(1, 1), 40)],
];

/** With separate vertices for each triangle, so that the bounds are those of the rest. */
function withoutTriangles({ positions, indices }: Triangles, count: number): Triangles {
  const rest = [...indices.slice(3 * count)];
  const own = rest.flatMap((vertex) => [...positions.subarray(3 * vertex, 3 * vertex + 3)]);
  return { positions: Float32Array.from(own), indices: Uint32Array.from(rest, (_, i) => i) };
}

/** Within two of its sizes, every other point near its surface. */
function pointAbout(random: Random, { positions }: Triangles): Vector3 {
  const vertex = new Vector3().fromArray(positions, 3 * random.integer(positions.length / 3));
  return random.chance(0.5)
    ? random.point(1.7)
    : vertex.multiplyScalar(1 + random.pick([-1, 1]) * random.logRange(1e-4, 0.5));
}

describe.each(PLACES)(`copies in one mesh %s, seed ${SEED}`, (_, place) => {
  test.each(COPIES.flatMap((copies) => SURFACES.map(([name, surface]) => ({ copies, name, surface }))))(
    '$copies × $name',
    async ({ copies, surface }) => {
      const random = new Random(SEED);
      const scene = await NearScene.at(place);
      const scale = random.pick(SCALES);
      const mesh = scene.mesh(merged(Array.from({ length: copies }, () => shrunk(surface, scale))));
      Object.assign(mesh.shape, { solid: true });
      const thing = scene.add(mesh, random.placement(random.point(1)));
      let inside = 0;
      for (let i = 0; i < POINTS; i++) {
        const own = pointAbout(random, surface);
        const isIn = Math.abs(windingNumber(surface, own)) > 0.5;
        const point = scene.exactPoint(own.multiplyScalar(scale).applyMatrix4(thing.matrix));
        expect(
          runToEnd(scene.core.volumes.containing(scene.point(point), ALL_FILTER)).length === 1,
          `${own.toArray()}`,
        ).toBe(isIn);
        const closest = runToEnd(
          scene.core.volumes.closestPoint(scene.point(point), Number.POSITIVE_INFINITY, ALL_FILTER),
        )!;
        expect(closest.distance === 0, `${own.toArray()}`).toBe(isIn);
        if (isIn) inside++;
      }
      expect(inside).toBeGreaterThan(POINTS / 10);
      expect(inside).toBeLessThan(POINTS * 0.9);
    },
  );

  // A winding number of half or more is inside: this includes points with two copies of a quarter each.
  test.each(COPIES.flatMap((copies) => OPEN.map(([name, surface]) => ({ copies, name, surface }))))(
    '$copies × $name',
    async ({ copies, surface }) => {
      const random = new Random(SEED);
      const scene = await NearScene.at(place);
      const mesh = scene.mesh(merged(Array.from({ length: copies }, () => surface)));
      const thing = scene.add(mesh, random.placement(random.point(1)));
      for (let i = 0; i < POINTS; i++) {
        const own = pointAbout(random, surface);
        const number = copies * Math.abs(windingNumber(surface, own));
        if (Math.abs(number - 0.5) < copies * 1e-5) continue;
        const point = scene.exactPoint(own.clone().applyMatrix4(thing.matrix));
        const isIn = runToEnd(scene.core.volumes.containing(scene.point(point), ALL_FILTER)).length === 1;
        // A point outside the bounds is outside, whatever its winding number.
        if (!isInBounds(surface, own)) expect(isIn).toBe(false);
        else expect(isIn, `${own.toArray()}, winding ${number}`).toBe(number > 0.5);
      }
    },
  );
});

function isInBounds({ positions }: Triangles, { x, y, z }: Vector3): boolean {
  return boundsOf(positions).containsPoint(new Vector3(x, y, z));
}
