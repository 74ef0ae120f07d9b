import { inChunks } from '../slices.js';
import type { Finding } from '../tile/tile-runner.js';

/** What of a finding its group hangs on. */
export type Grouped = Pick<Finding, 'rule' | 'a' | 'b' | 'point'>;

/** Findings of one rule that have a part in common, each near to another one. */
export interface FindingGroup<F extends Grouped> {
  part: number;
  findings: F[];
}

/**
 * Groups findings, which are sorted by rule and parts: each goes with the one of its two parts that has more of them under the
 * rule, the first of the two if they have as many. Those of a part are one group as far as each is near to the next.
 * It may rest after each step.
 */
export function* groupsOf<F extends Grouped>(
  findings: readonly F[],
  distance: number,
): Generator<void, FindingGroup<F>[]> {
  const groups: FindingGroup<F>[] = [];
  for (let first = 0; first < findings.length; ) {
    const end = endOfRule(findings, first);
    const lists = listsByPart(findings, first, end);
    yield;
    yield* inChunks(lists.length, (i) => {
      const { part, findings: own } = lists[i];
      if (own.length === 1) groups.push(lists[i]);
      else for (const each of clusters(own, distance)) groups.push({ part, findings: each });
    });
    first = end;
  }
  return groups;
}

function endOfRule(findings: readonly Grouped[], first: number): number {
  let end = first;
  while (end < findings.length && findings[end].rule === findings[first].rule) end++;
  return end;
}

/** Lists findings of a rule by the part that each goes with, in the order of the parts. */
function listsByPart<F extends Grouped>(findings: readonly F[], first: number, end: number): FindingGroup<F>[] {
  let most = 0;
  for (let i = first; i < end; i++) most = Math.max(most, findings[i].a, findings[i].b);
  const counts = new Uint32Array(most + 1);
  for (let i = first; i < end; i++) {
    counts[findings[i].a]++;
    counts[findings[i].b]++;
  }
  const byPart: (F[] | undefined)[] = new Array(most + 1);
  for (let i = first; i < end; i++) {
    const { a, b } = findings[i];
    const part = counts[b] > counts[a] ? b : a;
    const others = byPart[part];
    if (others) others.push(findings[i]);
    else byPart[part] = [findings[i]];
  }
  const lists: FindingGroup<F>[] = [];
  for (let part = 0; part <= most; part++) {
    const own = byPart[part];
    if (own) lists.push({ part, findings: own });
  }
  return lists;
}

/**
 * The most findings that are all compared with each other: most parts have no more, and to sort them and to keep them by their
 * sets takes longer.
 */
const FEW = 16;

/** Splits findings where there is a gap: single linkage. They stay in their order. */
function clusters<F extends Grouped>(findings: F[], distance: number): F[][] {
  const count = findings.length;
  const parents: number[] = [];
  for (let i = 0; i < count; i++) parents.push(i);
  const order = count > FEW ? orderAlongX(findings) : parents.slice();
  for (let at = 0; at < count; at++) {
    const p = findings[order[at]].point;
    for (let next = at + 1; next < count; next++) {
      const q = findings[order[next]].point;
      if (count > FEW && q[0] - p[0] > distance) break;
      if (Math.hypot(q[0] - p[0], q[1] - p[1], q[2] - p[2]) > distance) continue;
      const one = rootOf(parents, order[at]);
      const other = rootOf(parents, order[next]);
      parents[Math.max(one, other)] = Math.min(one, other);
    }
  }
  const found: F[][] = [];
  // Roots are the first of their sets: parents become the numbers of these.
  for (let i = 0; i < count; i++) {
    if (parents[i] === i) parents[i] = found.push([findings[i]]) - 1;
    else {
      parents[i] = parents[parents[i]];
      found[parents[i]].push(findings[i]);
    }
  }
  return found;
}

function orderAlongX(findings: readonly Grouped[]): number[] {
  const order = findings.map((_, i) => i);
  return order.sort((i, j) => findings[i].point[0] - findings[j].point[0] || i - j);
}

function rootOf(parents: number[], i: number): number {
  while (parents[i] !== i) {
    parents[i] = parents[parents[i]];
    i = parents[i];
  }
  return i;
}
