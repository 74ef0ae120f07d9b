import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { CHANGES } from '../marquee.js';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage, showStats } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { MODELS } from './models.js';
import { SelectionPage } from './selection-page.js';

declare global {
  interface Window {
    /** For tests. */
    selectionDemo?: SelectionPage;
  }
}

await runPage(async (progress) => {
  const quality = await chooseQuality();
  const renderer = await createRenderer(element('view') as HTMLCanvasElement, quality);
  const parameters = new URLSearchParams(location.search);
  const model = parameters.get('model') ?? 'engine';
  if (!(model in MODELS)) throw new Error(`?model= is ${model}, expected one of ${Object.keys(MODELS).join(', ')}`);
  const root = await MODELS[model](quality);
  // #region code
  const service = await createCollisionService();
  const tracker = await trackScene(service, root, {
    updateMatrixWorld: true, // the tracker updates before three renders
    onProgress: (fraction) => progress.show('Building the trees…', fraction),
    objectOptions: () => ({ motion: 'static' }),
  });
  // #endregion
  await nextTurn();
  const page = new SelectionPage(renderer, root, tracker, quality);
  showStats(tracker);

  await nextTurn();
  const gui = createControls('controls-inside', 298);
  gui
    .add({ model }, 'model', Object.keys(MODELS))
    .name('Model')
    .onChange((name: string) => {
      parameters.set('model', name);
      location.search = parameters.toString();
    });
  gui.add(page.settings, 'mode', ['by direction', 'touch', 'enclose']).name('A part must');
  gui.add(page.settings, 'lasso').name('Lasso');
  gui.add(page.settings, 'change', CHANGES).name('A drag');
  gui.add(page.settings, 'seeThrough').name('See through').onChange(page.changed);
  gui.add({ none: () => page.select(new Set()) }, 'none').name('Select nothing');
  window.selectionDemo = page;
});
