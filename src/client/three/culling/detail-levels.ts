import type { BufferGeometry } from 'three';
import type { DetailLevel } from '../track-options.js';

/** Default of `hysteresis`: an object is drawn in more detail again once it is larger than the limit by this fraction. */
const HYSTERESIS = 0.1;

/** Levels of detail that are chosen by an object's size in pixels across. Level 0 is the object as it is. */
export class DetailLevels {
  readonly geometries: readonly (BufferGeometry | null)[];
  /** A level is drawn below this many pixels, and the finer one again from this many on. */
  readonly #coarserBelow: readonly number[];
  readonly #finerFrom: readonly number[];

  constructor(levels: readonly DetailLevel[]) {
    this.geometries = [null, ...levels.map(({ geometry = null }) => geometry)];
    this.#coarserBelow = [Number.POSITIVE_INFINITY, ...levels.map(({ pixels }) => pixels)];
    this.#finerFrom = levels.map(({ pixels, hysteresis = HYSTERESIS }) => pixels * (1 + hysteresis));
  }

  /** Returns the next level of an object that was drawn in the level `current` and is now this many pixels across. */
  next(current: number, pixels: number): number {
    let level = current;
    while (level + 1 < this.#coarserBelow.length && pixels < this.#coarserBelow[level + 1]) level++;
    while (level > 0 && pixels >= this.#finerFrom[level - 1]) level--;
    return level;
  }
}
