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
  const at = fraction * (sorted.length - 1);
  const below = sorted[Math.floor(at)];
  return below + (sorted[Math.ceil(at)] - below) * (at % 1);
}
