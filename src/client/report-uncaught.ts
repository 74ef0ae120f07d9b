/** Reports an error of a caller's callback as uncaught, without stopping the code that follows. */
export function reportUncaught(error: unknown): void {
  if (typeof reportError === 'function') {
    reportError(error);
    return;
  }
  // Neither Node nor jsdom has reportError.
  setTimeout(() => {
    throw error;
  });
}
