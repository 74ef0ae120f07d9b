// Cuts the triangles of a mesh with a plane. A node's four boxes are passed by in float32 where they are surely to one
// side, with a bound on its rounding; the sides of vertices are decided in float64, and each is decided alike in all of
// its triangles. Work may be left between two nodes.

import { now } from '../host';
import { Affine } from '../math/affine';
import { PLANE_BYTES, Plane, normalise, pullBack, valueAt } from '../math/plane';
import { Rotation, rotationAt } from '../math/quaternion';
import {
  Block, LEAF, MOST_WAITING, Mesh, Node, blockAt, childMask, childOf, filledLanes, highSteps, isRotated, lowSteps,
  nodeAt, placeTree, triangleOf,
} from '../mesh/tree/layout';
import { addSegment, beginSegments, crossingOfEdge, isNewCrossing, setPlace } from './crossings';
import { WORD_BYTES } from '../sizes';

/** The map from tree space to the world, and the plane in tree space: as it is pulled back, and with a unit normal. */
const place = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const exact = changetype<Plane>(memory.data(<i32>PLANE_BYTES, 16));
const unit = changetype<Plane>(memory.data(<i32>PLANE_BYTES, 16));
const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
/** 1 where the map turns the mesh inside out, so that segments go the other way. */
let isMirrored: bool = false;
let cutMesh: usize = 0;

/** Each node that is taken leaves at most three more. */
const STACK: usize = memory.data(MOST_WAITING * WORD_BYTES, 16);
let top: usize = 0;

/**
 * The rounding error in float32 of a box's distance from the plane, whose terms are below 12 together: a rotation that is orthonormal
 * to 2⁻¹⁷, and some fifteen roundings of 2⁻²⁴ of 12, which are 2⁻¹⁶ with it. It is taken twice.
 */
const ROUNDING: f32 = 3.0517578125e-5; // 2^-15
/** Nodes between two readings of the clock: some 0.1 ms. */
const PER_READING: u32 = 512;

/** Begins to cut a mesh that lies in the world by a map. Throws OUT_OF_MEMORY. */
export function beginMeshSection(mesh: Mesh, map: Affine, plane: Plane): void {
  beginSegments();
  placeTree(place, mesh, map);
  pullBack(exact, plane, place);
  memory.copy(changetype<usize>(unit), changetype<usize>(exact), PLANE_BYTES);
  normalise(unit);
  isMirrored =
    place.xx * (place.yy * place.zz - place.yz * place.zy) -
    place.yx * (place.xy * place.zz - place.xz * place.zy) +
    place.zx * (place.xy * place.yz - place.xz * place.yy) < 0;
  cutMesh = changetype<usize>(mesh);
  store<u32>(STACK, 0);
  // A plane that is nowhere near, or that a map without a volume leaves no normal.
  top = abs(unit.w) < 4 ? STACK + 4 : STACK;
}

/** Goes on until a time of `now`. Answers whether all triangles are cut. Throws OUT_OF_MEMORY. */
export function stepMeshSection(until: f64): bool {
  const mesh = changetype<Mesh>(cutMesh);
  for (let count: u32 = 1; top != STACK; count++) {
    top -= 4;
    const node = nodeAt(mesh, load<u32>(top));
    for (let bits = childrenCut(node); bits != 0; bits &= bits - 1) {
      const child = childOf(node, <u32>ctz(bits));
      if (child & LEAF) {
        cutBlock(blockAt(mesh, child));
      } else {
        store<u32>(top, child);
        top += 4;
      }
    }
    if (count % PER_READING == 0 && now() >= until) return top == STACK;
  }
  return true;
}

/** Answers the children whose boxes may reach to both sides of the plane, a bit each. */
function childrenCut(node: Node): u32 {
  let x = <f32>unit.x, y = <f32>unit.y, z = <f32>unit.z;
  if (isRotated(node)) {
    rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
    const u = x, v = y, w = z, r = rotation;
    x = r.xx * u + r.xy * v + r.xz * w;
    y = r.yx * u + r.yy * v + r.yz * w;
    z = r.zx * u + r.zy * v + r.zz * w;
  }
  // The plane's function of bounds as they are stored: none of them is decoded.
  const origin = f32x4.splat(x * node.originX + y * node.originY + z * node.originZ + <f32>unit.w);
  const nx = f32x4.splat(x * node.scaleX), ny = f32x4.splat(y * node.scaleY), nz = f32x4.splat(z * node.scaleZ);
  const ax = f32x4.mul(nx, lowSteps(node, 0)), bx = f32x4.mul(nx, highSteps(node, 0));
  const ay = f32x4.mul(ny, lowSteps(node, 1)), by = f32x4.mul(ny, highSteps(node, 1));
  const az = f32x4.mul(nz, lowSteps(node, 2)), bz = f32x4.mul(nz, highSteps(node, 2));
  const far = f32x4.add(f32x4.add(f32x4.pmax(ax, bx), f32x4.pmax(ay, by)), f32x4.add(f32x4.pmax(az, bz), origin));
  const near = f32x4.add(f32x4.add(f32x4.pmin(ax, bx), f32x4.pmin(ay, by)), f32x4.add(f32x4.pmin(az, bz), origin));
  const reaches = v128.and(f32x4.ge(far, f32x4.splat(-ROUNDING)), f32x4.le(near, f32x4.splat(ROUNDING)));
  return <u32>i32x4.bitmask(reaches) & childMask(node);
}

/** How far one corner of a triangle is from the next one in its block, in bytes; y of one is a third of that behind x. */
const CORNER: usize = 48;

/**
 * Holds the two edges that the plane crosses, by which corners are below it (a bit each), four offsets of corners: the edge on which the
 * segment begins, which goes down through the plane, from its upper corner to its lower one; then that on which it ends, likewise. So what
 * is behind the triangle's face is to the left from in front of the plane. Which corner is alone on its side nobody can foresee, and
 * V8 makes branches of `select`: with these, and all heights in float64, cutting took a third longer.
 */
const EDGES: usize = memory.data<u8>([
  0, 0, 0, 0, 96, 0, 48, 0, 0, 48, 96, 48, 96, 0, 96, 48,
  48, 96, 0, 96, 48, 96, 48, 0, 0, 48, 0, 96, 0, 0, 0, 0,
]);

/**
 * Cuts four triangles. float32 decides on which side their corners are, the four at a time, and float64 where a corner is as near
 * to the plane as the rounding, which is less than that of boxes.
 */
function cutBlock(block: Block): void {
  const at = changetype<usize>(block);
  const x = f32x4.splat(<f32>unit.x), y = f32x4.splat(<f32>unit.y), z = f32x4.splat(<f32>unit.z), w = f32x4.splat(<f32>unit.w);
  const a = heights(at, x, y, z, w), b = heights(at + CORNER, x, y, z, w), c = heights(at + 2 * CORNER, x, y, z, w);
  const belowA = <u32>i32x4.bitmask(a), belowB = <u32>i32x4.bitmask(b), belowC = <u32>i32x4.bitmask(c);
  const unsure = ~<u32>i32x4.bitmask(v128.and(v128.and(isFar(a), isFar(b)), isFar(c)));
  const turn = isMirrored ? 16 : 0;
  let bits = ((belowA | belowB | belowC) & ~(belowA & belowB & belowC) | unsure) & filledLanes(block);
  for (; bits != 0; bits &= bits - 1) {
    const lane = <u32>ctz(bits), corners = at + (<usize>lane << 2);
    let below = (belowA >> lane & 1) | (belowB >> lane & 1) << 1 | (belowC >> lane & 1) << 2;
    if (unsure >> lane & 1) {
      below = isBelow(corners) | isBelow(corners + CORNER) << 1 | isBelow(corners + 2 * CORNER) << 2;
      if (below == 0 || below == 7) continue;
    }
    const edges = rotr(load<u32>(EDGES + (<usize>below << 2)), turn);
    const from = crossingOf(corners + (edges & 0xff), corners + (edges >> 8 & 0xff));
    const to = crossingOf(corners + (edges >> 16 & 0xff), corners + (edges >> 24));
    addSegment(from, to, triangleOf(block, lane));
  }
}

/** Answers how high above the plane a corner of each of four triangles is. */
// @ts-ignore: decorator
@inline
function heights(at: usize, x: v128, y: v128, z: v128, w: v128): v128 {
  return f32x4.add(
    f32x4.add(f32x4.mul(x, v128.load(at)), f32x4.mul(y, v128.load(at, 16))),
    f32x4.add(f32x4.mul(z, v128.load(at, 32)), w),
  );
}

/** Tells of four heights whether they are surely not 0. */
// @ts-ignore: decorator
@inline
function isFar(height: v128): v128 {
  return f32x4.gt(f32x4.abs(height), f32x4.splat(ROUNDING));
}

/** Answers 1 for a corner that is below the plane, 0 for others. */
function isBelow(corner: usize): u32 {
  return u32(!(valueAt(exact, load<f32>(corner), load<f32>(corner, 16), load<f32>(corner, 32)) >= 0));
}

/** Answers the crossing of an edge from the corner above the plane to the one below: whoever asks. */
function crossingOf(from: usize, to: usize): u32 {
  // Both zeros are one number.
  const zero = f32x4.splat(0);
  const first = f32x4.add(
    v128.load_lane<f32>(to, v128.load_lane<f32>(from, v128.load_lane<f32>(from, v128.load32_zero(from), 1, 16), 2, 32), 3), zero,
  );
  const second = f32x4.add(v128.load_lane<f32>(to, v128.load32_zero(to, 16), 1, 32), zero);
  const crossing = crossingOfEdge(first, i64x2.extract_lane(second, 0));
  if (!isNewCrossing) return crossing;
  // Each coordinate of both corners: x and u, y and v, z and w.
  const xu = f64x2.promote_low_f32x4(v128.shuffle<f32>(first, first, 0, 3, 0, 3));
  const yv = f64x2.promote_low_f32x4(v128.shuffle<f32>(first, second, 1, 4, 1, 4));
  const zw = f64x2.promote_low_f32x4(v128.shuffle<f32>(first, second, 2, 5, 2, 5));
  const height = f64x2.add(
    f64x2.add(
      f64x2.add(f64x2.mul(f64x2.splat(exact.x), xu), f64x2.mul(f64x2.splat(exact.y), yv)), f64x2.mul(f64x2.splat(exact.z), zw),
    ),
    f64x2.splat(exact.w),
  );
  // A vertex on the plane is the crossing itself.
  const s = f64x2.extract_lane(height, 0), share = s / (s - f64x2.extract_lane(height, 1));
  setPlace(crossing, place, along(xu, share), along(yv, share), along(zw, share));
  return crossing;
}

/** Answers what is a share of the way from the first of two numbers to the second. */
// @ts-ignore: decorator
@inline
function along(both: v128, share: f64): f64 {
  const from = f64x2.extract_lane(both, 0);
  return from + (f64x2.extract_lane(both, 1) - from) * share;
}
