/** The quartiles enclose the middle half of the values. */
export interface Spread {
  median: number;
  lower: number;
  upper: number;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quartiles(values: readonly number[]): Pick<Spread, 'lower' | 'upper'> {
  return { lower: quantile(values, 0.25), upper: quantile(values, 0.75) };
}

/** A quantile, by linear interpolation between two values. */
function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = fraction * (sorted.length - 1);
  const lower = sorted[Math.floor(position)];
  return lower + (sorted[Math.ceil(position)] - lower) * (position % 1);
}
