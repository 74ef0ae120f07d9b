import { createCollisionService } from 'collision-worker';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { HeldWorker } from '../fixtures/held-worker.js';
import { testAhead } from '../suites/ahead.js';

testAhead(async () => {
  const worker = new GatedWorker();
  let workers = 0;
  const service = await createCollisionService({ createWorker: () => (workers++ === 0 ? worker : new HeldWorker()) });
  return { service, balls: 8, edge: 24, inMidst: (ask) => worker.inMidst(ask), goOn: () => worker.open() };
});
