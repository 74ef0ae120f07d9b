/** So often the timer ticks in the time that counts as a loss; silence begins between two ticks. */
export const TICKS = 32;

/**
 * Notices that nothing is heard for too long. Time is counted in ticks of this thread's own timer, as a clock would
 * count what is nobody's silence: a thread that is blocked or stopped by a debugger, a page that is frozen and a
 * machine that sleeps tick as little as the worker is heard, and in a hidden tab both are slow. A tick long after the
 * one before ends such a pause, in which nobody had a chance to speak; it counts only where ticks have become that
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

  /** Makes a watch with a `timeout` in milliseconds. It tells of silence only while something is waited for. */
  constructor(timeout: number, isWaiting: () => boolean, onSilence: () => void) {
    this.#period = timeout / TICKS;
    this.#isWaiting = isWaiting;
    this.#onSilence = onSilence;
  }

  /** Begins to watch, as something is waited for; the watch ends by itself when nothing is. */
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
      // The next one comes after a whole period, and not when it was due by the old count.
      clearInterval(this.#timer);
      this.#arm();
      return;
    }
    if (++this.#silentTicks < TICKS) return;
    // What has come while this thread was busy is heard first.
    setTimeout(() => {
      if (this.#timer !== undefined && this.#isWaiting() && this.#silentTicks >= TICKS) this.#onSilence();
    });
  };

  #arm(): void {
    this.#timer = setInterval(this.#tick, this.#period);
    // In Node it is the worker that keeps the process alive.
    (this.#timer as { unref?(): void }).unref?.();
  }
}
