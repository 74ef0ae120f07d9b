import type { AnswerMessage, Remote } from '../../shared/calls.js';
import { CollisionError } from '../../shared/errors.js';
import { type Failure, failureFromWire } from '../../shared/failure.js';
import type { FromWorker, ToWorker, WorkerApi } from '../../shared/protocol.js';
import type { WorkerLike } from '../../shared/types.js';
import { VERSION } from '../../shared/version.js';
import { describeValue, guardRead, invalidArgumentError, reasonOf } from '../check/validate.js';
import { Calls } from './calls.js';
import type { WorkerEndpoint } from './endpoint.js';
import type { Host } from './host.js';
import { SilenceWatch } from './silence.js';
import { WorkerStart } from './worker-start.js';

/** A promise that is settled from outside; further settling is ignored. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly settled: boolean;
  /** Tells the worker that nobody waits for the answer any more. Set when the worker is asked. */
  drop?: () => void;
  /** Whether the next worker is asked when this one is lost. */
  mayAskAgain: boolean;
  resolve(value: T): void;
  reject(error: CollisionError): void;
}

export interface LinkOptions {
  host: Host;
  createWorker: () => WorkerLike;
  timeout: number;
  /** True for a worker beside a service's own, which runs: if this one fails to start, the platform is not to blame. */
  isBeside?: boolean;
}

/** Called when the worker is lost and another one replaces it. */
export interface Revival {
  /** Called when the worker is gone, and all pending calls have been rejected except for questions. */
  lost(error: CollisionError): void;
  /** Restores the state of the old worker in a new one, which is ready. */
  restore(): Promise<void>;
}

/** The delays in milliseconds before a lost worker is replaced, for the first, second and third loss within a minute; no more. */
const RESTART_DELAYS = [0, 250, 2_000];
const MINUTE = 60_000;

/**
 * A worker, and with a `revival` the next one when it is lost. Everything pending rejects when the worker fails to load, throws,
 * stays silent for `timeout` or is closed.
 */
export class WorkerLink {
  /** Resolves when the first worker is ready. */
  readonly ready: Promise<void>;
  /** Resolves, with the reason, when the link has ended for good. */
  readonly ended: Promise<CollisionError>;
  /** The reason why the link has ended; null before. */
  error: CollisionError | null = null;
  /** Whether the worker could not be loaded, or its script fails: a worker that is made in another way may start. */
  isObstructed = false;
  /** The number of the worker; between two workers, that of the next one. */
  life = 1;

  readonly #host: Host;
  readonly #createWorker: () => WorkerLike;
  readonly #timeout: number;
  readonly #isBeside: boolean;
  readonly #receive: (message: FromWorker) => void;
  readonly #revival: Revival | undefined;
  readonly #started: Deferred<void>;
  /** The operations that wait, by pending answer. */
  readonly #pending = new Map<Pending, string>();
  readonly #listeners: [type: string, listener: (event: Event) => void][];
  /** When workers were lost in the last minute. */
  #lossTimes: number[] = [];
  /** Resolves when the current worker is ready, or has the restored state of the one before it. */
  #whenUp!: Promise<void>;
  #resolveUp!: () => void;
  readonly #calls = new Calls((message, transfer) => this.#endpoint?.postMessage(message, transfer));
  /** The numbers of calls whose `drop` message is not posted yet. */
  #droppedCalls: number[] = [];
  #restarting: Deferred<void> | undefined;
  #endpoint: WorkerEndpoint | undefined;
  #resolveEnded!: (error: CollisionError) => void;
  /** Watches the current worker until it is ready. */
  #workerStart: WorkerStart | undefined;
  readonly #silence: SilenceWatch;
  #restartTimer: ReturnType<typeof setTimeout> | undefined;

  /** Starts the worker; `receive` gets the plain messages. Throws WORKER_LOST when the worker cannot even be made. */
  constructor(
    { host, createWorker, timeout, isBeside = false }: LinkOptions,
    receive: (message: FromWorker) => void,
    revival?: Revival,
  ) {
    this.#host = host;
    this.#createWorker = createWorker;
    this.#timeout = timeout;
    this.#isBeside = isBeside;
    this.#silence = new SilenceWatch(
      timeout,
      () => this.#pending.size > 0,
      () => this.#handleSilence(),
    );
    this.#receive = receive;
    this.#revival = revival;
    this.#listeners = [
      ['message', (event) => this.#handleMessage((event as MessageEvent<FromWorker | AnswerMessage>).data)],
      ['messageerror', () => this.#handleLoss('sent a message that could not be read')],
      ['error', (event) => this.#handleError(event as ErrorEvent)],
    ];
    this.#openEndpoint();
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#expectUp();
    this.#started = this.defer('createCollisionService');
    this.ready = this.#started.promise;
    this.ready.catch(() => {}); // callers that wait for `up` instead get the error from their own answers
  }

  /** Resolves when the worker can be called, usually at once; also when there will be none any more. */
  async up(): Promise<void> {
    for (let awaited: unknown; awaited !== this.#whenUp; ) {
      awaited = this.#whenUp;
      await this.#whenUp;
    }
  }

  /** The number of calls, frames and builds without an answer. */
  get pending(): number {
    return this.#pending.size;
  }

  post(message: ToWorker, transfer: Transferable[] = []): void {
    this.#endpoint?.postMessage(message, transfer);
  }

  /** Calls the worker; errors name `operation`. */
  call<T>(operation: string, invoke: (api: Remote<WorkerApi>) => Promise<T>): Promise<T> {
    const answer = this.defer<T>(operation);
    this.answerWith(answer, operation, invoke);
    return answer.promise;
  }

  /**
   * Calls the worker for an answer that was promised earlier; resolves with whether the worker did it, settled or not. A
   * question (`deferQuestion`) that the worker did not answer before it was lost stays open once: it may be asked again.
   */
  async answerWith<T>(
    answer: Deferred<T>,
    operation: string,
    invoke: (api: Remote<WorkerApi>) => Promise<T>,
  ): Promise<boolean> {
    const { life } = this;
    const call = this.#calls.last + 1;
    answer.drop = () => {
      if (life === this.life) this.#drop(call);
    };
    try {
      answer.resolve(await invoke(this.#calls.api));
      return true;
    } catch (error) {
      const failure = CollisionError.is(error) ? error : failureFromWire(error);
      if (failure?.code === 'WORKER_LOST' && answer.mayAskAgain && !this.error) {
        // A question that kills one worker after the other must not end them all.
        answer.mayAskAgain = false;
        return false;
      }
      // Any other error is a bug in the worker, after which nothing in it can be trusted.
      if (failure) answer.reject(errorFromFailure(operation, this.#failureAfterRestart(failure), error));
      else if (life === this.life) this.#handleLoss(`failed in ${operation} with ${String(error)}`);
      return false;
    }
  }

  /**
   * Ids are checked before a question is asked, so that only the next worker can lack an object: it existed when the
   * question was asked, and was removed before it was asked again.
   */
  #failureAfterRestart(failure: Failure): Failure {
    if (failure.code !== 'UNKNOWN_ID') return failure;
    return {
      code: 'WORKER_LOST',
      message: `the worker was lost, and what was asked about is gone since: ${failure.message}`,
    };
  }

  /** Promises an answer: until it is settled, the worker is watched for silence; it rejects when the worker is lost. */
  defer<T>(operation: string): Deferred<T> {
    return this.#createAnswer(operation, false);
  }

  /** Promises an answer to a question that changes nothing, so that the next worker can be asked when this one is lost. */
  deferQuestion<T>(operation: string): Deferred<T> {
    return this.#createAnswer(operation, this.#revival !== undefined);
  }

  #createAnswer<T>(operation: string, mayAskAgain: boolean): Deferred<T> {
    const answer = new PendingAnswer<T>(mayAskAgain, (settled) => this.#release(settled));
    if (this.#pending.size === 0 && !this.error) this.#watchSilence();
    this.#pending.set(answer, operation);
    if (this.error) answer.reject(errorFromFailure(operation, this.error));
    return answer;
  }

  /** Checks that the link has not ended; throws the reason if it has. */
  check(operation: string): void {
    if (this.error) throw errorFromFailure(operation, this.error);
  }

  /** Ends the worker for good and rejects everything pending with `error`. */
  close(error: CollisionError): void {
    if (this.error) return;
    this.error = error;
    clearTimeout(this.#restartTimer);
    this.#silence.stop();
    this.#closeEndpoint(error);
    this.#resolveUp();
    this.#resolveEnded(error);
  }

  #drop(call: number): void {
    if (this.#droppedCalls.push(call) > 1) return;
    queueMicrotask(() => {
      this.post({ type: 'drop', calls: this.#droppedCalls });
      this.#droppedCalls = [];
    });
  }

  #expectUp(): void {
    this.#whenUp = new Promise((resolve) => {
      this.#resolveUp = resolve;
    });
  }

  #openEndpoint(): void {
    this.#droppedCalls = [];
    this.#silence.heard();
    const endpoint = createEndpoint(this.#host, this.#createWorker);
    if (this.error) {
      endpoint.terminate(); // createWorker has ended the link
      return;
    }
    this.#workerStart = new WorkerStart();
    guardRead('createCollisionService', 'the worker', () => {
      for (const [type, listener] of this.#listeners) endpoint.addEventListener(type, listener);
    });
    this.#endpoint = endpoint;
    // Answers that were pending before this worker keep the process alive, like later ones.
    if (this.#pending.size > 0) endpoint.ref?.();
  }

  #closeEndpoint(error: CollisionError): void {
    for (const [type, listener] of this.#listeners) this.#endpoint?.removeEventListener(type, listener);
    this.#workerStart?.end();
    this.#endpoint?.terminate();
    this.#endpoint = undefined;
    this.life++;
    this.#calls.end(error);
    for (const [answer, operation] of [...this.#pending]) {
      if (this.error || !answer.isQuestion) answer.reject(errorFromFailure(operation, error));
    }
  }

  #handleMessage(message: FromWorker | AnswerMessage): void {
    this.#silence.heard();
    if (Array.isArray(message)) {
      this.#calls.hear(message);
      return;
    }
    if (message.type === 'fault') {
      const { code, message: reason } = message.failure;
      if (this.#started.settled || this.#isBeside) this.#failStart(reason);
      else this.close(new CollisionError(code, `the worker could not start: ${reason}`));
      return;
    }
    if (message.type === 'ready' && message.version !== VERSION) {
      const theirs = message.version === undefined ? 'an older version' : `version ${message.version}`;
      this.#failStart(`its script is of ${theirs}, expected ${VERSION}: copy dist/worker.js of the package anew`);
      return;
    }
    this.#receive(message);
    if (message.type !== 'ready') return;
    this.#workerStart?.end();
    this.#workerStart = undefined;
    if (this.#started.settled) {
      this.#restore();
      return;
    }
    this.#started.resolve();
    this.#resolveUp();
  }

  #handleError(event: ErrorEvent): void {
    event.preventDefault(); // handled: not also an uncaught error of the page
    if (this.#workerStart) {
      this.isObstructed = true;
      this.#failStart(this.#workerStart.obstacle(event.message));
    } else this.#handleLoss(`threw: ${event.message}`);
  }

  #handleSilence(): void {
    if (!this.#endpoint) return; // between two workers
    if (!this.#workerStart) this.#handleLoss(`was silent for ${this.#timeout} ms`);
    else
      this.#failStart(
        `it said nothing for ${this.#timeout} ms, its script loads slowly or is not dist/worker.js of the package`,
      );
  }

  #failStart(reason: string): void {
    this.#handleLoss(`${this.#started.settled ? 'could not start again' : 'did not start'}: ${reason}`);
  }

  #handleLoss(reason: string): void {
    if (this.error) return;
    const now = performance.now();
    this.#lossTimes = [...this.#lossTimes.filter((at) => now - at < MINUTE), now];
    const count = this.#lossTimes.length;
    const mayRestart = this.#revival && this.#started.settled && count <= RESTART_DELAYS.length;
    if (!mayRestart) {
      const repetition =
        this.#revival && count > RESTART_DELAYS.length ? `, for the ${count}th time within a minute` : '';
      this.close(new CollisionError('WORKER_LOST', `the worker ${reason}${repetition}`));
      return;
    }
    const error = new CollisionError('WORKER_LOST', `the worker ${reason}`);
    this.#resolveUp(); // callers that wait for a worker lost before it was up wait for the next one
    this.#expectUp();
    this.#closeEndpoint(error);
    this.#restartTimer = setTimeout(() => this.#reopen(), RESTART_DELAYS[count - 1]);
    this.#revival.lost(error); // a listener may end the link
  }

  #reopen(): void {
    try {
      this.#openEndpoint();
      // Watched for silence, until it has been restored.
      this.#restarting = this.defer('restart');
      this.#restarting.promise.catch(() => {}); // callers wait for `up` instead
    } catch (error) {
      this.#handleLoss(`could not be made again: ${reasonOf(error)}`);
    }
  }

  async #restore(): Promise<void> {
    const { life } = this;
    try {
      await this.#revival?.restore();
      if (life !== this.life) return;
      this.#restarting?.resolve();
      this.#resolveUp();
    } catch (error) {
      if (life === this.life) this.#handleLoss(`could not be restored: ${String(error)}`);
    }
  }

  #release(answer: Pending): void {
    if (!this.#pending.delete(answer) || this.#pending.size > 0) return;
    // The watch continues until it finds nothing pending: a timer for each frame would cost more than the frame's
    // messages.
    this.#endpoint?.unref?.();
  }

  #watchSilence(): void {
    this.#endpoint?.ref?.();
    this.#silence.start();
  }
}

type Pending = Pick<PendingAnswer<unknown>, 'reject' | 'isQuestion'>;

class PendingAnswer<T> implements Deferred<T> {
  readonly promise: Promise<T>;
  settled = false;
  mayAskAgain: boolean;
  /** Whether it outlives a worker. */
  readonly isQuestion: boolean;
  readonly #onSettled: (answer: Pending) => void;
  #resolve!: (value: T) => void;
  #reject!: (error: CollisionError) => void;

  constructor(isQuestion: boolean, onSettled: (answer: Pending) => void) {
    this.isQuestion = isQuestion;
    this.mayAskAgain = isQuestion;
    this.#onSettled = onSettled;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(value: T): void {
    if (this.#settle()) this.#resolve(value);
  }

  reject(error: CollisionError): void {
    if (this.#settle()) this.#reject(error);
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.#onSettled(this);
    return true;
  }
}

/** Makes an error from a failure of any operation; its message begins with this operation. */
export function errorFromFailure(
  operation: string,
  { code, message }: Failure,
  cause: unknown = undefined,
): CollisionError {
  const text = `${operation}: ${message.replace(/^[a-z]\w*: /, '')}`;
  return new CollisionError(code, text, cause === undefined ? undefined : { cause });
}

/** Renames a CollisionError to this operation; any other error stays as it is. */
export function renameError(operation: string, error: unknown): unknown {
  return CollisionError.is(error) ? errorFromFailure(operation, error, error.cause) : error;
}

function createEndpoint(host: Host, createWorker: () => WorkerLike): WorkerEndpoint {
  let worker: unknown;
  try {
    worker = createWorker();
  } catch (cause) {
    const reason = reasonOf(cause);
    const isForeign = reason.startsWith('SecurityError');
    const advice = isForeign ? "; browsers start workers from the page's own origin only: see createWorker" : '';
    throw new CollisionError('WORKER_LOST', `the worker could not be made: ${reason}${advice}`, { cause });
  }
  const endpoint = guardRead('createCollisionService', 'the worker', () => host.endpointOf(worker));
  if (!endpoint) {
    throw invalidArgumentError(`createWorker returned ${describeValue(worker)}, expected a Worker`);
  }
  return endpoint;
}
