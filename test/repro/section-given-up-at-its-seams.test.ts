// A section that nobody waited for any more, while it joined the open ends of a mesh, left its grid of ends in memory.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import { bake, startCore } from '../fixtures/core.js';
import { ALL_FILTER } from '../fixtures/near-scene.js';
import { soup } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

test(`sections that are given up leave nothing in memory, seed ${SEED}`, async () => {
  const core = await startCore();
  const mesh = core.loadMesh(bake(core, soup(new Random(SEED), 20000, 1, 0.2)));
  const id = makeId(0, 1);
  core.addObjects(Uint32Array.of(id), {
    ...{
      shape: layout.SHAPE_MESH,
      mesh,
      layers: 1,
      flags: layout.FLAG_PICKABLE,
      collidesWith: 0,
      group: 0,
      contacts: 0,
    },
    ...{ center: [0, 0, 0], extent: [0, 0, 0], rotation: [0, 0, 0, 1], radius: 0, matrix: new Matrix4().elements },
  });
  /** Gives a section up after this many steps; returns whether it was done by then. */
  const giveUpAfter = (steps: number): boolean => {
    expect([...core.sections.candidates(Float64Array.of(0, 0, 1, 0.1), ALL_FILTER, 32, 1e-3)]).toEqual([id]);
    core.sections.begin(id);
    let isDone = false;
    for (let i = 0; i < steps && !isDone; i++) isDone = core.sections.step(0);
    core.sections.end();
    return isDone;
  };
  giveUpAfter(1);
  const { usedBytes } = core;
  let steps = 1;
  for (; !giveUpAfter(steps); steps++) expect(core.usedBytes, `after ${steps} steps`).toBe(usedBytes);
  expect(steps).toBeGreaterThan(10);
});
