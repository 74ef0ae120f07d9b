// Calls of the worker's methods, and their answers, as messages.

/** Calls a method. Calls are numbered from 1 on, over all lives of the worker. */
export interface CallMessage {
  type: 'call';
  call: number;
  name: string;
  args: unknown[];
}

/** Answers a call. */
export interface AnswerMessage {
  type: 'answer';
  call: number;
  value: unknown;
}

/** Says what a call has thrown. */
export interface ThrownMessage {
  type: 'thrown';
  call: number;
  error: { name: string; message: string; stack?: string | undefined };
}

/** Methods as the other side calls them. */
export type Remote<Api extends { [Name in keyof Api]: (...args: never[]) => unknown }> = {
  [Name in keyof Api]: (...args: Parameters<Api[Name]>) => Promise<Awaited<ReturnType<Api[Name]>>>;
};

/** Where messages go to, and come from. */
export interface Endpoint {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  addEventListener(type: string, listener: (event: Event) => void): void;
  removeEventListener(type: string, listener: (event: Event) => void): void;
}

const handedOver = new WeakMap<object, Transferable[]>();

/** Has buffers handed over, and not copied, where `value` is an argument or an answer of a call. */
export function transfer<T extends object>(value: T, buffers: Transferable[]): T {
  handedOver.set(value, buffers);
  return value;
}

/** Answers what is handed over with an argument or an answer, if anything is. */
export function transfersOf(value: unknown): Transferable[] | undefined {
  return handedOver.get(value as object);
}
