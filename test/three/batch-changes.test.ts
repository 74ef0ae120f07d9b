// How often three has marked instances of a BatchedMesh as changed, for as long as there is a listener.
import { BatchedMesh, MeshBasicMaterial } from 'three';
import { expect, test } from 'vitest';
import { BatchChanges, REPORTS_ALL_CHANGES } from '../../src/client/three/track/batch-changes.js';

const batchOf = () =>
  new BatchedMesh(4, 40, 40, new MeshBasicMaterial()) as BatchedMesh & { _visibilityChanged: unknown };
const propertyOf = (batch: BatchedMesh) => Object.getOwnPropertyDescriptor(batch, '_visibilityChanged');

test.runIf(REPORTS_ALL_CHANGES)('all listen to one count, until the last one has released it', () => {
  const batch = batchOf();
  batch._visibilityChanged = false;
  const first = BatchChanges.listenTo(batch)!;
  const second = BatchChanges.listenTo(batch)!;
  expect(second).toBe(first);
  expect(batch._visibilityChanged).toBe(false);
  batch._visibilityChanged = true;
  expect([first.count, batch._visibilityChanged]).toEqual([1, true]);
  batch._visibilityChanged = false; // as three does when it draws
  expect([first.count, batch._visibilityChanged]).toEqual([1, false]);
  first.release();
  batch._visibilityChanged = true;
  expect(second.count).toBe(2);
  second.release();
  expect(propertyOf(batch)).toEqual({ value: true, writable: true, enumerable: true, configurable: true });
  const next = BatchChanges.listenTo(batch)!;
  expect([next === first, next.count]).toEqual([false, 0]);
  batch._visibilityChanged = true;
  expect([first.count, next.count]).toEqual([2, 1]);
  next.release();
});

test.runIf(REPORTS_ALL_CHANGES)('what cannot be listened to is not', () => {
  const accessor = Object.defineProperty(batchOf(), '_visibilityChanged', { get: () => true, configurable: true });
  const fixed = Object.defineProperty(batchOf(), '_visibilityChanged', { value: true, configurable: false });
  const without = batchOf();
  delete (without as { _visibilityChanged?: unknown })._visibilityChanged;
  for (const batch of [accessor, fixed, without]) {
    const before = propertyOf(batch);
    expect(BatchChanges.listenTo(batch)).toBeNull();
    expect(BatchChanges.listenTo(batch)).toBeNull();
    expect(propertyOf(batch)).toEqual(before);
  }
  expect(BatchChanges.listenTo({ isBatchedMesh: true } as BatchedMesh)).toBeNull();
});
