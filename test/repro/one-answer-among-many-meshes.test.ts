// All meshes were looked through at the end of each call that reads meshes in slices, to free copies that hardly any of them has,
// and again for each mesh whose features a pick looked for: with 30,000 meshes, ten times as many as 3,000, this was most of
// the time of a short call.
import { afterEach, expect, test, vi } from 'vitest';
import type { Core } from '../../src/worker/binding/core.js';
import { MeshTable } from '../../src/worker/mesh-table.js';

const MANY = 2000;

/** A core whose meshes are nothing but addresses. */
function coreOfAddresses() {
  let lastAddress = 0;
  const freed: number[] = [];
  const newAddress = () => ++lastAddress;
  const core = {
    beginLoad: () => ({ step: () => true, finish: newAddress, abort() {}, isWaiting: () => false }),
    copyMesh: newAddress,
    freeMesh: (address: number) => freed.push(address),
    refitMesh: () => true,
    replaceMesh() {},
    meshInfo: () => ({ cost: 1 }),
  } as Partial<Record<keyof Core, unknown>> as Core;
  return { core, freed };
}

/** Counts what iterators of maps and sets return from now on. */
function countVisits(): { count: number } {
  const visits = { count: 0 };
  for (const iterator of [new Map().values(), new Set().values()]) {
    const prototype = Object.getPrototypeOf(iterator);
    const { next } = prototype;
    vi.spyOn(prototype, 'next').mockImplementation(function (this: unknown) {
      visits.count++;
      return next.call(this);
    });
  }
  return visits;
}

afterEach(() => {
  vi.restoreAllMocks();
});

test('a call among thousands of meshes visits none but those that were changed meanwhile', () => {
  const { core, freed } = coreOfAddresses();
  const table = new MeshTable(core);
  for (let id = 0; id < MANY; id++) table.load(id, new ArrayBuffer(8), true);
  const visits = countVisits();
  for (let call = 0; call < 10; call++) {
    table.keep();
    table.release();
  }
  for (let id = 0; id < 10; id++) expect(table.hasMeshAt(table.addressOf(MANY - 1 - id))).toBe(true);
  const { count } = visits;
  vi.restoreAllMocks();
  expect(count).toBeLessThan(MANY);
  expect(freed).toEqual([]);
});

test('a mesh is where its copy was once it has moved, and a copy that was not moved is freed', () => {
  const { core, freed } = coreOfAddresses();
  const table = new MeshTable(core);
  for (let id = 0; id < 3; id++) table.load(id, new ArrayBuffer(8), true);
  const [moved, unmoved, removed] = [0, 1, 2].map((id) => table.addressOf(id));
  table.keep();
  for (let id = 0; id < 3; id++) table.prepareUpdate(id);
  table.update(0, new Float32Array(9));
  table.remove(2);
  expect(table.addressOf(0)).not.toBe(moved);
  expect([moved, unmoved, removed, table.addressOf(0)].map((at) => table.hasMeshAt(at))).toEqual([
    false,
    true,
    false,
    true,
  ]);
  const removedCopy = removed + 3;
  expect(freed).toEqual([removedCopy]);
  table.release();
  expect(freed.toSorted((a, b) => a - b)).toEqual([moved, removed, unmoved + 3, removedCopy]);
});
