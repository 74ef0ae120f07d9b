// The rows whose cost is on the main thread, or in the messages to the worker.
import { batchedRow } from './batched.js';
import { blocksRow, largeMeshRow } from './blocks.js';
import { culledBatchRow, culledInstancesRow, sortedInstancesRow, wholeBatchRow } from './culled.js';
import { drawnCityRow } from './drawn-city.js';
import { instancesRow } from './instances.js';
import { millionPickRow, millionRow } from './million.js';
import { movingRow } from './moving.js';
import { idlePickRow, loadedPickRow } from './picks.js';
import { staticRow, stillRow } from './resting.js';
import { sidesRow } from './sides.js';
import { trackingRow } from './tracking.js';

export const ROWS = {
  still: stillRow,
  static: staticRow,
  moving: movingRow,
  instances: instancesRow,
  batched: batchedRow,
  'culled instances': culledInstancesRow,
  'sorted instances': sortedInstancesRow,
  'culled batch': culledBatchRow,
  'whole batch': wholeBatchRow,
  'drawn city': drawnCityRow,
  'idle picks': idlePickRow,
  'loaded picks': loadedPickRow,
  tracking: trackingRow,
  blocks: blocksRow,
  'large mesh': largeMeshRow,
  million: millionRow,
  'million picks': millionPickRow,
  sides: sidesRow,
};
