// Replaces peers/native.ts in a browser, which has no native peers.
import type { ContenderFactory } from '../harness.js';

const none = (): ContenderFactory[] => [];

export { none as embreeRays, none as fclClashes, none as fclDistances, none as fclPairs };
