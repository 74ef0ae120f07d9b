/** Returns the same pairs, two numbers each, with the two of each pair swapped, sorted. */
export function swappedPairs<T extends Uint32Array | Int32Array>(pairs: T): T {
  const order = swappedOrder(pairs);
  const swapped = pairs.slice() as T;
  for (let to = 0; to < order.length; to++) {
    swapped[2 * to] = pairs[2 * order[to] + 1];
    swapped[2 * to + 1] = pairs[2 * order[to]];
  }
  return swapped;
}

/** Returns the indices of pairs, two numbers each, in their order after the two of each pair are swapped. */
function swappedOrder(pairs: Uint32Array | Int32Array): Uint32Array {
  const order = Uint32Array.from({ length: pairs.length / 2 }, (_, i) => i);
  return order.sort((i, j) => pairs[2 * i + 1] - pairs[2 * j + 1] || pairs[2 * i] - pairs[2 * j]);
}
