// Exact answers of picks that snap to objects of all sizes, from inside and from far away. See README.md.
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import type { Filter } from '../../../src/shared/protocol.js';
import { Answers, ball, block, capsule, ExactRandom, solid, surface, World } from '../../fixtures/exact-answers.js';
import { cylinder, heightField, meshKinds, ring, scaled } from '../../fixtures/exact-meshes.js';
import { SnapPicks } from '../../fixtures/exact-snaps.js';
import { viewFrom, viewRecord } from '../../fixtures/exact-views.js';
import { ALL_FILTER } from '../../fixtures/near-scene.js';
import { boxMesh, merged, rods, soup } from '../../oracle/meshes.js';

const EACH = [...[layout.SNAP_VERTEX, layout.SNAP_MIDPOINT, layout.SNAP_CENTER, layout.SNAP_EDGE, layout.SNAP_FACE]];
const EVERY = EACH.reduce((a, b) => a | b);

test.each([
  ['of all sizes', 1],
  ['whose units are large', 70],
  ['whose units are small', 1 / 90],
])('among things %s', async (_, size) => {
  const random = new ExactRandom(181);
  const answers = new Answers();
  const world = await World.create();
  const picks = new SnapPicks(world);
  const meshes = [
    ...[boxMesh(1, 1, 1), cylinder(0.5, 0.5, 12), heightField(3, () => 0), ring(1, 0.3, 10, 6), rods(random, 6, 1)],
    ...[soup(random, 30, 0.5, 1), merged([boxMesh(1, 1, 1), scaled(boxMesh(1, 1, 1), 0.5)])],
    ...meshKinds(random)
      .slice(2, 4)
      .map(([, mesh]) => mesh),
  ].map((mesh, i) => (i % 3 ? surface : solid)(world.mesh(scaled(mesh, size))));
  for (const topology of ['points', 'lines'] as const) {
    meshes.push(surface(world.mesh({ positions: soup(random, 20, 0.4, 1).positions.map((x) => size * x), topology })));
  }
  const units = new Matrix4().makeScale(1 / size, 1 / size, 1 / size);
  for (let i = 0; i < 44; i++) {
    const isRound = i % 4 === 3;
    const round = [ball(0.5), block([0.5, 0.4, 0.3]), capsule(0.3, [0, 0, 0], [1, 0, 0])][i % 3]!;
    const scale = size === 1 ? random.logRange(0.05, 20) : 1;
    const place = i % 5 === 0 ? random.point(3).round() : random.point(3);
    const turned = i % 5 === 0 ? new Matrix4().setPosition(place) : random.placement(place, { low: 0.7, high: 1.4 });
    const matrix = turned.multiply(new Matrix4().makeScale(scale, scale, scale));
    if (!isRound) matrix.multiply(units);
    world.add(isRound ? round : meshes[i % meshes.length]!, matrix, {
      flags: layout.FLAG_PICKABLE | ((i % 3) * layout.FLAG_SIDE),
      clipSet: i % 6 === 0 ? 1 : 0,
    });
  }
  for (let i = 0; i < 110; i++) {
    const at = random.direction().multiplyScalar(random.pick([0.3, 2, 6, 60]));
    const isAlong = i % 6 === 0;
    const to = isAlong ? at.clone().sub(new Vector3(0, 0, 5)) : random.point(1.5);
    const eye = { at, to, near: random.pick([0.001, 0.1, 1]), far: random.pick([20, 1000]) };
    const view = viewRecord(viewFrom(i % 3 === 0 ? 3 : i, eye, random));
    const clips = {
      sets: Uint32Array.of(0, 1, 0, 0, 0, 1, 0, 0),
      planes: Float64Array.of(...random.direction().toArray(), 1),
    };
    const filter: Filter = { ...ALL_FILTER, side: i % 4, ...(i % 5 === 0 && { clips }) };
    const cursor = [random.range(30, 350), random.range(40, 280), random.pick([1, 8, 30, 150])];
    answers.add('of any kind', picks.ask(view, cursor, filter, EVERY));
    answers.add('of one kind', picks.ask(view, cursor, filter, EACH[i % 5]!));
    answers.add('of two kinds', picks.ask(view, cursor, filter, EACH[i % 5]! | EACH[(i + 2) % 5]!));
  }
  answers.check();
  expect(world.core.check()).toBeNull();
});
