// Triangles projected along a direction: the coordinates of their corners in the plane perpendicular to it, and the
// heights along it. They are triangles of a mesh, given by their slots, or any others, given by the addresses of their
// corners. All in float64, in contact space (clipped-triangles.ts).

import { tangentX, tangentY, tangentZ, bitangentX, bitangentY, bitangentZ, setBasis } from '../../math/basis';
import { AFFINE_BYTES, Affine, copy } from '../../math/affine';
import { cornersOf } from '../../mesh/topology/adjacency';
import { Mesh } from '../../mesh/tree/layout';

/** The location of a set of triangles, and their projection along the direction. */
@unmanaged
export class Source {
  /** The mesh whose triangles are given by their slots; 0 if they are given by addresses of nine f64. */
  mesh: u32;
  pad: u32;
  /** The map from the stored coordinates to contact space. */
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
  tx: f64; ty: f64; tz: f64;
  /** The contributions of each stored coordinate, and of 1, to u and v in the plane, and to the height. */
  ofXu: f64; ofXv: f64;
  ofYu: f64; ofYv: f64;
  ofZu: f64; ofZv: f64;
  ofOneU: f64; ofOneV: f64;
  ofXh: f64; ofYh: f64; ofZh: f64; ofOneH: f64;
  /** The same for shadows, four float32 each: u, v, height and 0. */
  forX: v128; forY: v128; forZ: v128; forOne: v128;
}

// One for side 0, which stays, and one for side 1, which moves: its heights are negated.
const sources: usize = memory.data(2 * <i32>offsetof<Source>(), 16);

// @ts-ignore: decorator
@inline
export function sourceAt(side: u32): Source {
  return changetype<Source>(sources + side * <u32>offsetof<Source>());
}

// @ts-ignore: decorator
@inline
export function transformOf(source: Source): Affine {
  return changetype<Affine>(changetype<usize>(source) + offsetof<Source>('xx'));
}

/**
 * Sets the triangles of side 0 or 1 to those of a mesh, listed by their slots; `m` maps its tree space to contact space.
 */
export function setMeshSource(side: u32, mesh: Mesh, m: Affine): void {
  const source = sourceAt(side);
  source.mesh = <u32>changetype<usize>(mesh);
  copy(transformOf(source), m);
}

/**
 * Sets the triangles of side 0 or 1 to any that are listed by the addresses of their corners in contact space, nine f64
 * each.
 */
export function setCornerSource(side: u32): void {
  const source = sourceAt(side), m = transformOf(source);
  source.mesh = 0;
  memory.fill(changetype<usize>(m), 0, AFFINE_BYTES);
  m.xx = m.yy = m.zz = 1;
}

/** A projected triangle: coordinates in the plane, and heights (negated for the side that moves). */
@unmanaged
export class Projected {
  au: f64; av: f64; ah: f64;
  bu: f64; bv: f64; bh: f64;
  cu: f64; cv: f64; ch: f64;
}

/** Sets the projection of both sources along a unit direction: for side 1, low counts as high. */
export function setProjectionDirection(nx: f64, ny: f64, nz: f64): void {
  setBasis(nx, ny, nz);
  setSource(sourceAt(0), nx, ny, nz);
  setSource(sourceAt(1), -nx, -ny, -nz);
}

/** Sets the projection of a source, with heights along (hx, hy, hz). */
function setSource(s: Source, hx: f64, hy: f64, hz: f64): void {
  const m = transformOf(s);
  s.ofXu = tangentX * m.xx + tangentY * m.xy + tangentZ * m.xz;
  s.ofXv = bitangentX * m.xx + bitangentY * m.xy + bitangentZ * m.xz;
  s.ofYu = tangentX * m.yx + tangentY * m.yy + tangentZ * m.yz;
  s.ofYv = bitangentX * m.yx + bitangentY * m.yy + bitangentZ * m.yz;
  s.ofZu = tangentX * m.zx + tangentY * m.zy + tangentZ * m.zz;
  s.ofZv = bitangentX * m.zx + bitangentY * m.zy + bitangentZ * m.zz;
  s.ofOneU = tangentX * m.tx + tangentY * m.ty + tangentZ * m.tz;
  s.ofOneV = bitangentX * m.tx + bitangentY * m.ty + bitangentZ * m.tz;
  s.ofXh = hx * m.xx + hy * m.xy + hz * m.xz; s.ofYh = hx * m.yx + hy * m.yy + hz * m.yz;
  s.ofZh = hx * m.zx + hy * m.zy + hz * m.zz; s.ofOneH = hx * m.tx + hy * m.ty + hz * m.tz;
}

/** Writes the projection of a source's triangle. */
export function project(out: Projected, s: Source, triangle: u32): void {
  const to = changetype<usize>(out);
  if (s.mesh != 0) {
    const at = cornersOf(changetype<Mesh>(<usize>s.mesh), triangle);
    projectCorner(to, s, <f64>load<f32>(at), <f64>load<f32>(at, 16), <f64>load<f32>(at, 32));
    projectCorner(to + 24, s, <f64>load<f32>(at, 48), <f64>load<f32>(at, 64), <f64>load<f32>(at, 80));
    projectCorner(to + 48, s, <f64>load<f32>(at, 96), <f64>load<f32>(at, 112), <f64>load<f32>(at, 128));
  } else {
    const at = <usize>triangle;
    projectCorner(to, s, load<f64>(at), load<f64>(at, 8), load<f64>(at, 16));
    projectCorner(to + 24, s, load<f64>(at, 24), load<f64>(at, 32), load<f64>(at, 40));
    projectCorner(to + 48, s, load<f64>(at, 48), load<f64>(at, 56), load<f64>(at, 64));
  }
}

// @ts-ignore: decorator
@inline
function projectCorner(to: usize, s: Source, x: f64, y: f64, z: f64): void {
  const rows = changetype<usize>(s) + offsetof<Source>('ofXu');
  const xy = f64x2.add(f64x2.mul(f64x2.splat(x), v128.load(rows)), f64x2.mul(f64x2.splat(y), v128.load(rows, 16)));
  v128.store(to, f64x2.add(xy, f64x2.add(f64x2.mul(f64x2.splat(z), v128.load(rows, 32)), v128.load(rows, 48))));
  store<f64>(to, x * s.ofXh + y * s.ofYh + (z * s.ofZh + s.ofOneH), 16);
}
