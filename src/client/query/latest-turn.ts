import type { CollisionError } from '../../shared/errors.js';
import type { Deferred } from '../link/worker-link.js';

/** A call with `latest`. */
interface Call<T> {
  readonly answer: Deferred<T>;
  /** Asks the worker; resolves with whether the worker did it. */
  readonly ask: () => Promise<boolean>;
  /** Schedules the call's turn, in order with the frames. */
  readonly enqueue: () => void;
  /** Whether its turn in that order has come. */
  isReady: boolean;
}

/**
 * The calls of one operation with `latest`: one is in the worker, and of the waiting ones the newest is the next. Its
 * answer also settles all calls before it, so that each gets an answer, and none an old one.
 */
export class LatestTurn<T> {
  readonly operation: string;
  #isInWorker = false;
  /** Oldest first. */
  #waitingCalls: Call<T>[] = [];

  constructor(operation: string) {
    this.operation = operation;
  }

  /** Takes a call; `enqueue` must call its argument, in order with the frames. */
  add(answer: Deferred<T>, ask: () => Promise<boolean>, enqueue: (ready: () => void) => void): void {
    const call: Call<T> = {
      answer,
      ask,
      enqueue: () =>
        enqueue(() => {
          call.isReady = true;
          this.#sendNewest();
        }),
      isReady: false,
    };
    this.#waitingCalls.push(call);
    call.enqueue();
  }

  /** Answers all waiting calls, since a newer call was answered without the worker. */
  answerWaiting(value: T): void {
    for (const { answer } of this.#waitingCalls.splice(0)) answer.resolve(value);
  }

  /** Sends the newest call, now or when the one before it is answered. */
  #sendNewest(): void {
    if (this.#isInWorker) return;
    while (this.#waitingCalls.at(-1)?.answer.settled) this.#waitingCalls.pop();
    const newest = this.#waitingCalls.at(-1);
    if (!newest?.isReady) return;
    // This runs once per call that is sent, and not once per waiting call: there may be thousands.
    const older = this.#waitingCalls.filter((call) => call !== newest && !call.answer.settled);
    this.#waitingCalls = [];
    this.#isInWorker = true;
    newest.answer.promise.then(
      (value) => {
        for (const { answer } of older) answer.resolve(value);
      },
      (error: CollisionError) => {
        // It was aborted by its own signal: the others still need an answer.
        if (error.code === 'ABORTED') this.#waitingCalls = older.splice(0).concat(this.#waitingCalls);
        else for (const { answer } of older) answer.reject(error);
      },
    );
    newest.ask().then((isDone) => {
      this.#isInWorker = false;
      // The worker may be lost: a call that it has not done is sent to the next one.
      if (!isDone && !newest.answer.settled) this.#waitingCalls = older.splice(0).concat(newest, this.#waitingCalls);
      // They are sent in order with what the worker was sent meanwhile: commands may have gone ahead of a frame.
      for (const call of this.#waitingCalls) {
        if (!call.isReady) continue;
        call.isReady = false;
        call.enqueue();
      }
    });
  }
}
