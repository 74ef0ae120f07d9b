import type { PartSource } from './binding/core.js';

/** The second part of a tree, which the builder at the other end of a port makes, if it comes to that. */
export class SecondPart {
  readonly #port: MessagePort;
  #part: ArrayBuffer | undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
      if (data.byteLength > 0) this.#part = data;
    };
  }

  /** Hands over a mesh, whose arrays' buffers are transferred. */
  ask(source: PartSource): void {
    const { positions, indices } = source;
    this.#port.postMessage(source, [...new Set([positions.buffer, ...(indices ? [indices.buffer] : [])])] as ArrayBuffer[]);
  }

  /** Answers the part once, when it is here. */
  readonly take = (): ArrayBuffer | undefined => {
    const part = this.#part;
    this.#part = undefined;
    return part;
  };
}
