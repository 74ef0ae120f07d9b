import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { askWorker } from '../ask-worker.js';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { City } from './city.js';
import type { CityPlan } from './city-plan.js';
import { CullPage } from './cull-page.js';

const SIZE = { buildings: 97_000, cars: 3_000 };
/** Far plane, in metres. */
const FAR = { low: 700, high: 1500 };

declare global {
  interface Window {
    /** For tests. */
    cullPage?: CullPage;
  }
}

await runPage(async (progress) => {
  const planner = new Worker(new URL('./city-worker.ts', import.meta.url), { type: 'module' });
  const planned = askWorker<CityPlan>(planner, 'plans the city', SIZE);
  const quality = await chooseQuality();
  const renderer = await createRenderer(element('view') as HTMLCanvasElement, quality);
  const city = new City(await planned);
  // #region code
  const service = await createCollisionService();
  // three renders the city as usual, without the instances that the camera does not see, or that nearer buildings hide.
  const tracker = await trackScene(service, city.root, {
    culling: true,
    // The shader paints windows, and moves no vertex.
    objectOptions: (object) =>
      object === city.cars ? { cullable: true } : { cullable: true, motion: 'static', occluder: true },
    onProgress: (fraction) => progress.show('Telling the worker…', fraction),
  });
  // #endregion
  await nextTurn();
  const page = new CullPage(renderer, city, FAR[quality], service, tracker);

  await nextTurn();
  const gui = createControls('controls-inside', 298);
  gui
    .add(page.settings, 'freeze')
    .name('Freeze the view')
    .onChange((isFrozen: boolean) => page.freeze(isFrozen))
    .listen();
  gui.add(page.settings, 'occlusion').name('Leave out what is hidden');
  gui.add(page.settings, 'fly').name('Fly').listen();
  gui.add(page.settings, 'drive').name('Traffic');
  window.cullPage = page;
});
