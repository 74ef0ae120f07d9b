// Which moves of characters are merged into one, and how they are written into a frame.
import { expect, test } from 'vitest';
import { StagedMoves } from '../../src/client/frame/staged-moves.js';
import { MOVE_BY, MOVE_BYTES, MOVE_TIMED } from '../../src/shared/layout.js';
import type { Vec3 } from '../../src/shared/types.js';

type Move = [character: number, kind: number, way: Vec3, seconds: number];

function staged(...moves: Move[]): StagedMoves {
  const all = new StagedMoves();
  for (const move of moves) all.add(...move);
  return all;
}

/** Reads the moves that a frame would carry, behind sixteen bytes of other data. */
function written(moves: StagedMoves): number[][] {
  expect(moves.bytes).toBe(MOVE_BYTES * moves.count);
  const buffer = new ArrayBuffer(16 + moves.bytes);
  const [u32, f32, f64] = [new Uint32Array(buffer), new Float32Array(buffer), new Float64Array(buffer)];
  moves.write(u32, f32, f64, 16);
  expect([f64[0], f64[1]]).toEqual([0, 0]);
  return Array.from({ length: moves.count }, (_, i) => {
    const at = 16 + MOVE_BYTES * i;
    return [u32[at / 4], u32[at / 4 + 1], ...f64.subarray(at / 8 + 1, at / 8 + 5)];
  });
}

const flat = (...moves: Move[]) => moves.map(([character, kind, way, seconds]) => [character, kind, ...way, seconds]);

test('ways of one character add up', () => {
  const moves = staged([7, MOVE_BY, [1, 2, 3], 0], [8, MOVE_BY, [9, 9, 9], 0], [7, MOVE_BY, [0.5, 0.25, 0.125], 0]);
  expect(written(moves)).toEqual(flat([7, MOVE_BY, [1.5, 2.25, 3.125], 0], [8, MOVE_BY, [9, 9, 9], 0]));
});

test('times of one velocity add up, of another they do not', () => {
  const first: Move = [7, MOVE_TIMED, [1, 2, 3], 0.5];
  expect(written(staged(first, [7, MOVE_TIMED, [1, 2, 3], 0.25]))).toEqual(flat([7, MOVE_TIMED, [1, 2, 3], 0.75]));
  for (const other of [
    [4, 2, 3],
    [1, 4, 3],
    [1, 2, 4],
  ] as Vec3[]) {
    const second: Move = [7, MOVE_TIMED, other, 0.25];
    expect(written(staged(first, second))).toEqual(flat(first, second));
    // The previous velocity is a move of its own, behind it.
    expect(written(staged(first, second, first))).toEqual(flat(first, second, first));
  }
});

test('moves of different kinds stay apart, in their order', () => {
  const [by, timed]: Move[] = [
    [7, MOVE_BY, [1, 2, 3], 0],
    [7, MOVE_TIMED, [1, 2, 3], 0.5],
  ];
  expect(written(staged(by, timed))).toEqual(flat(by, timed));
  expect(written(staged(timed, by))).toEqual(flat(timed, by));
  expect(written(staged(by, timed, by))).toEqual(flat(by, timed, by));
});

test('those of a newer frame are joined as if they had been made in this one; nothing is left of what is cleared', () => {
  const older = staged([7, MOVE_BY, [1, 2, 3], 0]);
  older.join(staged([7, MOVE_BY, [1, 1, 1], 0], [8, MOVE_TIMED, [1, 0, 0], 1]));
  older.join(staged([8, MOVE_TIMED, [1, 0, 0], 2]));
  expect(written(older)).toEqual(flat([7, MOVE_BY, [2, 3, 4], 0], [8, MOVE_TIMED, [1, 0, 0], 3]));
  older.clear();
  expect(written(older)).toEqual([]);
  older.add(7, MOVE_BY, [1, 2, 3], 0);
  expect(written(older)).toEqual(flat([7, MOVE_BY, [1, 2, 3], 0]));
});
