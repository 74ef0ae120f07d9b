import { type Ray, Vector3 } from 'three';

/**
 * Returns whether the convex hulls of two sets of points have a common point, in rational arithmetic: points, segments and
 * triangles are all handled alike. They do if there are weights ≥ 0, with sum 1 in each set, that give the same point: a linear
 * programme, which has a feasible basic solution if it is feasible at all (Dantzig). All bases are tried.
 */
export function hullsMeet(p: readonly Vector3[], q: readonly Vector3[]): boolean {
  if (AXES.some((axis) => isBefore(p, q, axis) || isBefore(q, p, axis))) return false;
  const columns = columnsOf(p, q);
  const maskP = (1 << p.length) - 1;
  for (let subset = 1; subset < 1 << columns.length; subset++) {
    if ((subset & maskP) === 0 || (subset & ~maskP) === 0) continue; // the weights of each set could not add up to 1
    const basis = columns.filter((_, i) => subset & (1 << i));
    if (basis.length <= ROWS && isFeasible(basis)) return true;
  }
  return false;
}

const AXES = ['x', 'y', 'z'] as const;

function isBefore(p: readonly Vector3[], q: readonly Vector3[], axis: (typeof AXES)[number]): boolean {
  return Math.max(...p.map((point) => point[axis])) < Math.min(...q.map((point) => point[axis]));
}

/** x, y and z of both sets cancel out; the weights of each set add up to 1. */
const ROWS = 5;

/** Converts to integers in units of a common power of two. */
function columnsOf(p: readonly Vector3[], q: readonly Vector3[]): bigint[][] {
  const coordinates = [...p, ...q].flatMap((point) => point.toArray());
  const minExponent = Math.min(...coordinates.map(lowestExponent));
  const toUnits = (value: number, sign: bigint) => sign * toInteger(value, minExponent);
  return [
    ...p.map((point) => [...point.toArray().map((value) => toUnits(value, 1n)), 1n, 0n]),
    ...q.map((point) => [...point.toArray().map((value) => toUnits(value, -1n)), 0n, 1n]),
  ];
}

/** Solves columns · weights = (0, 0, 0, 1, 1) by fraction-free elimination (Bareiss 1968). */
function isFeasible(columns: bigint[][]): boolean {
  const count = columns.length;
  const rows = Array.from({ length: ROWS }, (_, r) => [...columns.map((column) => column[r]), r < 3 ? 0n : 1n]);
  for (let k = 0; k < count; k++) {
    const pivot = rows.findIndex((row, r) => r >= k && row[k] !== 0n);
    if (pivot < 0) return false; // not a basis: a smaller one gives the same result
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    for (let r = 0; r < ROWS; r++) {
      if (r === k || rows[r][k] === 0n) continue;
      const [factor, pivotValue] = [rows[r][k], rows[k][k]];
      rows[r] = rows[r].map((value, i) => value * pivotValue - rows[k][i] * factor);
    }
  }
  if (rows.slice(count).some((row) => row[count] !== 0n)) return false;
  return rows.slice(0, count).every((row, k) => row[count] === 0n || row[count] > 0n === row[k] > 0n);
}

/** The closest point of a ray to a point, relative to that point, rounded once. The direction may have any length. */
export function nearestOnRay({ origin, direction }: Ray, point: Vector3): Vector3 {
  const vectors = [origin, direction, point].map((vector) => vector.toArray());
  const minExponent = Math.min(...vectors.flat().map(lowestExponent));
  const [o, d, p] = vectors.map((vector) => vector.map((value) => toInteger(value, minExponent)));
  const offset = o.map((value, i) => value - p[i]);
  const dot = (a: bigint[], b: bigint[]) => a.reduce((sum, value, i) => sum + value * b[i], 0n);
  const [denominator, numerator] = [dot(d, d), -dot(offset, d)];
  // 2⁻¹²⁰ of a unit gives enough digits in addition to those of the quotient.
  const scaled = offset.map((value, i) => ((value * denominator + numerator * d[i]) << 120n) / denominator);
  return new Vector3(...scaled.map((value) => Number(value) * 2 ** -120 * 2 ** minExponent));
}

const floatView = new DataView(new ArrayBuffer(8));

/** The exponent of the lowest bit that a number may have. */
function lowestExponent(value: number): number {
  if (value === 0) return Number.POSITIVE_INFINITY;
  floatView.setFloat64(0, value);
  return Math.max((floatView.getUint16(0) >> 4) & 0x7ff, 1) - 1075;
}

/** value / 2^exponent, which is an integer. */
function toInteger(value: number, exponent: number): bigint {
  if (value === 0) return 0n;
  floatView.setFloat64(0, value);
  const raw = floatView.getBigUint64(0);
  const biased = Number((raw >> 52n) & 0x7ffn);
  const mantissa = (raw & 0xfffffffffffffn) | (biased === 0 ? 0n : 1n << 52n);
  const shifted = mantissa << BigInt(Math.max(biased, 1) - 1075 - exponent);
  return value < 0 ? -shifted : shifted;
}
