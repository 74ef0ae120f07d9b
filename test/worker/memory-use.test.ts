// What a core has in use of its memory as a scene comes, step by step: the bytes of when this was written; less is better.
import { Matrix4, PerspectiveCamera, Vector3 } from 'three';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import { ViewTable } from '../../src/client/frame/view-table.js';
import { checkMotion } from '../../src/client/query/sweep-options.js';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import type { PlacedDescription } from '../../src/worker/binding/core.js';
import { inOnePiece } from '../../src/worker/binding/steps.js';
import { bake, startCore } from '../fixtures/core.js';
import { ALL, ANY_FORM, NearScene } from '../fixtures/near-scene.js';
import { dragon } from '../oracle/dragon.js';
import { icosphere, rods, soup, waves } from '../oracle/meshes.js';
import { Random } from '../oracle/random.js';
import { randomRig } from '../oracle/rigs.js';
import { type AnyShape, anySolid } from '../oracle/shapes.js';

test('bytes in use, step by step', async () => {
  // How much is kept between two steps of a question depends on how long these are.
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => 0);
  onTestFinished(() => clock.mockRestore());
  const random = new Random(1);
  const core = await startCore();
  const scene = new NearScene(core, new Vector3());
  const builder = new FrameBuilder();
  const used: [string, number][] = [];
  let before = core.usedBytes;
  const note = (step: string) => {
    used.push([step, core.usedBytes - before]);
    before = core.usedBytes;
  };
  let frame = 0;
  const run = () => {
    const input = builder.seal(++frame, 1);
    core.frame(input, undefined);
    builder.restart(input);
  };

  const meshes = Object.entries({
    ...{ dragon: dragon(11102), ball: icosphere(1, 6), soup: soup(random, 777, 0.3, 1), rods: rods(random, 20, 1) },
    ground: waves(40),
  }).map(([name, triangles]): AnyShape => {
    const mesh = core.loadMesh(bake(core, triangles));
    note(name);
    return { shape: { type: 'mesh', mesh }, triangles };
  });
  const { positions } = soup(random, 500, 1, 1);
  for (const topology of ['points', 'lines'] as const) {
    core.loadMesh(bake(core, { positions, topology }));
    note(topology);
  }
  core.loadMesh(bake(core, randomRig(random, { bones: 4, targets: 2 }).data));
  note('a rig');

  let count = 0;
  const add = (shape: AnyShape, at: Vector3, contacts: PlacedDescription['contacts']) => {
    const id = makeId(count++, 1);
    const description = { ...scene.describe(shape, random.placement(at, ANY_FORM)), contacts };
    core.addObjects(Uint32Array.of(id), description);
    return id;
  };
  const few = Array.from({ length: 60 }, (_, i) =>
    add(i % 2 ? random.pick(meshes) : { shape: anySolid(random) }, random.point(4), layout.CONTACTS_MANIFOLD),
  );
  note('60 objects');
  run();
  note('a frame');
  run();
  note('a frame in which nothing moves');
  const camera = new PerspectiveCamera(60, 1, 0.1, 100);
  const view = new ViewTable().recordOf('test', 'view', {
    ...{ projection: camera.projectionMatrix.elements, view: new Matrix4().makeTranslation(0, 0, -12).elements },
    ...{ viewport: { width: 100, height: 100 }, occlusion: true },
  });
  for (let i = 0; i < 4; i++) {
    builder.setView(view);
    run();
  }
  note('a view with occlusion');
  const many = Array.from({ length: 3000 }, () =>
    add({ shape: { type: 'sphere', radius: 0.5 } }, random.point(20), layout.CONTACTS_BOUNDS),
  );
  note('3000 more');
  run();
  note('their frame');
  for (const id of many) builder.setSingle(id, new Matrix4().setPosition(random.point(25)).elements);
  run();
  note('all move');
  core.addObjects(
    Uint32Array.from({ length: 20_000 }, () => makeId(count++, 1)),
    { ...scene.describe({ shape: { type: 'sphere', radius: 0.1 } }, new Matrix4()), contacts: layout.CONTACTS_NONE },
  );
  run();
  note('20,000 in one place, and their frame');

  const point = random.point(3).toArray();
  inOnePiece(core.volumes.containing(point, ALL));
  inOnePiece(core.volumes.overlap(scene.describe(meshes[0]!, new Matrix4()), ALL));
  inOnePiece(core.volumes.closestPoint(point, Number.POSITIVE_INFINITY, ALL));
  note('points and shapes');
  core.rays.raycastAll({ origin: [0, 0, 9], direction: [0, 0, -1], tMin: 0, tMax: 100 }, ALL);
  core.rays.raycastMany(
    Float32Array.from({ length: 8000 }, () => random.range(0.1, 1)),
    ALL,
  );
  note('rays');
  const at = (z: number) => new Matrix4().setPosition(0, 0, z).elements;
  const { matrix, motion } = checkMotion('test', at(9), at(-9), undefined);
  core.sweeps.sweepAll({ ...scene.describe({ shape: anySolid(random) }, new Matrix4()), matrix }, motion, ALL);
  note('a way');
  for (const id of few) core.removeObject(id);
  run();
  note('without the first ones');
  expect(used).toEqual([
    ['dragon', 891136],
    ['ball', 96896],
    ['soup', 61824],
    ['rods', 25344],
    ['ground', 242240],
    ['points', 26496],
    ['lines', 23488],
    ['a rig', 109632],
    ['60 objects', 71040],
    ['a frame', 2222144],
    ['a frame in which nothing moves', 0],
    ['a view with occlusion', 704256],
    ['3000 more', 538560],
    ['their frame', 2486464],
    ['all move', 51584],
    ['20,000 in one place, and their frame', 11592320],
    ['points and shapes', 220032],
    ['rays', 5937472],
    ['a way', 4672],
    ['without the first ones', 128],
  ]);
});
