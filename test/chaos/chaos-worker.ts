/** A worker of any platform, as little of it as is needed. */
export interface RawWorker {
  postMessage(message: unknown, transfer: Transferable[]): void;
  terminate(): unknown;
  listen(onMessage: (data: unknown) => void, onError: (message: string) => void): void;
}

/** How a worker starts: as it should; from a script that is not there; without a word; without WebAssembly. */
export type Start = 'well' | 'no script' | 'silent' | 'no wasm';

/** `pages` of 64 KB are all the memory that its core can have; undefined for as much as it wants. */
export type MakeWorker = (start: Start, pages: number | undefined) => RawWorker;

type Message = { type?: string; name?: string } | null;

/** The package's own worker with accidents: it can die, hang, throw, and be slow to hear and to answer. */
export class ChaosWorker extends EventTarget {
  /** Nobody has ended it yet. */
  isAlive = true;
  /** Whether it was asked for more than trees. */
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

  /** In Node a worker's end is an event; in a browser it dies without a word, as here when it is `silent`. */
  die(isSilent: boolean): void {
    this.isAlive = false;
    this.#isDeaf ||= isSilent;
    this.#raw.terminate();
  }

  /** Runs on, and nothing of it arrives any more. */
  hang(): void {
    this.#answers.shut();
  }

  /** It cannot read that, which only a bug could send it. */
  choke(): void {
    this.#raw.postMessage({ type: 'frame', input: null }, []);
  }

  /** Runs `strike` in place of the delivery of the next answer. */
  atNextAnswer(strike: (deliver: () => void) => void): void {
    this.#atNextAnswer = strike;
  }

  /** Answers take so long, in their order. */
  delayAnswers(ms: number): void {
    this.#answers.hold(ms);
  }

  delayQuestions(ms: number): void {
    this.#questions.hold(ms);
  }

  postMessage(message: Message, transfer: Transferable[] = []): void {
    const isOfBuild = message?.type === 'abort' || message?.name?.startsWith('build');
    if (!isOfBuild) this.isService = true;
    // What is transferred is gone from here, whether or not it is on its way yet.
    if (this.#questions.isShut) this.#questions.pass([structuredClone(message, { transfer }), []]);
    else this.#questions.pass([message, transfer]);
  }

  terminate(): void {
    this.isAlive = false;
    this.#raw.terminate();
  }
}

/** Lets things through in their order, at once or later. */
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

  /** Each in a task of its own, as messages come: what one of them settles is heard of before the next. */
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
