import { showError } from './panel.js';

/**
 * Coalesces requests for `work`, of which one runs at a time: requests during a run are merged into one that follows it. So each
 * result is about the latest state, and a slow machine skips requests that nobody waits for any more.
 */
export function oneAtATime(work: () => Promise<void>): () => void {
  let isRunning = false;
  let isRequested = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    try {
      while (isRequested) {
        isRequested = false;
        await work();
      }
    } catch (error) {
      showError(error);
    }
    isRunning = false;
  };
  return () => {
    isRequested = true;
    if (!isRunning) void run();
  };
}
