// Cuts the triangles of a mesh with a plane. A node's four boxes are passed by in float32 where they are surely to one
// side, with a bound on its rounding; the sides of vertices are decided in float64, and each is decided alike in all of
// its triangles. Work may be left between two nodes.

import { now } from '../host';
import { Affine } from '../math/affine';
import { PLANE_BYTES, Plane, normalise, pullBack, valueAt } from '../math/plane';
import { Rotation, rotationAt, setIdentityRotation } from '../math/quaternion';
import {
  Block, LEAF, MOST_WAITING, Mesh, Node, blockAt, childMask, childOf, filledLanes, highBounds, isRotated, lowBounds,
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
 * The rounding error in float32 of a box's distance from the plane, as mesh-volume.ts derives it: coordinates below 3.5,
 * a rotation that is orthonormal to 2⁻¹⁷ of them, and some ten roundings.
 */
const ROUNDING: f32 = 1.52587890625e-5; // 2^-16
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
  if (isRotated(node)) rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
  else setIdentityRotation(rotation);
  const x = <f32>unit.x, y = <f32>unit.y, z = <f32>unit.z, w = f32x4.splat(<f32>unit.w);
  const nx = f32x4.splat(rotation.xx * x + rotation.xy * y + rotation.xz * z);
  const ny = f32x4.splat(rotation.yx * x + rotation.yy * y + rotation.yz * z);
  const nz = f32x4.splat(rotation.zx * x + rotation.zy * y + rotation.zz * z);
  const ax = f32x4.mul(nx, lowBounds(node, 0)), bx = f32x4.mul(nx, highBounds(node, 0));
  const ay = f32x4.mul(ny, lowBounds(node, 1)), by = f32x4.mul(ny, highBounds(node, 1));
  const az = f32x4.mul(nz, lowBounds(node, 2)), bz = f32x4.mul(nz, highBounds(node, 2));
  const far = f32x4.add(f32x4.add(f32x4.add(f32x4.pmax(ax, bx), f32x4.pmax(ay, by)), f32x4.pmax(az, bz)), w);
  const near = f32x4.add(f32x4.add(f32x4.add(f32x4.pmin(ax, bx), f32x4.pmin(ay, by)), f32x4.pmin(az, bz)), w);
  const reaches = v128.and(f32x4.ge(far, f32x4.splat(-ROUNDING)), f32x4.le(near, f32x4.splat(ROUNDING)));
  return <u32>i32x4.bitmask(reaches) & childMask(node);
}

function cutBlock(block: Block): void {
  for (let bits = lanesCut(block) & filledLanes(block); bits != 0; bits &= bits - 1) {
    const lane = <u32>ctz(bits);
    cutTriangle(changetype<usize>(block) + (<usize>lane << 2), triangleOf(block, lane));
  }
}

/**
 * Answers the triangles that may have vertices on both sides of the plane, a bit each: the four at a time, in float32, whose
 * rounding is less than that of boxes.
 */
function lanesCut(block: Block): u32 {
  const at = changetype<usize>(block);
  const x = f32x4.splat(<f32>unit.x), y = f32x4.splat(<f32>unit.y), z = f32x4.splat(<f32>unit.z), w = f32x4.splat(<f32>unit.w);
  const a = heights(at, x, y, z, w), b = heights(at + 48, x, y, z, w), c = heights(at + 96, x, y, z, w);
  const highest = f32x4.pmax(f32x4.pmax(a, b), c), lowest = f32x4.pmin(f32x4.pmin(a, b), c);
  return <u32>i32x4.bitmask(
    v128.and(f32x4.ge(highest, f32x4.splat(-ROUNDING)), f32x4.le(lowest, f32x4.splat(ROUNDING))),
  );
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

/** How far one corner of a triangle is from the next one, in bytes; y of one is a third of that behind x. */
const CORNER: usize = 48;

// @ts-ignore: decorator
@inline
function heightOf(corner: usize): f64 {
  return valueAt(exact, load<f32>(corner), load<f32>(corner, 16), load<f32>(corner, 32));
}

/**
 * Cuts the triangle whose corners are at an address of its block. Its segment begins on the edge that goes down through the plane
 * and ends on the one that goes up, so that from in front of the plane what is behind the triangle's face is to the left. Which
 * corner is alone on its side nobody can foresee: the others are chosen by addresses, without branches.
 */
function cutTriangle(at: usize, triangle: i32): void {
  const a = heightOf(at), b = heightOf(at + CORNER), c = heightOf(at + 2 * CORNER);
  const above = u32(a >= 0) | (u32(b >= 0) << 1) | (u32(c >= 0) << 2);
  if (above == 0 || above == 7) return;
  const isAbove = popcnt(above) == 1;
  const lone = <u32>ctz(select<u32>(above, above ^ 7, isAbove));
  const p = at + CORNER * lone;
  const q = select<usize>(at, p + CORNER, lone == 2);
  const r = select<usize>(at + 2 * CORNER, p - CORNER, lone == 0);
  const s = select<f64>(a, select<f64>(b, c, lone == 1), lone == 0);
  const t = select<f64>(b, select<f64>(c, a, lone == 1), lone == 0);
  const u = select<f64>(c, select<f64>(a, b, lone == 1), lone == 0);
  const out = crossingOf(
    select<usize>(p, q, isAbove), select<usize>(q, p, isAbove), select<f64>(s, t, isAbove), select<f64>(t, s, isAbove),
  );
  const back = crossingOf(
    select<usize>(p, r, isAbove), select<usize>(r, p, isAbove), select<f64>(s, u, isAbove), select<f64>(u, s, isAbove),
  );
  const isForward = isAbove != isMirrored;
  addSegment(select<u32>(out, back, isForward), select<u32>(back, out, isForward), triangle);
}

/** Answers the crossing of an edge from the corner above the plane, at height s, to the one below, at t: whoever asks. */
function crossingOf(from: usize, to: usize, s: f64, t: f64): u32 {
  // Both zeros are one number.
  const x = load<f32>(from) + 0, y = load<f32>(from, 16) + 0, z = load<f32>(from, 32) + 0;
  const u = load<f32>(to) + 0, v = load<f32>(to, 16) + 0, w = load<f32>(to, 32) + 0;
  const crossing = crossingOfEdge(x, y, z, u, v, w);
  if (!isNewCrossing) return crossing;
  // A vertex on the plane is the crossing itself.
  const share = s / (s - t);
  const px = <f64>x + (<f64>u - <f64>x) * share;
  const py = <f64>y + (<f64>v - <f64>y) * share;
  const pz = <f64>z + (<f64>w - <f64>z) * share;
  setPlace(
    crossing,
    place.xx * px + place.yx * py + place.zx * pz + place.tx,
    place.xy * px + place.yy * py + place.zy * pz + place.ty,
    place.xz * px + place.yz * py + place.zz * pz + place.tz,
  );
  return crossing;
}
