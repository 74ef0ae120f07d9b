import { addPoint, emptyBox, gapOf } from '../plan/bounds.js';
import { inChunks } from '../slices.js';
import type { Finding } from '../tile/tile-runner.js';

/** The properties of a finding that determine its group. */
export type GroupableFinding = Pick<Finding, 'rule' | 'a' | 'b' | 'point'>;

/** Findings of one rule with a common part, each near to another one. */
export interface FindingGroup<F extends GroupableFinding> {
  part: number;
  findings: F[];
}

/**
 * Groups findings: each belongs to the one of its two parts that has more findings under the rule, or to the first of the two if
 * they have equally many. The findings of a part are one group as far as each is near to the next. Groups are in the order of
 * rules and parts, and so are the findings in them. Yields after each step.
 */
export function* groupsOf<F extends GroupableFinding>(
  findings: readonly F[],
  distance: number,
): Generator<void, FindingGroup<F>[]> {
  const groups: FindingGroup<F>[] = [];
  for (let rule = 0, remaining = findings.length; remaining > 0; rule++) {
    const ruleFindings = findings.filter((each) => each.rule === rule);
    remaining -= ruleFindings.length;
    for (const [part, partFindings] of (yield* listsByPart(ruleFindings)).entries()) {
      if (!partFindings) continue;
      partFindings.sort((p, q) => p.a - q.a || p.b - q.b);
      if (partFindings.length === 1) groups.push({ part, findings: partFindings });
      else for (const cluster of yield* clusters(partFindings, distance)) groups.push({ part, findings: cluster });
    }
  }
  return groups;
}

/** Lists findings of a rule by the part that each belongs to. */
function* listsByPart<F extends GroupableFinding>(findings: readonly F[]): Generator<void, (F[] | undefined)[]> {
  const maxPart = findings.reduce((max, { b }) => Math.max(max, b), 0);
  const counts = new Uint32Array(maxPart + 1);
  for (const { a, b } of findings) {
    counts[a]++;
    counts[b]++;
  }
  const byPart: (F[] | undefined)[] = new Array(maxPart + 1);
  yield* inChunks(findings.length, (i) => {
    const { a, b } = findings[i];
    const part = counts[b] > counts[a] ? b : a;
    byPart[part] ??= [];
    byPart[part].push(findings[i]);
  });
  return byPart;
}

/** This many findings, or this many against as many others, are compared one by one. */
const MAX_DIRECT = 16;

/** A gap must exceed the distance by this factor, since the gap of two boxes may be rounded differently than that of two points. */
const SLACK = 1 + 1e-9;

/**
 * Splits findings into clusters by single linkage. They keep their order. They are halved until few are left, and halves are
 * compared if they are not one cluster already and their boxes are near to each other (by dual trees, as March, Ram and Gray, "Fast
 * Euclidean minimum spanning tree", 2010): 20,000 screws in a housing, each compared with each, took half a minute.
 */
function* clusters<F extends GroupableFinding>(findings: F[], distance: number): Generator<void, F[][]> {
  const parents = [...findings.keys()];
  const rootOf = (i: number): number => {
    let root = i;
    while (root !== parents[root]) root = parents[root] = parents[parents[root]];
    return root;
  };
  const joinNear = (firstHalf: readonly number[], secondHalf: readonly number[]): void => {
    for (const i of firstHalf) {
      const p = findings[i].point;
      for (const j of secondHalf) {
        const q = findings[j].point;
        if (Math.hypot(q[0] - p[0], q[1] - p[1], q[2] - p[2]) > distance) continue;
        const [rootA, rootB] = [rootOf(i), rootOf(j)];
        parents[Math.max(rootA, rootB)] = Math.min(rootA, rootB);
      }
    }
  };
  const boxOf = (list: readonly number[]): number[] => {
    const box = emptyBox();
    for (const i of list) addPoint(box, ...findings[i].point);
    return box;
  };
  /** Halves a list at the median along the longest side of its box. */
  const halve = (list: number[]): number[][] => {
    const box = boxOf(list);
    const side = (axis: number): number => box[axis + 3] - box[axis];
    let longest = side(1) > side(0) ? 1 : 0;
    if (side(2) > side(longest)) longest = 2;
    list.sort((i, j) => findings[i].point[longest] - findings[j].point[longest]);
    return [list.slice(0, list.length >> 1), list.slice(list.length >> 1)];
  };
  function* joinWithin(list: number[]): Generator<void> {
    yield;
    if (list.length <= MAX_DIRECT) return joinNear(list, list);
    const [firstHalf, secondHalf] = halve(list);
    yield* joinWithin(firstHalf);
    yield* joinWithin(secondHalf);
    yield* joinBetween(firstHalf, secondHalf);
  }
  function* joinBetween(firstHalf: number[], secondHalf: number[]): Generator<void> {
    yield;
    const root = rootOf(firstHalf[0]);
    if (firstHalf.concat(secondHalf).every((i) => rootOf(i) === root)) return;
    if (gapOf([...boxOf(firstHalf), ...boxOf(secondHalf)], 0, 1) > SLACK * distance) return;
    if (firstHalf.length * secondHalf.length <= MAX_DIRECT * MAX_DIRECT) return joinNear(firstHalf, secondHalf);
    for (const half of halve(secondHalf)) yield* joinBetween(half, firstHalf);
  }
  yield* joinWithin([...parents]);
  // The root of a set is its first element.
  const clusterOfRoot: F[][] = [];
  findings.forEach((each, i) => {
    const root = rootOf(i);
    clusterOfRoot[root] ??= [];
    clusterOfRoot[root].push(each);
  });
  return Object.values(clusterOfRoot);
}
