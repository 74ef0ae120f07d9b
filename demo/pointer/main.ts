import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { PointerPage } from './pointer-page.js';
import { ToyTable } from './table.js';

await runPage(async () => {
  const quality = await chooseQuality();
  const renderer = await createRenderer(element('view') as HTMLCanvasElement, quality);
  const table = new ToyTable(quality === 'high' ? 24 : 10);
  // #region code
  const tracker = await trackScene(await createCollisionService(), table.root);
  // #endregion
  await nextTurn();
  const page = new PointerPage(renderer, table, tracker);

  await nextTurn();
  const gui = createControls('controls-inside', 298);
  gui.add(page.settings, 'move').name('The turntable turns');
  gui
    .add({ turn: 0 }, 'turn', -180, 180, 5)
    .name('Turn the table')
    .onChange((degrees: number) => page.turn(degrees));
  window.pointerPage = page;
});
