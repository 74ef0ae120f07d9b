import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { LivePage } from '../live-page.js';
import { CHANGES } from '../marquee.js';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { PointsExhibit } from './points-exhibit.js';
import { Village } from './village.js';

/** For WebGL in software, for phones, and for all other machines. */
const COUNTS = { low: 1_000_000, phone: 2_000_000, high: 4_000_000 };

/** `?points=` sets the number of points. */
await runPage(async (progress) => {
  const quality = await chooseQuality();
  const canvas = element('view') as HTMLCanvasElement;
  const renderer = await createRenderer(canvas, quality);
  const device = quality === 'high' && matchMedia('(pointer: coarse)').matches ? 'phone' : quality;
  const count = Number(new URLSearchParams(location.search).get('points') ?? COUNTS[device]);
  if (!(count >= 1000 && count <= 2e7)) throw new Error(`?points= is ${count}, expected 1,000 to 20,000,000`);
  const village = await Village.create(count, 2 * renderer.getPixelRatio());
  // #region code
  const service = await createCollisionService();
  const tracker = await trackScene(service, village.root, {
    onProgress: (fraction) => progress.show('Building the trees of the points…', fraction),
    objectOptions: () => ({ motion: 'static' }),
  });
  // #endregion
  await nextTurn();
  const exhibit = new PointsExhibit(village, tracker);
  const page = new LivePage(renderer, exhibit, service, tracker);
  exhibit.attach(page, canvas);

  await nextTurn();
  const gui = createControls('controls-inside', 298);
  gui
    .add(exhibit, 'radius', 1, 40, 1)
    .name('Radius, pixels')
    .onChange(() => page.follow());
  gui.add(exhibit.settings, 'mode', ['by direction', 'touch', 'enclose']).name('A thing must');
  gui.add(exhibit.settings, 'lasso').name('Lasso');
  gui.add(exhibit.settings, 'change', CHANGES).name('A drag');
  gui.add({ none: () => exhibit.select(new Set()) }, 'none').name('Select nothing');
  window.livePage = page;
});
