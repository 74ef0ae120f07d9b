/** Milliseconds between two steps. */
const STEP = 6000;
/** What counts as touching the page: looking on, with the mouse at rest or passing by, does not. */
const TOUCHES = ['pointerdown', 'wheel', 'keydown'] as const;

/** Does something every few seconds until somebody touches the page. Nothing at all for those who want less motion. */
export class Tour {
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #isOn = !matchMedia('(prefers-reduced-motion: reduce)').matches;

  constructor(step: () => void) {
    if (!this.#isOn) return;
    this.#timer = setInterval(step, STEP);
    for (const touch of TOUCHES) addEventListener(touch, this.end, { capture: true, passive: true });
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  readonly end = (): void => {
    this.#isOn = false;
    clearInterval(this.#timer);
    for (const touch of TOUCHES) removeEventListener(touch, this.end, { capture: true });
  };
}
