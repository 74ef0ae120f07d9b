// Replaces peers/native.ts in a browser, which has no native peers.
import type { Maker } from '../harness.js';

const none = (): Maker[] => [];

export { none as embreeRays, none as fclClashes, none as fclDistances, none as fclPairs };
