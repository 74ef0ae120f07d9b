/** A worker of any platform, as little of it as is needed. */
export interface RawWorker {
  postMessage(message: unknown, transfer: Transferable[]): void;
  terminate(): unknown;
  listen(onMessage: (data: unknown) => void, onError: (message: string) => void): void;
}

/** The package's own worker with accidents: it can die, hang, throw, and be slow to answer. */
export class ChaosWorker extends EventTarget {
  readonly #raw: RawWorker;
  readonly #held: unknown[] = [];
  #isHolding = false;

  constructor(raw: RawWorker) {
    super();
    this.#raw = raw;
    raw.listen(
      (data) => {
        if (this.#isHolding) this.#held.push(data);
        else this.#deliver(data);
      },
      (message) => this.dispatchEvent(Object.assign(new Event('error'), { message })),
    );
  }

  die(): void {
    this.#raw.terminate();
    // A worker in a browser dies without a word.
    this.#isHolding = true;
  }

  hang(): void {
    this.#isHolding = true;
  }

  /** It cannot read that, which only a bug could send it. */
  choke(): void {
    this.#raw.postMessage({ type: 'frame', input: null }, []);
  }

  /** Answers take so long, in their order. */
  delay(ms: number): void {
    if (this.#isHolding) return;
    this.#isHolding = true;
    setTimeout(() => {
      this.#isHolding = false;
      for (const data of this.#held.splice(0)) this.#deliver(data);
    }, ms);
  }

  postMessage(message: unknown, transfer: Transferable[] = []): void {
    this.#raw.postMessage(message, transfer);
  }

  terminate(): void {
    this.#raw.terminate();
  }

  #deliver(data: unknown): void {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }
}
