import leftHandUrl from '@webxr-input-profiles/assets/dist/profiles/generic-hand/left.glb?url';
import rightHandUrl from '@webxr-input-profiles/assets/dist/profiles/generic-hand/right.glb?url';
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Box3, Vector3 } from 'three';
import { LivePage } from '../live-page.js';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { addShadows, createRenderer } from '../scenery.js';
import { ThingDrag } from '../thing-drag.js';
import { HandsExhibit } from './hands-exhibit.js';
import { RiggedHand } from './rigged-hand.js';

declare global {
  interface Window {
    /** For tests. */
    hands?: HandsExhibit;
  }
}

await runPage(async (progress) => {
  const quality = await chooseQuality();
  const canvas = element('view') as HTMLCanvasElement;
  const renderer = await createRenderer(canvas, quality);
  const hands = await Promise.all([RiggedHand.load(leftHandUrl, 'left'), RiggedHand.load(rightHandUrl, 'right')]);
  const exhibit = new HandsExhibit(hands);
  // #region code
  const service = await createCollisionService();
  const tracker = await trackScene(service, exhibit.root, {
    contacts: 'bones', // reports which bones touch a key
    objectOptions: (object) => ({ group: exhibit.keyboard.root.children.includes(object) ? 1 : 0 }),
    onProgress: (fraction) => progress.show('Building the trees of the hands…', fraction),
  });
  // #endregion
  await nextTurn();
  const page = new LivePage(renderer, exhibit, service, tracker);
  addShadows(page.scene, quality, exhibit.root, exhibit.box);
  const [y, { width }] = [hands[0].root.position.y, exhibit.keyboard];
  new ThingDrag(
    canvas,
    page.camera,
    page.controls,
    tracker,
    {
      things: new Map(hands.map(({ mesh, root }) => [mesh, root])),
      within: new Box3(new Vector3(-width, y, -0.15), new Vector3(width, hands[1].root.position.y, 0.2)),
    },
    page.changed,
  );

  await nextTurn();
  const gui = createControls('controls-inside', 298);
  gui.add(page.settings, 'move').name('Play');
  window.hands = exhibit;
  window.livePage = page;
});
