// The order in which a traversal visits the children of a node: by the distance at which a ray enters them.

/** For each set of hit children, a bit each: all bits set in the lanes of the missed ones. */
const misses: usize = memory.data<u32>([
  ~0, ~0, ~0, ~0, 0, ~0, ~0, ~0, ~0, 0, ~0, ~0, 0, 0, ~0, ~0,
  ~0, ~0, 0, ~0, 0, ~0, 0, ~0, ~0, 0, 0, ~0, 0, 0, 0, ~0,
  ~0, ~0, ~0, 0, 0, ~0, ~0, 0, ~0, 0, ~0, 0, 0, 0, ~0, 0,
  ~0, ~0, 0, 0, 0, ~0, 0, 0, ~0, 0, 0, 0, 0, 0, 0, 0,
], 16);
/** For each number of keys, the indices of an i8x16.swizzle that reverses their order: 0 to 4. */
const reversals: usize = memory.data<u8>([
  0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3,
  12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3,
], 16);
/** The same without the first key, for each number of remaining keys. */
const reversalsOfRest: usize = memory.data<u8>([
  0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3,
  12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3,
], 16);

/**
 * Returns the keys of the hit children, a bit each in `bits`, the nearest first: distances as integers, which sort alike
 * since none is negative, with the child's index in the lowest bits. All bits are set in the remaining lanes.
 */
// @ts-ignore: decorator
@inline
export function sortedKeys(near: v128, bits: u32): v128 {
  return sorted(v128.or(keysOf(near), v128.load(misses + (<usize>bits << 4))));
}

/** Returns the same for distances that have all bits set if a child is not hit. */
// @ts-ignore: decorator
@inline
export function sortedEntries(entries: v128): v128 {
  return sorted(keysOf(entries));
}

// @ts-ignore: decorator
@inline
function keysOf(near: v128): v128 {
  return v128.or(v128.and(near, i32x4.splat(~3)), i32x4(0, 1, 2, 3));
}

/** Sorts four keys by a sorting network, without unpredictable branches: children 0 1, 2 3; 0 2, 1 3; 1 2. */
// @ts-ignore: decorator
@inline
function sorted(unsorted: v128): v128 {
  let keys = unsorted;
  let other = v128.shuffle<i32>(keys, keys, 1, 0, 3, 2);
  keys = v128.shuffle<i32>(i32x4.min_u(keys, other), i32x4.max_u(keys, other), 0, 5, 2, 7);
  other = v128.shuffle<i32>(keys, keys, 2, 3, 0, 1);
  keys = v128.shuffle<i32>(i32x4.min_u(keys, other), i32x4.max_u(keys, other), 0, 1, 6, 7);
  other = v128.shuffle<i32>(keys, keys, 0, 2, 1, 3);
  return v128.shuffle<i32>(i32x4.min_u(keys, other), i32x4.max_u(keys, other), 0, 1, 6, 7);
}

/** Returns `count` sorted keys in reverse order, the farthest first. */
// @ts-ignore: decorator
@inline
export function reversedKeys(keys: v128, count: usize): v128 {
  return i8x16.swizzle(keys, v128.load(reversals + (count << 4)));
}

/** Returns sorted keys without the first, in reverse order; `pendingCount` is how many remain. */
// @ts-ignore: decorator
@inline
export function pendingKeys(keys: v128, pendingCount: usize): v128 {
  return i8x16.swizzle(keys, v128.load(reversalsOfRest + (pendingCount << 4)));
}

/** Returns the greatest key that a box entered at a distance can have. */
// @ts-ignore: decorator
@inline
export function keyOf(distance: f32): u32 {
  return reinterpret<u32>(distance) | 3;
}
