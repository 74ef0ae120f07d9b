// Tree space, chosen from the bounds of a mesh. It is the same for the same bounds, in a build and in a refit.

/** The bounds in mesh space and the resulting offset; a part of Mesh and of Build. */
@unmanaged
export class Space {
  offsetX: f64; offsetY: f64; offsetZ: f64;
  minX: f64; minY: f64; minZ: f64;
  maxX: f64; maxY: f64; maxZ: f64;
}

export const SPACE_BYTES: usize = offsetof<Space>();

export function clearBounds(s: Space): void {
  s.minX = Infinity; s.minY = Infinity; s.minZ = Infinity;
  s.maxX = -Infinity; s.maxY = -Infinity; s.maxZ = -Infinity;
}

// @ts-ignore: decorator
@inline
export function includeTriangle(
  s: Space, ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64, cx: f64, cy: f64, cz: f64,
): void {
  s.minX = min(s.minX, min(min(ax, bx), cx)); s.maxX = max(s.maxX, max(max(ax, bx), cx));
  s.minY = min(s.minY, min(min(ay, by), cy)); s.maxY = max(s.maxY, max(max(ay, by), cy));
  s.minZ = min(s.minZ, min(min(az, bz), cz)); s.maxZ = max(s.maxZ, max(max(az, bz), cz));
}

/** Includes a box, x, y and z in the first three lanes; treats the signs of zeros like `includeTriangle`. */
// @ts-ignore: decorator
@inline
export function includeBox(s: Space, boxMin: v128, boxMax: v128): void {
  s.minX = min(s.minX, <f64>f32x4.extract_lane(boxMin, 0)); s.maxX = max(s.maxX, <f64>f32x4.extract_lane(boxMax, 0));
  s.minY = min(s.minY, <f64>f32x4.extract_lane(boxMin, 1)); s.maxY = max(s.maxY, <f64>f32x4.extract_lane(boxMax, 1));
  s.minZ = min(s.minZ, <f64>f32x4.extract_lane(boxMin, 2)); s.maxZ = max(s.maxZ, <f64>f32x4.extract_lane(boxMax, 2));
}

/**
 * Chooses the offset: it differs from 0 only if the mesh is far from its own origin; then v - offset is exact in float32
 * (Sterbenz's lemma), and so is the scaling by a power of two.
 */
export function chooseOffset(s: Space): void {
  s.offsetX = offsetFor(s.minX, s.maxX);
  s.offsetY = offsetFor(s.minY, s.maxY);
  s.offsetZ = offsetFor(s.minZ, s.maxZ);
}

function offsetFor(minimum: f64, maximum: f64): f64 {
  const center = <f64>(<f32>(0.5 * (minimum + maximum)));
  return abs(center) > 2.0 * (maximum - minimum) ? center : 0.0;
}

/** Returns the largest coordinate relative to the offset; times 2^exponent it is in [1, 2), the extent of tree space. */
export function largestCoordinate(s: Space): f64 {
  return max(
    max(
      max(abs(s.minX - s.offsetX), abs(s.maxX - s.offsetX)),
      max(abs(s.minY - s.offsetY), abs(s.maxY - s.offsetY)),
    ),
    max(abs(s.minZ - s.offsetZ), abs(s.maxZ - s.offsetZ)),
  );
}

export function exponentFor(largest: f64): i32 {
  return 1023 - <i32>((reinterpret<u64>(largest) >> 52) & 0x7ff);
}

/** Returns 2^exponent. */
export function scaleFor(exponent: i32): f64 {
  return reinterpret<f64>(<u64>(1023 + exponent) << 52);
}
