/** Reports what a callback of the caller's has thrown, as uncaught: it stops nothing that comes behind it. */
export function reportUncaught(error: unknown): void {
  if (typeof reportError === 'function') {
    reportError(error);
    return;
  }
  // Node has none, nor has jsdom.
  setTimeout(() => {
    throw error;
  });
}
