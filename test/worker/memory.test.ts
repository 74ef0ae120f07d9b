// The allocator of the core's memory against a list of pieces that is
// kept in order by sorting it (first fit, coalescing of neighbours).
import { expect, test } from 'vitest';
import { instantiateCore } from '../../src/worker/binding/exports.js';
import { wasm } from '../fixtures/core.js';
import { Random, SEED } from '../oracle/random.js';

const STEPS = 4000;
const LINE = 64;

interface Piece {
  /** Where its header begins, of one line. */
  start: number;
  /** Where it ends. */
  end: number;
}

/** The heap begins where the first allocation of a core is, minus its header. */
class FirstFit {
  readonly free: Piece[] = [];
  end: number;

  constructor(start: number) {
    this.end = start;
  }

  allocate(bytes: number): Piece {
    const size = LINE + Math.ceil(Math.max(bytes, 1) / LINE) * LINE;
    const found = this.free.findIndex(({ start, end }) => end - start >= size);
    if (found < 0) {
      const last = this.free.at(-1);
      if (last?.end === this.end) this.free.pop();
      const start = last?.end === this.end ? last.start : this.end;
      this.end = start + size;
      return { start, end: this.end };
    }
    const { start, end } = this.free[found]!;
    // A rest no larger than a header is included.
    const isWhole = end - start - size <= LINE;
    this.free.splice(found, 1, ...(isWhole ? [] : [{ start: start + size, end }]));
    return { start, end: isWhole ? end : start + size };
  }

  release(piece: Piece): void {
    this.free.push(piece);
    this.free.sort((a, b) => a.start - b.start);
    for (let i = this.free.length - 1; i > 0; i--) {
      const [before, after] = [this.free[i - 1]!, this.free[i]!];
      if (before.end === after.start) this.free.splice(i - 1, 2, { start: before.start, end: after.end });
    }
  }
}

test.each([
  ['small pieces', 1000],
  ['pieces of all sizes', 1 << 18],
])(`${STEPS} allocations and releases of %s, seed ${SEED}`, async (_, most) => {
  const random = new Random(SEED);
  const core = await instantiateCore(wasm);
  const used = core.usedBytes();
  const probe = core.allocate(1n) >>> 0;
  core.release(probe);
  const model = new FirstFit(probe - LINE);
  const held: (Piece & { mark: number })[] = [];
  let highest = model.end;
  for (let step = 0; step < STEPS; step++) {
    // Now and then all but a few are freed, so that pieces coalesce.
    const isFull = held.length > (Math.floor(step / 500) % 2 === 0 ? 60 : 6);
    if (held.length > 0 && random.chance(isFull ? 0.8 : 0.3)) {
      const [piece] = held.splice(random.integer(held.length), 1);
      // It was not overwritten meanwhile, from its first to its last line.
      const words = new Uint32Array(core.memory.buffer, piece!.start + LINE, (piece!.end - piece!.start - LINE) / 4);
      expect([words[0], words.at(-1)], `step ${step}`).toEqual([piece!.mark, piece!.mark]);
      core.release(piece!.start + LINE);
      model.release(piece!);
    } else {
      const bytes = random.chance(0.5) ? LINE * (1 + random.integer(4)) : Math.floor(random.logRange(1, most));
      const piece = model.allocate(bytes);
      expect(core.allocate(BigInt(bytes)) >>> 0, `step ${step}: ${bytes} bytes`).toBe(piece.start + LINE);
      const words = new Uint32Array(core.memory.buffer, piece.start + LINE, (piece.end - piece.start - LINE) / 4);
      words[0] = words[words.length - 1] = step;
      held.push({ ...piece, mark: step });
      highest = Math.max(highest, piece.end);
    }
    const sum = held.reduce((sum, { start, end }) => sum + end - start, 0);
    expect(core.usedBytes() - used, `step ${step}`).toBe(sum);
  }
  // It grows by a sixteenth more than it must, and by no more.
  expect(core.memory.buffer.byteLength).toBeLessThan(highest * 1.07 + (1 << 17));
  for (const { start } of held) core.release(start + LINE);
  expect(core.usedBytes()).toBe(used);
  // All is one piece again.
  expect(core.allocate(BigInt(highest - probe)) >>> 0).toBe(probe);
});

test('where thousands of holes are, a piece comes and goes without a look at those that are far away', async () => {
  const core = await instantiateCore(wasm);
  const words = (address: number) => new Uint32Array(core.memory.buffer, address, 16);
  const pieces = Array.from({ length: 40_000 }, () => core.allocate(1n) >>> 0);
  const last = pieces.at(-2)!;
  for (let i = pieces.length - 3; i > 0; i -= 2) core.release(pieces[i]!);
  const before = Array.from({ length: 5000 }, (_, i) => pieces[2 * i + 1]! - LINE);
  // Their links are invalid now: following one reads beyond the end of memory.
  for (const hole of before) words(hole)[1] = 0xffff_ffc0;
  core.release(last);
  expect(core.allocate(BigInt(3 * LINE)) >>> 0).toBe(pieces.at(-3)!);
});
