/** The minimal common interface of a worker on any platform. */
export interface RawWorker {
  postMessage(message: unknown, transfer: Transferable[]): void;
  terminate(): unknown;
  listen(onMessage: (data: unknown) => void, onError: (message: string) => void): void;
}

/** How a worker starts: properly; from a missing script; without ever answering; without WebAssembly. */
export type StartMode = 'well' | 'no script' | 'silent' | 'no wasm';

/** `pages` of 64 KB limit the memory of the worker's core; undefined for no limit. */
export type MakeWorker = (start: StartMode, pages: number | undefined) => RawWorker;

type Message = { type?: string; name?: string } | null;

/** The package's own worker with injected faults: it can die, hang, throw, and delay questions and answers. */
export class ChaosWorker extends EventTarget {
  /** Whether nobody has terminated it yet. */
  isAlive = true;
  /** Whether it was asked to do more than build trees. */
  isService = false;
  readonly #rawWorker: RawWorker;
  readonly #answers: DelayQueue<unknown>;
  readonly #questions: DelayQueue<[message: unknown, transfer: Transferable[]]>;
  #isSilenced = false;
  #interceptAnswer: ((deliver: () => void) => void) | undefined;

  constructor(raw: RawWorker) {
    super();
    this.#rawWorker = raw;
    this.#answers = new DelayQueue((data) => this.dispatchEvent(new MessageEvent('message', { data })));
    this.#questions = new DelayQueue(([message, transfer]) => raw.postMessage(message, transfer));
    raw.listen(
      (data) => {
        const deliver = () => this.#answers.pass(data);
        const intercept = this.#interceptAnswer;
        this.#interceptAnswer = undefined;
        if (intercept) intercept(deliver);
        else deliver();
      },
      (message) => {
        if (!this.#isSilenced) this.dispatchEvent(Object.assign(new Event('error'), { message }));
      },
    );
  }

  /** In Node the end of a worker is an event; in a browser it dies without notice, as here if `isSilent`. */
  die(isSilent: boolean): void {
    this.isAlive = false;
    this.#isSilenced ||= isSilent;
    this.#rawWorker.terminate();
  }

  /** The worker continues to run, but none of its messages arrive any more. */
  hang(): void {
    this.#answers.shut();
  }

  /** Sends a message that the worker cannot read, and that only a bug could send. */
  choke(): void {
    this.#rawWorker.postMessage({ type: 'frame', input: null }, []);
  }

  /** Calls `intercept` instead of delivering the next answer. */
  atNextAnswer(intercept: (deliver: () => void) => void): void {
    this.#interceptAnswer = intercept;
  }

  /** Delays answers by this time, in their order. */
  delayAnswers(ms: number): void {
    this.#answers.hold(ms);
  }

  delayQuestions(ms: number): void {
    this.#questions.hold(ms);
  }

  postMessage(message: Message, transfer: Transferable[] = []): void {
    const isBuildMessage = message?.type === 'abort' || message?.name?.startsWith('build');
    if (!isBuildMessage) this.isService = true;
    // A transferred buffer is detached here at once, even if the message is sent later.
    if (this.#questions.isShut) this.#questions.pass([structuredClone(message, { transfer }), []]);
    else this.#questions.pass([message, transfer]);
  }

  terminate(): void {
    this.isAlive = false;
    this.#rawWorker.terminate();
  }
}

/** Passes items on in their order, at once or later. */
class DelayQueue<T> {
  isShut = false;
  readonly #heldItems: T[] = [];
  readonly #deliver: (item: T) => void;
  #isClosed = false;

  constructor(deliver: (item: T) => void) {
    this.#deliver = deliver;
  }

  pass(item: T): void {
    if (this.isShut) this.#heldItems.push(item);
    else this.#deliver(item);
  }

  hold(ms: number): void {
    if (this.isShut) return;
    this.isShut = true;
    setTimeout(() => this.#open(), ms);
  }

  /** Delivers each item in a separate task, as messages are: whatever one of them resolves is handled before the next. */
  async #open(): Promise<void> {
    while (this.#heldItems.length > 0 && !this.#isClosed) {
      this.#deliver(this.#heldItems.shift()!);
      await new Promise((resolve) => setTimeout(resolve));
    }
    this.isShut = this.#isClosed;
  }

  shut(): void {
    this.isShut = true;
    this.#isClosed = true;
  }
}
