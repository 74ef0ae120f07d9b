// Exact results of sections, and of the boxes of trees: they are bit-identical to before. See README.md.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test, vi } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import { fillOutlines } from '../../../src/worker/caps.js';
import { nest } from '../../../src/worker/outline-nesting.js';
import { Answers, ExactRandom, onClock, randomPrimitive, surface, World } from '../../fixtures/exact-answers.js';
import { meshKinds } from '../../fixtures/exact-meshes.js';
import { ALL_FILTER, ANY_TRANSFORM, PLACES } from '../../fixtures/near-scene.js';
import { boxMesh, merged, soup } from '../../oracle/meshes.js';

/** Outlines of round shapes have this many points: engines need not agree on the cosine and sine of a step. */
const ROUND_POINTS = 12;
const [STEP_COSINE, STEP_SINE] = [0.8660254037844387, 0.49999999999999994];

function cut(
  world: World,
  plane: readonly number[],
  weld: number | undefined,
  isLate: boolean,
  precision: number,
): unknown {
  const { sections } = world.core;
  vi.spyOn(Math, 'cos').mockImplementation(() => STEP_COSINE);
  vi.spyOn(Math, 'sin').mockImplementation(() => STEP_SINE);
  let ids: Uint32Array;
  try {
    ids = sections.candidates(Float64Array.from(plane), { ...ALL_FILTER, precision }, ROUND_POINTS, weld);
  } finally {
    vi.restoreAllMocks();
  }
  const cutAll = () => {
    for (const id of ids) {
      sections.begin(id);
      while (!sections.step(isLate ? 0 : Number.POSITIVE_INFINITY));
    }
  };
  if (isLate) onClock('late', cutAll);
  else cutAll();
  const outlines = sections.outlines();
  sections.end();
  return [ids, outlines];
}

describe.each(PLACES)('%s', (_, place) => {
  test('sections of everything', async () => {
    const random = new ExactRandom(91);
    const answers = new Answers();
    const world = await World.create(place);
    const shapes = meshKinds(random)
      .slice(0, 20)
      .map(([, mesh]) => surface(world.mesh(mesh)));
    shapes.push(surface(world.mesh({ positions: soup(random, 40, 0.3, 1).positions, topology: 'lines' })));
    shapes.push(surface(world.mesh({ positions: soup(random, 40, 0.3, 1).positions, topology: 'points' })));
    for (let i = 0; i < 80; i++) {
      const described = i % 2 === 0 ? shapes[(i / 2) % shapes.length]! : randomPrimitive(random);
      world.add(described, random.placement(random.point(4), i % 3 === 0 ? { low: 1, high: 1 } : ANY_TRANSFORM));
    }
    for (let i = 0; i < 24; i++) {
      const normal = i % 4 === 0 ? new Vector3(0, 0, 1) : random.direction();
      const at = random.point(3);
      const plane = [...normal.toArray(), -normal.dot(new Vector3(...world.point(i % 8 === 0 ? at.round() : at)))];
      const weld = [undefined, 0, 1e-3, 0.05][i % 4];
      const precision = i % 6 === 5 ? layout.PRECISION_OBB : layout.PRECISION_MESH;
      const found = cut(world, plane, weld, false, precision);
      answers.add(`weld ${weld}`, found);
      if (i % 4 === 1) expect(cut(world, plane, weld, true, precision)).toEqual(found);
    }
    answers.check();
  });

  test('through vertices, along edges and in faces', async () => {
    const answers = new Answers();
    const world = await World.create(place);
    const boxes = [boxMesh(2, 2, 2), boxMesh(1, 1, 4), merged([boxMesh(2, 2, 2), boxMesh(1, 1, 1)])];
    for (const [i, mesh] of boxes.entries())
      world.add(surface(world.mesh(mesh)), new Matrix4().setPosition(3 * i, 0, 0));
    for (const normal of [
      [1, 0, 0],
      [0, 1, 0],
      [1, 1, 0],
      [1, 1, 1],
      [0, 3, 4],
    ]) {
      for (const height of [-1, -0.5, 0, 0.5, 1, 2]) {
        const offset = new Vector3(...normal).dot(place) + height;
        const found = cut(world, [...normal, -offset], undefined, false, layout.PRECISION_MESH) as [
          unknown,
          Parameters<typeof nest>[0],
        ];
        const plane = Float64Array.of(...normal, -offset);
        const parents = runToEnd(nest(found[1], plane));
        answers.add('cuts', found);
        answers.add('nested and filled', [parents, runToEnd(fillOutlines(found[1], parents, plane))]);
      }
    }
    answers.check();
  });

  test('the boxes of trees and of the scene', async () => {
    const random = new ExactRandom(92);
    const answers = new Answers();
    const world = await World.create(place);
    const { inspector } = world.core;
    const meshes = meshKinds(random).map(([, mesh]) => world.mesh(mesh));
    meshes.push(world.mesh({ positions: soup(random, 90, 0.3, 1).positions, topology: 'lines' }));
    for (const [i, mesh] of meshes.entries()) {
      const id = world.add(
        i % 6 === 5 ? randomPrimitive(random) : surface(mesh),
        random.placement(random.point(9), ANY_TRANSFORM),
      );
      for (const [from, to, most] of [
        [0, 99, 1e5],
        [2, 4, 1e5],
        [1, 9, 7],
      ] as const) {
        inspector.beginTree(id, from, to, most);
        onClock('late', () => {
          while (!inspector.stepTree(0));
        });
        answers.add('trees', runToEnd(inspector.readTree(id)));
        inspector.end();
      }
      inspector.beginMesh(mesh, 3, 100);
      while (!inspector.stepTree(Number.POSITIVE_INFINITY));
      answers.add('meshes', runToEnd(inspector.readTree(0)));
      inspector.end();
    }
    for (const most of [5, 1e4]) {
      answers.add('cells', runToEnd(inspector.cells(most)));
      answers.add('bounds', runToEnd(inspector.bounds(most, [])));
      inspector.end();
    }
    answers.check();
  });
});
