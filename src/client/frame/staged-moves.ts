import {
  MOVE_BY,
  MOVE_BYTES,
  MOVE_CHARACTER,
  MOVE_KIND,
  MOVE_SECONDS,
  MOVE_TIMED,
  MOVE_VECTOR,
} from '../../shared/layout.js';
import type { Vec3 } from '../../shared/types.js';

interface Move {
  character: number;
  kind: number;
  way: [number, number, number];
  seconds: number;
}

/**
 * The moves of characters that a frame brings. Vectors of one character add up, as do times of one velocity, so that a
 * frame that is joined many times brings few moves.
 */
export class StagedMoves {
  /** The moves of each character, in order. */
  readonly #movesOf = new Map<number, Move[]>();

  get count(): number {
    let count = 0;
    for (const moves of this.#movesOf.values()) count += moves.length;
    return count;
  }

  get bytes(): number {
    return this.count * MOVE_BYTES;
  }

  add(character: number, kind: number, [x, y, z]: Vec3, seconds: number): void {
    const moves = this.#movesOf.get(character) ?? [];
    const last = moves.at(-1);
    if (last?.kind === kind) {
      const { way } = last;
      if (kind === MOVE_BY) {
        way[0] += x;
        way[1] += y;
        way[2] += z;
        return;
      }
      if (kind === MOVE_TIMED && way[0] === x && way[1] === y && way[2] === z) {
        last.seconds += seconds;
        return;
      }
    }
    moves.push({ character, kind, way: [x, y, z], seconds });
    this.#movesOf.set(character, moves);
  }

  join(newer: StagedMoves): void {
    for (const moves of newer.#movesOf.values()) {
      for (const { character, kind, way, seconds } of moves) this.add(character, kind, way, seconds);
    }
  }

  /** Drops the moves of a character that is put elsewhere. */
  drop(character: number): void {
    this.#movesOf.delete(character);
  }

  clear(): void {
    this.#movesOf.clear();
  }

  write(u32: Uint32Array, _f32: Float32Array, f64: Float64Array, at: number): void {
    for (const moves of this.#movesOf.values()) {
      for (const { character, kind, way, seconds } of moves) {
        u32[(at + MOVE_CHARACTER) / 4] = character;
        u32[(at + MOVE_KIND) / 4] = kind;
        f64.set(way, (at + MOVE_VECTOR) / 8);
        f64[(at + MOVE_SECONDS) / 8] = seconds;
        at += MOVE_BYTES;
      }
    }
  }
}
