import type { World } from './world.js';

/** A public function with arguments that are right, all options given. */
export interface Call<W = World> {
  name: string;
  args(world: W): unknown[];
  run(world: W, ...args: never[]): unknown;
  /** Takes back what it did, when it went well. */
  undo?(world: W, answer: never, args: unknown[]): unknown;
  /** What it did before an error stays, and is taken back as well. */
  isInParts?: boolean;
  /** Its answers differ by nothing but time and ids. */
  isDull?: boolean;
  /** Its first argument is a function of the caller's. */
  visits?: boolean;
  /** Takes long: fewer of its cases are tried. */
  isSlow?: boolean;
}
