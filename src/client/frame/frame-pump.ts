import type { Command } from '../../shared/commands.js';
import { CollisionError } from '../../shared/errors.js';
import { OUT_REJECTED_COUNT } from '../../shared/layout.js';
import type { BaselineMessage, MemoryUse, ResultMessage } from '../../shared/protocol.js';
import { transferOf } from '../../shared/shared-memory.js';
import type { FrameResult } from '../../shared/types.js';
import type { Deferred, WorkerLink } from '../link/worker-link.js';
import { PoseTable } from '../skin/pose-table.js';
import { AFFINE_NUMBERS } from '../transforms/affine.js';
import { BulkWriter } from '../transforms/bulk-writer.js';
import type { BorrowedBlock, ReplayLog } from '../transforms/replay-log.js';
import type { TransformTable } from '../transforms/transform-table.js';
import { applyToWaitingFrame, bufferToTransfer, type Entry, isReplayed, mustFollowFrame } from './entries.js';
import { FrameBuffer } from './frame-buffer.js';
import { FrameBuilder } from './frame-builder.js';
import { FrameView } from './frame-result.js';
import type { ViewTable } from './view-table.js';

/** A frame that was requested by update(). */
interface Frame {
  staging: FrameBuilder;
  answer: Deferred<FrameResult>;
  /** The names of the views by slot, at the last update() that asked for it. */
  names: readonly (string | undefined)[];
  /** Whether the worker already has its transforms, though the frame waits. */
  isAhead: boolean;
  /** How many of the first entries behind it stay there when it is joined again. */
  stayed: number;
}

const NO_VIEWS = new Uint32Array(0);
const ZERO_TIMES: FrameResult['ms'] = {
  ...{ total: 0, update: 0, cull: 0, occlusion: 0, contacts: 0 },
  ...{ broadPhase: 0, narrowPhase: 0, answer: 0, commands: 0 },
};

/**
 * Sends everything to the worker in order: frames, commands and queries.
 *
 * At most one frame is in the worker and one waits. An update() while a frame waits joins it: both get the same answer,
 * with the newest transforms. Entries that are enqueued while a frame waits are sent after it, so that a query sees every
 * update() before it. When a frame is joined, the commands behind it are sent ahead: the frame may now refer to the
 * objects that they add. The queries behind it stay, and see the newer frame. So only the callers' own queries and
 * commands ever queue up.
 *
 * While the worker is in the middle of long work, nothing waits for that: the transforms of the waiting frame are sent
 * ahead of it, and the entries behind it follow; so it may refer to objects that were added behind it, like a joined frame.
 * The frame itself sends its transforms again, so that it can still be joined.
 */
export class FramePump {
  /** The builder of the next frame, which takes transforms until the next update(). */
  staging: FrameBuilder;
  /** Writes objects that move in every frame. */
  readonly bulk: BulkWriter;
  framesDone = 0;
  ms = ZERO_TIMES;
  memory: MemoryUse = { memoryBytes: 0, usedBytes: 0 };
  /** Whether frames are in memory that is shared with the worker; if not, their buffers are transferred. */
  sharesFrames = false;

  readonly #link: WorkerLink;
  readonly #log: ReplayLog;
  readonly #table: TransformTable;
  readonly #contactBudget: number;
  readonly #views: ViewTable;
  readonly #poses: PoseTable;
  readonly #onAnswer: (out: ArrayBuffer) => void;
  readonly #builders: FrameBuilder[];
  readonly #freeBuilders: FrameBuilder[] = [];
  #lastFrame = 0;
  #frameInWorker: Frame | undefined;
  #waitingFrame: Frame | undefined;
  /** Whether the worker is in the middle of long work. */
  #isBusy = false;
  /** True between two workers: nothing is sent. */
  #isDown = false;
  /** Entries that are sent in the next microtask, or before the next frame. */
  #readyEntries: Entry[] = [];
  /** Entries that are sent after the waiting frame. */
  #entriesBehind: Entry[] = [];
  #isFlushScheduled = false;
  /** The buffer of the newest result, which the caller may read, and that of an older one, which is free. */
  #newestOut: ArrayBuffer | undefined;
  #freeOut: ArrayBuffer | undefined;
  #newestResult: FrameView | undefined;
  #sentOutBytes = 0;
  #outAllocations = 0;

  /**
   * Makes a pump; `contactBudget` is in milliseconds, 0 for no limit. `onAnswer` gets the buffer of each answer before its
   * update() resolves.
   */
  constructor(
    link: WorkerLink,
    contactBudget: number,
    views: ViewTable,
    log: ReplayLog,
    table: TransformTable,
    poses = new PoseTable(),
    onAnswer: (out: ArrayBuffer) => void = () => {},
  ) {
    this.#onAnswer = onAnswer;
    this.#poses = poses;
    this.staging = this.#newBuilder();
    this.#builders = [this.staging];
    this.#link = link;
    this.bulk = new BulkWriter(table);
    this.#log = log;
    this.#table = table;
    this.#contactBudget = contactBudget;
    this.#views = views;
  }

  /** Whether there is no worker to send anything to. */
  get isDown(): boolean {
    return this.#isDown;
  }

  /** The number of waiting frames: 0 or 1. */
  get depth(): number {
    return this.#waitingFrame ? 1 : 0;
  }

  /** The number of frame buffers that were allocated so far. */
  get allocations(): number {
    return this.#builders.reduce((sum, builder) => sum + builder.allocations, this.#outAllocations);
  }

  /** Sends a command or a query in order with the frames. */
  enqueue(entry: Entry): void {
    if (this.#isDown && isReplayed(entry)) {
      // The next worker gets it before the waiting frame.
      if (this.#waitingFrame) applyToWaitingFrame(this.#waitingFrame.staging, entry);
      return;
    }
    if (this.#waitingFrame) this.#entriesBehind.push(entry);
    else this.#readyEntries.push(entry);
    this.#flushSoon();
  }

  /** Notes that the worker is in the middle of long work. */
  hearBusy(): void {
    this.#isBusy = true;
    this.#flushSoon();
  }

  /**
   * Places objects that have just been added, as a borrowed block of which the worker refuses nothing: by a command, which
   * takes effect without an update().
   */
  place(block: BorrowedBlock, parent: ArrayLike<number>): void {
    const { ids, matrices } = block;
    const frame = this.#lastFrame;
    if (!this.#log.keepBorrowed(block, parent, 0, frame)) this.#log.keepBlock(ids, matrices, parent, true, frame);
    if (this.#isDown) return; // the log replays it to the next worker
    const buffer = new FrameBuffer();
    buffer.writeBlock(buffer.addBlock(ids, matrices.BYTES_PER_ELEMENT), matrices, parent);
    this.enqueue({ type: 'placeObjects', input: buffer.seal(this.#lastFrame, this.#link.life, 0, NO_VIEWS) });
  }

  /** The newest command, if it is the last entry and has not been sent yet. */
  get lastCommand(): Command | undefined {
    const last = (this.#waitingFrame ? this.#entriesBehind : this.#readyEntries).at(-1);
    return typeof last === 'function' || last?.type === 'call' ? undefined : (last as Command); // a mark has no type
  }

  update(): Promise<FrameResult> {
    this.#views.stage(this.staging);
    // They belong to the frame that is sent next, whether that has to wait or not.
    this.staging.keepIn(this.#log, this.#lastFrame + 1);
    this.staging.addMoved(this.bulk, this.#table);
    this.staging.addPoses();
    const waiting = this.#waitingFrame;
    if (waiting) {
      this.#sendCommandsAhead(waiting);
      waiting.staging.join(this.staging);
      waiting.names = this.#views.names;
      waiting.isAhead = false;
      this.staging.restart();
      return waiting.answer.promise;
    }
    const frame = {
      staging: this.staging,
      answer: this.#link.defer<FrameResult>('update'),
      names: this.#views.names,
      isAhead: false,
      stayed: 0,
    };
    this.staging = this.#freeBuilders.pop() ?? this.#addBuilder();
    if (this.#frameInWorker || this.#isDown) this.#waitingFrame = frame;
    else this.#post(frame);
    return frame.answer.promise;
  }

  /** Takes a frame's answer and sends the frame that waited for it. */
  receive({ frame: frameNumber, epoch, input, out, failure, areMoved, memoryBytes, usedBytes }: ResultMessage): void {
    const frame = this.#frameInWorker;
    if (!frame || frameNumber !== this.#lastFrame || epoch !== this.#link.life) return; // from an earlier life of the worker
    this.memory = { memoryBytes, usedBytes };
    this.framesDone++;
    this.#frameInWorker = undefined;
    this.#isBusy = false;
    if (!out) {
      frame.staging.reopen(input);
      if (areMoved) frame.staging.moves.clear(); // they were made although the frame failed
      this.#table.starts.interrupt();
      this.#restage(frame.staging);
    } else {
      this.#log.answer(this.#lastFrame);
      if (new DataView(out).getUint32(OUT_REJECTED_COUNT, true) === 0) this.#log.accept(this.#lastFrame);
      frame.staging.takePoses(() => new FrameView(out, frame.names).rejected);
      frame.staging.restart(input);
      this.#release(frame.staging);
      if (out.byteLength !== this.#sentOutBytes) this.#outAllocations++;
      this.#freeOut = this.#newestOut;
      this.#newestOut = out;
    }
    this.#sendWaitingFrame();
    if (failure) {
      frame.answer.reject(new CollisionError(failure.code, `update: ${failure.message}`));
      return;
    }
    const result = new FrameView(out!, frame.names);
    this.#onAnswer(out!);
    this.ms = result.ms;
    this.#newestResult = result;
    frame.answer.resolve(result);
  }

  /** Notes that the worker is lost: its state is to be restored in the next one, and everything waits until `resume`. */
  interrupt(): void {
    this.#isDown = true;
    this.#isBusy = false;
    this.#log.interrupt(this.#frameInWorker ? this.#lastFrame - 1 : this.#lastFrame);
    // The buffers of these frames are lost, or of no use any more; the log has the transforms of the rejected updates.
    this.#frameInWorker = undefined;
    this.#waitingFrame = undefined;
    this.#freeOut = undefined;
    this.#readyEntries = [...this.#readyEntries, ...this.#entriesBehind].filter(
      (each) => typeof each === 'function' || each.type === 'call',
    );
    this.#entriesBehind = [];
    this.#views.forgetSent();
  }

  /** Restores the state of the old worker in a new one, which has the meshes, and sends the entries that have waited. */
  resume(objects: readonly Command[], characters: readonly Command[] = []): void {
    this.#isDown = false;
    this.#postCommands(objects);
    const staging = new FrameBuilder(this.#poses);
    this.#views.copyTo(staging);
    this.#log.replay(staging);
    const movedFrame = this.#rewindContinuous(staging);
    staging.addAllPoses();
    const input = staging.seal(this.#lastFrame, this.#link.life);
    this.#link.post({ type: 'place', input }, [input]);
    if (!movedFrame.isEmpty) {
      const movedInput = movedFrame.seal(this.#lastFrame, this.#link.life);
      this.#link.post({ type: 'ahead', input: movedInput }, [movedInput]);
    }
    // Characters move their objects themselves.
    this.#postCommands(characters);
    this.#postBaseline();
    if (!this.#waitingFrame) {
      this.flush();
      return;
    }
    // All current objects are in the worker; no query may see them where they were before the waiting frame.
    const queued = [...this.#readyEntries, ...this.#entriesBehind];
    this.#readyEntries = queued.filter((entry) => !mustFollowFrame(entry));
    this.#entriesBehind = queued.filter(mustFollowFrame);
    this.#sendWaitingFrame();
  }

  /**
   * Puts continuous objects back to where the last answered frame had them, or nowhere, which the worker refuses, if they have no
   * motion. Returns their current transforms, sent next.
   */
  #rewindContinuous(staging: FrameBuilder): FrameBuilder {
    const movedFrame = new FrameBuilder();
    this.#table.starts.forEach((id, matrices, at) => {
      if (!this.#table.has(id)) return;
      const from = staging.addSingle(id);
      const to = movedFrame.addSingle(id);
      for (let k = 0; k < AFFINE_NUMBERS; k++) {
        movedFrame.f64[to + k] = staging.f64[from + k];
        staging.f64[from + k] = matrices[at + k];
      }
    });
    return movedFrame;
  }

  /** Releases everything, when the link has ended. */
  clear(): void {
    this.staging = this.#newBuilder();
    this.#builders.length = 0;
    this.#freeBuilders.length = 0;
    this.#readyEntries = [];
    this.#entriesBehind = [];
    this.#frameInWorker = undefined;
    this.#waitingFrame = undefined;
    this.#newestOut = undefined;
    this.#freeOut = undefined;
    this.#newestResult = undefined;
    this.#log.clear();
    this.#poses.clear();
  }

  /** Sends the last answer to a new worker, whichever worker gave it: begun, ended, entered and left are relative to it. */
  #postBaseline(): void {
    const newest = this.#newestResult;
    if (!newest || newest.isGone) return;
    const { a, b, groupA, groupB } = newest.contacts;
    const seen: BaselineMessage['seen'] = [];
    for (const [name, { ids }] of newest.views) {
      const slot = this.#views.slotOf(name);
      if (slot !== undefined) seen.push({ slot, ids: ids.slice() });
    }
    const [groupIdsA, groupIdsB] = [groupA.slice(), groupB.slice()];
    this.#link.post({ type: 'baseline', a: a.slice(), b: b.slice(), groupA: groupIdsA, groupB: groupIdsB, seen });
  }

  #post(frame: Frame): void {
    this.flush();
    this.#lastFrame++;
    let input: ArrayBuffer;
    try {
      input = frame.staging.seal(this.#lastFrame, this.#link.life, this.#contactBudget);
    } catch (error) {
      frame.staging.reopen();
      this.#restage(frame.staging);
      frame.answer.reject(error as CollisionError); // OUT_OF_MEMORY
      return;
    }
    // It is empty if the caller has transferred it elsewhere.
    const out = this.#freeOut?.byteLength ? this.#freeOut : undefined;
    this.#freeOut = undefined;
    this.#sentOutBytes = out?.byteLength ?? 0;
    this.#frameInWorker = frame;
    this.#table.starts.send();
    this.#link.post({ type: 'frame', input, out }, transferOf(input, out));
  }

  /** Stages the contents of a frame that could not be run for the next frame, under what was staged since. */
  #restage(failed: FrameBuilder): void {
    const next = this.#waitingFrame?.staging ?? this.staging;
    failed.join(next);
    next.restart();
    this.#freeBuilders.push(next);
    if (this.#waitingFrame) this.#waitingFrame.staging = failed;
    else this.staging = failed;
    this.#views.forgetSent();
    if (this.#waitingFrame) this.#views.stage(failed);
  }

  #sendWaitingFrame(): void {
    const waiting = this.#waitingFrame;
    if (!waiting) return;
    this.#waitingFrame = undefined;
    this.#post(waiting);
    this.#readyEntries = this.#entriesBehind;
    this.#entriesBehind = [];
    this.flush();
  }

  #sendCommandsAhead(waiting: Frame): void {
    for (const entry of this.#entriesBehind.splice(waiting.stayed)) {
      if (mustFollowFrame(entry)) this.#entriesBehind.push(entry);
      else {
        this.#readyEntries.push(entry);
        applyToWaitingFrame(waiting.staging, entry);
      }
    }
    waiting.stayed = this.#entriesBehind.length;
    this.#flushSoon();
  }

  /** Makes the entries behind the waiting frame ready, after the frame's transforms. */
  #sendAhead(): void {
    const waiting = this.#waitingFrame;
    if (!waiting || !this.#isBusy || this.#isDown || this.#entriesBehind.length === 0) return;
    this.flush();
    if (!waiting.isAhead) {
      let input: ArrayBuffer;
      try {
        input = waiting.staging.copy(this.#lastFrame + 1, this.#link.life);
      } catch {
        return; // no memory for the copy: the entries wait for the frame
      }
      this.#link.post({ type: 'ahead', input }, [input]);
      waiting.isAhead = true;
    }
    for (const entry of this.#entriesBehind) applyToWaitingFrame(waiting.staging, entry);
    this.#readyEntries = this.#entriesBehind;
    this.#entriesBehind = [];
    waiting.stayed = 0;
  }

  #flushSoon(): void {
    if (
      this.#isFlushScheduled ||
      (this.#readyEntries.length === 0 && !(this.#isBusy && this.#entriesBehind.length > 0))
    )
      return;
    this.#isFlushScheduled = true;
    queueMicrotask(() => {
      this.#isFlushScheduled = false;
      this.#sendAhead();
      this.flush();
    });
  }

  /** Posts the ready entries: consecutive commands as one message. */
  flush(): void {
    if (this.#readyEntries.length === 0 || this.#isDown) return;
    const entries = this.#readyEntries;
    this.#readyEntries = [];
    let list: Command[] = [];
    let buffers: ArrayBuffer[] = [];
    for (const entry of entries) {
      const post = typeof entry === 'function' ? entry : entry.type === 'call' ? entry.post : undefined;
      if (!post) {
        if ('after' in entry) entry.after = this.#lastFrame;
        else list.push(entry as Command);
        const buffer = bufferToTransfer(entry as Command);
        if (buffer) buffers.push(buffer);
        continue;
      }
      this.#postCommands(list, buffers);
      list = [];
      buffers = [];
      post();
    }
    this.#postCommands(list, buffers);
  }

  #postCommands(list: readonly Command[], buffers: ArrayBuffer[] = []): void {
    if (list.length > 0) this.#link.post({ type: 'commands', list }, buffers);
  }

  /**
   * Keeps an empty builder for a later frame: for the next one, if nothing is staged for that yet. If the caller awaits each
   * frame, one buffer serves all of them, and takes half the memory in the caches.
   */
  #release(empty: FrameBuilder): void {
    const { staging } = this;
    const isNext = staging.isEmpty;
    if (isNext) this.staging = empty;
    this.#freeBuilders.push(isNext ? staging : empty);
  }

  #addBuilder(): FrameBuilder {
    const builder = this.#newBuilder();
    this.#builders.push(builder);
    return builder;
  }

  #newBuilder(): FrameBuilder {
    return new FrameBuilder(this.#poses, () => this.sharesFrames);
  }
}
