// What the core asks of JavaScript.

/** Milliseconds of a monotonic clock. */
@external("env", "now")
export declare function now(): f64;

/** Throws OUT_OF_MEMORY in JavaScript: it never returns. */
@external("env", "outOfMemory")
export declare function outOfMemory(bytes: f64): void;
