// Sizes, in bytes, of the entries of scratch memory that have no class of their own.

/** A u32, an i32 or a f32. */
export const WORD_BYTES: i32 = 4;
export const F64_BYTES: i32 = 8;
/** A v128: a lane for each of four children, triangles or boxes. */
export const VECTOR_BYTES: i32 = 16;
/** A position: x, y and z, f64 each. */
export const POSITION_BYTES: i32 = 3 * F64_BYTES;
/** The corners of a triangle: a position each. */
export const TRIANGLE_BYTES: i32 = 3 * POSITION_BYTES;
