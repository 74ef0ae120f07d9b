// `objectOptions` takes what the scene does not say. A shape or a matrix, which `addObject` takes, was accepted and ignored, as
// TypeScript does not see more properties than it knows in what a function returns; and errors did not name `solid` and `weld`.
import { createCollisionService } from 'collision-worker';
import { type SceneObjectOptions, trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, Scene } from 'three';
import { expect, test, vi } from 'vitest';

const EXPECTED =
  'expected some of solid, weld, motion, layers, collidesWith, group, contacts, pickable, cullable, side, occluder, ' +
  'clearance, continuous, boxes';

test.each([
  [{ contacts: 'any', shape: { type: 'sphere', radius: 3 } }, `has the unknown key "shape", ${EXPECTED}`],
  [{ matrix: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] }, `has the unknown key "matrix", ${EXPECTED}`],
  [{ sold: true }, `has the unknown key "sold", ${EXPECTED}`],
  ['static', 'is "static", expected an object'],
])('%o', async (given, message) => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const service = await createCollisionService();
  const [wrong, right] = [new Mesh(new BoxGeometry()), new Mesh(new BoxGeometry())];
  const objectOptions = (object: unknown) => (object === wrong ? (given as SceneObjectOptions) : undefined);
  const tracker = await trackScene(service, new Scene().add(wrong, right), { objectOptions });
  expect([...tracker.untracked.keys()]).toEqual([wrong]);
  expect(tracker.untracked.get(wrong)).toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: `trackScene: objectOptions ${message}`,
  });
  expect(tracker.idsOf(right)).toHaveLength(1);
  service.dispose();
  warn.mockRestore();
});
