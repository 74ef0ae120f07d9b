// Tree space, chosen from the bounds of a mesh. It is the same for the same bounds, in a build and in a refit.

/** The bounds in mesh space and the resulting offset; a part of Mesh and of Build. */
@unmanaged
export class Space {
  offsetX: f64; offsetY: f64; offsetZ: f64;
  lowX: f64; lowY: f64; lowZ: f64;
  highX: f64; highY: f64; highZ: f64;
}

export const SPACE_BYTES: usize = offsetof<Space>();

export function clearBounds(s: Space): void {
  s.lowX = Infinity; s.lowY = Infinity; s.lowZ = Infinity;
  s.highX = -Infinity; s.highY = -Infinity; s.highZ = -Infinity;
}

// @ts-ignore: decorator
@inline
export function include(
  s: Space, ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64, cx: f64, cy: f64, cz: f64,
): void {
  s.lowX = min(s.lowX, min(min(ax, bx), cx)); s.highX = max(s.highX, max(max(ax, bx), cx));
  s.lowY = min(s.lowY, min(min(ay, by), cy)); s.highY = max(s.highY, max(max(ay, by), cy));
  s.lowZ = min(s.lowZ, min(min(az, bz), cz)); s.highZ = max(s.highZ, max(max(az, bz), cz));
}

/** Includes a box, x, y and z in the first three lanes; treats the signs of zeros like `include`. */
// @ts-ignore: decorator
@inline
export function includeBox(s: Space, low: v128, high: v128): void {
  s.lowX = min(s.lowX, <f64>f32x4.extract_lane(low, 0)); s.highX = max(s.highX, <f64>f32x4.extract_lane(high, 0));
  s.lowY = min(s.lowY, <f64>f32x4.extract_lane(low, 1)); s.highY = max(s.highY, <f64>f32x4.extract_lane(high, 1));
  s.lowZ = min(s.lowZ, <f64>f32x4.extract_lane(low, 2)); s.highZ = max(s.highZ, <f64>f32x4.extract_lane(high, 2));
}

/**
 * Chooses the offset: it differs from 0 only if the mesh is far from its own origin; then v - offset is exact in float32
 * (Sterbenz's lemma), and so is the scaling by a power of two.
 */
export function chooseOffset(s: Space): void {
  s.offsetX = offsetFor(s.lowX, s.highX);
  s.offsetY = offsetFor(s.lowY, s.highY);
  s.offsetZ = offsetFor(s.lowZ, s.highZ);
}

function offsetFor(low: f64, high: f64): f64 {
  const centre = <f64>(<f32>(0.5 * (low + high)));
  return abs(centre) > 2.0 * (high - low) ? centre : 0.0;
}

/** Returns the largest coordinate relative to the offset; times 2^exponent it is in [1, 2), the extent of tree space. */
export function largestCoordinate(s: Space): f64 {
  return max(
    max(
      max(abs(s.lowX - s.offsetX), abs(s.highX - s.offsetX)),
      max(abs(s.lowY - s.offsetY), abs(s.highY - s.offsetY)),
    ),
    max(abs(s.lowZ - s.offsetZ), abs(s.highZ - s.offsetZ)),
  );
}

export function exponentFor(largest: f64): i32 {
  return 1023 - <i32>((reinterpret<u64>(largest) >> 52) & 0x7ff);
}

/** Returns 2^exponent. */
export function scaleFor(exponent: i32): f64 {
  return reinterpret<f64>(<u64>(1023 + exponent) << 52);
}
