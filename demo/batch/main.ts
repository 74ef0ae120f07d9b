import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Vector3 } from 'three';
import { grouped } from '../format.js';
import { type Exhibit, LivePage } from '../live-page.js';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage } from '../page.js';
import { element } from '../panel.js';
import { Pointer } from '../pointer.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { Parts } from './parts.js';

const ALL = 'all kinds';
const COUNTS = { low: 2_000, high: 20_000 };

/** `?parts=` sets the number of parts. */
await runPage(async (progress) => {
  const quality = await chooseQuality();
  const canvas = element('view') as HTMLCanvasElement;
  const renderer = await createRenderer(canvas, quality);
  const count = Number(new URLSearchParams(location.search).get('parts') ?? COUNTS[quality]);
  if (!(Number.isInteger(count) && count >= 1 && count <= 100_000)) {
    throw new Error(`?parts= is ${count}, expected 1 to 100,000`);
  }
  const parts = await Parts.create(count, quality === 'high' ? 24 : 10);
  // #region code
  const service = await createCollisionService();
  const tracker = await trackScene(service, parts.mesh, {
    onProgress: (fraction) => progress.show('Building the trees…', fraction),
  });
  // #endregion

  const exhibit: Exhibit = {
    root: parts.mesh,
    marks: [],
    box: parts.box,
    from: new Vector3(0.15, 0.55, 1),
    pose: (seconds) => parts.pose(seconds),
    nameOf: ({ batchId }) => parts.nameOf(batchId!),
    detailOf: ({ batchId, faceIndex }) => `batchId ${batchId}, triangle ${faceIndex}`,
    light: (hit) => parts.light(hit?.batchId ?? -1),
    figures: () => ({
      'parts, all moving': grouped(parts.count),
      'of them shown': grouped(parts.shown),
      'taken out': grouped(parts.out.size),
    }),
  };
  await nextTurn();
  const page = new LivePage(renderer, exhibit, service, tracker);
  // #region code
  new Pointer(canvas, async (x, y) => {
    const hit = await tracker.pick(x, y);
    if (hit !== null) parts.takeOut(hit.batchId!);
  });
  // #endregion

  await nextTurn();
  const gui = createControls('controls-inside', 298);
  gui.add(page.settings, 'move').name('Move');
  gui
    .add({ kind: ALL }, 'kind', [ALL, ...parts.kinds])
    .name('Show')
    .onChange((kind: string) => parts.showOnly(kind === ALL ? '' : kind));
  gui.add({ back: () => parts.putBack() }, 'back').name('Put all back');
  window.livePage = page;
});
