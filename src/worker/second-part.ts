import type { PartSource } from './binding/core.js';

/** The second part of a tree, which the builder at the other end of a port makes, and what it derives of that. */
export class SecondPart {
  readonly #port: MessagePort;
  readonly #parts: ArrayBuffer[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
      if (data.byteLength > 0) this.#parts.push(data);
    };
  }

  /** Hands over a mesh, whose arrays' buffers are transferred. */
  ask(source: PartSource): void {
    const { positions, indices } = source;
    this.#port.postMessage(source, [
      ...new Set([positions.buffer, ...(indices ? [indices.buffer] : [])]),
    ] as ArrayBuffer[]);
  }

  /** Returns the next of both, when it is here. */
  readonly take = (): ArrayBuffer | undefined => this.#parts.shift();
}
