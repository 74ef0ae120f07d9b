// Arrays are read by index, as three does: the iterator of an array may be
// the caller's own, and endless. The page hung until its memory was full.
import { forwardPointerEvents } from 'collision-worker/pointer';
import { CollisionHelper, trackScene } from 'collision-worker/three';
import { Mesh, MeshBasicMaterial, Plane, PlaneGeometry, Scene, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, pickCenter, SIZE } from '../fixtures/three-picks.js';

withService();

function endless<T>(...items: T[]): T[] {
  const next = () => {
    throw new Error('it has no end');
  };
  return Object.assign(items, { [Symbol.iterator]: () => ({ next }) });
}

test('materials, planes of the renderer, trees and views', async () => {
  const geometry = new PlaneGeometry();
  geometry.addGroup(0, 6, 1);
  const [back, front] = [-1, 1].map((z) => new Mesh(geometry, endless(...two())).translateZ(z));
  const renderer = { localClippingEnabled: true, clippingPlanes: endless(new Plane(new Vector3(0, 0, -1), 0)) };
  const tracker = await trackScene(service, new Scene().add(back, front), { updateMatrixWorld: true, renderer });
  const inspect = vi.spyOn(service, 'inspect');
  const helper = new CollisionHelper(tracker, { trees: endless(front), views: endless('main') });
  await tracker.update(frontCamera(), SIZE);
  expect(tracker.untracked.size).toBe(0);
  expect((await pickCenter(tracker))?.object).toBe(back);
  expect(inspect.mock.lastCall![0]!.objects).toEqual(tracker.targetIds(front));
  helper.dispose();

  const most = { length: 2 ** 32 - 1 };
  for (const key of ['trees', 'views']) {
    expect(() => new CollisionHelper(tracker, { [key]: Object.assign([], most) })).toThrow(`the length of ${key} is`);
  }
  const element = Object.assign(new EventTarget(), { setPointerCapture() {} }) as unknown as HTMLElement;
  forwardPointerEvents(tracker, element, { view: endless('main') })();
  for (const view of [[], Object.assign([], most), ['main', undefined]]) {
    expect(() => forwardPointerEvents(tracker, element, { view: view as string[] })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
  }
  tracker.dispose();
});

const two = () => [0, 1].map(() => new MeshBasicMaterial());
