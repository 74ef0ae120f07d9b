import type { Remote } from '../../shared/calls.js';
import { CollisionError } from '../../shared/errors.js';
import { type Failure, failureFromWire } from '../../shared/failure.js';
import type { FromWorker, ToWorker, WorkerApi } from '../../shared/protocol.js';
import type { WorkerLike } from '../../shared/types.js';
import { VERSION } from '../../shared/version.js';
import { invalidArgument, reading, reasonOf, show } from '../check/validate.js';
import { Calls } from './calls.js';
import type { WorkerEndpoint } from './endpoint.js';
import type { Host } from './host.js';
import { SilenceWatch } from './silence.js';
import { WorkerStart } from './worker-start.js';

/** A promise to be settled from outside; what comes after the first settling is ignored. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly settled: boolean;
  /** Tells the worker that nobody waits for it any more. Set when it is asked. */
  drop?: () => void;
  /** Tells whether it is asked of the next worker when this one is lost. */
  mayAskAgain: boolean;
  resolve(value: T): void;
  reject(error: CollisionError): void;
}

export interface LinkOptions {
  host: Host;
  createWorker: () => WorkerLike;
  timeout: number;
  /** Beside a service's own worker, which runs: that this one does not is no lack of the platform's. */
  isBeside?: boolean;
}

/** Says what to do when the worker is lost and another one takes its place. */
export interface Revival {
  /** Hears that the worker is gone, and what was pending has been rejected, but for questions. */
  lost(error: CollisionError): void;
  /** Gives a new worker, which listens, all that the old one had. */
  restore(): Promise<void>;
}

/** A lost worker is replaced at most so often in a minute, the first time at once, then after these milliseconds. */
const DELAYS = [0, 250, 2_000];
const MINUTE = 60_000;

/**
 * A worker, and with a `revival` the next one when it is lost. Everything pending rejects when the worker fails to load, throws,
 * stays silent for `timeout` or is closed.
 */
export class WorkerLink {
  /** Resolves when the first worker listens. */
  readonly ready: Promise<void>;
  /** Resolves, with the reason, when the link has ended for good. */
  readonly ended: Promise<CollisionError>;
  /** It says why the link has ended; null before. */
  error: CollisionError | null = null;
  /** The worker could not be loaded, or its script fails: one that is made in another way may start. */
  isObstructed = false;
  /** Counts the workers that there were. */
  life = 0;

  readonly #host: Host;
  readonly #createWorker: () => WorkerLike;
  readonly #timeout: number;
  readonly #isBeside: boolean;
  readonly #receive: (message: FromWorker) => void;
  readonly #revival: Revival | undefined;
  readonly #started: Deferred<void>;
  /** Each has the operation that waits for it. */
  readonly #pending = new Map<Pending, string>();
  readonly #listeners: [type: string, listener: (event: Event) => void][];
  /** It lists when workers were lost in the last minute. */
  #losses: number[] = [];
  /** Resolves when the worker of now is ready, or knows all that the one before it did. */
  #up!: Promise<void>;
  #setUp!: () => void;
  readonly #calls = new Calls((message, transfer) => this.#endpoint?.postMessage(message, transfer));
  /** The numbers of calls to be dropped. */
  #dropped: number[] = [];
  #restarting: Deferred<void> | undefined;
  #endpoint: WorkerEndpoint | undefined;
  #end!: (error: CollisionError) => void;
  /** Watches the worker of now until it listens. */
  #start: WorkerStart | undefined;
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
      () => this.#fallSilent(),
    );
    this.#receive = receive;
    this.#revival = revival;
    this.#listeners = [
      ['message', (event) => this.#hear((event as MessageEvent<FromWorker>).data)],
      ['messageerror', () => this.#lose('sent a message that could not be read')],
      ['error', (event) => this.#failed(event as ErrorEvent)],
    ];
    this.#open();
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#expectUp();
    this.#started = this.defer('createCollisionService');
    this.ready = this.#started.promise;
    this.ready.catch(() => {}); // who waits for `up` instead is told by its own answer
  }

  /** Resolves when the worker can be asked, at once as a rule; also when there will be none any more. */
  async up(): Promise<void> {
    for (let known: unknown; known !== this.#up; ) {
      known = this.#up;
      await this.#up;
    }
  }

  /** Calls, frames and builds without an answer. */
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
   * question (`ask`) that the worker did not answer before it was lost is left open once: it may be asked again.
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
        // What kills one worker after the other is not to end them all.
        answer.mayAskAgain = false;
        return false;
      }
      // Any other error is a bug over there, after which nothing in the worker can be trusted.
      if (failure) answer.reject(named(operation, this.#asCaused(failure), error));
      else if (life === this.life) this.#lose(`failed in ${operation} with ${String(error)}`);
      return false;
    }
  }

  /**
   * Ids are checked before anything is asked, so that only the next worker can lack what one means: it was there when the
   * question was asked, and was removed before it was asked again.
   */
  #asCaused(failure: Failure): Failure {
    if (failure.code !== 'UNKNOWN_ID') return failure;
    return {
      code: 'WORKER_LOST',
      message: `the worker was lost, and what was asked about is gone since: ${failure.message}`,
    };
  }

  /** Promises an answer: until it is settled, the worker is watched for silence; it rejects when the worker is lost. */
  defer<T>(operation: string): Deferred<T> {
    return this.#promise(operation, false);
  }

  /** Promises an answer that changes nothing, and so can be asked of the next worker when this one is lost. */
  deferQuestion<T>(operation: string): Deferred<T> {
    return this.#promise(operation, this.#revival !== undefined);
  }

  #promise<T>(operation: string, mayAskAgain: boolean): Deferred<T> {
    const answer = new PendingAnswer<T>(mayAskAgain, (settled) => this.#release(settled));
    if (this.#pending.size === 0 && !this.error) this.#watch();
    this.#pending.set(answer, operation);
    if (this.error) answer.reject(named(operation, this.error));
    return answer;
  }

  /** Checks that the link has not ended; throws why once it has. */
  check(operation: string): void {
    if (this.error) throw named(operation, this.error);
  }

  /** Ends the worker for good and rejects what is pending with `error`. */
  close(error: CollisionError): void {
    if (this.error) return;
    this.error = error;
    clearTimeout(this.#restartTimer);
    this.#silence.stop();
    this.#shut(error);
    this.#setUp();
    this.#end(error);
  }

  #drop(call: number): void {
    if (this.#dropped.push(call) > 1) return;
    queueMicrotask(() => {
      this.post({ type: 'drop', calls: this.#dropped });
      this.#dropped = [];
    });
  }

  #expectUp(): void {
    this.#up = new Promise((resolve) => {
      this.#setUp = resolve;
    });
  }

  #open(): void {
    this.life++;
    this.#dropped = [];
    this.#silence.heard();
    const endpoint = createEndpoint(this.#host, this.#createWorker);
    if (this.error) {
      endpoint.terminate(); // createWorker has ended the link
      return;
    }
    this.#start = new WorkerStart();
    reading('createCollisionService', 'the worker', () => {
      for (const [type, listener] of this.#listeners) endpoint.addEventListener(type, listener);
    });
    this.#endpoint = endpoint;
    // What has waited since the worker before it keeps the process alive, as what is asked from now on does.
    if (this.#pending.size > 0) endpoint.ref?.();
  }

  #shut(error: CollisionError): void {
    for (const [type, listener] of this.#listeners) this.#endpoint?.removeEventListener(type, listener);
    this.#start?.end();
    this.#endpoint?.terminate();
    this.#endpoint = undefined;
    this.#calls.end(error);
    for (const [answer, operation] of [...this.#pending]) {
      if (this.error || !answer.isQuestion) answer.reject(named(operation, error));
    }
  }

  #hear(message: FromWorker): void {
    this.#silence.heard();
    if (message.type === 'answer' || message.type === 'thrown') {
      this.#calls.hear(message);
      return;
    }
    if (message.type === 'fault') {
      const { code, message: why } = message.failure;
      if (this.#started.settled || this.#isBeside) this.#doNotStart(why);
      else this.close(new CollisionError(code, `the worker could not start: ${why}`));
      return;
    }
    if (message.type === 'ready' && message.version !== VERSION) {
      const theirs = message.version === undefined ? 'an older version' : `version ${message.version}`;
      this.#doNotStart(`its script is of ${theirs}, expected ${VERSION}: copy dist/worker.js of the package anew`);
      return;
    }
    this.#receive(message);
    if (message.type !== 'ready') return;
    this.#start?.end();
    this.#start = undefined;
    if (this.#started.settled) {
      this.#restore();
      return;
    }
    this.#started.resolve();
    this.#setUp();
  }

  #failed(event: ErrorEvent): void {
    event.preventDefault(); // handled: it is not also an uncaught error of the page
    if (this.#start) {
      this.isObstructed = true;
      this.#doNotStart(this.#start.obstacle(event.message));
    } else this.#lose(`threw: ${event.message}`);
  }

  #fallSilent(): void {
    if (!this.#endpoint) return; // between two workers
    if (!this.#start) this.#lose(`was silent for ${this.#timeout} ms`);
    else
      this.#doNotStart(
        `it said nothing for ${this.#timeout} ms, its script loads slowly or is not dist/worker.js of the package`,
      );
  }

  #doNotStart(why: string): void {
    this.#lose(`${this.#started.settled ? 'could not start again' : 'did not start'}: ${why}`);
  }

  #lose(what: string): void {
    if (this.error) return;
    const now = performance.now();
    this.#losses = [...this.#losses.filter((at) => now - at < MINUTE), now];
    const count = this.#losses.length;
    const again = this.#revival && this.#started.settled && count <= DELAYS.length;
    if (!again) {
      const often = this.#revival && count > DELAYS.length ? `, for the ${count}th time within a minute` : '';
      this.close(new CollisionError('WORKER_LOST', `the worker ${what}${often}`));
      return;
    }
    const error = new CollisionError('WORKER_LOST', `the worker ${what}`);
    this.#setUp(); // who waits for the one that was lost before it was up waits for the next one
    this.#expectUp();
    this.#shut(error);
    this.#restartTimer = setTimeout(() => this.#reopen(), DELAYS[count - 1]);
    this.#revival.lost(error); // who hears of it may end the link
  }

  #reopen(): void {
    try {
      this.#open();
      // Watched for silence, until it has been restored.
      this.#restarting = this.defer('restart');
      this.#restarting.promise.catch(() => {}); // who waits for it waits for `up`
    } catch (error) {
      this.#lose(`could not be made again: ${reasonOf(error)}`);
    }
  }

  async #restore(): Promise<void> {
    const { life } = this;
    try {
      await this.#revival?.restore();
      if (life !== this.life) return;
      this.#restarting?.resolve();
      this.#setUp();
    } catch (error) {
      if (life === this.life && this.#endpoint) this.#lose(`could not be restored: ${String(error)}`);
    }
  }

  #release(answer: Pending): void {
    if (!this.#pending.delete(answer) || this.#pending.size > 0) return;
    // The watch goes on until it finds nothing pending: a timer for each frame would cost more than the frame's
    // messages.
    this.#endpoint?.unref?.();
  }

  #watch(): void {
    this.#endpoint?.ref?.();
    this.#silence.start();
  }
}

type Pending = Pick<PendingAnswer<unknown>, 'reject' | 'isQuestion'>;

class PendingAnswer<T> implements Deferred<T> {
  readonly promise: Promise<T>;
  settled = false;
  mayAskAgain: boolean;
  /** Tells whether it outlives a worker. */
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

/** Makes an error of a failure, of whatever operation, whose message begins with this one. */
export function named(operation: string, { code, message }: Failure, cause: unknown = undefined): CollisionError {
  const text = `${operation}: ${message.replace(/^[a-z]\w*: /, '')}`;
  return new CollisionError(code, text, cause === undefined ? undefined : { cause });
}

/** Makes an error of ours one of this operation; any other stays as it is. */
export function namedAnew(operation: string, error: unknown): unknown {
  return CollisionError.is(error) ? named(operation, error, error.cause) : error;
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
  const endpoint = reading('createCollisionService', 'the worker', () => host.endpointOf(worker));
  if (!endpoint) {
    throw invalidArgument(`createWorker returned ${show(worker)}, expected a Worker`);
  }
  return endpoint;
}
