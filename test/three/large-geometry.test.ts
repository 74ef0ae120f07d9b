// Large geometries are copied in slices, with a service that only receives them.
import type { MeshData, MeshId } from 'collision-worker';
import { BufferAttribute, BufferGeometry, InterleavedBuffer, InterleavedBufferAttribute } from 'three';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { copyMeshData, copySizeOf, meshDataOfRuns, runsOf } from '../../src/client/three/geometry/geometry.js';
import { MeshPool } from '../../src/client/three/geometry/mesh-pool.js';
import type { MeshUser } from '../../src/client/three/geometry/shared-mesh.js';
import { Random, SEED } from '../oracle/random.js';

/** Vertices and indices that are copied in one step. */
const STEP = 16_384;
const VERTICES = 5 * STEP + 7;

interface Taken {
  readonly data: MeshData;
  readonly transfer: boolean;
  onProgress(fraction: number): void;
  resolve(id: MeshId): void;
}

function start() {
  const taken: Taken[] = [];
  const service = {
    addMesh: (data: MeshData, options: { transfer: boolean; onProgress(fraction: number): void }) =>
      new Promise<MeshId>((resolve) => taken.push({ data, ...options, resolve })),
    removeMesh() {},
  };
  const fractions: number[] = [];
  const pool: MeshPool = new MeshPool(service as never, () => fractions.push(pool.fraction));
  return { pool, taken, fractions };
}

const user: MeshUser = { isStatic: false, onMeshChange() {} };
const turn = () => new Promise(setImmediate);

/** Waits for tasks until this many are taken; returns how many tasks it took. */
async function turnsUntil(taken: readonly unknown[], count: number): Promise<number> {
  let turns = 0;
  for (; taken.length < count && turns < 1000; turns++) await turn();
  expect(taken).toHaveLength(count);
  return turns;
}

/** Compares bytes: comparing numbers one by one takes seconds. */
function expectSame(data: MeshData, expected: MeshData): void {
  const bytesOf = ({ positions, indices }: MeshData) => {
    return [positions, indices].map((array) => array && Buffer.from(array.buffer, array.byteOffset, array.byteLength));
  };
  expect(data.indices?.constructor).toBe(expected.indices?.constructor);
  for (const [i, bytes] of bytesOf(data).entries()) {
    const wanted = bytesOf(expected)[i];
    expect(bytes === undefined ? wanted === undefined : wanted?.equals(bytes)).toBe(true);
  }
}

// Each check of the clock finds that the slice is over.
let time = 0;
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => {
    time += 10;
    return time;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const random = new Random(SEED);
const numbers = (length: number) => Float32Array.from({ length }, () => random.range(-1, 1));
const corners = (length: number, end: number) => Uint32Array.from({ length }, () => random.integer(end));

const FORMS: Record<string, () => BufferGeometry> = {
  'with indices': () => plain().setIndex(new BufferAttribute(corners(9 * STEP, VERTICES), 1)),
  'with narrow indices': () => {
    return plain().setIndex(new BufferAttribute(Uint16Array.from(corners(9 * STEP, 60_000)), 1));
  },
  'with signed indices': () => {
    return plain().setIndex(new BufferAttribute(Int32Array.from(corners(9 * STEP, VERTICES)), 1));
  },
  'without indices': () => plain(),
  'of a range': () => plain().setIndex(new BufferAttribute(corners(9 * STEP, VERTICES), 1)),
  interleaved: () => {
    const buffer = new InterleavedBuffer(numbers(5 * VERTICES), 5);
    return new BufferGeometry().setAttribute('position', new InterleavedBufferAttribute(buffer, 3, 1));
  },
  normalized: () => {
    const array = Int16Array.from({ length: 3 * VERTICES }, () => random.integer(65_536) - 32_768);
    return new BufferGeometry().setAttribute('position', new BufferAttribute(array, 3, true));
  },
};

function plain(): BufferGeometry {
  return new BufferGeometry().setAttribute('position', new BufferAttribute(numbers(3 * VERTICES), 3));
}

test.each(Object.entries(FORMS))(`a large geometry %s is copied in slices, seed ${SEED}`, async (form, make) => {
  const geometry = make();
  if (form === 'of a range') geometry.setDrawRange(3 * 1000, 7 * STEP);
  const { pool, taken } = start();
  pool.acquire(geometry, null, 0, user);
  const turns = await turnsUntil(taken, 1);
  const expected = meshDataOfRuns(geometry, runsOf(geometry, null));
  const [{ data, transfer }] = taken;
  expect(transfer).toBe(true);
  expectSame(data, expected);
  for (const array of Object.values(data)) {
    expect(array.buffer).not.toBe(geometry.attributes.position.array.buffer);
    expect(array.byteLength).toBe(array.buffer.byteLength);
  }
  const copied = Object.values(data).reduce((sum, { length }) => sum + length, 0);
  expect(turns).toBeGreaterThanOrEqual(Math.floor(copied / (3 * STEP)));
  expect(copied).toBe(copySizeOf(geometry, runsOf(geometry, null)));
});

test(`groups are copied one after the other, seed ${SEED}`, () => {
  const geometry = FORMS['with indices']();
  geometry.addGroup(3, 4 * STEP, 0);
  geometry.addGroup(6 * STEP, 3 * STEP, 1);
  for (const indexed of [geometry, geometry.clone().setIndex(null)]) {
    const runs = runsOf(indexed, [1, 0]);
    const copy = copyMeshData(indexed, runs);
    let step = copy.next();
    while (!step.done) step = copy.next();
    expectSame(step.value, meshDataOfRuns(indexed, runs));
  }
});

test('a small one is handed over in the task in which it comes', () => {
  const { pool, taken } = start();
  const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(numbers(900), 3));
  pool.acquire(geometry, null, 0, user);
  expect(taken).toMatchObject([{ transfer: false }]);
});

test('what nobody needs any more is not copied to its end, and the next one begins', async () => {
  const { pool, taken } = start();
  const [first, second] = [plain(), FORMS['with indices']()];
  const use = pool.acquire(first, null, 0, user);
  pool.acquire(second, null, 0, user);
  await turn();
  await turn();
  pool.release(use);
  await turnsUntil(taken, 1);
  await turn();
  expect(taken).toHaveLength(1);
  expectSame(taken[0].data, meshDataOfRuns(second, runsOf(second, null)));
  taken[0].resolve(1);
  await pool.built();
  expect(use.mesh.built).toBeNull();
});

test('what changes meanwhile is read again, and at once where it does so again and again', async () => {
  const { pool, taken } = start();
  const geometry = plain();
  const { position } = geometry.attributes;
  pool.acquire(geometry, null, 0, user);
  for (let turns = 0; taken.length === 0 && turns < 100; turns++) {
    (position.array as Float32Array).fill(turns);
    position.needsUpdate = true;
    await turn();
  }
  // All of it is from one moment.
  expect(new Set(taken[0].data.positions).size).toBe(1);

  const another = plain();
  pool.acquire(another, null, 0, user);
  await turn();
  await turn();
  another.setDrawRange(0, 3 * STEP);
  await turnsUntil(taken, 2);
  expectSame(taken[1].data, { positions: (another.attributes.position.array as Float32Array).slice(0, 9 * STEP) });
});

test('the progress does not go back, and ends at 1', async () => {
  const { pool, taken, fractions } = start();
  for (const geometry of [plain(), plain()]) pool.acquire(geometry, null, 0, user);
  const told = async (count: number): Promise<Taken> => {
    await turnsUntil(taken, count);
    return taken[count - 1];
  };
  const first = await told(1);
  first.onProgress(0.5);
  const second = await told(2);
  second.onProgress(0.25);
  first.resolve(1);
  await turn();
  second.resolve(2);
  await pool.built();
  expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
  expect(fractions.at(-1)).toBe(1);
  expect(fractions).toHaveLength(4);
});
