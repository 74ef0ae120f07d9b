// Exact results of picks that snap: the features are bit-identical to before. See README.md.
import type { Matrix4 } from 'three';
import { Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import type { Filter } from '../../../src/shared/protocol.js';
import { Answers, block, ExactRandom, randomPrimitive, surface, World } from '../../fixtures/exact-answers.js';
import { cylinder, meshKinds } from '../../fixtures/exact-meshes.js';
import { SnapPicks } from '../../fixtures/exact-snaps.js';
import { viewFrom, viewRecord } from '../../fixtures/exact-views.js';
import { ALL_FILTER, ANY_TRANSFORM, PLACES } from '../../fixtures/near-scene.js';
import { boxMesh, soup } from '../../oracle/meshes.js';

const { SNAP_VERTEX, SNAP_MIDPOINT, SNAP_CENTER, SNAP_EDGE, SNAP_FACE } = layout;
const EACH = [SNAP_VERTEX, SNAP_MIDPOINT, SNAP_CENTER, SNAP_EDGE, SNAP_FACE];
const EVERY = EACH.reduce((a, b) => a | b);

describe.each(PLACES)('%s', (_, place) => {
  test.each([
    ['few', 12, 3],
    ['many', 150, 4],
    ['many in a small room', 120, 1.2],
  ])('among %s things', async (_, count, halfSize) => {
    const random = new ExactRandom(111);
    const answers = new Answers();
    const world = await World.create(place);
    const picks = new SnapPicks(world);
    const shapes = meshKinds(random)
      .slice(0, 14)
      .map(([, mesh]) => surface(world.mesh(mesh)));
    shapes.push(surface(world.mesh(cylinder(0.6, 0.5, 24))), surface(world.mesh(boxMesh(1, 1, 1))));
    for (const topology of ['points', 'lines'] as const) {
      shapes.push(surface(world.mesh({ positions: soup(random, 40, 0.3, 1).positions, topology })));
    }
    const form = (): Matrix4 =>
      random.placement(random.point(halfSize), random.chance(0.5) ? { low: 0.4, high: 0.6 } : ANY_TRANSFORM);
    for (let i = 0; i < count; i++) {
      const described =
        i % 4 === 3 ? randomPrimitive(random) : i % 4 === 2 ? block([0.5, 0.3, 0.8]) : random.pick(shapes);
      const flags = layout.FLAG_PICKABLE | (random.integer(4) * layout.FLAG_SIDE);
      world.add(described, form(), { flags, layers: 1 << (i % 3), clipSet: i % 5 === 0 ? 1 : 0 });
    }
    for (let i = 0; i < 90; i++) {
      const [at, to] = [random.direction().multiplyScalar(random.range(1, 10)), random.point(0.5 * halfSize)];
      const eye = { at: new Vector3(...world.point(at)), to: new Vector3(...world.point(to)), near: 0.05, far: 50 };
      const view = viewRecord(viewFrom(i, eye, random));
      const normal = random.direction();
      const planes = [...normal.toArray(), 1 - normal.dot(place), 0, 0, 1, 2 - place.z];
      const filter: Filter = {
        ...ALL_FILTER,
        side: layout.SIDE_OWN,
        ...(i % 5 === 0 && { layers: 1 + (i % 7) }),
        ...(i % 4 === 0 && {
          clips: {
            sets: Uint32Array.from(i % 8 === 0 ? [0, 1, 0, 0, 1, 1, 0, 0] : [0, 0, 2, 0, 1, 0, 1, 0]),
            planes: Float64Array.from(planes),
          },
        }),
      };
      const cursor = [random.range(60, 320), random.range(70, 250), random.pick([4, 12, 40])];
      answers.add('of any kind', picks.ask(view, cursor, filter, EVERY));
      answers.add('of one kind', picks.ask(view, cursor, filter, EACH[i % 5]!));
    }
    answers.check();
    expect(world.core.check()).toBeNull();
  });
});
