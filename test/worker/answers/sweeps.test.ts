// Exact results of sweeps: times, points and normals are bit-identical to before. See README.md.
import { Matrix4, Quaternion, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import type { Filter } from '../../../src/shared/protocol.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import {
  Answers,
  block,
  ExactRandom,
  onClock,
  randomPrimitive,
  solid,
  surface,
  World,
} from '../../fixtures/exact-answers.js';
import { meshKinds } from '../../fixtures/exact-meshes.js';
import { ALL_FILTER, ANY_TRANSFORM, PLACES } from '../../fixtures/near-scene.js';

const KINDS = ['solid', 'mesh'] as const;
const NO_TURN = [0, 0, 0, 1] as const;

describe.each(PLACES)('%s', (_, place) => {
  const random = new ExactRandom(51);
  beforeEach(() => random.restart(51));

  async function scene(count: number) {
    const world = await World.create(place);
    const meshes = meshKinds(random)
      .slice(0, 19)
      .map(([, mesh]) => world.mesh(mesh));
    const any = (kind: (typeof KINDS)[number], i: number) =>
      kind === 'mesh' ? (i % 2 ? solid : surface)(meshes[i % meshes.length]!) : randomPrimitive(random);
    const ids = Array.from({ length: count }, (_, i) => {
      const matrix = random.placement(random.point(4), i % 2 === 0 ? { low: 1, high: 1 } : ANY_TRANSFORM);
      return world.add(any(i % 3 === 0 ? 'solid' : 'mesh', i), matrix, { layers: 1 << (i % 3) });
    });
    return { world, any, ids };
  }

  function rotation(i: number): readonly [number, number, number, number] {
    if (i % 3 === 0) return NO_TURN;
    if (i % 3 === 1) return random.rotation().toArray() as [number, number, number, number];
    const { x, y, z } = random.point(0.1);
    return new Quaternion(x, y, z, 1).normalize().toArray() as [number, number, number, number];
  }

  function filterOf(i: number, ids: readonly number[]): Filter {
    return {
      ...ALL_FILTER,
      precision: 1 + ((i >> 2) % 4),
      ...(i % 5 === 0 && { layers: 1 + (i % 7), ignore: Uint32Array.from(ids.filter((id) => id % 3 === 0)) }),
    };
  }

  test.each(KINDS)('of a %s', async (kind) => {
    const answers = new Answers();
    const { world, any, ids } = await scene(30);
    const { sweeps } = world.core;
    const count = kind === 'mesh' ? 70 : 160;
    for (let i = 0; i < count; i++) {
      const from = random.direction().multiplyScalar(random.pick([1, 6, 9]));
      const form = i % 4 === 0 ? { low: 1, high: 1 } : { low: 0.4, high: 1.5, mirrored: 0.2, sheared: 0.2 };
      const shape = { ...any(kind, i), matrix: world.there(random.placement(from, form)) };
      const way = i % 11 === 0 ? new Vector3() : random.point(3).sub(from);
      const motion = { way: way.toArray(), rotation: rotation(i), tolerance: i % 7 === 0 ? 0.01 : 0 };
      const filter = filterOf(i, ids);
      const how = i % 3 === 0 ? 'straight' : 'turning';
      answers.add(`${how}: first`, sweeps.sweep(shape, motion, filter));
      answers.add(`${how}: all`, sweeps.sweepAll(shape, motion, filter));
      answers.add(`${how}: few`, sweeps.sweep(shape, motion, filter, 20) === undefined);
      if (i % 5 === 0) {
        const slices = onClock('late', () => {
          const kept = sweeps.keepSweep(shape, motion, filter, true);
          let count = 1;
          let hits = sweeps.beginKeptSweep(kept, 0);
          for (; !hits; count++) hits = sweeps.resumeSweep(0);
          expect(runToEnd(hits)).toEqual(sweeps.sweepAll(shape, motion, filter));
          return count;
        });
        answers.add(`${how}: slices`, slices);
      }
    }
    answers.check();
    expect(world.core.check()).toBeNull();
  });

  test('of many ways at once', async () => {
    const answers = new Answers();
    const { world, any, ids } = await scene(50);
    const shapes = [any('solid', 0), any('solid', 1), any('mesh', 3), block([0.1, 0.2, 0.1])];
    const count = 150;
    const ways = new Float64Array(layout.WAY_NUMBERS * count);
    for (let i = 0; i < count; i++) {
      const from = random.direction().multiplyScalar(8);
      const to = random.point(4);
      const [a, b] = [random.rotation(), random.rotation()];
      const turned = i % 3 === 0 ? a : b;
      const numbers = [...world.point(from), ...a.toArray(), ...world.point(to), ...turned.toArray()];
      ways.set(numbers.slice(0, layout.WAY_NUMBERS), layout.WAY_NUMBERS * i);
    }
    const shapeOf = Uint32Array.from({ length: count }, (_, i) => i % shapes.length);
    for (const [k, shapesOf] of [shapeOf, undefined].entries()) {
      const hits = {
        ...{ objects: new Uint32Array(count), times: new Float64Array(count), depths: new Float64Array(count) },
        ...{
          points: new Float64Array(3 * count),
          normals: new Float32Array(3 * count),
          triangles: new Int32Array(count),
        },
      };
      const order = Uint32Array.from({ length: count }, (_, i) => (i * 37) % count);
      const many = { shapes, ways, shapeOf: shapesOf, tolerance: k * 0.02, filter: filterOf(3 * k + 12, ids) };
      answers.add('done', world.core.sweeps.sweepMany(many, order, hits));
      answers.add('hits', hits);
      for (let i = 0; i < 10; i++) {
        const way = ways.subarray(layout.WAY_NUMBERS * i, layout.WAY_NUMBERS * (i + 1));
        const kept = world.core.sweeps.keepWay(shapes[i % 3]!, way, 0, many.filter);
        answers.add('kept', runToEnd(world.core.sweeps.beginKeptSweep(kept, Number.POSITIVE_INFINITY)!));
      }
    }
    answers.check();
  });
});

test('of what grazes, starts in touch and goes along', async () => {
  const answers = new Answers();
  const random = new ExactRandom(52);
  const world = await World.create();
  world.add(block([4, 1, 4]), new Matrix4().setPosition(0, -1, 0));
  world.add(block([1, 1, 1]), new Matrix4().setPosition(2, 1, 0));
  for (let i = 0; i < 120; i++) {
    const shape = {
      ...randomPrimitive(random),
      matrix: world.there(new Matrix4().setPosition(random.point(3).round())),
    };
    const way = random.point(3).round();
    for (const rotation of [NO_TURN, [0.6, 0, 0, 0.8], [0, 0.28, 0, 0.96]] as const) {
      answers.add('all', world.core.sweeps.sweepAll(shape, { way: way.toArray(), rotation, tolerance: 0 }, ALL_FILTER));
    }
  }
  answers.check();
});
