// Two `hover` of one tracker answered one another: of the picks that waited, all got the answer of the newest, which was of
// another view or ignored another object.
import { type HoverOptions, type SceneIntersection, trackScene } from 'collision-worker/three';
import { type Object3D, Scene } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

withService();

const [X, Y] = [SIZE.width / 2, SIZE.height / 2];

/** An element with a pointer in its middle. */
class Canvas extends EventTarget {
  readonly ownerDocument = null;
  readonly clientLeft = 0;
  readonly clientTop = 0;
  readonly offsetWidth = SIZE.width;
  readonly offsetHeight = SIZE.height;

  getBoundingClientRect() {
    return { left: 0, top: 0, width: SIZE.width, height: SIZE.height };
  }

  point(): void {
    const place = { clientX: X, clientY: Y, offsetX: X, offsetY: Y };
    this.dispatchEvent(Object.assign(new Event('pointermove'), { pointerId: 1, isPrimary: true, ...place }));
  }
}

test('each hears what its own view and options hit, though many picks wait', async () => {
  const [near, behind, aside] = [cube(), cube(), cube()];
  behind.position.z = -5;
  aside.position.x = 500;
  const scene = new Scene().add(near, behind, aside);
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true });
  const [camera, other] = [frontCamera(), frontCamera()];
  other.position.x = 500;
  tracker.setView(other, SIZE, 'other');
  await tracker.update(camera, SIZE);
  const canvas = new Canvas();
  const hear = (options: HoverOptions) => {
    const heard = new Set<Object3D | undefined>();
    const listener = (hit: SceneIntersection | null) => heard.add(hit?.object);
    const end = tracker.hover(canvas as never, listener, { every: true, ...options });
    return { heard, end };
  };
  const all = [hear({}), hear({ view: 'other' }), hear({ ignore: [near] })];
  canvas.point();
  for (let i = 0; i < 10; i++) {
    for (let k = 0; k < 5; k++) void tracker.update(camera, SIZE);
    await tracker.update(camera, SIZE);
  }
  await expect.poll(() => all.every(({ heard }) => heard.size > 0)).toBe(true);
  for (const { end } of all) end();
  expect(all.map(({ heard }) => [...heard])).toEqual([[near], [aside], [behind]]);
});
