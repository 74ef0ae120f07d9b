/** The section of core.wasm that holds the second module. */
export const NARROW_SECTION = 'narrow-phase';

/**
 * Exports of the second module: src/worker/core/pair-module.ts, and those that Asyncify adds for the state of its call
 * stack.
 */
interface NarrowExports {
  stackStart(): number;
  setDeadline(time: number): void;
  begin(a: number, itemA: number, b: number, itemB: number, reach: number, deadline: number): void;
  beginDistance(itemA: number, itemB: number, limit: number, deadline: number): void;
  beginSweep(shape: number, pair: number, deadline: number): void;
  run(): number;
  asyncify_start_unwind(stack: number): void;
  asyncify_stop_unwind(): void;
  asyncify_start_rewind(stack: number): void;
  asyncify_stop_rewind(): void;
  asyncify_get_state(): number;
}

/** What the module imports from the core. */
interface CoreImports {
  memory: WebAssembly.Memory;
  keepUp(mesh: number): void;
  allocate(bytes: bigint): number;
  release(address: number): void;
}

const REWINDING = 2;

/**
 * The narrow phase of one pair as a module of its own in the core's memory, so that a pair can be suspended in the
 * middle of its work: the core's checkpoint.ts. The core calls it, and is therefore instantiated first.
 */
export class NarrowPhase {
  #exports!: NarrowExports;
  #stack = 0;
  /** Whether the pair was just suspended; asking the module for its state would be one more call per pair. */
  #isSuspended = false;

  /** Functions that the core calls. They return the address of an outcome, or 0 if the pair was suspended. */
  readonly imports = {
    test: (a: number, itemA: number, b: number, itemB: number, reach: number, deadline: number): number => {
      this.#exports.begin(a, itemA, b, itemB, reach, deadline);
      return this.#run();
    },
    measure: (itemA: number, itemB: number, limit: number, deadline: number): number => {
      this.#exports.beginDistance(itemA, itemB, limit, deadline);
      return this.#run();
    },
    sweep: (shape: number, pair: number, deadline: number): number => {
      this.#exports.beginSweep(shape, pair, deadline);
      return this.#run();
    },
    resume: (deadline: number): number => {
      this.#exports.setDeadline(deadline);
      this.#exports.asyncify_start_rewind(this.#stack);
      return this.#run();
    },
  };

  start(module: WebAssembly.Module, core: CoreImports, env: Record<string, WebAssembly.ImportValue>): void {
    const suspend = () => {
      const narrow = this.#exports;
      // It is called a second time when the stack has been restored.
      if (narrow.asyncify_get_state() === REWINDING) narrow.asyncify_stop_rewind();
      else {
        narrow.asyncify_start_unwind(this.#stack);
        this.#isSuspended = true;
      }
    };
    // Does not use `instantiate`, which is asynchronous for large modules: this one is already compiled.
    const { memory, keepUp, allocate, release } = core;
    const instance = new WebAssembly.Instance(module, { env: { ...env, memory, suspend, keepUp, allocate, release } });
    this.#exports = instance.exports as unknown as NarrowExports;
    this.#stack = this.#exports.stackStart();
  }

  #run(): number {
    const outcome = this.#exports.run();
    if (!this.#isSuspended) return outcome;
    this.#isSuspended = false;
    this.#exports.asyncify_stop_unwind();
    return 0;
  }
}
