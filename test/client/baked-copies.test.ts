// Where the copies of baked meshes are kept in a page: in memory at first, then in Blobs.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BakedCopies, bytesOf, MAX_BUFFER_COPY_BYTES } from '../../src/client/scene/baked-copies.js';
import { ChunkPool } from '../../src/client/scene/chunk-pool.js';
import { Random } from '../oracle/random.js';

const MB = 1 << 20;

beforeEach(() => void vi.stubGlobal('setImmediate', undefined)); // as in a browser
afterEach(() => void vi.unstubAllGlobals());

const ownerOf = () => ({ copy: undefined as Blob | ArrayBuffer | undefined, isRemoved: false });
const isMoved = ({ copy }: { copy: unknown }) => copy instanceof Blob;

const filled = new Map<number, Uint8Array<ArrayBuffer>>();

/** This many bytes, whose values depend on the length. */
function bytes(length: number): Uint8Array<ArrayBuffer> {
  const random = new Random(length);
  const known = filled.get(length) ?? Uint8Array.from({ length }, () => random.integer(256));
  filled.set(length, known);
  return known;
}

const someBytes = (length: number): ArrayBuffer => bytes(length).slice().buffer;

/** Compares bytes, since two buffers always count as equal. */
async function expectBytes(copy: Blob | ArrayBuffer, length: number): Promise<void> {
  const found = new Uint8Array(await bytesOf(copy));
  expect(found.length).toBe(length);
  expect(found.findIndex((byte, i) => byte !== bytes(length)[i])).toBe(-1);
}

test('large copies become Blobs of the same bytes, one after the other', async () => {
  const copies = new BakedCopies(new ChunkPool());
  const sizes = [2 * MB + 5, MAX_BUFFER_COPY_BYTES + 1, MB];
  const owners = sizes.map(ownerOf);
  owners.forEach((owner, i) => void copies.add(owner, someBytes(sizes[i])));
  expect(owners.map(isMoved)).toEqual([false, false, false]);
  await expect.poll(() => isMoved(owners[0])).toBe(true);
  await expect.poll(() => owners.every(isMoved)).toBe(true);
  for (const [i, { copy }] of owners.entries()) await expectBytes(copy!, sizes[i]);
});

test('one that is small, removed or replaced meanwhile is not moved', async () => {
  const copies = new BakedCopies(new ChunkPool());
  const [small, removed, replaced, last] = [ownerOf(), ownerOf(), ownerOf(), ownerOf()];
  copies.add(small, someBytes(MAX_BUFFER_COPY_BYTES));
  copies.add(removed, someBytes(MB));
  copies.add(replaced, someBytes(2 * MB));
  copies.add(last, someBytes(MB + 1));
  removed.isRemoved = true;
  copies.add(replaced, someBytes(3 * MB));
  await expect.poll(() => isMoved(last) && isMoved(replaced)).toBe(true);
  expect([isMoved(small), isMoved(removed)]).toEqual([false, false]);
  await expectBytes(replaced.copy!, 3 * MB);
});

test('a newer copy that comes while the older one is moved is the one that stays', async () => {
  const idle: (() => void)[] = [];
  vi.stubGlobal('requestIdleCallback', (resume: () => void) => idle.push(resume));
  const copies = new BakedCopies(new ChunkPool());
  const owner = ownerOf();
  const go = async () => {
    idle.shift()!();
    await Promise.resolve(); // what it resolves continues
    await Promise.resolve();
  };
  copies.add(owner, someBytes(2 * MB));
  await go(); // one part of two
  copies.add(owner, someBytes(MB));
  while (idle.length > 0) await go();
  expect(isMoved(owner)).toBe(true);
  await expectBytes(owner.copy!, MB);
});

test('what is moved when all is let go of stays where it is, and others come after it', async () => {
  const copies = new BakedCopies(new ChunkPool());
  const [gone, next] = [ownerOf(), ownerOf()];
  copies.add(gone, someBytes(5 * MB));
  copies.clear();
  copies.add(next, someBytes(MB));
  await expect.poll(() => isMoved(next)).toBe(true);
  expect(isMoved(gone)).toBe(false);
});

test('the bytes of a buffer are copied', async () => {
  const copy = someBytes(3 * MB + 7);
  expect(await bytesOf(copy)).not.toBe(copy);
  await expectBytes(copy, 3 * MB + 7);
});
