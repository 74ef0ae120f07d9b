import { showError } from './panel.js';

/**
 * Wishes for `work`, of which one runs at a time: those that come meanwhile are one wish, which is met after it. So an
 * answer is always about the newest state, and a slow machine skips what nobody waits for any more.
 */
export function oneAtATime(work: () => Promise<void>): () => void {
  let isRunning = false;
  let isWanted = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    try {
      while (isWanted) {
        isWanted = false;
        await work();
      }
    } catch (error) {
      showError(error);
    }
    isRunning = false;
  };
  return () => {
    isWanted = true;
    if (!isRunning) void run();
  };
}
