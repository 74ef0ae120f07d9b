import { addPoint, emptyBox, squaredGap } from '../plan/bounds.js';
import { inChunks } from '../slices.js';
import type { Finding } from '../tile/tile-runner.js';

/** The properties of a finding that determine its group. */
export type Grouped = Pick<Finding, 'rule' | 'a' | 'b' | 'point'>;

/** Findings of one rule with a common part, each near to another one. */
export interface FindingGroup<F extends Grouped> {
  part: number;
  findings: F[];
}

/**
 * Groups findings: each belongs to the one of its two parts that has more findings under the rule, or to the first of the two if
 * they have equally many. The findings of a part are one group as far as each is near to the next. Groups are in the order of
 * rules and parts, and so are the findings in them. Yields after each step.
 */
export function* groupsOf<F extends Grouped>(
  findings: readonly F[],
  distance: number,
): Generator<void, FindingGroup<F>[]> {
  const groups: FindingGroup<F>[] = [];
  for (let rule = 0, left = findings.length; left > 0; rule++) {
    const ofRule = findings.filter((each) => each.rule === rule);
    left -= ofRule.length;
    for (const [part, own] of (yield* listsByPart(ofRule)).entries()) {
      if (!own) continue;
      own.sort((p, q) => p.a - q.a || p.b - q.b);
      if (own.length === 1) groups.push({ part, findings: own });
      else for (const each of yield* clusters(own, distance)) groups.push({ part, findings: each });
    }
  }
  return groups;
}

/** Lists findings of a rule by the part that each belongs to. */
function* listsByPart<F extends Grouped>(findings: readonly F[]): Generator<void, (F[] | undefined)[]> {
  const most = findings.reduce((most, { b }) => Math.max(most, b), 0);
  const counts = new Uint32Array(most + 1);
  for (const { a, b } of findings) {
    counts[a]++;
    counts[b]++;
  }
  const byPart: (F[] | undefined)[] = new Array(most + 1);
  yield* inChunks(findings.length, (i) => {
    const { a, b } = findings[i];
    const part = counts[b] > counts[a] ? b : a;
    byPart[part] ??= [];
    byPart[part].push(findings[i]);
  });
  return byPart;
}

/** This many findings, or this many against as many others, are compared one by one. */
const FEW = 16;

/** A gap must exceed the distance by this factor, since the gap of two boxes may be rounded differently than that of two points. */
const SLACK = 1 + 1e-9;

/**
 * Splits findings into clusters by single linkage. They keep their order. They are halved until few are left, and halves are
 * compared if they are not one cluster already and their boxes are near to each other (by dual trees, as March, Ram and Gray, "Fast
 * Euclidean minimum spanning tree", 2010): 20,000 screws in a housing, each compared with each, took half a minute.
 */
function* clusters<F extends Grouped>(findings: F[], distance: number): Generator<void, F[][]> {
  const parents = [...findings.keys()];
  const rootOf = (i: number): number => {
    let root = i;
    while (root !== parents[root]) root = parents[root] = parents[parents[root]];
    return root;
  };
  const compare = (low: readonly number[], high: readonly number[]): void => {
    for (const i of low) {
      const p = findings[i].point;
      for (const j of high) {
        const q = findings[j].point;
        if (Math.hypot(q[0] - p[0], q[1] - p[1], q[2] - p[2]) > distance) continue;
        const [one, other] = [rootOf(i), rootOf(j)];
        parents[Math.max(one, other)] = Math.min(one, other);
      }
    }
  };
  const boxOf = (list: readonly number[]): number[] => {
    const box = emptyBox();
    for (const i of list) addPoint(box, ...findings[i].point);
    return box;
  };
  /** Halves a list at the median along the longest side of its box. */
  const halved = (list: number[]): number[][] => {
    const box = boxOf(list);
    const side = (axis: number): number => box[axis + 3] - box[axis];
    let longest = side(1) > side(0) ? 1 : 0;
    if (side(2) > side(longest)) longest = 2;
    list.sort((i, j) => findings[i].point[longest] - findings[j].point[longest]);
    return [list.slice(0, list.length >> 1), list.slice(list.length >> 1)];
  };
  function* within(list: number[]): Generator<void> {
    yield;
    if (list.length <= FEW) return compare(list, list);
    const [low, high] = halved(list);
    yield* within(low);
    yield* within(high);
    yield* between(low, high);
  }
  function* between(low: number[], high: number[]): Generator<void> {
    yield;
    const root = rootOf(low[0]);
    if (low.concat(high).every((i) => rootOf(i) === root)) return;
    if (squaredGap([...boxOf(low), ...boxOf(high)], 0, 1) > (SLACK * distance) ** 2) return;
    if (low.length * high.length <= FEW * FEW) return compare(low, high);
    for (const half of halved(high)) yield* between(half, low);
  }
  yield* within([...parents]);
  // The root of a set is its first element.
  const sets: F[][] = [];
  findings.forEach((each, i) => {
    const root = rootOf(i);
    sets[root] ??= [];
    sets[root].push(each);
  });
  return Object.values(sets);
}
