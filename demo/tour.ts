/** Milliseconds between two steps of the tour. */
const STEP_MS = 6000;
/** Events that count as touching the page; a mouse that rests or moves across does not. */
const TOUCH_EVENTS = ['pointerdown', 'wheel', 'keydown'] as const;

/** Performs a step every few seconds until somebody touches the page. It does nothing for users who prefer reduced motion. */
export class Tour {
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #isOn = !matchMedia('(prefers-reduced-motion: reduce)').matches;

  constructor(step: () => void) {
    if (!this.#isOn) return;
    this.#timer = setInterval(step, STEP_MS);
    for (const touch of TOUCH_EVENTS) addEventListener(touch, this.end, { capture: true, passive: true });
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  readonly end = (): void => {
    this.#isOn = false;
    clearInterval(this.#timer);
    for (const touch of TOUCH_EVENTS) removeEventListener(touch, this.end, { capture: true });
  };
}
