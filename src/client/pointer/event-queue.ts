import { reportUncaught } from '../report-uncaught.js';

/** An event whose handlers wait for an answer. */
export interface QueuedEvent {
  /**
   * Key of events that may be coalesced, as browsers do with moves: an event that has not been asked about is dropped when
   * another with its key arrives, unless one without a key is between them. Null: never dropped.
   */
  readonly coalesced: string | null;
  /** Asks for what the handlers need; null if that is known at once. */
  ask(): Promise<void> | null;
  /** Asks again if the answer is about objects that have been removed since; null if not. It is called once, before `handle`. */
  refresh(): Promise<void> | null;
  /** Runs the handlers. Errors that they throw are reported, and stop nothing. */
  handle(): void;
}

interface Entry {
  readonly event: QueuedEvent;
  state: 'waiting' | 'asked' | 'ready' | 'refreshed';
}

/**
 * Runs the handlers of events in the order in which these happened, each once its answer and all earlier ones are there. A
 * question that fails counts as answered: an event is never lost, and never blocks those behind it.
 *
 * Of consecutive moves, one is asked about at a time, so that questions never pile up, however slow the answers are, and however
 * many fingers move.
 */
export class EventQueue {
  readonly #entries: Entry[] = [];
  readonly #rest: (() => Promise<void>) | null;
  #isRunning = false;
  #isClosed = false;

  /** `rest` is awaited after the handlers of each event, before those of the next one run. */
  constructor(rest: (() => Promise<void>) | null = null) {
    this.#rest = rest;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Adds an event. Its handlers run at once if it is the only one and needs no answer. */
  push(event: QueuedEvent): void {
    if (this.#isClosed) return;
    // Those that wait are the last ones. An event without a key ends their wait, because nothing replaces them any more.
    const waiting = this.#entries.slice(1 + this.#entries.findLastIndex(({ state }) => state !== 'waiting'));
    for (const each of waiting) {
      if (event.coalesced === null) this.#ask(each);
      else if (event.coalesced === each.event.coalesced) this.#entries.splice(this.#entries.indexOf(each), 1);
    }
    const entry: Entry = { event, state: 'waiting' };
    this.#entries.push(entry);
    if (event.coalesced === null || this.#entries.length === 1) this.#ask(entry);
    this.#run();
  }

  /** Drops all events that wait, and all later ones. */
  close(): void {
    this.#isClosed = true;
    this.#entries.length = 0;
  }

  #ask(entry: Entry): void {
    entry.state = 'asked';
    this.#await(entry, 'ready', () => entry.event.ask());
  }

  #await(entry: Entry, state: 'ready' | 'refreshed', ask: () => Promise<void> | null): void {
    const done = (): void => {
      entry.state = state;
      this.#run();
    };
    const failed = (error: unknown): void => {
      reportUncaught(error);
      done();
    };
    try {
      const answer = ask();
      if (answer === null) entry.state = state;
      else answer.then(done, failed);
    } catch (error) {
      reportUncaught(error);
      entry.state = state;
    }
  }

  #run(): void {
    if (this.#isRunning) return; // a handler has dispatched an event, or the queue rests
    this.#isRunning = true;
    for (let head = this.#entries[0]; head !== undefined; head = this.#entries[0]) {
      if (head.state === 'waiting') this.#ask(head);
      if (head.state === 'ready') {
        const { event } = head;
        this.#await(head, 'refreshed', () => event.refresh());
        if (head.state === 'ready') head.state = 'asked'; // the second answer is pending
      }
      if (head.state !== 'refreshed') break;
      this.#entries.shift();
      try {
        head.event.handle();
      } catch (error) {
        reportUncaught(error);
      }
      if (this.#rest === null) continue;
      this.#rest().then(() => {
        this.#isRunning = false;
        this.#run();
      });
      return;
    }
    this.#isRunning = false;
  }
}
