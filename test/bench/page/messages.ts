/** The lower bound: the round trip of a message with a transferred buffer. */
export class Echo {
  readonly #worker: Worker;
  #buffer: ArrayBuffer;
  #startTime = 0;
  #receiveMs = 0;
  #resolveAnswer!: () => void;

  constructor(bytes: number) {
    const source = 'onmessage = ({ data }) => postMessage(data, [data.input]);';
    this.#worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
    this.#buffer = new ArrayBuffer(bytes);
    this.#worker.addEventListener('message', () => {
      this.#startTime = performance.now();
    });
    this.#worker.addEventListener('message', ({ data }: MessageEvent<{ input: ArrayBuffer }>) => {
      this.#buffer = data.input;
      this.#receiveMs = performance.now() - this.#startTime;
      this.#resolveAnswer();
    });
  }

  get buffer(): ArrayBuffer {
    return this.#buffer;
  }

  /** Returns the milliseconds spent on the main thread. */
  async send(): Promise<number> {
    const answer = new Promise<void>((resolve) => {
      this.#resolveAnswer = resolve;
    });
    const start = performance.now();
    this.#worker.postMessage({ type: 'frame', input: this.#buffer }, [this.#buffer]);
    const sendMs = performance.now() - start;
    await answer;
    return sendMs + this.#receiveMs;
  }

  close(): void {
    this.#worker.terminate();
  }
}
