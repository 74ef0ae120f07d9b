import type { Remote } from '../../shared/calls.js';
import type { CollisionError } from '../../shared/errors.js';
import type { Outcome, WorkerApi } from '../../shared/protocol.js';
import { type Deferred, errorFromFailure, type WorkerLink } from './worker-link.js';

/** The most calls in one message: together they are a pause of a few milliseconds in a worker. */
const MAX_BATCH_CALLS = 32;

interface Call<Q, A> {
  readonly operation: string;
  readonly request: Q;
  readonly answer: Deferred<A>;
  /** Called with whether the worker did it. */
  readonly resolve: (isDone: boolean) => void;
}

/**
 * Joins small calls of one kind that are made in the same task to one message: for thousands of small meshes, the messages
 * would take longer than the work. Each call has its own answer.
 */
export class CallBatch<Q, A> {
  readonly #link: WorkerLink;
  readonly #invoke: (api: Remote<WorkerApi>, requests: Q[]) => Promise<Outcome<A>[]>;
  /** Schedules the function that posts the calls. */
  readonly #schedule: (post: () => void) => void;
  #calls: Call<Q, A>[] = [];

  constructor(
    link: WorkerLink,
    invoke: (api: Remote<WorkerApi>, requests: Q[]) => Promise<Outcome<A>[]>,
    schedule: (post: () => void) => void,
  ) {
    this.#link = link;
    this.#invoke = invoke;
    this.#schedule = schedule;
  }

  /** Calls the worker for an answer; resolves with whether the worker did it, settled or not. */
  add(operation: string, request: Q, answer: Deferred<A>): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#calls.push({ operation, request, answer, resolve }) === 1) this.#schedule(() => this.#post());
    });
  }

  #post(): void {
    const calls = this.#calls;
    this.#calls = [];
    const openCalls = calls.filter(({ answer, resolve }) => {
      if (answer.settled) resolve(false);
      return !answer.settled;
    });
    for (let start = 0; start < openCalls.length; start += MAX_BATCH_CALLS) {
      this.#send(openCalls.slice(start, start + MAX_BATCH_CALLS));
    }
  }

  async #send(calls: readonly Call<Q, A>[]): Promise<void> {
    const [{ operation }] = calls;
    const requests = calls.map(({ request }) => request);
    const batchAnswer = this.#link.defer<Outcome<A>[]>(operation);
    // If nobody waits for any of them any more, the worker need not begin.
    const drop = (): void => {
      if (!batchAnswer.settled && calls.every(({ answer }) => answer.settled)) batchAnswer.drop?.();
    };
    for (const { answer } of calls) answer.drop = drop;
    this.#link.answerWith(batchAnswer, operation, (api) => this.#invoke(api, requests));
    try {
      const outcomes = await batchAnswer.promise;
      calls.forEach((call, i) => {
        const { value, failure } = outcomes[i];
        if (failure) call.answer.reject(errorFromFailure(call.operation, failure));
        else call.answer.resolve(value as A);
        call.resolve(failure === undefined);
      });
    } catch (error) {
      // The worker is gone, or has failed with all of them.
      for (const { answer, resolve } of calls) {
        answer.reject(error as CollisionError);
        resolve(false);
      }
    }
  }
}
