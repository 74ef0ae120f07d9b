import { createCollisionService } from 'collision-worker';
import { type SceneFrame, trackScene } from 'collision-worker/three';
import { Vector3 } from 'three';
import { ContactMarks } from '../contact-marks.js';
import { grouped } from '../format.js';
import { type Exhibit, LivePage } from '../live-page.js';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage } from '../page.js';
import { element, showSelected } from '../panel.js';
import { Pointer } from '../pointer.js';
import { chooseQuality } from '../quality.js';
import { createFloor, createRenderer } from '../scenery.js';
import { Crowd, nameOfBone } from './crowd.js';
import { loadBody } from './load-body.js';

await runPage(async (progress) => {
  const quality = await chooseQuality();
  const canvas = element('view') as HTMLCanvasElement;
  const renderer = await createRenderer(canvas, quality);
  const crowd = new Crowd(quality, await loadBody(quality));
  // #region code
  const service = await createCollisionService();
  const tracker = await trackScene(service, crowd.root, {
    onProgress: (fraction) => progress.show('Building the tree of the body…', fraction),
    contacts: 'manifold',
  });
  // #endregion

  const marks = new ContactMarks();
  const triangles = crowd.walkers.length * (crowd.walkers[0].mesh.geometry.index!.count / 3);
  let touching = 0;
  const exhibit: Exhibit = {
    root: crowd.root,
    marks: [createFloor(6, 24), marks.root],
    box: crowd.box,
    from: new Vector3(0.25, 0.5, 1),
    pose: (seconds) => crowd.pose(seconds),
    nameOf: nameOfBone,
    detailOf: ({ faceIndex, distance }) => `triangle ${faceIndex}, ${distance.toFixed(2)} m away`,
    light: (hit) => crowd.light(hit),
    // #region code
    read: ({ result: { contacts } }: SceneFrame) => {
      touching = contacts.count;
      marks.clear(contacts.depths.length);
      for (let pair = 0; pair < contacts.count; pair++) marks.add(contacts, pair);
      marks.show();
    },
    // #endregion
    figures: () => ({
      'characters, all moving': String(crowd.walkers.length),
      'triangles that bones move': grouped(triangles),
      'pairs that touch': String(touching),
    }),
  };
  await nextTurn();
  const page = new LivePage(renderer, exhibit, service, tracker);
  new Pointer(canvas, async (x, y) => {
    const hit = await tracker.pick(x, y);
    showSelected(hit === null ? '' : nameOfBone(hit));
  });

  await nextTurn();
  const gui = createControls('controls-inside', 298);
  gui.add(page.settings, 'move').name('Walk');
  gui
    .add({ touch: true }, 'touch')
    .name('Show contacts')
    .onChange((isShown: boolean) => {
      marks.root.visible = isShown;
    });
  window.livePage = page;
});
