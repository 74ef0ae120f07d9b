// Functions that the core imports from JavaScript.

/** Returns the time of a monotonic clock in milliseconds. */
@external("env", "now")
export declare function now(): f64;

/** Throws OUT_OF_MEMORY in JavaScript; never returns. */
@external("env", "outOfMemory")
export declare function outOfMemory(bytes: f64): void;

/** Suspends the pair that is being tested, until the module is resumed; only in pair-module.ts. */
@external("env", "suspend")
export declare function suspend(): void;

/** Makes the core keep the data derived from a mesh up to date; only in pair-module.ts. Throws OUT_OF_MEMORY. */
@external("env", "keepUp")
export declare function keepUpInCore(mesh: usize): void;

/** Allocates and releases the core's memory; only in pair-module.ts. See memory.ts. */
@external("env", "allocate")
export declare function allocateInCore(bytes: u64): usize;

@external("env", "release")
export declare function releaseInCore(address: usize): void;
