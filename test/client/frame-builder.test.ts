import { Matrix4 } from 'three';
import { describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import { BulkWriter } from '../../src/client/transforms/bulk-writer.js';
import { TransformTable } from '../../src/client/transforms/transform-table.js';
import { makeId, NO_OBJECT } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import { Random, SEED } from '../oracle/random.js';

type Transforms = Map<number, number[]>;

/** What the worker would read from a frame: the id and the transform of each object. */
function decode(buffer: ArrayBuffer): { transforms: Transforms; views: number[]; records: number } {
  const data = new DataView(buffer);
  const word = (at: number) => data.getUint32(at, true);
  const transforms: Transforms = new Map();
  let block = word(layout.IN_BLOCKS);
  let records = 0;
  for (let i = 0; i < word(layout.IN_BLOCK_COUNT); i++) {
    const count = word(block + layout.BLOCK_COUNT);
    const floatBytes = word(block + layout.BLOCK_FLOAT_BYTES);
    const at = word(block + layout.BLOCK_MATRICES);
    const all = floatBytes === 4 ? new Float32Array(buffer, at, 16 * count) : new Float64Array(buffer, at, 16 * count);
    const parent = new Matrix4().fromArray(new Float64Array(buffer, block + layout.BLOCK_PARENT, 16));
    for (let k = 0; k < count; k++) {
      const id = word(word(block + layout.BLOCK_IDS) + 4 * k);
      transforms.set(id, parent.clone().multiply(new Matrix4().fromArray(all, 16 * k)).elements);
      records++;
    }
    block = word(block + layout.BLOCK_NEXT);
  }
  for (let i = 0; i < word(layout.IN_TRANSFORM_COUNT); i++) {
    const id = word(word(layout.IN_IDS) + 4 * i);
    records++;
    if (id === NO_OBJECT) continue;
    const [ax, ay, az, bx, by, bz, cx, cy, cz, x, y, z] = new Float64Array(
      buffer,
      word(layout.IN_MATRICES) + layout.MATRIX_BYTES * i,
      12,
    );
    transforms.set(id, [ax, ay, az, 0, bx, by, bz, 0, cx, cy, cz, 0, x, y, z, 1]);
  }
  const views = Array.from({ length: word(layout.IN_VIEW_COUNT) }, (_, i) =>
    word(word(layout.IN_VIEWS) + layout.VIEW_BYTES * i + layout.VIEW_MARGIN),
  );
  expect(word(layout.IN_BYTES)).toBeLessThanOrEqual(buffer.byteLength);
  return { transforms, views, records };
}

/** The parts of a frame so far. */
function partsOf(staging: FrameBuilder): { blocks: number; singles: number } {
  const data = new DataView(staging.seal(1, 1));
  return {
    blocks: data.getUint32(layout.IN_BLOCK_COUNT, true),
    singles: data.getUint32(layout.IN_TRANSFORM_COUNT, true),
  };
}

/** Integers, which float32 and products represent exactly. */
function matrix(random: Random): number[] {
  const m = Array.from({ length: 16 }, () => random.integer(100) - 50);
  m[3] = m[7] = m[11] = 0;
  m[15] = 1;
  return m;
}

const ids = (from: number, to: number) => Uint32Array.from({ length: to - from }, (_, i) => makeId(from + i, 1));

const owned = new Map<string, Uint32Array>();

/** The same array for the same ids, in every frame. */
function ownOf(list: Uint32Array): Uint32Array {
  const key = list.join();
  const own = owned.get(key) ?? list;
  owned.set(key, own);
  return own;
}

function blockOf(random: Random, list: Uint32Array, model: Transforms, to: FrameBuilder): void {
  const matrices = new (random.chance(0.5) ? Float32Array : Float64Array)(16 * list.length);
  const parent = random.chance(0.5) ? matrix(random) : undefined;
  list.forEach((id, i) => {
    const m = matrix(random);
    matrices.set(m, 16 * i);
    model.set(
      id,
      new Matrix4().fromArray(parent ?? new Matrix4().elements).multiply(new Matrix4().fromArray(m)).elements,
    );
  });
  const own = random.chance(0.7) ? ownOf(list) : undefined;
  to.setBlock(own ?? list, matrices, parent, own && { ids: own, matrices });
  matrices.fill(Number.NaN); // it was copied
}

describe('staging', () => {
  test(`the newest transform wins in any mix of writes, seed ${SEED}`, () => {
    const random = new Random(SEED);
    const staging = new FrameBuilder();
    const older = new FrameBuilder();
    const slots = 300;
    for (let frame = 0; frame < 300; frame++) {
      const model: Transforms = new Map();
      const joins = random.chance(0.5);
      for (let part = 0; part < (joins ? 3 : 1); part++) {
        const target = joins ? staging : older;
        for (let i = random.integer(40); i > 0; i--) {
          if (random.chance(0.7)) {
            const id = makeId(random.integer(slots), 1);
            const m = matrix(random);
            target.setSingle(id, m);
            model.set(id, m);
          } else {
            const from = random.pick([0, 100, 200, random.integer(slots)]);
            const list = ids(from, random.chance(0.7) ? Math.min(from + 100, slots) : random.integer(slots));
            blockOf(random, list, model, target);
          }
        }
        if (joins) {
          older.join(staging);
          staging.restart();
        }
      }
      const { transforms, records } = decode(older.seal(frame, 1));
      expect(transforms).toEqual(model);
      expect(records).toBeLessThanOrEqual(2 * slots);
      older.restart();
    }
    expect(older.allocations).toBeLessThan(12);
  });

  test('writing the same objects again and again makes the frame no longer', () => {
    const random = new Random(SEED);
    const staging = new FrameBuilder();
    const sizes = new Set<number>();
    for (let i = 0; i < 50; i++) {
      blockOf(random, ids(0, 60), new Map(), staging);
      blockOf(random, ids(30, 90), new Map(), staging);
      for (let slot = 0; slot < 100; slot++) staging.setSingle(makeId(slot, 1 + i), matrix(random));
      if (i > 2) sizes.add(staging.seal(1, 1).byteLength);
    }
    expect(sizes.size).toBe(1);
    expect(decode(staging.seal(1, 1)).records).toBe(160);
  });

  test('an object takes one single, however often it is written and whatever slot it has', () => {
    const staging = new FrameBuilder();
    for (let slot = 0; slot < 300; slot++) {
      for (let i = 0; i < 2; i++) staging.setSingle(makeId(slot, 1), new Matrix4().elements);
      expect(partsOf(staging)).toEqual({ blocks: 0, singles: slot + 1 });
    }
  });

  test('a block is one, unless it shares an object with another of its frame', () => {
    const staging = new FrameBuilder();
    const [a, b, c, d, e, f] = ids(0, 6);
    const stage = (...list: number[]) => staging.setBlock(Uint32Array.from(list), new Float32Array(16 * list.length));
    stage(a, b);
    stage(a, b);
    expect(partsOf(staging)).toEqual({ blocks: 1, singles: 0 });
    stage(c, b);
    expect(partsOf(staging)).toEqual({ blocks: 1, singles: 2 });
    // A block that could not be formed leaves its objects to others.
    stage(e, f);
    stage(c, d);
    expect(partsOf(staging)).toEqual({ blocks: 3, singles: 2 });
  });

  test('the blocks of a frame share objects with those of its own alone', () => {
    const staging = new FrameBuilder();
    const [a, b, c, d, e] = ids(0, 5);
    const lend = (...list: number[]) => {
      const own = { ids: Uint32Array.from(list), matrices: new Float32Array(16 * list.length) };
      staging.setBlock(own.ids, own.matrices, undefined, own);
    };
    lend(a, b);
    lend(c, d);
    staging.restart();
    lend(c, d, e);
    expect(partsOf(staging)).toEqual({ blocks: 1, singles: 0 });
    lend(a, d);
    expect(partsOf(staging)).toEqual({ blocks: 1, singles: 2 });
  });

  test('a block whose array is lent no more stays what it is, behind another one', () => {
    const [a, b, c] = [ids(0, 3), ids(10, 13), ids(20, 23)];
    const lent = (list: Uint32Array) => ({ ids: list, matrices: new Float32Array(48).fill(1) });
    const staging = new FrameBuilder();
    const stage = (list: Uint32Array, borrowed?: ReturnType<typeof lent>) =>
      staging.setBlock(list, new Float32Array(48).fill(1), undefined, borrowed);
    for (const list of [a, b]) stage(list, lent(list));
    staging.restart();
    stage(a, lent(a));
    stage(a);
    stage(c, lent(c));
    stage(ids(2, 5)); // shares an object with the first
    expect(partsOf(staging)).toEqual({ blocks: 2, singles: 3 });
  });

  test('an object of an earlier frame that is dropped takes nothing of this one along', () => {
    const staging = new FrameBuilder();
    const random = new Random(SEED);
    const all = ids(0, 200);
    for (const id of all) staging.setSingle(id, new Matrix4().elements);
    staging.restart();
    staging.restart();
    const model: Transforms = new Map();
    for (const id of ids(200, 230)) {
      const m = matrix(random);
      staging.setSingle(id, m);
      model.set(id, m);
    }
    for (const id of all) staging.drop(id);
    expect(decode(staging.seal(1, 1)).transforms).toEqual(model);
  });

  describe('what a writer has moved', () => {
    /** Objects in consecutive slots, where they were added. */
    function writerOf(count: number) {
      const table = new TransformTable();
      const list = ids(0, count);
      for (const id of list) table.add(id, new Matrix4().elements);
      return { table, list, writer: new BulkWriter(table), staging: new FrameBuilder() };
    }

    const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;

    // In a few runs of one object each, or in one that is long enough to be copied as a whole.
    test.each([1, 3, 31, 32, 33, 200])('%d objects of more travel alone, and once', (count) => {
      const { table, list, writer, staging } = writerOf(count + 2);
      expect(writer.move(list, Array<number[]>(count).fill(at(5)), 0, count)).toBe(count);
      staging.addMoved(writer, table);
      const expected = new Map(Array.from(list.subarray(0, count), (id) => [id, at(5)]));
      expect(decode(staging.seal(1, 1)).transforms).toEqual(expected);
      staging.restart();
      staging.addMoved(writer, table);
      expect(partsOf(staging)).toEqual({ blocks: 0, singles: 0 });
    });

    test.each([3, 200])('%d objects give way to what is said of them later', (count) => {
      const { table, list, writer, staging } = writerOf(count);
      writer.move(list, Array<number[]>(count).fill(at(5)), 0, count);
      staging.addMoved(writer, table);
      staging.setSingle(list[1], at(6));
      expect(partsOf(staging)).toEqual({ blocks: 0, singles: count });
      staging.setBlock(
        list.subarray(2),
        new Float64Array(list.subarray(2).length * 16).map((_, i) => at(7)[i % 16]),
      );
      const expected = new Map(Array.from(list, (id, i) => [id, at([5, 6, 7][Math.min(i, 2)])]));
      expect(decode(staging.seal(1, 1)).transforms).toEqual(expected);
    });

    // The transforms of a run are written once, as long as the run is
    // the same: what others write there meanwhile must be noticed.
    test.each([1, 2, 3])('what moves in runs is each object once, whatever frames before had, seed %i', (seed) => {
      const random = new Random(seed);
      const count = 2500; // of three pages
      const { table, list, writer, staging } = writerOf(count);
      const borders = [0, 40, 900, 1024, 1500, 2048, 2400, count];
      let x = 0;
      for (let frame = 0; frame < 300; frame++) {
        const model: Transforms = new Map();
        const say = (id: number): void => {
          const m = at(++x);
          staging.setSingle(id, m);
          model.set(id, m);
        };
        if (random.chance(0.1)) say(list[random.integer(count)]);
        let [first, end] = [0, count];
        if (random.chance(0.4))
          [first, end] = [random.integer(borders.length - 1), borders.length - 1].map((i) => borders[i]);
        const isReversed = random.chance(0.1);
        const parts = random.pick([
          () => [[first, end]],
          () => [
            [first, first + 50],
            [first + 60, end],
          ],
          // Some objects twice, behind others or before them.
          () => [
            [first + 30, end],
            [first, first + 50],
            [first + 40, first + 45],
          ],
          // Many runs of one or two objects.
          () => Array.from({ length: 40 }, (_, i) => [first + 2 * i, first + 2 * i + 1 + (i % 2)]),
        ])();
        if (isReversed) parts.reverse();
        for (const [from, to] of parts) {
          const m = at(++x);
          writer.move(list, Array<number[]>(count).fill(m), from, to);
          for (let i = from; i < to; i++) model.set(list[i], m);
        }
        staging.addMoved(writer, table);
        for (let n = random.integer(4); n > 0; n--) say(list[random.integer(count)]);
        const gone = list[random.integer(count)];
        staging.drop(gone);
        model.delete(gone);
        const { transforms, records } = decode(staging.seal(1, 1));
        expect(transforms, `frame ${frame}`).toEqual(model);
        expect(records - transforms.size).toBeLessThanOrEqual(1);
        staging.restart();
      }
    });
  });

  test('an object that is dropped leaves no single behind', () => {
    const staging = new FrameBuilder();
    const [a, b] = ids(0, 2);
    staging.setSingle(a, new Matrix4().elements);
    staging.setSingle(b, new Matrix4().elements);
    staging.drop(a);
    expect([...decode(staging.seal(1, 1)).transforms.keys()]).toEqual([b]);
  });

  test('growing keeps what is staged, and a returned buffer is used again', () => {
    const random = new Random(SEED);
    const staging = new FrameBuilder();
    const model: Transforms = new Map();
    const view = new Uint32Array(layout.VIEW_BYTES / 4);
    const fill = () => {
      model.clear();
      blockOf(random, ids(5000, 5010), model, staging);
      for (let slot = 0; slot < 3000; slot++) {
        const m = matrix(random);
        staging.setSingle(makeId(slot, 1), m);
        model.set(makeId(slot, 1), m);
        if (slot % 500 === 0) blockOf(random, ids(6000 + slot, 6020 + slot), model, staging);
      }
      staging.setView(view);
    };
    fill();
    const first = staging.seal(1, 1);
    expect(decode(first).transforms).toEqual(model);
    const { allocations } = staging;
    for (let frame = 0; frame < 5; frame++) {
      const returned = structuredClone(staging.seal(frame, 1), { transfer: [staging.seal(frame, 1)] });
      staging.restart(returned);
      fill();
      const sealed = staging.seal(frame, 1);
      expect(decode(sealed)).toMatchObject({ transforms: model, views: [0] });
    }
    expect(staging.allocations - allocations).toBeLessThanOrEqual(1);
  });

  test('what lies between the parts shrinks with the number of singles', () => {
    const staging = new FrameBuilder();
    const used = () => new DataView(staging.seal(1, 1)).getUint32(layout.IN_BYTES, true);
    for (let slot = 0; slot < 10_000; slot++) staging.setSingle(makeId(slot, 1), new Matrix4().elements);
    expect(used()).toBeGreaterThan(10_000 * layout.MATRIX_BYTES);
    staging.restart();
    staging.restart();
    staging.setSingle(makeId(3, 1), new Matrix4().elements);
    expect(used()).toBeLessThan(10_000);
  });

  const record = (slot: number, margin: number) => {
    const words = new Uint32Array(layout.VIEW_BYTES / 4);
    words[layout.VIEW_SLOT / 4] = slot;
    words[layout.VIEW_MARGIN / 4] = margin;
    return words;
  };

  test('a view that is staged twice travels once', () => {
    const staging = new FrameBuilder();
    for (const [slot, margin] of [
      [0, 1],
      [2, 2],
      [0, 3],
      [1, 4],
    ])
      staging.setView(record(slot, margin));
    expect(decode(staging.seal(1, 1)).views).toEqual([3, 2, 4]);
  });

  test('a view that is dropped takes no other along, wherever it is, nor one that is not there', () => {
    for (const gone of [0, 1, 2, 3]) {
      const staging = new FrameBuilder();
      for (const slot of [0, 1, 2]) staging.setView(record(slot, 5 + slot));
      staging.dropView(gone);
      const left = [0, 1, 2].filter((slot) => slot !== gone).map((slot) => 5 + slot);
      expect(decode(staging.seal(1, 1)).views.sort()).toEqual(left);
      staging.setView(record(1, 9));
      expect(decode(staging.seal(1, 1)).views.sort()).toEqual([...left.filter((margin) => margin !== 6), 9]);
    }
  });
});

test.each([SEED, SEED + 1, SEED + 2])(
  'blocks that are lent are those of the frame, whatever frames before had, seed %i',
  (seed) => {
    const random = new Random(seed);
    const builder = new FrameBuilder();
    const room = 12;
    let next = 1;
    const idsOf = (count: number) => Uint32Array.from({ length: count }, () => makeId(next++ % 4000, 1));
    // Each is lent for a while; then others replace it.
    const lent = Array.from({ length: room }, () => idsOf(1 + random.integer(200)));
    let kept = 0;
    for (let frame = 0; frame < 150; frame++) {
      const staged = new Map<number, number[]>();
      const stageBlock = (ids: Uint32Array, isLent: boolean): void => {
        if (new Set(ids).size < ids.length || ids.some((id) => staged.has(id))) return;
        const matrices = Float32Array.from({ length: 16 * ids.length }, (_, i) => (i % 5 === 0 ? 1 : 0));
        for (let i = 0; i < ids.length; i++) {
          matrices[16 * i + 15] = 1;
          for (let k = 12; k < 15; k++) matrices[16 * i + k] = random.integer(1000);
          staged.set(ids[i], Array.from(matrices.subarray(16 * i, 16 * i + 16)));
        }
        builder.setBlock(ids, matrices, undefined, isLent ? { ids, matrices } : undefined);
      };
      const isUsual = random.chance(0.7);
      if (random.chance(0.1)) lent[random.integer(room)] = idsOf(1 + random.integer(200));
      for (let i = 0; i < room; i++) {
        if (isUsual || random.chance(0.6)) stageBlock(lent[i], true);
        if (!isUsual && random.chance(0.2)) stageBlock(idsOf(1 + random.integer(100)), false);
        if (!isUsual && random.chance(0.1)) builder.copy(frame, 1);
        if (random.chance(0.02)) {
          const single = makeId(4000 + random.integer(300), 1);
          const matrix = new Matrix4().setPosition(frame, i, 1).elements;
          builder.setSingle(single, matrix);
          staged.set(single, [...matrix]);
        }
      }
      if (random.chance(0.1))
        for (let i = 0; i < 300; i++) {
          const single = makeId(4000 + i, 1);
          builder.setSingle(single, new Matrix4().elements);
          staged.set(single, [...new Matrix4().elements]);
        }
      const buffer = builder.seal(frame, 1);
      expect(decode(buffer).transforms).toEqual(staged);
      kept += staged.size;
      builder.restart(structuredClone(buffer, { transfer: [buffer] })); // there and back
    }
    expect(kept).toBeGreaterThan(40_000);
  },
);

test('is empty until anything is staged, and again once it is restarted', () => {
  const view = new Uint32Array(layout.VIEW_BYTES / 4);
  const parts: Record<string, (to: FrameBuilder, n: number) => void> = {
    single: (to, n) => to.setSingle(makeId(n, 1), new Matrix4().elements),
    block: (to, n) => to.setBlock(ids(10 * n, 10 * n + 3), new Float32Array(48)),
    view: (to, n) => to.setView(view.slice().fill(n, layout.VIEW_SLOT / 4, layout.VIEW_SLOT / 4 + 1)),
    move: (to, n) => to.moves.add(n, layout.MOVE_BY, [1, 0, 0], 0),
  };
  const names = Object.keys(parts);
  for (const first of names) {
    for (const second of names) {
      for (const counts of [
        [1, 0],
        [1, 1],
        [1, 2],
        [2, 1],
      ]) {
        const staging = new FrameBuilder();
        expect(staging.isEmpty).toBe(true);
        for (let n = 1; n <= counts[0]; n++) parts[first](staging, n);
        for (let n = 1; n <= counts[1]; n++) parts[second](staging, n + 5);
        expect(staging.isEmpty, `${counts[0]} ${first}, ${counts[1]} ${second}`).toBe(false);
        staging.restart();
        expect(staging.isEmpty).toBe(true);
      }
    }
  }
});
