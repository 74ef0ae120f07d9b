/** The section of core.wasm that holds the second module. */
export const NARROW_SECTION = 'narrow-phase';

/** What the second module exports: src/worker/core/pair-module.ts; Asyncify adds the states of its call stack. */
interface NarrowExports {
  stackStart(): number;
  setDeadline(time: number): void;
  begin(a: number, itemA: number, b: number, itemB: number, reach: number, until: number): void;
  beginDistance(itemA: number, itemB: number, limit: number, until: number): void;
  beginSweep(shape: number, pair: number, until: number): void;
  run(): number;
  asyncify_start_unwind(stack: number): void;
  asyncify_stop_unwind(): void;
  asyncify_start_rewind(stack: number): void;
  asyncify_stop_rewind(): void;
  asyncify_get_state(): number;
}

/** What the module needs of the core. */
interface Core {
  memory: WebAssembly.Memory;
  keepUp(mesh: number): void;
  allocate(bytes: bigint): number;
  release(address: number): void;
}

const REWINDING = 2;

/**
 * The narrow phase of one pair as a module of its own in the core's memory, so that a pair can be left in the midst of
 * its work: checkpoint.ts of the core. The core calls it, and so is there first.
 */
export class NarrowPhase {
  #exports!: NarrowExports;
  #stack = 0;
  /** Whether the pair was left just now; asking the module for its state is one more call a pair. */
  #isLeft = false;

  /** What the core calls: the address of an outcome, 0 when the pair was left. */
  readonly imports = {
    test: (a: number, itemA: number, b: number, itemB: number, reach: number, until: number): number => {
      this.#exports.begin(a, itemA, b, itemB, reach, until);
      return this.#run();
    },
    measure: (itemA: number, itemB: number, limit: number, until: number): number => {
      this.#exports.beginDistance(itemA, itemB, limit, until);
      return this.#run();
    },
    sweep: (shape: number, pair: number, until: number): number => {
      this.#exports.beginSweep(shape, pair, until);
      return this.#run();
    },
    resume: (until: number): number => {
      this.#exports.setDeadline(until);
      this.#exports.asyncify_start_rewind(this.#stack);
      return this.#run();
    },
  };

  start(module: WebAssembly.Module, core: Core, env: Record<string, WebAssembly.ImportValue>): void {
    const suspend = () => {
      const narrow = this.#exports;
      // It is called a second time when the stack is as it was.
      if (narrow.asyncify_get_state() === REWINDING) narrow.asyncify_stop_rewind();
      else {
        narrow.asyncify_start_unwind(this.#stack);
        this.#isLeft = true;
      }
    };
    // Without `instantiate`, which is asynchronous where the module is large: this one is compiled already.
    const { memory, keepUp, allocate, release } = core;
    const instance = new WebAssembly.Instance(module, { env: { ...env, memory, suspend, keepUp, allocate, release } });
    this.#exports = instance.exports as unknown as NarrowExports;
    this.#stack = this.#exports.stackStart();
  }

  #run(): number {
    const outcome = this.#exports.run();
    if (!this.#isLeft) return outcome;
    this.#isLeft = false;
    this.#exports.asyncify_stop_unwind();
    return 0;
  }
}
