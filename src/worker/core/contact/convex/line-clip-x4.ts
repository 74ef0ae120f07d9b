// Clips up to four lines to convex bodies: as line-clip.ts clips one, but by the faces of hulls in float32 and all lines
// at once, so that the results must be verified (`midpointsInside`).

import { plus, times } from '../../math/lanes';
import { PLANE_GROUP_BYTES, Hull, planesIn } from '../../mesh/topology/hull-layout';
import { Support, inverseOf } from './support';
import { clipLine, tMin, tMax, setLine } from './line-clip';
import { F64_BYTES, VECTOR_BYTES } from '../../sizes';

/**
 * A line: its point at parameter 0, relative to the bodies' common origin, its direction, and the interval of the
 * parameter that remains.
 */
@unmanaged
export class Line {
  x: f64; y: f64; z: f64;
  dx: f64; dy: f64; dz: f64;
  tMin: f64; tMax: f64;
}

export const MAX_LINES: u32 = 4;
const lines: usize = memory.data(<i32>MAX_LINES * <i32>offsetof<Line>(), 16);
let lineCount: u32 = 0;

// @ts-ignore: decorator
@inline
export function lineAt(i: u32): Line {
  return changetype<Line>(lines + (<usize>i << 6));
}

export function clearLines(): void {
  lineCount = 0;
}

/** Sets the number of lines after the caller has written them in place. */
export function setLineCount(count: u32): void {
  lineCount = count;
}

export function addLine(x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64, lower: f64, upper: f64): void {
  const line = lineAt(lineCount++);
  line.x = x; line.y = y; line.z = z;
  line.dx = dx; line.dy = dy; line.dz = dz;
  line.tMin = lower;
  line.tMax = upper;
}

/** Clips the lines to a body whose inverse is set. Only those faces of a hull clip a line that are steep to it. */
export function clipLines(body: Support): void {
  if (body.mesh != 0) {
    clipByHull(body);
    return;
  }
  for (let i: u32 = 0; i < lineCount; i++) {
    const line = lineAt(i);
    setLine(line.x, line.y, line.z, line.dx, line.dy, line.dz, line.tMin, line.tMax);
    clipLine(body);
    line.tMin = tMin;
    line.tMax = tMax;
  }
}

/**
 * The least slope of a face relative to a line that it clips. With a flatter face, rounding would move the cut along the
 * line.
 */
const MIN_SLOPE: f32 = 0.03125;

// x, y, z of points in four lanes, and of directions scaled to a largest magnitude of 1; the divisors of these, f64
// each.
const positions: usize = memory.data(3 * VECTOR_BYTES, 16);
const directions: usize = memory.data(3 * VECTOR_BYTES, 16);
const lengths: usize = memory.data(4 * F64_BYTES, 16);
/** The remaining parameter intervals of the lines, in units of `lengths`. */
const lowerBounds: usize = memory.data(VECTOR_BYTES, 16);
const upperBounds: usize = memory.data(VECTOR_BYTES, 16);
const PLANES_BETWEEN_CHECKS_BYTES: usize = 512; // 32 faces

function clipByHull(body: Support): void {
  setDirections(body);
  setPositions(body, 0);
  const x = v128.load(positions), y = v128.load(positions, 16), z = v128.load(positions, 32);
  const dx = v128.load(directions), dy = v128.load(directions, 16), dz = v128.load(directions, 32);
  const minSlope = f32x4.splat(MIN_SLOPE), maxFall = f32x4.splat(-MIN_SLOPE);
  let lower = v128.load(lowerBounds), upper = v128.load(upperBounds);
  const hull = changetype<Hull>(<usize>body.hull);
  const planes = planesIn(hull);
  const end = planes + <usize>hull.planeGroupCount * PLANE_GROUP_BYTES;
  // Ends early if all lines are entirely clipped away; this is checked once per 32 faces.
  for (let planeGroup = planes; planeGroup < end && !i32x4.all_true(f32x4.gt(lower, upper)); ) {
    for (const batchEnd = min(planeGroup + PLANES_BETWEEN_CHECKS_BYTES, end); planeGroup < batchEnd;
      planeGroup += PLANE_GROUP_BYTES) {
      for (let at = planeGroup; at < planeGroup + 16; at += 4) {
        const nx = v128.load32_splat(at), ny = v128.load32_splat(at, 16), nz = v128.load32_splat(at, 32);
        const speed = plus(plus(times(nx, dx), times(ny, dy)), times(nz, dz));
        const distance = f32x4.sub(v128.load32_splat(at, 48), plus(plus(times(nx, x), times(ny, y)), times(nz, z)));
        const t = f32x4.div(distance, speed);
        // The mask turns t into NaN (all bits set), which pmin and pmax ignore.
        upper = f32x4.pmin(upper, v128.or(t, f32x4.le(speed, minSlope)));
        lower = f32x4.pmax(lower, v128.or(t, f32x4.ge(speed, maxFall)));
      }
    }
  }
  v128.store(positions, lower);
  v128.store(positions, upper, 16);
  for (let i: u32 = 0; i < lineCount; i++) {
    const line = lineAt(i);
    const reciprocal = 1.0 / load<f64>(lengths + (<usize>i << 3));
    line.tMin = max(line.tMin, <f64>load<f32>(positions + (<usize>i << 2)) * reciprocal);
    line.tMax = min(line.tMax, <f64>load<f32>(positions + (<usize>i << 2), 16) * reciprocal);
  }
}

function setDirections(body: Support): void {
  const m = inverseOf(body);
  for (let i: u32 = 0; i < MAX_LINES; i++) {
    const line = lineAt(min(i, lineCount - 1));
    const x = m.xx * line.dx + m.yx * line.dy + m.zx * line.dz;
    const y = m.xy * line.dx + m.yy * line.dy + m.zy * line.dz;
    const z = m.xz * line.dx + m.yz * line.dy + m.zz * line.dz;
    const length = max(max(abs(x), abs(y)), abs(z)), reciprocal = 1.0 / length;
    store<f64>(lengths + (<usize>i << 3), length);
    store<f32>(lowerBounds + (<usize>i << 2), <f32>(line.tMin * length));
    store<f32>(upperBounds + (<usize>i << 2), <f32>(line.tMax * length));
    setLane(directions, i, x * reciprocal, y * reciprocal, z * reciprocal);
  }
}

/** Sets a point on each line, at `fraction` times the sum of `tMin` and `tMax`. There is at least one line. */
function setPositions(body: Support, fraction: f64): void {
  const m = inverseOf(body);
  for (let i: u32 = 0; i < MAX_LINES; i++) {
    const line = lineAt(min(i, lineCount - 1));
    const t = fraction * (line.tMin + line.tMax);
    const x = line.x + t * line.dx, y = line.y + t * line.dy, z = line.z + t * line.dz;
    setLane(
      positions, i, m.xx * x + m.yx * y + m.zx * z + m.tx, m.xy * x + m.yy * y + m.zy * z + m.ty,
      m.xz * x + m.yz * y + m.zz * z + m.tz,
    );
  }
}

// @ts-ignore: decorator
@inline
function setLane(vectors: usize, i: u32, x: f64, y: f64, z: f64): void {
  const to = vectors + (<usize>i << 2);
  store<f32>(to, <f32>x);
  store<f32>(to, <f32>y, 16);
  store<f32>(to, <f32>z, 32);
}

/** The largest float32 error of a height above a face in tree space, which reaches to 2 either way. */
const ROUNDING: f32 = 9.5367431640625e-7; // 2^-20

/** Returns a bit for each line whose midpoint is in a hull, up to rounding; for a body without a hull, all bits. */
export function midpointsInside(body: Support): u32 {
  const allLines = (<u32>1 << lineCount) - 1;
  if (body.mesh == 0) return allLines;
  setPositions(body, 0.5);
  const x = v128.load(positions), y = v128.load(positions, 16), z = v128.load(positions, 32);
  let highest = f32x4.splat(-Infinity);
  const hull = changetype<Hull>(<usize>body.hull);
  const planes = planesIn(hull);
  const end = planes + <usize>hull.planeGroupCount * PLANE_GROUP_BYTES;
  for (let planeGroup = planes; planeGroup < end; planeGroup += PLANE_GROUP_BYTES) {
    for (let at = planeGroup; at < planeGroup + 16; at += 4) {
      const height = plus(
        plus(times(v128.load32_splat(at), x), times(v128.load32_splat(at, 16), y)), times(v128.load32_splat(at, 32), z),
      );
      highest = f32x4.pmax(highest, f32x4.sub(height, v128.load32_splat(at, 48)));
    }
  }
  return <u32>i32x4.bitmask(f32x4.le(highest, f32x4.splat(ROUNDING))) & allLines;
}
