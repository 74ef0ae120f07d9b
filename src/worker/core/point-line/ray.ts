// A thick ray (thick-ray.ts) against a tree of points or lines: depth-first, the nearest child first.

import {
  HIT_BARYCENTRIC, HIT_DISTANCE, HIT_DISTANCE_TO_RAY, HIT_ELEMENT, HIT_OBJECT, HIT_POINT, HIT_TRIANGLE,
} from '../../../shared/layout';
import { newHit } from '../hits';
import { sortedKeys, pendingKeys } from '../mesh/query/entry-keys';
import { ALL, ANY, NEAREST } from '../mesh/query/ray';
import { countLeaf, countNode, countTriangle } from '../mesh/tree/counters';
import { LEAF, NODE_BYTES, Node, childOf, linkOf, maskOf } from '../mesh/tree/layout';
import {
  findEnd, foundDistanceToRay, foundX, foundY, foundZ, intersectLine, intersectPoint,
} from './element-hit';
import {
  LINE_BLOCK_BYTES, LINE_ELEMENT, LINE_Y, NO_ELEMENT, POINT_BLOCK_BYTES, POINT_ELEMENT, POINT_Y, PointLine,
} from './layout';
import { enteredBoxes, entries, limitTo, maxKey, nearbyLines, nearbyPoints, setUpFilter } from './ray-filter';
import { ThickRay, inverseScale, mapRay } from './thick-ray';

// The last hit.
export let hitElement: i32 = -1;
/** The root of a² + b², plus the squared distance before the beginning of the ray. */
export let hitDistanceToRay: f64 = 0;
/** The element's closest point to the ray, in mesh space. */
export let hitX: f64 = 0, hitY: f64 = 0, hitZ: f64 = 0;
/** Its t, Infinity if there is none; and the end of the ray, which is the nearest hit if only that is needed. */
let hitT: f64 = Infinity;
let end: f64 = Infinity;

/** The stack of children, as in mesh/query/ray.ts. */
const PARENTS_OFFSET: usize = 1024;
const stack: usize = memory.data(2 * <i32>PARENTS_OFFSET, 16);

/**
 * Finds the nearest element that the ray hits and returns its t, or Infinity; of two at the same t, the one with the lower
 * index. ANY returns the first that is found. ALL returns Infinity: every hit becomes a record in hits.ts, with what is
 * known of it here, its point in mesh space, and the address of its element instead of an object. Throws OUT_OF_MEMORY with
 * ALL.
 */
export function castThickRay(mesh: PointLine, ray: ThickRay, mode: u32): f64 {
  hitElement = -1;
  hitT = Infinity;
  if (!mapRay(mesh, ray)) return Infinity;
  setUpFilter();
  end = ray.tLimit;
  const nodes = changetype<usize>(mesh) + mesh.nodes;
  const blocks = changetype<usize>(mesh) + mesh.blocks;
  const isPoints = mesh.size == 1;
  let top = stack;
  let child: u32 = 0;
  while (true) {
    if (!(child & LEAF)) {
      countNode();
      const address = nodes + child * <u32>NODE_BYTES;
      const node = changetype<Node>(address);
      const children = node.children, leaves = node.blocks;
      const bits = enteredBoxes(address) & maskOf(children);
      if (bits != 0) {
        const keys = sortedKeys(entries, bits);
        const pendingCount: usize = popcnt(bits) - 1;
        v128.store(top, pendingKeys(keys, pendingCount));
        v128.store(top, i32x4.splat(child), PARENTS_OFFSET);
        top += pendingCount << 2;
        child = linkOf(children, leaves, i32x4.extract_lane(keys, 0) & 3);
        continue;
      }
    } else {
      countLeaf();
      const block = <usize>(child & ~LEAF);
      if (isPoints) testPoints(mesh, blocks + block * POINT_BLOCK_BYTES, mode);
      else testLines(mesh, blocks + block * LINE_BLOCK_BYTES, mode);
      if (mode == ANY && hitElement >= 0) return hitT;
    }
    let key: u32;
    do {
      if (top == stack) return hitT;
      top -= 4;
      key = load<u32>(top);
    } while (key > maxKey);
    const parent = changetype<Node>(nodes + load<u32>(top, PARENTS_OFFSET) * <u32>NODE_BYTES);
    child = childOf(parent, key & 3);
  }
}

function testPoints(mesh: PointLine, block: usize, mode: u32): void {
  for (let group = block; group < block + POINT_Y; group += 16) {
    for (let bits = nearbyPoints(group); bits != 0; bits &= bits - 1) {
      const lane = group + (<usize>ctz(bits) << 2);
      const element = load<u32>(lane, POINT_ELEMENT);
      if (element == NO_ELEMENT) continue;
      countTriangle();
      if (record(mesh, lane, element, intersectPoint(lane, end), mode)) return;
    }
  }
}

function testLines(mesh: PointLine, block: usize, mode: u32): void {
  for (let group = block; group < block + LINE_Y; group += 16) {
    for (let bits = nearbyLines(group); bits != 0; bits &= bits - 1) {
      const lane = group + (<usize>ctz(bits) << 2);
      const element = load<u32>(lane, LINE_ELEMENT);
      if (element == NO_ELEMENT) continue;
      countTriangle();
      if (record(mesh, lane, element, intersectLine(lane, 0, 1, end), mode)) return;
    }
  }
}

/** Records the last tested element, if t is not Infinity. Returns whether nothing else is needed. */
function record(mesh: PointLine, lane: usize, element: u32, t: f64, mode: u32): bool {
  if (t == Infinity) return false;
  if (mode == NEAREST && t == end && hitElement >= 0 && <u32>hitElement < element) return false;
  hitElement = element;
  hitDistanceToRay = foundDistanceToRay;
  locateFound(mesh);
  if (mode == ALL) {
    addHit(lane, t);
    return false;
  }
  hitT = t;
  end = t;
  limitTo(t);
  return mode == ANY;
}

/** Maps the found point to mesh space. */
function locateFound(mesh: PointLine): void {
  hitX = foundX * inverseScale + mesh.offsetX;
  hitY = foundY * inverseScale + mesh.offsetY;
  hitZ = foundZ * inverseScale + mesh.offsetZ;
}

/** Finds an end of a line of the last mesh as `hitX` and so on: its second one for LINE_END, its first one for 0. */
export function locateEnd(mesh: PointLine, lane: usize, end: usize): void {
  findEnd(lane, end);
  locateFound(mesh);
}

/** Tests a part of a line again that the last ray has hit, between two fractions of its length. Returns t or Infinity. */
export function hitPart(mesh: PointLine, lane: usize, from: f64, to: f64): f64 {
  const t = intersectLine(lane, from, to, end);
  hitDistanceToRay = foundDistanceToRay;
  locateFound(mesh);
  return t;
}

/** Adds a record of the last hit. */
function addHit(lane: usize, t: f64): void {
  const hit = newHit();
  store<u32>(hit, <u32>lane, HIT_OBJECT);
  store<i32>(hit, -1, HIT_TRIANGLE);
  store<i32>(hit, hitElement, HIT_ELEMENT);
  store<f64>(hit, t, HIT_DISTANCE);
  store<f64>(hit, hitDistanceToRay, HIT_DISTANCE_TO_RAY);
  store<f64>(hit, hitX, HIT_POINT);
  store<f64>(hit, hitY, HIT_POINT + 8);
  store<f64>(hit, hitZ, HIT_POINT + 16);
  memory.fill(hit + HIT_BARYCENTRIC, 0, 24);
  hitElement = -1; // or of two at the end of the ray one would stand for both
}
