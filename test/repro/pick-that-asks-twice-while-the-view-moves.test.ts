// A pick that has to ask the service a second time, because of objects that other code has added, was answered by the view as
// it had become meanwhile: with another object, or with INVALID_ARGUMENT if the view had been removed.
import { type ScenePickOptions, type SceneTracker, trackScene } from 'collision-worker/three';
import { BoxGeometry, LineBasicMaterial, LineSegments, Matrix4, Scene } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

withService();

const CHANGES: Record<string, (tracker: SceneTracker) => void> = {
  moves: (tracker) => {
    const camera = frontCamera();
    camera.position.x = 500;
    tracker.setView(camera, SIZE, 'pane');
  },
  'is removed': (tracker) => tracker.removeView('pane'),
};

test.each(Object.keys(CHANGES))('it is answered by the view as it was, though that %s', async (change) => {
  const [box, other] = [cube(), cube()];
  other.position.x = 500;
  // With lines, a pick finds objects within a radius.
  const lines = new LineSegments(new BoxGeometry(), new LineBasicMaterial());
  lines.position.y = 100;
  const tracker = await trackScene(service, new Scene().add(box, other, lines), { updateMatrixWorld: true });
  for (const x of [0, 500]) {
    const matrix = new Matrix4().makeTranslation(x, 0, 3).elements;
    service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 0.1] }, matrix });
  }
  await tracker.update(frontCamera(), SIZE);
  for (const options of [{}, { snap: ['face'] }] satisfies ScenePickOptions[]) {
    tracker.setView(frontCamera(), SIZE, 'pane');
    const pick = tracker.pick(SIZE.width / 2, SIZE.height / 2, { view: 'pane', ...options });
    CHANGES[change](tracker);
    const hit = await pick;
    expect([hit?.object, hit?.snap?.object]).toEqual([box, 'snap' in options ? box : undefined]);
  }
});
