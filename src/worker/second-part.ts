import type { PartSource } from './binding/core.js';

/** The second part of a tree, made by the builder at the other end of a port, and then the data derived from it. */
export class SecondPart {
  readonly #port: MessagePort;
  readonly #parts: ArrayBuffer[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
      if (data.byteLength > 0) this.#parts.push(data);
    };
  }

  /** Sends a mesh, and transfers the buffers of its arrays. */
  send(source: PartSource): void {
    const { positions, indices } = source;
    this.#port.postMessage(source, [
      ...new Set([positions.buffer, ...(indices ? [indices.buffer] : [])]),
    ] as ArrayBuffer[]);
  }

  /** Returns the next of the two buffers if it has arrived. */
  readonly takePart = (): ArrayBuffer | undefined => this.#parts.shift();
}
