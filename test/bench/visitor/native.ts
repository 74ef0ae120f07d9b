// In the place of peers/native.ts, in a browser, where nothing is native.
import type { Maker } from '../harness.js';

const none = (): Maker[] => [];

export { none as embreeRays, none as fclClashes, none as fclDistances, none as fclPairs };
