import type { World } from './world.js';

/** A public function with valid arguments, all options included. */
export interface Call<W = World> {
  name: string;
  args(world: W): unknown[];
  run(world: W, ...args: never[]): unknown;
  /** Undoes the call after it succeeded. */
  undo?(world: W, answer: never, args: unknown[]): unknown;
  /** True if effects of the call before an error persist, and must be undone as well. */
  isInParts?: boolean;
  /** True if its answers differ only in time and ids. */
  isDull?: boolean;
  /** True if its first argument is a callback. */
  visits?: boolean;
  /** True if it is slow: fewer of its cases are tried. */
  isSlow?: boolean;
}
