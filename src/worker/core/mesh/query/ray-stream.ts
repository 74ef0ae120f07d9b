// Many rays against one mesh, all in flight at once (Barringer and Akenine-Möller, "Dynamic ray stream traversal",
// 2014), with steps of the same kind in a row (Laine, Karras and Aila, "Megakernels considered harmful", 2013): one step
// of each ray that is at a leaf, then of each that is at a node. No step depends on the previous one, nodes are loaded
// from memory while others are processed, and there are few unpredictable branches. The steps and the results are the
// same as for a single ray (mesh-ray.ts); each ray still visits its nearest child first.
//
// Of 32 to 256 rays at once, 64 to 128 were fastest. The remaining cost is arithmetic: 120 instructions per node without
// a rotation, 200 with one, nearly four of them per cycle.

import { UPWARD_FACTOR, UPWARD_ADDEND, roundUp } from '../../math/interval';
import { reserve } from '../../memory';
import {
  BLOCK_BYTES, Block, IDENTITY_QUATERNION, Mesh, NODE_BYTES, Node, treeScale, triangleOf,
} from '../tree/layout';
import {
  MESH_RAY_BYTES, MeshRay, entriesOf, finishRay, mayHit, intersectTriangle, rotatedEntriesOf, setSides,
} from './mesh-ray';
import { countLeaf, countNode, countTriangle } from '../tree/counters';
import { keyOf, reversedKeys, sortedEntries } from './entry-keys';

/** The most rays of a stream. */
export const STREAM_RAYS: u32 = 64;
/**
 * A stack consists of keys, followed by the addresses of the parent nodes; as many as in ray.ts, plus a sentinel of
 * four. The padding keeps the stacks of different rays from the same cache lines.
 */
const PARENTS_OFFSET: usize = 1024;
const STACK_BYTES: usize = 2 * PARENTS_OFFSET + 192;
/**
 * A list of rays has room for one more than needed, since entries are written before it is known whether they belong
 * there.
 */
const LIST_BYTES: usize = <usize>STREAM_RAYS * 4 + 64;
const LIST_COUNT: u32 = 6;
let rays: usize = 0;
let stacks: usize = 0;
let lists: usize = 0;
let rayCount: u32 = 0;

let mesh: Mesh = changetype<Mesh>(0);
let nodes: usize = 0;
let blocks: usize = 0;

/**
 * Begins a stream of rays against a mesh, whose triangles can be hit from `sides` (SIDE_*), except for triangles with
 * other sides in `list` (face-sides.ts, or 0). Throws OUT_OF_MEMORY.
 */
export function beginStream(target: Mesh, sides: u32, list: usize): void {
  if (rays == 0) {
    rays = reserve(0, 0, <u64>STREAM_RAYS * (MESH_RAY_BYTES + STACK_BYTES) + <u64>LIST_COUNT * LIST_BYTES);
    stacks = rays + STREAM_RAYS * <u32>MESH_RAY_BYTES;
    lists = stacks + STREAM_RAYS * <u32>STACK_BYTES;
  }
  mesh = target;
  nodes = changetype<usize>(target) + target.nodes;
  blocks = changetype<usize>(target) + target.blocks;
  setSides(sides, list);
  setBounds();
  rayCount = 0;
}

/** Returns how many rays are in the stream. */
export function streamCount(): u32 {
  return rayCount;
}

// @ts-ignore: decorator
@inline
export function streamRay(i: u32): MeshRay {
  return changetype<MeshRay>(rays + i * <u32>MESH_RAY_BYTES);
}

/**
 * Adds two rays, one in each lane, to the stream, unless they miss the mesh's bounds: in mesh space, with directions of
 * any length, for hits with tMin ≤ t ≤ tMax. `requestedLanes` has all bits set in the lanes of requested rays.
 */
// @ts-ignore: decorator
@inline
export function addRayPair(
  index: u32, requestedLanes: v128, ox: v128, oy: v128, oz: v128, dx: v128, dy: v128, dz: v128, tMin: v128, tMax: v128,
): void {
  const scale = f64x2.splat(treeScale(mesh));
  const fromX = f64x2.mul(f64x2.sub(ox, f64x2.splat(mesh.offsetX)), scale);
  const fromY = f64x2.mul(f64x2.sub(oy, f64x2.splat(mesh.offsetY)), scale);
  const fromZ = f64x2.mul(f64x2.sub(oz, f64x2.splat(mesh.offsetZ)), scale);
  const toX = f64x2.mul(dx, scale), toY = f64x2.mul(dy, scale), toZ = f64x2.mul(dz, scale);
  const inverseX = f64x2.div(f64x2.splat(1), toX), inverseY = f64x2.div(f64x2.splat(1), toY);
  const inverseZ = f64x2.div(f64x2.splat(1), toZ);
  const originSize = f64x2.add(f64x2.add(f64x2.abs(fromX), f64x2.abs(fromY)), f64x2.abs(fromZ));
  const slack = f64x2.mul(f64x2.add(f64x2.splat(2), originSize), f64x2.splat(3.552713678800501e-15)); // 2^-48
  // NaN, from 0 · infinity, is the second operand and so has no effect.
  const x0 = f64x2.mul(f64x2.sub(f64x2.sub(f64x2.splat(minX), slack), fromX), inverseX);
  const x1 = f64x2.mul(f64x2.sub(f64x2.add(f64x2.splat(maxX), slack), fromX), inverseX);
  const y0 = f64x2.mul(f64x2.sub(f64x2.sub(f64x2.splat(minY), slack), fromY), inverseY);
  const y1 = f64x2.mul(f64x2.sub(f64x2.add(f64x2.splat(maxY), slack), fromY), inverseY);
  const z0 = f64x2.mul(f64x2.sub(f64x2.sub(f64x2.splat(minZ), slack), fromZ), inverseZ);
  const z1 = f64x2.mul(f64x2.sub(f64x2.add(f64x2.splat(maxZ), slack), fromZ), inverseZ);
  const from = f64x2.pmax(f64x2.pmax(f64x2.pmax(tMin, f64x2.pmin(x0, x1)), f64x2.pmin(y0, y1)), f64x2.pmin(z0, z1));
  const to = f64x2.pmin(f64x2.pmin(f64x2.pmin(tMax, f64x2.pmax(x0, x1)), f64x2.pmax(y0, y1)), f64x2.pmax(z0, z1));
  const hitLanes = i64x2.bitmask(v128.and(f64x2.le(from, to), requestedLanes));

  const lengthSquared = f64x2.add(f64x2.add(f64x2.mul(toX, toX), f64x2.mul(toY, toY)), f64x2.mul(toZ, toZ));
  const length = f64x2.sqrt(lengthSquared);
  const inverseLength = f64x2.div(f64x2.splat(1), length);
  const px = f32x4.demote_f64x2_zero(f64x2.add(fromX, f64x2.mul(from, toX)));
  const py = f32x4.demote_f64x2_zero(f64x2.add(fromY, f64x2.mul(from, toY)));
  const pz = f32x4.demote_f64x2_zero(f64x2.add(fromZ, f64x2.mul(from, toZ)));
  const rest = f64x2.mul(f64x2.sub(to, from), length);
  const limit = f32x4.demote_f64x2_zero(f64x2.add(f64x2.mul(rest, f64x2.splat(UPWARD_FACTOR)), f64x2.splat(UPWARD_ADDEND)));
  const ux = f32x4.demote_f64x2_zero(f64x2.mul(toX, inverseLength));
  const uy = f32x4.demote_f64x2_zero(f64x2.mul(toY, inverseLength));
  const uz = f32x4.demote_f64x2_zero(f64x2.mul(toZ, inverseLength));
  const xy = v128.shuffle<f32>(px, py, 0, 4, 1, 5), zl = v128.shuffle<f32>(pz, limit, 0, 4, 1, 5);
  const uxy = v128.shuffle<f32>(ux, uy, 0, 4, 1, 5), uz1 = v128.shuffle<f32>(uz, f32x4.splat(1), 0, 4, 1, 5);

  for (let lane: u32 = 0; lane < 2; lane++) {
    const isSecond = lane == 1;
    const ray = streamRay(rayCount);
    const at = changetype<usize>(ray);
    // The lanes of each ray, one after the other.
    v128.store(at, isSecond ? v128.shuffle<f64>(xy, zl, 1, 3) : v128.shuffle<f64>(xy, zl, 0, 2));
    const unitDirection = isSecond ? v128.shuffle<f64>(uxy, uz1, 1, 3) : v128.shuffle<f64>(uxy, uz1, 0, 2);
    const origin = at + offsetof<MeshRay>('originX');
    v128.store(origin, isSecond ? v128.shuffle<f64>(fromX, fromY, 1, 3) : v128.shuffle<f64>(fromX, fromY, 0, 2));
    v128.store(origin, isSecond ? v128.shuffle<f64>(fromZ, toX, 1, 3) : v128.shuffle<f64>(fromZ, toX, 0, 2), 16);
    v128.store(origin, isSecond ? v128.shuffle<f64>(toY, toZ, 1, 3) : v128.shuffle<f64>(toY, toZ, 0, 2), 32);
    v128.store(origin, isSecond ? v128.shuffle<f64>(inverseX, inverseY, 1, 3) : v128.shuffle<f64>(inverseX, inverseY, 0, 2), 48);
    v128.store(origin, isSecond ? v128.shuffle<f64>(inverseZ, tMin, 1, 3) : v128.shuffle<f64>(inverseZ, tMin, 0, 2), 64);
    v128.store(origin, isSecond ? v128.shuffle<f64>(tMax, from, 1, 3) : v128.shuffle<f64>(tMax, from, 0, 2), 80);
    ray.length = isSecond ? f64x2.extract_lane(length, 1) : f64x2.extract_lane(length, 0);
    finishRay(ray, unitDirection);
    ray.index = index + lane;
    const stack = stacks + rayCount * <u32>STACK_BYTES;
    v128.store(stack, i32x4.splat(0));
    v128.store(stack, i32x4.splat(0), PARENTS_OFFSET);
    ray.top = <u32>stack + 16;
    ray.child = <u32>nodes;
    rayCount += (hitLanes >> lane) & 1;
  }
}

// The mesh's bounds in tree space.
let minX: f64 = 0, minY: f64 = 0, minZ: f64 = 0, maxX: f64 = 0, maxY: f64 = 0, maxZ: f64 = 0;

function setBounds(): void {
  const scale = treeScale(mesh);
  minX = (mesh.minX - mesh.offsetX) * scale; maxX = (mesh.maxX - mesh.offsetX) * scale;
  minY = (mesh.minY - mesh.offsetY) * scale; maxY = (mesh.maxY - mesh.offsetY) * scale;
  minZ = (mesh.minZ - mesh.offsetZ) * scale; maxZ = (mesh.maxZ - mesh.offsetZ) * scale;
}

/** Pops the child at `top` of a ray's stack, and lists the ray unless that is the sentinel. Returns the list's end. */
// @ts-ignore: decorator
@inline
function popChild(ray: MeshRay, top: usize, list: usize): usize {
  const parent: usize = load<u32>(top, PARENTS_OFFSET);
  const children = load<u32>(parent, offsetof<Node>('children')), leafWord = load<u32>(parent, offsetof<Node>('blocks'));
  const i = load<u32>(top) & 3, innerCount = (children >> 26) & 7;
  const node = <u32>nodes + ((children & 0xffffff) + i) * <u32>NODE_BYTES;
  const block = <u32>blocks + ((leafWord & 0x1fffffff) + i - innerCount) * <u32>BLOCK_BYTES + LEAF_MARK;
  ray.top = <u32>top;
  ray.child = i < innerCount ? node : block;
  store<u32>(list, <u32>changetype<usize>(ray));
  return list + (<usize>(parent != 0) << 2);
}

/** Finds the uppermost entry of a ray's stack that is not beyond its limit. */
// @ts-ignore: decorator
@inline
function findNearEntry(ray: MeshRay): usize {
  // Four at a time, since the number of entries beyond it is unpredictable.
  const maxKeys = i32x4.splat(keyOf(ray.limit));
  let top: usize = ray.top;
  while (true) {
    const bits = <u32>i32x4.bitmask(i32x4.le_u(v128.load(top - 16), maxKeys));
    if (bits != 0) return top - (<usize>clz(bits << 28) << 2) - 4;
    top -= 16;
  }
}

/** Added to the address of a block, to distinguish it from that of a node. */
const LEAF_MARK: u32 = 1;
/** Receives values that are only read to bring them into the cache. */
let prefetchSum: u32 = 0;

/** Finds the nearest hit of each ray: its `end`, with the triangle and barycentric coordinates. */
export function runStream(): void {
  const active = lists, leafList = lists + LIST_BYTES, unrotated = lists + 2 * LIST_BYTES, rotated = lists + 3 * LIST_BYTES;
  const candidates = lists + 4 * LIST_BYTES;
  let end = active;
  for (let i: u32 = 0; i < rayCount; i++) {
    store<u32>(end, <u32>changetype<usize>(streamRay(i)));
    end += 4;
  }
  while (end != active) {
    // Sorts by kind: leaf, rotated node or node without a rotation; this also starts the loads of all of them at once.
    let unrotatedEnd = unrotated, rotatedEnd = rotated, leafEnd = leafList;
    for (let at = active; at < end; at += 4) {
      const ray = load<u32>(at);
      const child = changetype<MeshRay>(<usize>ray).child;
      const isUnrotated = load<u64>(child, offsetof<Node>('quaternion')) == IDENTITY_QUATERNION;
      const leaf = child & LEAF_MARK;
      store<u32>(unrotatedEnd, ray);
      store<u32>(rotatedEnd, ray);
      store<u32>(leafEnd, ray);
      leafEnd += leaf << 2;
      unrotatedEnd += (<u32>isUnrotated & ~leaf) << 2;
      rotatedEnd += (<u32>!isUnrotated & ~leaf) << 2;
    }
    // Starts the loads of all leaves at once, too.
    let candidatesEnd = candidates;
    let sum: u32 = 0;
    for (let at = leafList; at < leafEnd; at += 4) {
      const block: usize = changetype<MeshRay>(<usize>load<u32>(at)).child;
      sum += load<u32>(block, 63) + load<u32>(block, 127);
    }
    prefetchSum = sum;
    for (let at = leafList; at < leafEnd; at += 4) {
      const ray = changetype<MeshRay>(<usize>load<u32>(at));
      countLeaf();
      const bits = mayHit(ray.child - LEAF_MARK, ray);
      store<u32>(candidatesEnd, <u32>changetype<usize>(ray));
      store<u32>(candidatesEnd, bits, LIST_BYTES);
      candidatesEnd += <u32>(bits != 0) << 2;
    }
    for (let at = candidates; at < candidatesEnd; at += 4) {
      const ray = changetype<MeshRay>(<usize>load<u32>(at));
      const block: usize = ray.child - LEAF_MARK;
      let bits = load<u32>(at, LIST_BYTES);
      do {
        const lane = ctz(bits);
        bits &= bits - 1;
        if (triangleOf(changetype<Block>(block), lane) < 0) continue;
        countTriangle();
        const t = intersectTriangle(ray, block, lane);
        if (t == Infinity) continue;
        ray.end = t;
        ray.limit = roundUp((t - ray.tEntry) * ray.length);
      } while (bits != 0);
    }
    end = active;
    for (let at = leafList; at < leafEnd; at += 4) {
      const ray = changetype<MeshRay>(<usize>load<u32>(at));
      end = popChild(ray, findNearEntry(ray), end);
    }
    for (let at = unrotated; at < unrotatedEnd; at += 4) {
      const ray = changetype<MeshRay>(<usize>load<u32>(at));
      countNode();
      const address: usize = ray.child;
      const nearSwizzle: usize = ray.nearSwizzle;
      const entries = entriesOf(
        address, load<u32>(address, offsetof<Node>('children')), v128.load(changetype<usize>(ray)), ray.inverse,
        v128.load(nearSwizzle), v128.load(nearSwizzle, 16), v128.load(nearSwizzle, 32),
        v128.load32_splat(changetype<usize>(ray), offsetof<MeshRay>('limit')),
      );
      end = push(ray, address, entries, end);
    }
    for (let at = rotated; at < rotatedEnd; at += 4) {
      const ray = changetype<MeshRay>(<usize>load<u32>(at));
      countNode();
      const address: usize = ray.child;
      const entries = rotatedEntriesOf(
        address, load<u32>(address, offsetof<Node>('children')), v128.load(changetype<usize>(ray)), ray.unitDirection,
        v128.load32_splat(changetype<usize>(ray), offsetof<MeshRay>('limit')),
      );
      end = push(ray, address, entries, end);
    }
  }
}

/** Pushes the children that a ray enters, with the nearest on top, and continues with the top of the stack. */
// @ts-ignore: decorator
@inline
function push(ray: MeshRay, node: usize, entries: v128, list: usize): usize {
  const hitCount: usize = 4 - popcnt(i32x4.bitmask(entries));
  const keys = sortedEntries(entries);
  const top: usize = ray.top;
  v128.store(top, reversedKeys(keys, hitCount));
  v128.store(top, i32x4.splat(<u32>node), PARENTS_OFFSET);
  const maxKey = keyOf(ray.limit);
  let topEntry = top + (hitCount << 2);
  do topEntry -= 4; while (load<u32>(topEntry) > maxKey);
  return popChild(ray, topEntry, list);
}
