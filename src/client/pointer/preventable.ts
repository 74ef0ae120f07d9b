/** Events with a default action of the browser that a handler may prevent. */
const PREVENTABLE_TYPES = ['wheel', 'contextmenu', 'click', 'dblclick', 'touchstart', 'touchmove'] as const;

/**
 * Decides synchronously whether to prevent the browser's default action for an event of the target: handlers that wait for an
 * answer run too late for that. Returns a function that ends it.
 */
export function decideAtOnce(target: EventTarget, isPrevented: (event: Event) => boolean): () => void {
  const decide = (event: Event): void => {
    if (isPrevented(event)) event.preventDefault();
  };
  for (const type of PREVENTABLE_TYPES) target.addEventListener(type, decide, { passive: false });
  return () => {
    for (const type of PREVENTABLE_TYPES) target.removeEventListener(type, decide);
  };
}
