import type { World } from './world.js';

/** A public function with arguments that are right, all options given. */
export interface Call<W = World> {
  name: string;
  args(world: W): unknown[];
  run(world: W, ...args: never[]): unknown;
  /** Takes back what it did, when it went well. */
  undo?(world: W, answer: never, args: unknown[]): unknown;
  /** Its answers differ by nothing but time and ids. */
  isDull?: boolean;
  /** Its first argument is a function of the caller's. */
  visits?: boolean;
  /** Takes long: fewer of its cases are tried. */
  isSlow?: boolean;
}
