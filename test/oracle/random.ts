import { Matrix4, Quaternion, Vector3 } from 'three';

/** Seed of every random test, shown in its title; `SEED=7 npm test` runs them all with another one. */
export const SEED = Number(import.meta.env.SEED);

const MIRRORS = [new Vector3(-1, 1, 1), new Vector3(1, -1, 1), new Vector3(1, 1, -1), new Vector3(-1, -1, -1)];

/** Seeded generator: mulberry32 (Tommy Ettinger, 2017). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Restarts with another seed. */
  restart(seed: number): void {
    this.#state = seed | 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  range(min: number, max: number): number {
    return min + (max - min) * this.next();
  }

  /** Uniform over the orders of magnitude between the two. */
  logRange(min: number, max: number): number {
    return min * (max / min) ** this.next();
  }

  /** In 0 … count - 1. */
  integer(count: number): number {
    return Math.floor(this.next() * count);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns the same items in random order (Fisher and Yates, as in Durstenfeld, "Algorithm 235", 1964). */
  shuffled<T>(items: Iterable<T>): T[] {
    const list = [...items];
    for (let i = list.length - 1; i > 0; i--) {
      const k = this.integer(i + 1);
      [list[i], list[k]] = [list[k], list[i]];
    }
    return list;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.integer(items.length)] as T;
  }

  /** In the cube of this half size around the origin. */
  point(halfSize: number): Vector3 {
    return new Vector3(
      this.range(-halfSize, halfSize),
      this.range(-halfSize, halfSize),
      this.range(-halfSize, halfSize),
    );
  }

  /** Uniform on the unit sphere (Archimedes: heights on it are uniform). */
  direction(): Vector3 {
    const z = this.range(-1, 1);
    const angle = this.range(0, 2 * Math.PI);
    const r = Math.sqrt(1 - z * z);
    return new Vector3(r * Math.cos(angle), r * Math.sin(angle), z);
  }

  /** Uniform over the rotations (Ken Shoemake, Uniform Random Rotations, 1992). */
  rotation(): Quaternion {
    const u = this.next();
    const a = this.range(0, 2 * Math.PI);
    const b = this.range(0, 2 * Math.PI);
    const r = Math.sqrt(1 - u);
    const s = Math.sqrt(u);
    return new Quaternion(r * Math.sin(a), r * Math.cos(a), s * Math.sin(b), s * Math.cos(b));
  }

  /** Randomly rotated, and scaled by a different factor per axis. */
  placement(position: Vector3, options: PlacementOptions = {}): Matrix4 {
    const { low = 1, high = 1, mirrored = 0, sheared = 0 } = options;
    const scale = new Vector3(this.logRange(low, high), this.logRange(low, high), this.logRange(low, high));
    if (this.chance(mirrored)) scale.multiply(this.pick(MIRRORS));
    const matrix = new Matrix4().compose(position, this.rotation(), scale);
    if (this.chance(sheared)) {
      const shear = () => this.range(-0.5, 0.5);
      matrix.multiply(new Matrix4().makeShear(shear(), shear(), shear(), shear(), shear(), shear()));
    }
    return matrix;
  }
}

export interface PlacementOptions {
  /** Bounds of the factors. Default 1 and 1. */
  low?: number;
  high?: number;
  /** Probability. Default 0. */
  mirrored?: number;
  /** Probability. Default 0. */
  sheared?: number;
}
