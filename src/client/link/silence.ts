/** The number of timer ticks without a message after which the worker counts as lost; silence begins between two ticks. */
export const MAX_SILENT_TICKS = 32;

/**
 * Detects that the worker has sent nothing for too long. Time is counted in ticks of this thread's own timer, since a clock
 * would also count pauses that are nobody's silence: while a thread is blocked or stopped by a debugger, a page is frozen or
 * a machine sleeps, the timer ticks as little as the worker is heard, and in a hidden tab both are slow. A tick long after the
 * previous one ends such a pause, in which nobody had a chance to send; it counts only if ticks have become that
 * slow. The timer of a prerendered page ticks, but its workers start only when the page is shown.
 */
export class SilenceWatch {
  readonly #period: number;
  readonly #isWaiting: () => boolean;
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setInterval> | undefined;
  #lastTickTime = 0;
  #lastInterval = 0;
  #silentTicks = 0;

  /** Makes a watch with a `timeout` in milliseconds. It reports silence only while an answer is pending. */
  constructor(timeout: number, isWaiting: () => boolean, onSilence: () => void) {
    this.#period = timeout / MAX_SILENT_TICKS;
    this.#isWaiting = isWaiting;
    this.#onSilence = onSilence;
  }

  /** Starts watching, since an answer is pending; the watch stops when none is. */
  start(): void {
    this.heard();
    if (this.#timer !== undefined) return;
    this.#lastTickTime = performance.now();
    this.#lastInterval = this.#period;
    this.#startTimer();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  heard(): void {
    this.#silentTicks = 0;
  }

  readonly #tick = (): void => {
    if (!this.#isWaiting()) {
      this.stop();
      return;
    }
    const now = performance.now();
    const interval = now - this.#lastTickTime;
    const isPaused =
      (globalThis.document as { prerendering?: boolean } | undefined)?.prerendering ||
      interval > 2 * Math.max(this.#lastInterval, this.#period);
    this.#lastTickTime = now;
    this.#lastInterval = interval;
    if (isPaused) {
      // The next tick comes after a whole period, and not when it was due by the old count.
      clearInterval(this.#timer);
      this.#startTimer();
      return;
    }
    if (++this.#silentTicks < MAX_SILENT_TICKS) return;
    // Messages that arrived while this thread was busy are handled first.
    setTimeout(() => {
      if (this.#timer !== undefined && this.#isWaiting() && this.#silentTicks >= MAX_SILENT_TICKS) this.#onSilence();
    });
  };

  #startTimer(): void {
    this.#timer = setInterval(this.#tick, this.#period);
    // The worker keeps Node's process alive, not this timer.
    (this.#timer as { unref?(): void }).unref?.();
  }
}
