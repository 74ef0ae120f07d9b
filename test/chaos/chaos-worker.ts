/** The minimal common interface of a worker on any platform. */
export interface RawWorker {
  postMessage(message: unknown, transfer: Transferable[]): void;
  terminate(): unknown;
  listen(onMessage: (data: unknown) => void, onError: (message: string) => void): void;
}

/** How a worker starts: properly; from a missing script; without ever answering; without WebAssembly. */
export type Start = 'well' | 'no script' | 'silent' | 'no wasm';

/** `pages` of 64 KB limit the memory of the worker's core; undefined for no limit. */
export type MakeWorker = (start: Start, pages: number | undefined) => RawWorker;

type Message = { type?: string; name?: string } | null;

/** The package's own worker with injected faults: it can die, hang, throw, and delay questions and answers. */
export class ChaosWorker extends EventTarget {
  /** Whether nobody has terminated it yet. */
  isAlive = true;
  /** Whether it was asked to do more than build trees. */
  isService = false;
  readonly #raw: RawWorker;
  readonly #answers: Valve<unknown>;
  readonly #questions: Valve<[message: unknown, transfer: Transferable[]]>;
  #isDeaf = false;
  #atNextAnswer: ((deliver: () => void) => void) | undefined;

  constructor(raw: RawWorker) {
    super();
    this.#raw = raw;
    this.#answers = new Valve((data) => this.dispatchEvent(new MessageEvent('message', { data })));
    this.#questions = new Valve(([message, transfer]) => raw.postMessage(message, transfer));
    raw.listen(
      (data) => {
        const deliver = () => this.#answers.pass(data);
        const strike = this.#atNextAnswer;
        this.#atNextAnswer = undefined;
        if (strike) strike(deliver);
        else deliver();
      },
      (message) => {
        if (!this.#isDeaf) this.dispatchEvent(Object.assign(new Event('error'), { message }));
      },
    );
  }

  /** In Node the end of a worker is an event; in a browser it dies without notice, as here if `isSilent`. */
  die(isSilent: boolean): void {
    this.isAlive = false;
    this.#isDeaf ||= isSilent;
    this.#raw.terminate();
  }

  /** The worker continues to run, but none of its messages arrive any more. */
  hang(): void {
    this.#answers.shut();
  }

  /** Sends a message that the worker cannot read, and that only a bug could send. */
  choke(): void {
    this.#raw.postMessage({ type: 'frame', input: null }, []);
  }

  /** Calls `strike` instead of delivering the next answer. */
  atNextAnswer(strike: (deliver: () => void) => void): void {
    this.#atNextAnswer = strike;
  }

  /** Delays answers by this time, in their order. */
  delayAnswers(ms: number): void {
    this.#answers.hold(ms);
  }

  delayQuestions(ms: number): void {
    this.#questions.hold(ms);
  }

  postMessage(message: Message, transfer: Transferable[] = []): void {
    const isOfBuild = message?.type === 'abort' || message?.name?.startsWith('build');
    if (!isOfBuild) this.isService = true;
    // A transferred buffer is detached here at once, even if the message is sent later.
    if (this.#questions.isShut) this.#questions.pass([structuredClone(message, { transfer }), []]);
    else this.#questions.pass([message, transfer]);
  }

  terminate(): void {
    this.isAlive = false;
    this.#raw.terminate();
  }
}

/** Passes items on in their order, at once or later. */
class Valve<T> {
  isShut = false;
  readonly #held: T[] = [];
  readonly #deliver: (each: T) => void;
  #isShutForGood = false;

  constructor(deliver: (each: T) => void) {
    this.#deliver = deliver;
  }

  pass(each: T): void {
    if (this.isShut) this.#held.push(each);
    else this.#deliver(each);
  }

  hold(ms: number): void {
    if (this.isShut) return;
    this.isShut = true;
    setTimeout(() => this.#open(), ms);
  }

  /** Delivers each item in a separate task, as messages are: whatever one of them resolves is handled before the next. */
  async #open(): Promise<void> {
    while (this.#held.length > 0 && !this.#isShutForGood) {
      this.#deliver(this.#held.shift()!);
      await new Promise((resolve) => setTimeout(resolve));
    }
    this.isShut = this.#isShutForGood;
  }

  shut(): void {
    this.isShut = true;
    this.#isShutForGood = true;
  }
}
