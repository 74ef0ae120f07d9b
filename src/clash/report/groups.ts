import { STEPS } from '../slices.js';
import type { Finding } from '../tile/tile-runner.js';

/** Findings of one rule that have a part in common, each near to another one. */
export interface FindingGroup<F extends Finding> {
  part: number;
  findings: F[];
}

/**
 * Groups findings, which are sorted by rule and parts: each goes with the one of its two parts that has more of them under the
 * rule, the first of the two if they have as many. Those of a part are one group as far as each is near to the next.
 * It may rest after each step.
 */
export function* groupsOf<F extends Finding>(
  findings: readonly F[],
  distance: number,
): Generator<void, FindingGroup<F>[]> {
  const groups: FindingGroup<F>[] = [];
  for (let first = 0; first < findings.length; ) {
    let end = first;
    while (end < findings.length && findings[end].rule === findings[first].rule) end++;
    yield* addGroupsOfRule(groups, findings.slice(first, end), distance);
    first = end;
  }
  return groups;
}

function* addGroupsOfRule<F extends Finding>(
  groups: FindingGroup<F>[],
  findings: readonly F[],
  distance: number,
): Generator<void> {
  const counts = new Map<number, number>();
  for (const [i, { a, b }] of findings.entries()) {
    counts.set(a, (counts.get(a) ?? 0) + 1);
    counts.set(b, (counts.get(b) ?? 0) + 1);
    if (i % STEPS === STEPS - 1) yield;
  }
  const byPart = new Map<number, F[]>();
  for (const [i, finding] of findings.entries()) {
    if (i % STEPS === STEPS - 1) yield;
    const { a, b } = finding;
    const part = counts.get(b)! > counts.get(a)! ? b : a;
    const others = byPart.get(part);
    if (others) others.push(finding);
    else byPart.set(part, [finding]);
  }
  for (const part of Uint32Array.from(byPart.keys()).sort()) {
    for (const each of clusters(byPart.get(part)!, distance)) groups.push({ part, findings: each });
    yield;
  }
}

/** Splits findings where there is a gap: single linkage, by a sweep along x. They stay in their order. */
function clusters<F extends Finding>(findings: F[], distance: number): F[][] {
  if (findings.length === 1) return [findings];
  const parents = findings.map((_, i) => i);
  const rootOf = (i: number): number => {
    while (parents[i] !== i) {
      parents[i] = parents[parents[i]];
      i = parents[i];
    }
    return i;
  };
  const order = findings.map((_, i) => i).sort((i, j) => findings[i].point[0] - findings[j].point[0] || i - j);
  order.forEach((i, at) => {
    const p = findings[i].point;
    for (let next = at + 1; next < order.length; next++) {
      const q = findings[order[next]].point;
      if (q[0] - p[0] > distance) break;
      if (Math.hypot(q[0] - p[0], q[1] - p[1], q[2] - p[2]) > distance) continue;
      const [one, other] = [rootOf(i), rootOf(order[next])];
      parents[Math.max(one, other)] = Math.min(one, other);
    }
  });
  const found = new Map<number, F[]>();
  findings.forEach((finding, i) => {
    const root = rootOf(i);
    if (found.has(root)) found.get(root)!.push(finding);
    else found.set(root, [finding]);
  });
  return [...found.values()];
}
