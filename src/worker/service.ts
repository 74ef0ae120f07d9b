import type { Failure } from '../shared/failure.js';
import { IN_EPOCH, IN_FRAME, OUT_MS_COMMANDS } from '../shared/layout.js';
import type { FrameMessage, ToWorker, WorkerApi } from '../shared/protocol.js';
import { isShared, transferOf } from '../shared/shared-memory.js';
import type { Core } from './binding/core.js';
import { CommandRunner } from './commands.js';
import { failureOrRethrow, hasMemoryFor } from './failures.js';
import { FRAME_SLICE_MS } from './long-work.js';
import { MeshService } from './mesh-service.js';
import type { Post } from './query-service.js';
import { type MessageFlow, NO_MESSAGES } from './slices.js';

/** Serves the main thread with a core: takes messages, and runs frames in slices. */
export class WorkerService extends MeshService implements WorkerApi {
  readonly #commands: CommandRunner;
  /** Whether the core has begun the frame that is to be answered. */
  #hasBegun = false;

  constructor(core: Core, post: Post, messageFlow: MessageFlow = NO_MESSAGES) {
    super(core, post, messageFlow);
    this.#commands = new CommandRunner(core, this.meshes, () => this.work.isInFrame);
  }

  receive(message: ToWorker): void {
    if (message.type === 'frame') {
      this.#runFrame(message);
    } else if (message.type === 'commands') {
      this.work.runCommands(this.#commands.run(message.list));
    } else if (message.type === 'ahead') {
      // If there is no memory for it, the frame itself reports that.
      if (hasMemoryFor(() => this.core.placeAhead(message.input))) this.frame = frameNumberOf(message.input);
    } else if (message.type === 'place') {
      this.core.place(message.input);
      this.frame = frameNumberOf(message.input);
    } else if (message.type === 'baseline') {
      this.core.setBaseline(message);
    } else if (message.type === 'chunk') {
      this.addChunk(message);
    } else if (message.type === 'abort') {
      this.abortBuild(message.build);
    }
  }

  #runFrame({ input, out }: FrameMessage): void {
    const { failure, ms: msCommands } = this.#commands.takeOutcome();
    const frame = frameNumberOf(input);
    this.#hasBegun = false;
    // After a failed command, no frame is run: the caller would miss what began and ended in it.
    if (failure) {
      this.frame = frame;
      this.#answer(input, undefined, failure);
      return;
    }
    this.#tryFrame(input, () => {
      this.core.beginFrame(input);
      this.#hasBegun = true;
      this.frame = frame;
      const step = (): boolean => {
        const result = this.core.stepFrame(FRAME_SLICE_MS, out, !this.work.isInPair);
        if (!result) return false;
        new DataView(result).setFloat64(OUT_MS_COMMANDS, msCommands, true);
        this.work.endFrame();
        this.#answer(input, result, undefined);
        return true;
      };
      if (step()) return;
      this.work.beginFrame();
      const continueFrame = (): void => {
        this.#tryFrame(input, () => {
          if (step()) {
            this.work.release();
          } else {
            this.work.resumeAfterMessages(continueFrame);
          }
        });
      };
      this.work.resumeAfterMessages(continueFrame);
    });
    this.frame = frame;
  }

  /**
   * Runs a part of a frame. If it throws, answers the frame with the failure; the next frame does what is left
   * undone.
   */
  #tryFrame(input: ArrayBuffer, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.work.endFrame();
      this.#answer(input, undefined, failureOrRethrow(error));
      this.work.release();
    }
  }

  #answer(input: ArrayBuffer, out: ArrayBuffer | undefined, failure: Failure | undefined): void {
    this.#commands.endFrame();
    const { memoryBytes, usedBytes } = this.core;
    const areMoved = failure && this.#hasBegun && this.core.areCharactersMoved;
    const [frame, epoch] = [frameNumberOf(input), new DataView(input).getUint32(IN_EPOCH, true)];
    const returnedInput = isShared(input) ? undefined : input;
    this.post(
      { type: 'result', frame, epoch, input: returnedInput, out, failure, areMoved, memoryBytes, usedBytes },
      transferOf(returnedInput, out),
    );
    this.work.derivePending();
  }
}

/** Returns the frame number of an input buffer. */
function frameNumberOf(input: ArrayBuffer): number {
  return new DataView(input).getUint32(IN_FRAME, true);
}
