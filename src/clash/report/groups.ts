import type { Finding } from '../tile/tile-runner.js';

/** Findings of one rule that have a part in common, each near to another one. */
export interface FindingGroup {
  part: number;
  findings: Finding[];
}

/**
 * Groups findings, which are sorted by rule and parts: each goes with the one of its two parts that has more of them under the
 * rule, the first of the two if they have as many. Those of a part are one group as far as each is near to the next.
 */
export function groupsOf(findings: readonly Finding[], distance: number): FindingGroup[] {
  const groups: FindingGroup[] = [];
  for (let first = 0; first < findings.length; ) {
    let end = first;
    while (end < findings.length && findings[end].rule === findings[first].rule) end++;
    groups.push(...groupsOfRule(findings.slice(first, end), distance));
    first = end;
  }
  return groups;
}

function groupsOfRule(findings: readonly Finding[], distance: number): FindingGroup[] {
  const counts = new Map<number, number>();
  for (const { a, b } of findings) {
    for (const part of [a, b]) counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  const byPart = new Map<number, Finding[]>();
  for (const finding of findings) {
    const { a, b } = finding;
    const part = counts.get(b)! > counts.get(a)! ? b : a;
    const others = byPart.get(part);
    if (others) others.push(finding);
    else byPart.set(part, [finding]);
  }
  const parts = [...byPart.keys()].sort((a, b) => a - b);
  return parts.flatMap((part) => clusters(byPart.get(part)!, distance).map((each) => ({ part, findings: each })));
}

/** Splits findings where there is a gap: single linkage, by a sweep along x. They stay in their order. */
function clusters(findings: readonly Finding[], distance: number): Finding[][] {
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
  const found = new Map<number, Finding[]>();
  findings.forEach((finding, i) => {
    const root = rootOf(i);
    if (found.has(root)) found.get(root)!.push(finding);
    else found.set(root, [finding]);
  });
  return [...found.values()];
}
