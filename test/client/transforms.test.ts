import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { isInvertibleAt } from '../../src/client/check/affine.js';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import { BulkWriter } from '../../src/client/transforms/bulk-writer.js';
import { ReplayLog } from '../../src/client/transforms/replay-log.js';
import { SingleWriter } from '../../src/client/transforms/single-writer.js';
import {
  AFFINE_NUMBERS,
  BLOCK,
  CLAIMED,
  EXPLICIT,
  STAGED,
  TransformTable,
} from '../../src/client/transforms/transform-table.js';
import { makeId, slotOf } from '../../src/shared/ids.js';
import { IN_TRANSFORM_COUNT } from '../../src/shared/layout.js';
import { Random, SEED } from '../oracle/random.js';

/** The indices of a transform's twelve numbers in a matrix. */
const UPPER_ROWS = [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14];
const PLACED = [2, 0.1, 0.2, 0, 0.3, 2, 0.4, 0, 0.5, 0.6, 2, 0, 7, 8, 9, 1];

class Side {
  readonly table = new TransformTable();
  readonly log = new ReplayLog(this.table, true);
  readonly singles = new SingleWriter(this.table);
  readonly bulk = new BulkWriter(this.table);
  readonly staging = new FrameBuilder();

  /** Sends what is staged, like an update(). */
  update(frame: number): ArrayBuffer {
    this.staging.keepIn(this.log, frame);
    this.staging.addMoved(this.bulk, this.table);
    const input = this.staging.seal(frame, 1);
    this.staging.restart();
    return input;
  }

  /** The position of an object that the next worker is sent. */
  placeOf(id: number): number[] {
    const told = new Told();
    this.log.replay(told);
    return told.placeOf(id);
  }
}

/** What a log sends the next worker. */
class Told {
  readonly f64 = new Float64Array(1000 * AFFINE_NUMBERS);
  /** The ids of each block. */
  readonly blocks: Uint32Array[] = [];
  readonly #singles: number[] = [];
  readonly #places = new Map<number, number[]>();

  addSingle(id: number): number {
    expect(this.#places.has(id) || this.#singles.includes(id), 'it is told once').toBe(false);
    return AFFINE_NUMBERS * (this.#singles.push(id) - 1);
  }

  setBlock(ids: Uint32Array, matrices: ArrayLike<number>, parent: ArrayLike<number>): void {
    this.blocks.push(ids);
    for (const [i, id] of ids.entries()) {
      expect(this.#places.has(id) || this.#singles.includes(id), 'it is told once').toBe(false);
      const matrix = new Matrix4().fromArray(Array.from(matrices), 16 * i);
      this.#places.set(id, rowsOf(matrix.premultiply(new Matrix4().fromArray(parent)).elements));
    }
  }

  /** If nothing is sent of an object, the next worker has it where it was added: at the origin. */
  placeOf(id: number): number[] {
    const at = AFFINE_NUMBERS * this.#singles.indexOf(id);
    if (at >= 0) return [...this.f64.subarray(at, at + AFFINE_NUMBERS)];
    return this.#places.get(id) ?? rowsOf(new Matrix4().elements);
  }
}

const sentIn = (input: ArrayBuffer) => new DataView(input).getUint32(IN_TRANSFORM_COUNT, true);
const rowsOf = (m: ArrayLike<number>) => UPPER_ROWS.map((k) => m[k]);

describe.each(UPPER_ROWS)('a transform that differs in number %d alone', (k) => {
  const moved = PLACED.with(k, PLACED[k] + 0.25);
  const id = makeId(3, 1);

  test('is staged one by one', () => {
    const side = new Side();
    side.log.add(id, PLACED);
    side.singles.set(id, PLACED, side.staging);
    expect(sentIn(side.update(1))).toBe(0);
    for (const [frame, matrix] of [moved, PLACED, moved].entries()) {
      side.singles.set(id, matrix, side.staging);
      expect(side.table.states[3]).toBe(STAGED);
      expect(sentIn(side.update(frame))).toBe(1);
      expect(side.table.states[3]).toBe(EXPLICIT);
      side.singles.set(id, matrix, side.staging);
      expect(sentIn(side.update(frame))).toBe(0);
      expect(side.placeOf(id)).toEqual(rowsOf(matrix));
    }
  });

  test('is staged with many', () => {
    const side = new Side();
    side.log.add(id, PLACED);
    expect(side.bulk.move(Uint32Array.of(id), [PLACED], 0, 1)).toBe(1);
    expect(sentIn(side.update(1))).toBe(0);
    expect(side.bulk.move(Uint32Array.of(id), [moved], 0, 1)).toBe(1);
    expect(sentIn(side.update(2))).toBe(1);
    expect(side.table.states[3]).toBe(CLAIMED);
    expect(side.placeOf(id)).toEqual(rowsOf(moved));
  });
});

test('the next worker is told the block that is lent, and the objects one by one once one has left it', () => {
  const side = new Side();
  const ids = Uint32Array.from([3, 4, 5], (slot) => makeId(slot, 1));
  const parent = new Matrix4().makeTranslation(1, 2, 3);
  const places = [...ids].map((_, i) => PLACED.with(12, i));
  for (const id of ids) side.log.add(id, PLACED);
  side.log.keepBorrowed({ ids, matrices: Float64Array.from(places.flat()) }, parent.elements, 0, 1);
  const told = () => {
    const next = new Told();
    side.log.replay(next);
    return [next.blocks, ...Array.from(ids, (id) => next.placeOf(id))];
  };
  const expected = places.map((place) => rowsOf(parent.clone().multiply(new Matrix4().fromArray(place)).elements));
  expect(told()).toEqual([[ids], ...expected]);
  side.log.set(ids[1], PLACED);
  expect(told()).toEqual([[], expected[0], rowsOf(PLACED), expected[2]]);
});

describe('a getter in a matrix of many', () => {
  const id = makeId(3, 1);
  const deeds: Record<string, (table: TransformTable) => void> = {
    'that removes the object': (table) => table.delete(id),
    'that gives its slot to another one': (table) => {
      table.delete(id);
      table.add(makeId(3, 2), PLACED);
    },
    'that makes the table larger': (table) => table.reserve(10_000),
    'that empties the table': (table) => table.clear(),
  };
  const cases = Object.keys(deeds).flatMap((deed) => [0, 3, 12, 14, 15].map((k): [string, number] => [deed, k]));

  test.each(cases)('%s, at number %d, leaves all where it was', (deed, k) => {
    const side = new Side();
    side.log.add(id, PLACED);
    const matrix = PLACED.with(13, PLACED[13] + 0.25);
    let isDone = false;
    Object.defineProperty(matrix, k, {
      get() {
        if (!isDone) deeds[deed](side.table);
        isDone = true;
        return PLACED[k];
      },
    });
    expect(side.bulk.move(Uint32Array.of(id), [matrix], 0, 1)).toBe(0);
    expect(isDone).toBe(true);
    expect(sentIn(side.update(1))).toBe(0);
    expect([...side.table.pageOf(3).subarray(3 * AFFINE_NUMBERS, 4 * AFFINE_NUMBERS)]).toEqual(
      deed === 'that empties the table' ? rowsOf(new Matrix4().elements) : rowsOf(PLACED),
    );
  });
});

describe('what is no matrix that the worker takes', () => {
  const id = makeId(3, 1);

  /**
   * Its last column in the plane of the others, except for a relative part that is below what the worker accepts.
   */
  function nearlyFlat(random: Random): number[] {
    const [x, y, z] = [new Vector3(), new Vector3(), new Vector3()];
    new Matrix4().makeRotationFromQuaternion(random.rotation()).extractBasis(x, y, z);
    z.multiplyScalar(random.logRange(1e-16, 1e-14)).addScaledVector(x, random.range(-1, 1)).add(y);
    const columns = [x, y, z].map((column) => column.multiplyScalar(random.logRange(1e-3, 1e6)));
    const first = random.integer(3);
    const [a, b, c] = [0, 1, 2].map((k) => columns[(first + k) % 3]);
    // As rounding may move it out of the plane.
    const { elements } = new Matrix4().makeBasis(a, b, c);
    return isInvertibleAt(elements, 0) ? nearlyFlat(random) : elements;
  }

  test.each([0, 1, 2])(`is not written where column %d is much longer than the others, seed ${SEED}`, (longest) => {
    const random = new Random(SEED);
    for (let i = 0; i < 300; i++) {
      const flat = nearlyFlat(random);
      for (let k = 4 * longest; k < 4 * longest + 3; k++) flat[k] *= random.pick([1, 1e3]) * (i % 2 === 0 ? 1 : 1e4);
      if (isInvertibleAt(flat, 0)) continue;
      const side = new Side();
      side.log.add(id, PLACED);
      expect(side.bulk.move(Uint32Array.of(id), [flat], 0, 1), `${flat}`).toBe(0);
      side.singles.set(id, flat, side.staging);
      side.update(1);
      expect(side.placeOf(id), `${flat}`).toEqual(rowsOf(PLACED));
    }
  });

  test.each([...PLACED.keys()])('is left to the check of each number, where number %d is a text', (k) => {
    const side = new Side();
    side.log.add(id, PLACED);
    const texts: unknown[] = PLACED.with(12, 50);
    texts[k] = String(texts[k]);
    const matrix = texts as number[];
    expect(side.bulk.move(Uint32Array.of(id), [matrix], 0, 1)).toBe(0);
    expect(() => side.singles.set(id, matrix, side.staging)).toThrow('16 numbers');
    expect(sentIn(side.update(1))).toBe(0);
    // An adapter moves thousands: an invalid matrix is reported by the frame, like one that is not affine.
    side.singles.setOrReject(id, matrix, side.staging);
    expect(sentIn(side.update(2))).toBe(1);
  });

  test.each([3, 7, 11, 15])('is left to the check of its bottom row, where number %d is another', (k) => {
    const side = new Side();
    side.log.add(id, PLACED);
    const matrix = PLACED.with(k, 0.5);
    expect(side.bulk.move(Uint32Array.of(id), [matrix], 0, 1)).toBe(0);
    const row = [3, 7, 11, 15].map((n) => matrix[n]).join(', ');
    expect(() => side.singles.set(id, matrix, side.staging)).toThrow(`the bottom row of matrix is [${row}]`);
  });
});

test('what is staged and not sent yet can be taken back', () => {
  const side = new Side();
  const id = makeId(0, 1);
  side.log.add(id, PLACED);
  side.singles.set(id, PLACED.with(12, 50), side.staging);
  side.singles.set(id, PLACED, side.staging);
  side.update(1);
  expect(side.placeOf(id)).toEqual(rowsOf(PLACED));
});

describe('a block', () => {
  const [a, b, c] = [1, 2, 3].map((slot) => makeId(slot, 1));
  const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
  const bad = new Array(16).fill(0);

  function sideOf(): Side {
    const side = new Side();
    for (const id of [a, b, c]) side.log.add(id, at(0));
    return side;
  }

  function say(side: Side, ids: number[], matrices: number[][]): void {
    const block = Uint32Array.from(ids);
    side.table.setBlock(block);
    side.staging.setBlock(block, Float32Array.from(matrices.flat()));
  }

  const xOf = (side: Side, id: number) => side.placeOf(id)[9];

  test('that differs in its last object alone is another one', () => {
    const side = sideOf();
    say(side, [a, b], [at(1), at(2)]);
    side.update(1);
    say(side, [a, c], [at(3), at(4)]);
    side.update(2);
    expect([a, b, c].map((id) => xOf(side, id))).toEqual([3, 2, 4]);
  });

  // What is only checked at the end: checking brings the table up to date.
  test.each([a, b])('takes object %d back that was moved alone', (id) => {
    const side = sideOf();
    for (const frame of [1, 3]) {
      say(side, [a, b], [at(frame), at(frame)]);
      side.update(frame);
      side.singles.set(id, at(10), side.staging);
      side.update(frame + 1);
    }
    say(side, [a, b], [at(5), at(6)]);
    side.update(5);
    expect([a, b].map((each) => xOf(side, each))).toEqual([5, 6]);
  });

  // In one frame, like update() calls that join a waiting one; then in frames of their own.
  test.each([
    [2, 2, 2],
    [2, 2, 3],
    [2, 3, 4],
  ])('that is refused leaves an object where it was moved alone: frames %d, %d, %d', (first, second, third) => {
    const side = sideOf();
    say(side, [a, b], [at(1), at(2)]);
    side.update(1);
    side.log.accept(1);
    say(side, [a, b], [at(5), at(6)]);
    side.update(first);
    side.singles.set(a, at(10), side.staging);
    side.update(second);
    say(side, [a, b], [bad, at(7)]);
    side.update(third);
    expect([a, b].map((id) => xOf(side, id))).toEqual([10, 7]);
  });

  test.each([1, 2, 3, 4])('that is refused %d times leaves an object where the last good one had it', (times) => {
    const side = sideOf();
    say(side, [a, b], [at(1), at(2)]);
    side.update(1);
    side.log.accept(1);
    for (let frame = 2; frame < 2 + times; frame++) {
      say(side, [a, b], [bad, at(frame)]);
      side.update(frame);
      side.log.accept(frame - 2); // an answer to another frame says nothing about this one
    }
    expect([a, b].map((id) => xOf(side, id))).toEqual([1, 1 + times]);
  });

  test('that overlaps another one of its frame moves its objects one by one', () => {
    const side = sideOf();
    say(side, [a, b], [at(1), at(2)]);
    say(side, [b, c], [at(3), bad]);
    const input = side.update(1);
    expect(sentIn(input)).toBe(2);
    expect([a, b, c].map((id) => xOf(side, id))).toEqual([1, 3, 0]);
    expect([a, b, c].map((id) => side.table.states[slotOf(id)])).toEqual([BLOCK, BLOCK, BLOCK]);
  });

  test('counts the objects that leave it', () => {
    const side = sideOf();
    say(side, [a, b, c], [at(1), at(2), at(3)]);
    side.update(1);
    expect(side.table.leftBlocks).toBe(0);
    side.singles.set(a, at(9), side.staging);
    side.log.set(b, at(9));
    side.log.delete(c);
    expect(side.table.leftBlocks).toBe(3);
    side.update(2);
    side.singles.set(a, at(8), side.staging);
    expect(side.table.leftBlocks).toBe(3);
  });
});

test('what is staged again after a failure is older than what the bulk writer wrote since', () => {
  const side = new Side();
  const id = makeId(0, 1);
  side.log.add(id, PLACED);
  side.staging.setSingle(id, PLACED.with(12, 50));
  side.bulk.move(Uint32Array.of(id), [PLACED.with(12, 60)], 0, 1);
  expect(sentIn(side.update(1))).toBe(1);
  expect(side.placeOf(id)).toEqual(rowsOf(PLACED.with(12, 60)));
});

test(`the next worker is told what update() said, in whatever way, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const flat = new Matrix4().makeScale(1, 0, 1).elements;
  const outOfRow = [...PLACED.slice(0, 15), 0];
  const good = () => new Matrix4().makeTranslation(random.integer(1000), random.integer(1000), 1).elements;
  let refused = 0;
  let checked = 0;
  for (let round = 0; round < 60; round++) {
    const side = new Side();
    const alive: number[] = [];
    const expected = new Map<number, number[]>();
    /** Set since the last update(): in blocks, and one by one. */
    const said = new Map<number, number[]>();
    /** Refused in a frame that had accepted another transform: either is valid. */
    const unsure = new Set<number>();
    const spokenOf = new Set<number>();
    const borrowed: { ids: Uint32Array; matrices: Float64Array }[] = [];
    let generation = 0;
    let frame = 1;
    const some = (): Uint32Array => {
      const first = random.integer(alive.length);
      return Uint32Array.from(alive.slice(first, first + 1 + random.integer(6)));
    };
    const matrixOf = () => (random.chance(0.2) ? random.pick([flat, outOfRow, flat.with(0, Number.NaN)]) : good());
    const isUsable = (m: number[]) => m !== outOfRow && Math.abs(new Matrix4().fromArray(m).determinant()) > 0;
    const say = (id: number, m: number[]) => {
      if (said.has(id)) spokenOf.add(id);
      said.set(id, m);
    };
    const take = (id: number, m: number[]) => {
      if (isUsable(m)) {
        expected.set(id, m);
        unsure.delete(id);
      } else {
        refused++;
        if (spokenOf.has(id)) unsure.add(id);
      }
      spokenOf.add(id);
    };
    for (let step = 0; step < 80; step++) {
      const kind = random.pick([
        'add',
        'add',
        'single',
        'single',
        'block',
        'block',
        'lend',
        'bulk',
        'set',
        'remove',
        'send',
        'send',
      ]);
      const id = alive.length > 0 ? random.pick(alive) : 0;
      if (kind === 'add') {
        const m = good();
        const free = random.integer(40);
        if (alive.some((each) => slotOf(each) === free)) continue;
        const added = makeId(free, ++generation);
        side.log.add(added, m);
        alive.push(added);
        expected.set(added, m);
        unsure.delete(added);
      } else if (id === 0) {
        // There is nothing to move.
      } else if (kind === 'single') {
        const m = matrixOf();
        if (m === outOfRow) continue;
        side.singles.set(id, m, side.staging);
        say(id, m);
      } else if (kind === 'block') {
        const ids = some();
        const matrices = Array.from(ids, matrixOf);
        side.table.setBlock(ids);
        side.staging.setBlock(ids, Float64Array.from(matrices.flat()));
        for (const [i, each] of ids.entries()) say(each, matrices[i]);
      } else if (kind === 'lend') {
        if (round % 2 === 0) continue; // borrowed blocks can only be checked at the end
        // The same few blocks over and over, as with InstancedMeshes.
        let block = random.chance(0.7) ? borrowed.at(-1) : undefined;
        if (!block?.ids.every((each) => alive.includes(each))) {
          block = { ids: some(), matrices: new Float64Array() };
          block.matrices = new Float64Array(16 * block.ids.length);
          borrowed.push(block);
        }
        // All of it is valid: only the worker knows the previous transforms.
        const matrices = Array.from(block.ids, good);
        block.matrices.set(matrices.flat());
        side.table.setBlock(block.ids);
        side.staging.setBlock(block.ids, block.matrices, undefined, block);
        for (const [i, each] of block.ids.entries()) say(each, matrices[i]);
      } else if (kind === 'bulk') {
        const claimed = alive.filter((each) => side.table.states[slotOf(each)] === CLAIMED);
        const matrices = claimed.map(good);
        expect(side.bulk.move(Uint32Array.from(claimed), matrices, 0, claimed.length)).toBe(claimed.length);
        for (const [i, each] of claimed.entries()) expected.set(each, matrices[i]);
      } else if (kind === 'set') {
        const m = good();
        side.log.set(id, m);
        side.staging.setSingle(id, m);
        say(id, m);
        expected.set(id, m);
        unsure.delete(id);
      } else if (kind === 'remove') {
        side.log.delete(id);
        side.staging.drop(id);
        alive.splice(alive.indexOf(id), 1);
        said.delete(id);
      } else {
        side.update(frame);
        for (const [each, m] of said) take(each, m);
        const hasRefused = [...said.values()].some((m) => !isUsable(m));
        said.clear();
        if (random.chance(0.3)) continue; // the next update() joins it
        if (!hasRefused) side.log.accept(frame);
        frame++;
        spokenOf.clear();
      }
      if (!random.chance(0.1)) continue;
      for (const each of alive) {
        // Borrowed blocks are newer already, where they were written since.
        if (unsure.has(each) || borrowed.some(({ ids }) => ids.includes(each))) continue;
        checked++;
        expect(side.placeOf(each)).toEqual(rowsOf(expected.get(each)!));
      }
    }
    // In the end, the borrowed ones as well.
    side.update(frame);
    for (const [each, m] of said) take(each, m);
    for (const each of alive) if (!unsure.has(each)) expect(side.placeOf(each)).toEqual(rowsOf(expected.get(each)!));
  }
  expect(refused).toBeGreaterThan(100);
  expect(checked).toBeGreaterThan(500);
});
