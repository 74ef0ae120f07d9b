// Tells whether triangles are closed: every edge, from one position to another, has as many triangles on its one side
// as on its other. One pass and no memory: each triangle adds hashes of its three directed edges, of which the two
// directions of an edge cancel (an incremental multiset hash: Clarke, Devadas, van Dijk, Gassend and Suh, "Incremental
// Multiset Hash Functions and Their Application to Memory Integrity Checking", 2003). The sum is 0 if the triangles are
// closed, and else as good as never.
//
// A position's hash is three words u, v, w; an edge's are the determinants u·v' - v·u' and v·w' - w·v', modulo 2⁶⁴. So
// a triangle's are twice the areas of its images in two planes, which take two products each.
//
// How good: the sum of an open mesh is a bilinear form of its positions' hashes that is not 0 everywhere. Were these
// random, it would be 0 once in 2¹²² (once in 2¹²²⁻²ᵏ if 2ᵏ divides the surplus of all edges that have one; a missing
// triangle leaves surpluses of 1). Nothing in it is secret: data can be made to deceive it.

import { mix } from '../../math/hash';

/** The sum of the triangles so far; begins as 0. */
@unmanaged
export class EdgeSum {
  one: u64;
  other: u64;
}

// @ts-ignore: decorator
@inline
export function isClosed(sum: EdgeSum): bool {
  return (sum.one | sum.other) == 0;
}

/** Adds the edges of a triangle, given by the addresses of its corners, of which 16 bytes can be read and 12 count. */
export function addEdges(sum: EdgeSum, a: usize, b: usize, c: usize): void {
  const pa = position(a), pb = position(b), pc = position(c);
  const ma = mixXy(pa), mb = mixXy(pb), mc = mixXy(pc);
  const za = zOf(pa), zb = zOf(pb), zc = zOf(pc);
  const u = hashU(ma, za), v = hashV(ma, za), w = hashW(ma, za);
  const ub = hashU(mb, zb) - u, vb = hashV(mb, zb) - v, wb = hashW(mb, zb) - w;
  const uc = hashU(mc, zc) - u, vc = hashV(mc, zc) - v, wc = hashW(mc, zc) - w;
  sum.one += ub * vc - vb * uc;
  sum.other += vb * wc - wb * vc;
}

/** Hashes a position, of which 12 bytes count. Two positions have the same hash once in 2⁶⁴. */
export function positionHash(at: usize): u64 {
  const xy = mix(word(at) | (word(at + 4) << 32));
  return hashU(mix(xy + 0x9e3779b97f4a7c15), word(at + 8));
}

/** Reads the bits of a float32; zero has no sign. */
// @ts-ignore: decorator
@inline
function word(at: usize): u64 {
  return <u64>reinterpret<u32>(load<f32>(at) + <f32>0);
}

/** Loads a position; zeros lose their sign. */
// @ts-ignore: decorator
@inline
function position(at: usize): v128 {
  return f32x4.add(v128.load(at), f32x4.splat(0));
}

// @ts-ignore: decorator
@inline
function mixXy(p: v128): u64 {
  return mix(<u64>i64x2.extract_lane(p, 0) + 0x9e3779b97f4a7c15);
}

// @ts-ignore: decorator
@inline
function zOf(p: v128): u64 {
  return <u64><u32>i32x4.extract_lane(p, 2);
}

// No two positions have both u and v in common.
// @ts-ignore: decorator
@inline
function hashU(xy: u64, z: u64): u64 {
  return mix(xy + z);
}

// @ts-ignore: decorator
@inline
function hashV(xy: u64, z: u64): u64 {
  return mix(rotl<u64>(xy, 32) ^ z);
}

// @ts-ignore: decorator
@inline
function hashW(xy: u64, z: u64): u64 {
  return mix(xy ^ ~z);
}
