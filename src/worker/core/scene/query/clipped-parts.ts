// Clips the volume of a query as the world is clipped (clipping.ts). If planes cut away only what is behind all of them,
// a convex volume becomes several: one for each of these planes, with that plane alone; their union is kept.

import { ClipSet, askedPlanes, planeOf } from './clipping';
import { addClipPlane, dropPlanes, volumePlaneCount } from './volume';

/** The limits of the current part, in addition to those of the volume. */
export let partLimits: u64 = 0;
let own: ClipSet | null = null;
let next: u32 = 0;
let partCount: u32 = 0;
/** How many planes the volume has without those of a part. */
let planeCount: u32 = 0;

/** Adds the query's union planes to the volume. */
export function clipVolume(): void {
  for (let i: u32 = 0; i < askedPlanes.unionCount; i++) addClipPlane(planeOf(askedPlanes, i));
}

/** Begins the parts of the volume for an object with these planes of its own, or null. */
export function beginParts(set: ClipSet | null): void {
  own = set;
  next = 0;
  partCount = max<u32>(askedPlanes.intersectionCount, 1);
  if (set !== null) partCount *= max<u32>(set.intersectionCount, 1);
  planeCount = volumePlaneCount();
}

/** Makes the volume the next part; returns false if there is none, and the volume is whole again. */
export function nextPart(): bool {
  dropPlanes(planeCount);
  partLimits = 0;
  if (next == partCount) return false;
  const part = next++;
  const askedCount = askedPlanes.intersectionCount;
  if (askedCount != 0) partLimits = addClipPlane(planeOf(askedPlanes, part % askedCount));
  const set = own;
  if (set === null) return true;
  for (let i: u32 = 0; i < set.unionCount; i++) partLimits |= addClipPlane(planeOf(set, i));
  if (set.intersectionCount != 0) {
    partLimits |= addClipPlane(planeOf(set, set.unionCount + part / max<u32>(askedCount, 1)));
  }
  return true;
}

/** Makes the volume whole again before the last part was reached. */
export function endParts(): void {
  dropPlanes(planeCount);
}
