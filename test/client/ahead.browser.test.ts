import { createCollisionService } from 'collision-worker';
import { testAhead } from '../suites/ahead.js';

// Without a gate, the contacts are so many that they take a second.
testAhead(async () => ({
  service: await createCollisionService(),
  balls: 40,
  edge: 96,
  inMidst: (ask) => ask(),
  goOn: () => {},
}));
