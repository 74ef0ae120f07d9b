// Where the copies of baked meshes are, in a page: in its memory at first, then in Blobs.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BakedCopies, bytesOf, SMALL_BYTES } from '../../src/client/scene/baked-copies.js';
import { Random } from '../oracle/random.js';

const MB = 1 << 20;

beforeEach(() => void vi.stubGlobal('setImmediate', undefined)); // as in a browser
afterEach(() => void vi.unstubAllGlobals());

const ownerOf = () => ({ copy: undefined as Blob | ArrayBuffer | undefined, isRemoved: false });
const isMoved = ({ copy }: { copy: unknown }) => copy instanceof Blob;

function someBytes(length: number): ArrayBuffer {
  const random = new Random(length);
  return Uint8Array.from({ length }, () => random.integer(256)).buffer;
}

test('large copies become Blobs of the same bytes, one after the other', async () => {
  const copies = new BakedCopies();
  const sizes = [2 * MB + 5, SMALL_BYTES + 1, MB];
  const owners = sizes.map(ownerOf);
  owners.forEach((owner, i) => void copies.add(owner, someBytes(sizes[i])));
  expect(owners.map(isMoved)).toEqual([false, false, false]);
  await expect.poll(() => isMoved(owners[0])).toBe(true);
  await expect.poll(() => owners.every(isMoved)).toBe(true);
  for (const [i, { copy }] of owners.entries()) expect(await bytesOf(copy!)).toEqual(someBytes(sizes[i]));
});

test('one that is small, removed or replaced meanwhile is not moved', async () => {
  const copies = new BakedCopies();
  const [small, removed, replaced, last] = [ownerOf(), ownerOf(), ownerOf(), ownerOf()];
  copies.add(small, someBytes(SMALL_BYTES));
  copies.add(removed, someBytes(MB));
  copies.add(replaced, someBytes(2 * MB));
  copies.add(last, someBytes(MB + 1));
  removed.isRemoved = true;
  copies.add(replaced, someBytes(3 * MB));
  await expect.poll(() => isMoved(last) && isMoved(replaced)).toBe(true);
  expect([isMoved(small), isMoved(removed)]).toEqual([false, false]);
  expect(await bytesOf(replaced.copy!)).toEqual(someBytes(3 * MB));
});

test('what is moved when all is let go of stays where it is, and others come after it', async () => {
  const copies = new BakedCopies();
  const [gone, next] = [ownerOf(), ownerOf()];
  copies.add(gone, someBytes(5 * MB));
  copies.clear();
  copies.add(next, someBytes(MB));
  await expect.poll(() => isMoved(next)).toBe(true);
  expect(isMoved(gone)).toBe(false);
});

test('the bytes of a buffer are copied', async () => {
  const copy = someBytes(3 * MB + 7);
  const bytes = await bytesOf(copy);
  expect(bytes).not.toBe(copy);
  expect(bytes).toEqual(copy);
});
