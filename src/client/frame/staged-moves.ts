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
  readonly #moves: Move[] = [];
  readonly #lastMoveOf = new Map<number, Move>();

  get count(): number {
    return this.#moves.length;
  }

  get bytes(): number {
    return this.#moves.length * MOVE_BYTES;
  }

  add(character: number, kind: number, [x, y, z]: Vec3, seconds: number): void {
    const last = this.#lastMoveOf.get(character);
    if (last && last.kind === kind) {
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
    const move: Move = { character, kind, way: [x, y, z], seconds };
    this.#moves.push(move);
    this.#lastMoveOf.set(character, move);
  }

  join(newer: StagedMoves): void {
    for (const { character, kind, way, seconds } of newer.#moves) this.add(character, kind, way, seconds);
  }

  clear(): void {
    this.#moves.length = 0;
    this.#lastMoveOf.clear();
  }

  write(u32: Uint32Array, _f32: Float32Array, f64: Float64Array, at: number): void {
    for (const { character, kind, way, seconds } of this.#moves) {
      u32[(at + MOVE_CHARACTER) / 4] = character;
      u32[(at + MOVE_KIND) / 4] = kind;
      f64.set(way, (at + MOVE_VECTOR) / 8);
      f64[(at + MOVE_SECONDS) / 8] = seconds;
      at += MOVE_BYTES;
    }
  }
}
