/** They have a decision of the browser's that a handler may prevent. */
const PREVENTABLE = ['wheel', 'contextmenu', 'click', 'dblclick', 'touchstart', 'touchmove'] as const;

/**
 * Has it decided at once whether the browser shall not do what it does for an event of the target: handlers that wait for
 * an answer run too late to say so. Answers what ends that.
 */
export function decideAtOnce(target: EventTarget, isPrevented: (event: Event) => boolean): () => void {
  const decide = (event: Event): void => {
    if (isPrevented(event)) event.preventDefault();
  };
  for (const type of PREVENTABLE) target.addEventListener(type, decide, { passive: false });
  return () => {
    for (const type of PREVENTABLE) target.removeEventListener(type, decide);
  };
}
