// Exact answers about meshes whose units differ much from the world's, about boxes that almost touch, and about memory. If the units
// are a power of two, the answers are also the same as with the world's units. See README.md.
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { pickRay } from '../../../src/client/query/pick-ray.js';
import { checkRegion } from '../../../src/client/query/query-options.js';
import { UNBOUND } from '../../../src/client/skin/pose-table.js';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import type { MeshData } from '../../../src/shared/types.js';
import type { PlacedDescription } from '../../../src/worker/binding/core.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import {
  Answers,
  ball,
  block,
  capsule,
  ExactRandom,
  frameAnswer,
  onClock,
  randomPrimitive,
  solid,
  surface,
  World,
} from '../../fixtures/exact-answers.js';
import { lumpyBall, meshKinds, scaled } from '../../fixtures/exact-meshes.js';
import { viewFrom, viewRecord } from '../../fixtures/exact-views.js';
import { ALL_FILTER, ANY_TRANSFORM } from '../../fixtures/near-scene.js';
import { icosphere, soup } from '../../oracle/meshes.js';
import type { PlacementOptions } from '../../oracle/random.js';

const FAR = Number.POSITIVE_INFINITY;
const NO_TURN = [0, 0, 0, 1] as const;
/** Units of meshes, in world units. Rounding is the same in all of them. */
const UNITS = [2 ** 20, 1 / 64];

/** Returns the matrices of meshes of a unit. */
type Placed = (random: ExactRandom, at: Vector3, form?: PlacementOptions) => Matrix4;

const placedBy =
  (unit: number): Placed =>
  (random, at, form = {}) =>
    random.placement(at, form).multiply(new Matrix4().makeScale(1 / unit, 1 / unit, 1 / unit));

async function scene(unit: number, random: ExactRandom, count: number, halfSize: number) {
  const placed = placedBy(unit);
  const world = await World.create();
  const shapes: PlacedDescription[] = meshKinds(random)
    .slice(0, 20)
    .map(([, mesh], i) => (i % 2 ? solid : surface)(world.mesh(scaled(mesh, unit))));
  for (const topology of ['points', 'lines'] as const) {
    const positions = soup(random, 40, 0.3, 1).positions.map((x) => unit * x);
    shapes.push(surface(world.mesh({ positions, topology })), surface(world.mesh({ positions, topology })));
  }
  const ids = Array.from({ length: count }, (_, i) => {
    const described = shapes[i % shapes.length]!;
    return world.add(described, placed(random, random.point(halfSize), i % 3 ? ANY_TRANSFORM : {}), {
      clipSet: i % 4 === 0 ? 1 : 0,
      contacts: layout.CONTACTS_FULL,
    });
  });
  return { world, shapes, ids, placed };
}

/** The queries about meshes of a unit. */
const QUESTIONS: [string, (unit: number) => Promise<Answers>][] = [
  [
    'rays, picks and regions',
    async (unit) => {
      const random = new ExactRandom(171);
      const answers = new Answers();
      const { world } = await scene(unit, random, 48, 3);
      const { rays, volumes } = world.core;
      for (let i = 0; i < 60; i++) {
        const from = random.direction().multiplyScalar(7);
        const ray = { origin: from.toArray(), direction: random.point(3).sub(from).toArray() };
        const planes = Float64Array.of(...random.direction().toArray(), 1);
        const clips = { sets: Uint32Array.of(0, 1, 0, 0, 0, 1, 0, 0), planes };
        const filter = { ...ALL_FILTER, side: i % 4, threshold: i % 2 ? 0.05 : 0, ...(i % 3 === 0 && { clips }) };
        answers.add('nearest', rays.raycast(ray, filter));
        if (i % 2) answers.add('all', runToEnd(rays.raycastAll(ray, filter)));
        const eye = { at: from, to: random.point(1), near: 0.05, far: 40 };
        const view = viewRecord(viewFrom(i, eye, random));
        const [x, y] = [random.range(60, 320), random.range(60, 240)];
        const pick = pickRay(view, x, y, 8);
        if (pick) answers.add('picked', rays.raycast(pick, filter));
        if (i % 4) continue;
        answers.add('of the screen', runToEnd(rays.pickScreenAll(view.record, { x, y, radius: 30 }, filter)));
        for (const mode of ['touch', 'enclose'] as const) {
          const region = checkRegion('test', { x: 60, y: 60, width: 90, height: 120 }, mode)(view.record);
          if (region) answers.add(mode, runToEnd(volumes.pickRegion(view.record, region, filter)));
        }
        answers.add('seen', runToEnd(volumes.frustum(view.record, filter)));
      }
      return answers;
    },
  ],
  [
    'what is near, around and met, and sections',
    async (unit) => {
      const random = new ExactRandom(172);
      const answers = new Answers();
      const { world, shapes, ids, placed } = await scene(unit, random, 48, 3);
      const { volumes, pairs, sections } = world.core;
      for (let i = 0; i < 50; i++) {
        const point = random.point(4).toArray();
        answers.add('closest', runToEnd(volumes.closestPoint(point, i % 3 ? FAR : 0.3, ALL_FILTER)));
        answers.add('around', runToEnd(volumes.containing(point, ALL_FILTER)));
        const isMesh = i % 2 === 0;
        const at = random.point(3);
        const matrix = isMesh ? placed(random, at, ANY_TRANSFORM) : random.placement(at, ANY_TRANSFORM);
        const query = { ...(isMesh ? shapes[i % 20]! : randomPrimitive(random)), matrix: world.there(matrix) };
        answers.add('met', runToEnd(volumes.overlap(query, ALL_FILTER)));
        answers.try('apart', () => pairs.beginDistance(ids[i % 48]!, ids[(7 * i + 3) % 48]!, FAR, FAR));
      }
      for (let i = 0; i < 5; i++) {
        const plane = Float64Array.of(...random.direction().toArray(), random.range(-1, 1));
        for (const id of sections.candidates(
          plane,
          { ...ALL_FILTER, precision: layout.PRECISION_MESH },
          4,
          i % 2 ? 1e-3 : undefined,
        )) {
          sections.begin(id);
          while (!sections.step(FAR));
        }
        answers.add('sections', sections.outlines());
        sections.end();
      }
      return answers;
    },
  ],
  [
    'contacts, sweeps and frames',
    async (unit) => {
      const random = new ExactRandom(173);
      const answers = new Answers();
      const { world, shapes, ids, placed } = await scene(unit, random, 20, 2);
      for (let i = 0; i < 40; i++) {
        const a = world.add(shapes[i % 20]!, placed(random, new Vector3(), i % 4 ? ANY_TRANSFORM : {}));
        const isMesh = i % 3 > 0;
        const other = isMesh ? shapes[(i * 7) % 20]! : randomPrimitive(random);
        const b = world.add(
          other,
          (isMesh ? placed : (r: ExactRandom, at: Vector3) => r.placement(at))(random, random.point(1)),
        );
        for (const detail of [layout.CONTACTS_ANY, layout.CONTACTS_FULL]) {
          answers.add('contacts', world.core.pairs.contact(a, b, detail));
        }
        for (const id of [a, b]) world.core.removeObject(id);
      }
      for (let i = 0; i < 20; i++) {
        const from = random.direction().multiplyScalar(5);
        const isMesh = i % 5 === 0;
        const matrix = world.there(isMesh ? placed(random, from) : random.placement(from));
        const way = random.point(1).sub(from).toArray();
        const rotation = i % 3 ? NO_TURN : (random.rotation().toArray() as [number, number, number, number]);
        const moving = { ...(isMesh ? shapes[i % 20]! : randomPrimitive(random)), matrix };
        answers.add('swept', world.core.sweeps.sweepAll(moving, { way, rotation, tolerance: 0 }, ALL_FILTER));
      }
      for (let frame = 0; frame < 3; frame++) {
        for (const id of ids) if (random.chance(0.7)) world.move(id, placed(random, random.point(2)));
        answers.add('frames', frameAnswer(world.frame()));
      }
      expect(world.core.check()).toBeNull();
      return answers;
    },
  ],
  [
    'skins and vertices that move',
    async (unit) => {
      const random = new ExactRandom(174);
      const answers = new Answers();
      const world = await World.create();
      const placed = placedBy(unit);
      const body = scaled(lumpyBall(random, 3, 0.3), unit);
      const vertices = body.positions.length / 3;
      const weights = new Float32Array(4 * vertices);
      for (let i = 0; i < vertices; i++) weights.set([i % 3 ? 0.75 : 1, i % 3 ? 0.25 : 0], 4 * i);
      const bones = new Uint8Array(4 * vertices).map((_, i) => (i + (i >> 2)) % 3);
      const skin: MeshData = { ...body, skin: { bones, weights, boneCount: 3 } };
      const target = body.positions.map((x, i) => (i % 2 ? 0.2 * x : -0.1 * x));
      const morphs: MeshData = { ...body, morphs: { targets: [target], relative: true } };
      const meshes = [skin, morphs].map((data) => world.mesh(data));
      const ids = meshes.map((mesh, i) => world.add(surface(mesh), placed(random, new Vector3(1.5 * i, 0, 0))));
      for (let frame = 0; frame < 3; frame++) {
        const matrices = [0, 1, 2].flatMap(
          () => random.placement(random.point(0.2 * unit), { low: 0.8, high: 1.2 }).elements,
        );
        world.pose(ids[0]!, { bones: Float32Array.from(matrices), binds: UNBOUND, morphs: [] });
        world.pose(ids[1]!, { bones: undefined, binds: UNBOUND, morphs: [random.range(0, 2)] });
        answers.add('frames', frameAnswer(world.frame()));
        for (let i = 0; i < 24; i++) {
          const from = random.direction().multiplyScalar(5);
          const ray = { origin: from.toArray(), direction: random.point(1).sub(from).toArray() };
          answers.add('hits', world.core.rays.raycast(ray, ALL_FILTER));
          if (i % 4 > 0) continue;
          answers.add('closest', runToEnd(world.core.volumes.closestPoint(random.point(2).toArray(), FAR, ALL_FILTER)));
          answers.add('around', runToEnd(world.core.volumes.containing(random.point(1).toArray(), ALL_FILTER)));
        }
        answers.add('contacts', world.core.pairs.contact(ids[0]!, ids[1]!, layout.CONTACTS_FULL));
        for (const mesh of meshes)
          world.core.refitMesh(
            mesh,
            body.positions.map((x, i) => x * (1 + 0.1 * ((i + frame) % 3))),
          );
      }
      return answers;
    },
  ],
];

test.each(QUESTIONS)('of meshes in any units: %s', async (_, ask) => {
  const answers = await ask(1);
  answers.check();
  for (const unit of UNITS) expect(`${await ask(unit)}`, `${unit}`).toBe(`${answers}`);
});

test('frames of boxes that all but touch, or just do', async () => {
  const random = new ExactRandom(175);
  const answers = new Answers();
  const world = await World.create();
  const ids: [number, number][] = [];
  const pose = (i: number): [Matrix4, Matrix4] => {
    const both = random.placement(
      new Vector3(12 * (i % 20), 12 * Math.floor(i / 20), 0),
      i % 4 === 0 ? ANY_TRANSFORM : {},
    );
    const hair = random.pick([0, 1e-7, -1e-7, 1e-6, -1e-6, 1e-5, -1e-5, 1e-3]);
    // Faces, edges that cross, edges along each other, a corner on a face.
    const turn = new Matrix4();
    const at = new Vector3(2 + hair, random.range(-1, 1), random.range(-1, 1));
    if (i % 3 === 1) {
      turn.makeRotationFromQuaternion(random.rotation().set(0, 0, 0.382683432, 0.923879533).normalize());
      at.set(1 + Math.SQRT2 + hair, 0, random.range(-1, 1));
    } else if (i % 3 === 2) {
      const [a, b] = [0.8, 0.6];
      turn.set(...[a, -b, 0, 0, b * a, a * a, -b, 0, b * b, a * b, a, 0, 0, 0, 0, 1]);
      at.set(a + b + 1 + hair, random.range(-0.5, 0.5), random.range(-0.5, 0.5));
    }
    return [both, both.clone().multiply(turn.setPosition(at))];
  };
  for (let i = 0; i < 240; i++) {
    const [first, second] = pose(i);
    const described = i % 7 === 6 ? ball(1) : block([1, 1, 1]);
    ids.push([world.add(block([1, 1, 1]), first), world.add(described, second)]);
  }
  for (let frame = 0; frame < 4; frame++) {
    answers.add('frames', frameAnswer(world.frame()));
    for (const [i, [a, b]] of ids.entries()) {
      const [first, second] = pose(i);
      if (frame % 2 === 0) world.move(a, first);
      world.move(b, second);
    }
  }
  answers.check();
});

test('memory in use after each thing that is done, as often as it is', async () => {
  const random = new ExactRandom(176);
  const world = await World.create();
  const { core } = world;
  const open = soup(random, 300, 0.3, 1);
  const body = lumpyBall(random, 8, 0.3);
  const line = soup(random, 90, 0.3, 1).positions;
  let generation = 0;
  const deeds: [string, () => void][] = [
    ['a closed mesh', () => core.freeMesh(world.mesh(body))],
    ['an open mesh', () => core.freeMesh(world.mesh(open, 1e-3))],
    ['points', () => core.freeMesh(world.mesh({ positions: line, topology: 'points' }))],
    ['lines', () => core.freeMesh(world.mesh({ positions: line, topology: 'lines' }))],
    [
      'a skin',
      () => {
        const vertices = body.positions.length / 3;
        const skin = {
          bones: new Uint8Array(4 * vertices),
          weights: new Float32Array(4 * vertices).fill(0.25),
          boneCount: 2,
        };
        const mesh = world.mesh({ ...body, skin });
        const id = world.add(surface(mesh));
        world.pose(id, { bones: new Float32Array(32).fill(1), binds: UNBOUND, morphs: [] });
        world.frame();
        core.removeObject(id);
        world.frame();
        core.freeMesh(mesh);
      },
    ],
    [
      'a mesh that moves',
      () => {
        const mesh = world.mesh(body);
        const other = world.add(surface(mesh));
        const id = world.add(block([0.5, 0.5, 0.5]));
        core.refitMesh(
          mesh,
          body.positions.map((x, i) => x * (1 + 0.1 * (i % 3))),
        );
        core.pairs.contact(id, other, layout.CONTACTS_MANIFOLD);
        while (core.derive(FAR));
        core.bakeMesh(mesh);
        const refit = core.beginRefit(mesh, body.positions, true);
        onClock('late', () => refit.step(0));
        refit.abort();
        const baking = core.beginBake(mesh);
        onClock('late', () => baking.step(0));
        baking.abort();
        for (const each of [id, other]) core.removeObject(each);
        core.freeMesh(mesh);
      },
    ],
    [
      'what hides',
      () => {
        const mesh = world.mesh(icosphere(1, 12));
        const id = world.add(surface(mesh), new Matrix4().makeScale(3, 3, 3));
        const eye = { at: new Vector3(0, 0, 9), to: new Vector3() };
        const { record } = viewRecord({ ...viewFrom(0, eye, new ExactRandom(1)), occlusion: true });
        runToEnd(core.volumes.frustum(record, ALL_FILTER));
        core.removeObject(id);
        core.freeMesh(mesh);
      },
    ],
    [
      'boxes and lists',
      () => {
        const mesh = world.mesh(body);
        const boxes = { names: ['a'], records: Float64Array.of(0, 0, 0, 1, 1, 1, 0, 0, 0, 1) };
        const flags = layout.FLAG_BOXES | layout.FLAG_FACE_SIDES | layout.FLAG_CONTINUOUS;
        const id = world.add(surface(mesh), new Matrix4(), { flags, boxes, faceSides: Uint32Array.of(5) });
        world.frame();
        core.setObject(id, ball(1));
        world.frame();
        core.removeObject(id);
        core.freeMesh(mesh);
      },
    ],
    [
      'an object that comes and goes',
      () => {
        const id = world.add(capsule(0.3, [0, 0, 0], [0, 1, 0]));
        world.frame();
        core.removeObject(id);
        world.frame();
      },
    ],
    [
      'static objects that come and go',
      () => {
        const flags = layout.FLAG_STATIC | layout.FLAG_PICKABLE;
        generation++;
        const ids = Array.from({ length: 90 }, (_, i) => makeId(100 + i, generation));
        for (const id of ids) world.put(id, ball(1), new Matrix4(), { flags });
        world.frame();
        for (const id of ids) core.removeObject(id);
        world.frame();
      },
    ],
    [
      'a build that is dropped',
      () => {
        const build = core.beginBuild(body.positions, body.indices, 0, 'triangles', {});
        onClock('late', () => {
          for (let slice = 0; slice < 5; slice++) build.step(0);
        });
        build.abort();
      },
    ],
  ];
  const lines: string[] = [];
  for (const [what, act] of deeds) {
    const bytes: number[] = [];
    for (let time = 0; time < 4; time++) {
      const before = core.usedBytes;
      act();
      bytes.push(core.usedBytes - before);
    }
    // Memory that is kept for reuse is kept once.
    expect(bytes.slice(2), what).toEqual([0, 0]);
    lines.push(`${what}: ${bytes}`);
  }
  expect(lines.join('\n')).toMatchSnapshot();
});
