// A bone of scale 0, which hides a character, leaves no triangle with an area. closestPoint() found such an object infinitely far
// away, and solid meshes held it: overlap(), distance(), contact() and sweeps found it where rays and other shapes found nothing.
import type { ObjectId } from 'collision-worker';
import { Matrix4 } from 'three';
import { beforeEach, expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { icosphere } from '../oracle/meshes.js';

withService();

const ball = icosphere(1, 2);
const SOLID = () => service.addMesh({ positions: ball.positions, indices: ball.indices });
const THRICE = new Matrix4().makeScale(3, 3, 3).elements;

let hidden: ObjectId;

beforeEach(async () => {
  const count = ball.positions.length / 3;
  const weights = Float32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 0 ? 1 : 0));
  const mesh = await service.addMesh({ ...ball, skin: { bones: new Uint8Array(4 * count), weights, boneCount: 1 } });
  hidden = service.addObject({ shape: { type: 'mesh', mesh }, contacts: 'any' });
});

test.each([
  ['a point', new Matrix4().makeScale(0, 0, 0)],
  ['a line', new Matrix4().makeScale(0.5, 0, 0)],
])('that draw all into %s are near nothing, and in no solid mesh', async (_, bone) => {
  const shape = { type: 'mesh', mesh: await SOLID(), solid: true } as const;
  const solid = service.addObject({ shape, matrix: THRICE, contacts: 'any' });
  const withoutSolid = { ignore: [solid] };
  const answers = async () => ({
    closest: (await service.closestPoint([1, 2, 9], withoutSolid))?.object,
    overlap: [...(await service.overlap(shape, THRICE, withoutSolid))],
    distance: (await service.distance(hidden, solid))?.distance,
    contact: (await service.contact(hidden, solid))?.contained,
    swept: (await service.sweep(shape, THRICE, THRICE.with(12, 1), withoutSolid))?.object,
    pairs: (await service.update()).contacts.count,
  });
  await service.update();
  expect(await answers()).toEqual({
    ...{ closest: hidden, overlap: [hidden], distance: 0, contact: 1, swept: hidden, pairs: 1 },
  });
  service.setPose(hidden, { bones: new Float32Array(bone.elements) });
  await service.update();
  expect(await answers()).toEqual({ overlap: [], pairs: 0 });
  service.setPose(hidden, {});
  await service.update();
  expect(await answers()).toMatchObject({ closest: hidden, overlap: [hidden], pairs: 1 });
});
