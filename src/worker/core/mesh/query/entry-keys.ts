// The order in which a traversal goes on to the children of a node: by the distance at which a ray enters them.

/** For each set of hit children, a bit each: all bits set in the lanes of the others. */
const misses: usize = memory.data<u32>([
  ~0, ~0, ~0, ~0, 0, ~0, ~0, ~0, ~0, 0, ~0, ~0, 0, 0, ~0, ~0,
  ~0, ~0, 0, ~0, 0, ~0, 0, ~0, ~0, 0, 0, ~0, 0, 0, 0, ~0,
  ~0, ~0, ~0, 0, 0, ~0, ~0, 0, ~0, 0, ~0, 0, 0, 0, ~0, 0,
  ~0, ~0, 0, 0, 0, ~0, 0, 0, ~0, 0, 0, 0, 0, 0, 0, 0,
], 16);
/** For each number of keys, the indices of an i8x16.swizzle that turns their order round: 0 to 4. */
const reversals: usize = memory.data<u8>([
  0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3,
  12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3,
], 16);
/** The same where the first is left out, for each number that is left. */
const reversalsOfRest: usize = memory.data<u8>([
  0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3,
  12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3,
], 16);

/**
 * Answers the keys of the children that are hit, a bit each, the nearest first: distances as integers, which sort alike as
 * none is negative, with the child's number in their last bits. All bits are set in what follows.
 */
// @ts-ignore: decorator
@inline
export function sortedKeys(near: v128, bits: u32): v128 {
  return sorted(v128.or(keysOf(near), v128.load(misses + (<usize>bits << 4))));
}

/** Answers the same of distances that have all bits set where a child is not hit. */
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

/** Sorts four keys by a network instead of branches that nobody can foresee: children 0 1, 2 3; 0 2, 1 3; 1 2. */
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

/** Answers so many sorted keys, the farthest in front. */
// @ts-ignore: decorator
@inline
export function reversedKeys(keys: v128, count: usize): v128 {
  return i8x16.swizzle(keys, v128.load(reversals + (count << 4)));
}

/** Answers sorted keys without the first, the last of so many that wait in front. */
// @ts-ignore: decorator
@inline
export function waitingKeys(keys: v128, waiting: usize): v128 {
  return i8x16.swizzle(keys, v128.load(reversalsOfRest + (waiting << 4)));
}

/** Answers the greatest key that a box can have that is entered by a distance. */
// @ts-ignore: decorator
@inline
export function keyOf(distance: f32): u32 {
  return reinterpret<u32>(distance) | 3;
}
