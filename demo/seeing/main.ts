import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import type { Object3D } from 'three';
import { closedForm } from '../closed-form.js';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage, showStats } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { Courtyard } from './courtyard.js';
import { SeeingPage } from './seeing-page.js';

declare global {
  interface Window {
    /** For tests. */
    seeingDemo?: SeeingPage;
  }
}

await runPage(async () => {
  const quality = await chooseQuality();
  const renderer = await createRenderer(element('view') as HTMLCanvasElement, quality);
  const courtyard = new Courtyard(5);
  const watched = new Set<Object3D>(courtyard.watched);
  // #region code
  const service = await createCollisionService();
  const tracker = await trackScene(service, courtyard.root, {
    updateMatrixWorld: true, // the tracker updates before three renders
    shapeOf: closedForm,
    // The views test visitors and the thief; walls and the guard only occlude, and can be picked.
    objectOptions: (object) => ({ cullable: watched.has(object) }),
  });
  // #endregion
  await nextTurn();
  const page = new SeeingPage(renderer, courtyard, service, tracker, quality);
  showStats(tracker);

  await nextTurn();
  const gui = createControls('controls-inside', 298);
  gui.add(page.settings, 'turn').name('The guard turns');
  gui.add(page.settings, 'walk').name('Visitors move');
  gui.add(page.settings, 'margin', 0, 3, 0.1).name('Margin of the view');
  window.seeingDemo = page;
});
