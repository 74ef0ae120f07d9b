// A convex solid by its support mapping: the sum of a mesh's hull or a point, up to three edge vectors either way, and
// optionally the image of the unit ball; in world axes, relative to an origin that both solids share.

import { SHAPE_BOX, SHAPE_MESH } from '../../../../shared/layout';
import { AFFINE_BYTES, Affine, copy, copyColumns, invert } from '../../math/affine';
import { hullOf } from '../../mesh/topology/derived';
import { Hull, cornersIn } from '../../mesh/topology/hull-layout';
import { farthestCorner } from '../../mesh/topology/hull-support';
import { Mesh, composeTreeMap } from '../../mesh/tree/layout';
import { PlacedShape, mapOf } from '../../shape/placed-shape';

@unmanaged
export class Support {
  /**
   * The map from the body's own space to world axes about the common origin. Own space is tree space for a mesh,
   * otherwise the space of PlacedShape.
   */
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
  x: f64; y: f64; z: f64;
  /** Up to three vectors: the body without its ball consists of all their sums times -1 … 1. */
  edge0X: f64; edge0Y: f64; edge0Z: f64;
  edge1X: f64; edge1Y: f64; edge1Z: f64;
  edge2X: f64; edge2Y: f64; edge2Z: f64;
  /** Half of a capsule's segment in its own space. */
  half: f64;
  /** The ball's radius if the map leaves it a ball up to float32's rounding, otherwise 0. */
  radius: f64;
  edgeCount: u32;
  /** The mesh's address; 0 for other shapes. */
  mesh: u32;
  hasBall: u32;
  isBox: u32;
  /** The mesh's hull, and its corner that was farthest in the last search, where the next one begins. */
  hull: u32;
  corner: u32;
  /** The address of a triangle's corners, nine f64 relative to the body's position; 0 for other shapes. */
  triangle: u32;
  pad: u32;
  /** The map from world axes about the common origin to own space; only valid after `setInverse`. */
  inverse: f64;
}

/** The inverse is a whole Affine that starts at this field. */
export const SUPPORT_BYTES: usize = offsetof<Support>('inverse') + AFFINE_BYTES;

/** Copies a body that is no mesh and whose inverse is not needed. */
export function copyBody(to: Support, from: Support): void {
  const p = changetype<usize>(to), q = changetype<usize>(from);
  for (let i: usize = 0; i < BODY_BYTES; i += 16) v128.store(p + i, v128.load(q + i));
}

/** Size of a body without its inverse, rounded up to a multiple of 16. */
const BODY_BYTES: usize = (offsetof<Support>('inverse') + 15) & ~15;

/**
 * A ball remains a ball if the columns of the map have equal lengths and are perpendicular to each other, to within this
 * tolerance.
 */
const ROUND_TOLERANCE: f64 = 1e-5;

// @ts-ignore: decorator
@inline
export function frameOf(body: Support): Affine {
  return changetype<Affine>(changetype<usize>(body));
}

const shapeFrame = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** The common origin of both bodies in the world: the position of the first one. */
export let originX: f64 = 0, originY: f64 = 0, originZ: f64 = 0;

/** Sets both bodies relative to the first one's position; the positions are subtracted in float64. */
export function setSupports(a: Support, b: Support, first: PlacedShape, second: PlacedShape): void {
  setShapeSupport(a, first, 0, 0, 0);
  setShapeSupport(b, second, second.tx - first.tx, second.ty - first.ty, second.tz - first.tz);
  const x = a.x, y = a.y, z = a.z;
  a.x = 0; a.y = 0; a.z = 0;
  b.x -= x; b.y -= y; b.z -= z;
  originX = first.tx + x;
  originY = first.ty + y;
  originZ = first.tz + z;
}

/** Sets a body to a mesh's hull in any space; `m` maps the mesh's tree space to that space. */
export function setHullSupport(body: Support, mesh: Mesh, m: Affine): void {
  copy(frameOf(body), m);
  body.edgeCount = 0;
  body.radius = 0;
  body.hasBall = 0;
  body.isBox = 0;
  setHull(body, mesh);
}

function setHull(body: Support, mesh: Mesh): void {
  const hull = hullOf(mesh);
  body.mesh = <u32>changetype<usize>(mesh);
  body.hull = <u32>changetype<usize>(hull);
  body.corner = <u32>cornersIn(hull);
}

/** Sets a body to a placed shape that is either no mesh or a convex one, at the given position. */
export function setShapeSupport(body: Support, solid: PlacedShape, x: f64, y: f64, z: f64): void {
  copy(frameOf(body), mapOf(solid));
  body.x = x; body.y = y; body.z = z;
  body.edgeCount = 0;
  body.mesh = 0;
  body.half = solid.half;
  body.radius = 0;
  body.isBox = solid.shape == SHAPE_BOX ? 1 : 0;
  body.hasBall = solid.shape == SHAPE_BOX || solid.shape == SHAPE_MESH ? 0 : 1;
  if (solid.shape == SHAPE_MESH) {
    setHull(body, changetype<Mesh>(solid.mesh));
    copy(shapeFrame, frameOf(body));
    composeTreeMap(frameOf(body), changetype<Mesh>(solid.mesh), shapeFrame);
  } else if (solid.shape == SHAPE_BOX) {
    body.edgeCount = 3;
    copyColumns(changetype<usize>(body) + offsetof<Support>('edge0X'), frameOf(body));
  } else {
    if (solid.half > 0) {
      body.edgeCount = 1;
      body.edge0X = body.zx * solid.half; body.edge0Y = body.zy * solid.half; body.edge0Z = body.zz * solid.half;
    }
    body.radius = radiusOf(body);
  }
}

function radiusOf(b: Support): f64 {
  const x = b.xx * b.xx + b.xy * b.xy + b.xz * b.xz;
  const y = b.yx * b.yx + b.yy * b.yy + b.yz * b.yz;
  const z = b.zx * b.zx + b.zy * b.zy + b.zz * b.zz;
  const tolerance = ROUND_TOLERANCE * x;
  if (abs(x - y) > tolerance || abs(x - z) > tolerance) return 0;
  if (abs(b.xx * b.yx + b.xy * b.yy + b.xz * b.yz) > tolerance) return 0;
  if (abs(b.xx * b.zx + b.xy * b.zy + b.xz * b.zz) > tolerance) return 0;
  if (abs(b.yx * b.zx + b.yy * b.zy + b.yz * b.zz) > tolerance) return 0;
  return sqrt(x);
}

/** The point of the body that is farthest along a direction, relative to the common origin. */
export let supportX: f64 = 0, supportY: f64 = 0, supportZ: f64 = 0;

/** Finds the point farthest along a direction of any length but 0; without the ball if `isCoreOnly`. */
export function findSupportPoint(b: Support, dx: f64, dy: f64, dz: f64, isCoreOnly: bool): void {
  let x = b.x, y = b.y, z = b.z;
  if (b.mesh != 0) {
    const corner = farthestCorner(
      changetype<Hull>(<usize>b.hull), b.xx * dx + b.xy * dy + b.xz * dz, b.yx * dx + b.yy * dy + b.yz * dz,
      b.zx * dx + b.zy * dy + b.zz * dz, b.corner,
    );
    b.corner = <u32>corner;
    const u = <f64>load<f32>(corner), v = <f64>load<f32>(corner, 16), w = <f64>load<f32>(corner, 32);
    x += b.xx * u + b.yx * v + b.zx * w;
    y += b.xy * u + b.yy * v + b.zy * w;
    z += b.xz * u + b.yz * v + b.zz * w;
  }
  if (b.triangle != 0) {
    const t = <usize>b.triangle;
    const p = load<f64>(t) * dx + load<f64>(t, 8) * dy + load<f64>(t, 16) * dz;
    const q = load<f64>(t, 24) * dx + load<f64>(t, 32) * dy + load<f64>(t, 40) * dz;
    const r = load<f64>(t, 48) * dx + load<f64>(t, 56) * dy + load<f64>(t, 64) * dz;
    const corner = t + (p >= q && p >= r ? 0 : q >= r ? 24 : 48);
    x += load<f64>(corner); y += load<f64>(corner, 8); z += load<f64>(corner, 16);
  }
  for (let i: u32 = 0; i < b.edgeCount; i++) {
    const ex = edgeX(b, i), ey = edgeY(b, i), ez = edgeZ(b, i);
    const sign: f64 = ex * dx + ey * dy + ez * dz < 0 ? -1 : 1;
    x += sign * ex; y += sign * ey; z += sign * ez;
  }
  if (b.hasBall && !isCoreOnly) {
    setBallSupport(b, dx, dy, dz);
    x += ballX; y += ballY; z += ballZ;
  }
  supportX = x; supportY = y; supportZ = z;
}

/** The farthest point of the ball's image alone, relative to its centre. */
export let ballX: f64 = 0, ballY: f64 = 0, ballZ: f64 = 0;

export function setBallSupport(b: Support, dx: f64, dy: f64, dz: f64): void {
  const u = b.xx * dx + b.xy * dy + b.xz * dz, v = b.yx * dx + b.yy * dy + b.yz * dz;
  const w = b.zx * dx + b.zy * dy + b.zz * dz;
  const scale = 1.0 / sqrt(u * u + v * v + w * w);
  ballX = (b.xx * u + b.yx * v + b.zx * w) * scale;
  ballY = (b.xy * u + b.yy * v + b.zy * w) * scale;
  ballZ = (b.xz * u + b.yz * v + b.zz * w) * scale;
}

/** Returns an upper bound of how far the body reaches from its centre. */
export function extentOf(b: Support): f64 {
  const columns =
    sqrt(b.xx * b.xx + b.xy * b.xy + b.xz * b.xz) + sqrt(b.yx * b.yx + b.yy * b.yy + b.yz * b.yz) +
    sqrt(b.zx * b.zx + b.zy * b.zy + b.zz * b.zz) * (1 + b.half);
  return b.mesh != 0 ? 2 * columns : columns;
}

// @ts-ignore: decorator
@inline
export function edgeX(b: Support, i: u32): f64 {
  return load<f64>(changetype<usize>(b) + <usize>i * 24, offsetof<Support>('edge0X'));
}
// @ts-ignore: decorator
@inline
export function edgeY(b: Support, i: u32): f64 {
  return load<f64>(changetype<usize>(b) + <usize>i * 24, offsetof<Support>('edge0Y'));
}
// @ts-ignore: decorator
@inline
export function edgeZ(b: Support, i: u32): f64 {
  return load<f64>(changetype<usize>(b) + <usize>i * 24, offsetof<Support>('edge0Z'));
}

/** Returns the map from world axes about the common origin to own space. */
// @ts-ignore: decorator
@inline
export function inverseOf(b: Support): Affine {
  return changetype<Affine>(changetype<usize>(b) + offsetof<Support>('inverse'));
}

export function setInverse(b: Support): void {
  invert(inverseOf(b), frameOf(b));
}
