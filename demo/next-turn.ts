/** Lets the page have its turn between two pieces of work: it is drawn, and hears who points and presses. */
export function nextTurn(): Promise<void> {
  return 'scheduler' in globalThis && 'yield' in scheduler
    ? scheduler.yield()
    : new Promise((done) => setTimeout(done));
}
