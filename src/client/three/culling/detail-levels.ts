import type { BufferGeometry } from 'three';
import type { DetailLevel } from '../track-options.js';

/** Default of `hysteresis`: what has become so much larger than the limit is drawn in more detail again. */
const HYSTERESIS = 0.1;

/** Levels of detail that are chosen by how many pixels something has across. Level 0 is what it is by itself. */
export class DetailLevels {
  readonly geometries: readonly (BufferGeometry | null)[];
  /** Below so many pixels a level is drawn, and from so many on the finer one again. */
  readonly #coarser: readonly number[];
  readonly #finer: readonly number[];

  constructor(levels: readonly DetailLevel[]) {
    this.geometries = [null, ...levels.map(({ geometry = null }) => geometry)];
    this.#coarser = [Number.POSITIVE_INFINITY, ...levels.map(({ pixels }) => pixels)];
    this.#finer = levels.map(({ pixels, hysteresis = HYSTERESIS }) => pixels * (1 + hysteresis));
  }

  /** Answers the level of what was drawn in one of them before, and has so many pixels across now. */
  next(before: number, pixels: number): number {
    let level = before;
    while (level + 1 < this.#coarser.length && pixels < this.#coarser[level + 1]) level++;
    while (level > 0 && pixels >= this.#finer[level - 1]) level--;
    return level;
  }
}
