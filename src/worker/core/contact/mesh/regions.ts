// Regions of contact between two surfaces (Redon and Lin, "A Fast Method for Local Penetration Depth Computation",
// 2006): a region is one curve in which the meshes intersect (curves.ts), or several around the same pocket, together
// with its pockets (pockets.ts), the triangles of each mesh that lie inside the other one there. Whether a point is
// inside is decided in float64 by the nearest segments, with a vote where a mesh intersects itself or has overlapping
// layers (inside.ts).

import { checkpoint } from '../../checkpoint';
import { reserve } from '../../memory';
import { segmentAt, segmentCount } from './intersection-segments';
import { Side, interiorAt, sideAt } from './clipped-triangles';
import { beginCurves, curveOf, joinNext, joinRest } from './curves';
import { findOrientations, copyOrientations } from './inside';
import { fillPockets, pocketAt } from './pockets';

/** The segments, sorted by region, u32 each. */
export let regionSegments: usize = 0;
/** The start of each region's segments in `regionSegments`, u32 each; one entry more than there are regions. */
export let segmentStarts: usize = 0;
export let regionCount: u32 = 0;
/** The pockets of both sides, sorted by region, and the start of each region's pockets: u32 each. */
let pockets0: usize = 0, pockets1: usize = 0;
let pocketStarts0: usize = 0, pocketStarts1: usize = 0;
/** Whether all pockets were filled, since none was too large. */
export let hasAllPockets: bool = true;

/** Work units per visit of a segment, for checkpoints. */
const WORK_PER_SEGMENT: i32 = 4;

/** Finds the regions of all segments. Throws OUT_OF_MEMORY. */
export function findRegions(): void {
  const a = sideAt(0), b = sideAt(1);
  beginCurves();
  for (let i: u32 = 0; i < segmentCount; i++) {
    joinNext(i, a, b);
    checkpoint(WORK_PER_SEGMENT);
  }
  for (let i: u32 = 0; i < segmentCount; i++) {
    joinRest(i, a, b);
    checkpoint(WORK_PER_SEGMENT);
  }
  numberRegions();
  findOrientations(a, b, regionCount);
  checkpoint(<i32>segmentCount);
  hasAllPockets = fillPockets(0);
  hasAllPockets = fillPockets(1) && hasAllPockets;
  checkpoint(<i32>(a.interiorCount + b.interiorCount));
  renumberRegions();
  sortSegments();
  const startsBytes = <u64>(regionCount + 2) << 2;
  pocketStarts0 = reserve(pocketStarts0, 0, startsBytes);
  pocketStarts1 = reserve(pocketStarts1, 0, startsBytes);
  pockets0 = reserve(pockets0, 0, <u64>a.pocketCount << 2);
  pockets1 = reserve(pockets1, 0, <u64>b.pocketCount << 2);
  sortPockets(a, pocketStarts0, pockets0);
  sortPockets(b, pocketStarts1, pockets1);
}

function numberRegions(): void {
  regionCount = 0;
  for (let i: u32 = 0; i < segmentCount; i++) {
    const root = curveOf(i);
    segmentAt(i).region = root == i ? regionCount++ : segmentAt(root).region;
  }
}

/**
 * Renumbers the regions after some were joined. No region's number increases, since roots are the least elements of
 * their sets.
 */
function renumberRegions(): void {
  regionCount = 0;
  for (let i: u32 = 0; i < segmentCount; i++) {
    const segment = segmentAt(i), root = curveOf(i);
    if (root == i) {
      copyOrientations(regionCount, segment.region);
      segment.region = regionCount++;
    } else segment.region = segmentAt(root).region;
  }
}

/** Returns the number of triangles in a region's pockets on side 0 or 1. */
export function interiorCountOf(region: u32, sideIndex: u32): u32 {
  const side = sideAt(sideIndex), starts = (sideIndex == 0 ? pocketStarts0 : pocketStarts1) + (<usize>region << 2);
  const pockets = sideIndex == 0 ? pockets0 : pockets1;
  let sum: u32 = 0;
  for (let i = load<u32>(starts); i < load<u32>(starts, 4); i++) {
    const pocket = pocketAt(side, load<u32>(pockets + (<usize>i << 2)));
    sum += pocket.end - pocket.from;
  }
  return sum;
}

/** Lists the slots of the triangles in a region's pockets on side 0 or 1, u32 each. */
export function listInterior(to: usize, region: u32, sideIndex: u32): void {
  const side = sideAt(sideIndex), starts = (sideIndex == 0 ? pocketStarts0 : pocketStarts1) + (<usize>region << 2);
  const pockets = sideIndex == 0 ? pockets0 : pockets1;
  for (let i = load<u32>(starts); i < load<u32>(starts, 4); i++) {
    const pocket = pocketAt(side, load<u32>(pockets + (<usize>i << 2)));
    const bytes = <usize>(pocket.end - pocket.from) << 2;
    memory.copy(to, interiorAt(side, pocket.from), bytes);
    to += bytes;
  }
}

// --- grouping by region: counting sorts ---

function sortSegments(): void {
  segmentStarts = reserve(segmentStarts, 0, <u64>(regionCount + 2) << 2);
  regionSegments = reserve(regionSegments, 0, <u64>segmentCount << 2);
  memory.fill(segmentStarts, 0, <usize>(regionCount + 2) << 2);
  for (let i: u32 = 0; i < segmentCount; i++) countRegion(segmentStarts, segmentAt(i).region);
  accumulate(segmentStarts);
  for (let i: u32 = 0; i < segmentCount; i++) placeEntry(segmentStarts, regionSegments, segmentAt(i).region, i);
}

function sortPockets(side: Side, starts: usize, list: usize): void {
  memory.fill(starts, 0, <usize>(regionCount + 2) << 2);
  for (let i: u32 = 0; i < side.pocketCount; i++) countRegion(starts, segmentAt(pocketAt(side, i).segment).region);
  accumulate(starts);
  for (let i: u32 = 0; i < side.pocketCount; i++) placeEntry(starts, list, segmentAt(pocketAt(side, i).segment).region, i);
}

// Counts one entry too late, so that `placeEntry` leaves each start in its own entry.
function countRegion(starts: usize, region: u32): void {
  const at = starts + (<usize>region << 2);
  store<u32>(at, load<u32>(at, 4) + 1, 4);
}

function accumulate(starts: usize): void {
  let sum: u32 = 0;
  for (let i: u32 = 1; i <= regionCount; i++) {
    const at = starts + (<usize>i << 2);
    const entryCount = load<u32>(at);
    store<u32>(at, sum);
    sum += entryCount;
  }
}

function placeEntry(starts: usize, list: usize, region: u32, value: u32): void {
  const at = starts + (<usize>region << 2);
  const to = load<u32>(at, 4);
  store<u32>(at, to + 1, 4);
  store<u32>(list + (<usize>to << 2), value);
}
