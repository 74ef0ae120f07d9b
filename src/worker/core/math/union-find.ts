// Disjoint sets of the numbers 0 to n - 1 (Tarjan, "Efficiency of a Good But Not Linear Set Union Algorithm", 1975),
// with path halving (Tarjan and van Leeuwen, "Worst-Case Analysis of Set Union Algorithms", 1984). The root of a set
// is its smallest number, so that sets keep the order of their first members.

/** Makes `count` sets of one number each. `parents`: a u32 per number. */
export function makeSets(parents: usize, count: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u32>(parents + (<usize>i << 2), i);
}

/** Returns the root of the set that a number is in. */
export function rootOf(parents: usize, element: u32): u32 {
  let parent = load<u32>(parents + (<usize>element << 2));
  while (parent != element) {
    const grandparent = load<u32>(parents + (<usize>parent << 2));
    store<u32>(parents + (<usize>element << 2), grandparent);
    element = grandparent;
    parent = load<u32>(parents + (<usize>element << 2));
  }
  return element;
}

/** Unites the sets of two numbers. Returns whether they were different. */
export function unite(parents: usize, i: u32, j: u32): bool {
  const p = rootOf(parents, i), q = rootOf(parents, j);
  if (p == q) return false;
  if (p < q) store<u32>(parents + (<usize>q << 2), p);
  else store<u32>(parents + (<usize>p << 2), q);
  return true;
}
