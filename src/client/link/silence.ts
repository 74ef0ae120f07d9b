/** The number of timer ticks without a message after which the worker counts as lost; silence begins between two ticks. */
export const TICKS = 32;

/**
 * Detects that the worker has sent nothing for too long. Time is counted in ticks of this thread's own timer, since a clock
 * would also count pauses that are nobody's silence: while a thread is blocked or stopped by a debugger, a page is frozen or
 * a machine sleeps, the timer ticks as little as the worker is heard, and in a hidden tab both are slow. A tick long after the
 * previous one ends such a pause, in which nobody had a chance to send; it counts only if ticks have become that
 * slow.
 */
export class SilenceWatch {
  readonly #period: number;
  readonly #isWaiting: () => boolean;
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setInterval> | undefined;
  #tickedAt = 0;
  #gap = 0;
  #silentTicks = 0;

  /** Makes a watch with a `timeout` in milliseconds. It reports silence only while an answer is pending. */
  constructor(timeout: number, isWaiting: () => boolean, onSilence: () => void) {
    this.#period = timeout / TICKS;
    this.#isWaiting = isWaiting;
    this.#onSilence = onSilence;
  }

  /** Starts watching, since an answer is pending; the watch stops when none is. */
  start(): void {
    this.heard();
    if (this.#timer !== undefined) return;
    this.#tickedAt = performance.now();
    this.#gap = this.#period;
    this.#arm();
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
    const gap = now - this.#tickedAt;
    const endsPause = gap > 2 * Math.max(this.#gap, this.#period);
    this.#tickedAt = now;
    this.#gap = gap;
    if (endsPause) {
      // The next tick comes after a whole period, and not when it was due by the old count.
      clearInterval(this.#timer);
      this.#arm();
      return;
    }
    if (++this.#silentTicks < TICKS) return;
    // Messages that arrived while this thread was busy are handled first.
    setTimeout(() => {
      if (this.#timer !== undefined && this.#isWaiting() && this.#silentTicks >= TICKS) this.#onSilence();
    });
  };

  #arm(): void {
    this.#timer = setInterval(this.#tick, this.#period);
    // The worker keeps Node's process alive, not this timer.
    (this.#timer as { unref?(): void }).unref?.();
  }
}
