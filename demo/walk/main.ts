import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { CHARACTER_HEIGHT, CHARACTER_RADIUS, Course } from './course.js';
import { WalkPage } from './walk-page.js';

const WALKERS = { low: 60, high: 200 };

declare global {
  interface Window {
    /** For tests. */
    walkPage?: WalkPage;
  }
}

await runPage(async (progress) => {
  const quality = await chooseQuality();
  const renderer = await createRenderer(element('view') as HTMLCanvasElement, quality);
  await nextTurn();
  const course = await Course.create();
  await nextTurn();
  course.root.updateMatrixWorld(true);
  // #region code
  const service = await createCollisionService();
  const tracker = await trackScene(service, course.root, {
    objectOptions: (object) => ({ motion: course.isStatic(object) ? 'static' : 'moving' }),
    onProgress: (fraction) => progress.show('Building trees…', fraction),
  });
  const radius = CHARACTER_RADIUS;
  const shape = { type: 'capsule', radius, from: [0, radius, 0], to: [0, CHARACTER_HEIGHT - radius, 0] } as const;
  const hero = tracker.createCharacter({ object: course.hero, shape, stepHeight: 0.35, layers: 1 });
  // #endregion
  await nextTurn();
  const page = new WalkPage(renderer, course, service, tracker, hero, WALKERS[quality]);

  await nextTurn();
  const gui = createControls('controls-inside', 298);
  gui.add(page.settings, 'move').name('Lift, bridge, door and crowd');
  gui
    .add(page.settings, 'walkers')
    .name('A crowd on the course')
    .onChange((isUsed: boolean) => page.useWalkers(isUsed));
  gui.add(page.settings, 'balls').name('Take the balls away');
  window.walkPage = page;
});
