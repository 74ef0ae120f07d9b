import { createCollisionService } from 'collision-worker';
import { testAhead } from '../suites/ahead.js';

// Without a gate, there are so many contacts that they take a second.
testAhead(async () => ({
  service: await createCollisionService(),
  balls: 40,
  edge: 96,
  inMidst: (ask) => ask(),
  goOn: () => {},
}));
