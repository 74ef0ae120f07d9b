// Clips the volume of a query as the world is clipped (clipping.ts). If planes cut away only what is behind all of them,
// a convex volume becomes several: one for each of these planes, with that plane alone; their union is kept.

import { ClipSet, queryPlanes, planeOf } from './clipping';
import { addClipPlane, dropPlanes, volumePlaneCount } from './volume';

/** The limits of the current part, in addition to those of the volume. */
export let partLimits: u64 = 0;
let objectSet: ClipSet | null = null;
let nextIndex: u32 = 0;
let partCount: u32 = 0;
/** How many planes the volume has without those of a part. */
let planeCount: u32 = 0;

/** Adds the query's union planes to the volume. */
export function clipVolume(): void {
  for (let i: u32 = 0; i < queryPlanes.unionCount; i++) addClipPlane(planeOf(queryPlanes, i));
}

/** Begins the parts of the volume for an object with these planes of its own, or null. */
export function beginParts(set: ClipSet | null): void {
  objectSet = set;
  nextIndex = 0;
  partCount = max<u32>(queryPlanes.intersectionCount, 1);
  if (set !== null) partCount *= max<u32>(set.intersectionCount, 1);
  planeCount = volumePlaneCount();
}

/** Makes the volume the next part; returns false if there is none, and the volume is whole again. */
export function nextPart(): bool {
  dropPlanes(planeCount);
  partLimits = 0;
  if (nextIndex == partCount) return false;
  const part = nextIndex++;
  const queryPartCount = queryPlanes.intersectionCount;
  if (queryPartCount != 0) partLimits = addClipPlane(planeOf(queryPlanes, part % queryPartCount));
  const set = objectSet;
  if (set === null) return true;
  for (let i: u32 = 0; i < set.unionCount; i++) partLimits |= addClipPlane(planeOf(set, i));
  if (set.intersectionCount != 0) {
    partLimits |= addClipPlane(planeOf(set, set.unionCount + part / max<u32>(queryPartCount, 1)));
  }
  return true;
}

/** Makes the volume whole again before the last part was reached. */
export function endParts(): void {
  dropPlanes(planeCount);
}
