/** Yields to the page between two pieces of work, so that it can draw and handle input. */
export function nextTurn(): Promise<void> {
  return 'scheduler' in globalThis && 'yield' in scheduler
    ? scheduler.yield()
    : new Promise((done) => setTimeout(done));
}
