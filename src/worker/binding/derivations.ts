import { CollisionError } from '../../shared/errors.js';
import type { MeshAddress } from './descriptions.js';
import type { CoreExports } from './exports.js';

/** Derives, in slices, what contacts have asked for of meshes whose vertices have moved, one mesh after the other. */
export class Derivations {
  readonly #exports: CoreExports;
  /** The derivation that is under way; 0 if none. */
  #derivation = 0;
  #mesh: MeshAddress = 0;

  constructor(exports: CoreExports) {
    this.#exports = exports;
  }

  get isPending(): boolean {
    return this.#derivation !== 0 || this.#exports.countWanted() > 0;
  }

  /** Works for about `budget` milliseconds. Returns whether there is more to do. */
  step(budget: number): boolean {
    const wasm = this.#exports;
    const deadline = performance.now() + budget;
    try {
      if (this.#derivation === 0) {
        this.#mesh = wasm.takeWanted() >>> 0;
        if (this.#mesh === 0) return false;
        this.#derivation = wasm.beginDerivation(this.#mesh) >>> 0;
      }
      if (wasm.stepDerivation(this.#derivation, deadline) === 1) {
        wasm.installDerivation(this.#derivation);
        this.#derivation = 0;
      }
    } catch (error) {
      this.abort(this.#mesh);
      if (!(CollisionError.is(error) && error.code === 'OUT_OF_MEMORY')) throw error;
    }
    return this.isPending;
  }

  /** Aborts the derivation of a mesh that has changed. */
  abort(mesh: MeshAddress): void {
    if (this.#derivation === 0 || this.#mesh !== mesh) return;
    this.#exports.freeDerivation(this.#derivation);
    this.#derivation = 0;
  }
}
