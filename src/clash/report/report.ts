import { checkNumber, invalid } from '../check.js';
import { NameUuids } from '../name-uuid.js';
import type { Plan } from '../plan/plan.js';
import type { Finding, TileResult } from '../tile/tile-runner.js';
import type { Clash, ClashGroup, ClashReport, ClashStatus, PartName, ReportOptions, Unread } from '../types.js';
import { type FindingGroup, type Grouped, groupsOf } from './groups.js';

/** Ids of clashes and groups are UUIDs of names in this namespace (RFC 9562, version 5). */
const UUIDS = new NameUuids('1b0c2c56-6f3c-4d0a-9d43-6a8d2f7be9c1');

const DEFAULT_GROUP_DISTANCE = 1;

/** What was found, and what the report says of it. */
type Found = Grouped & { clash: Clash };

/**
 * Makes the report of what all tiles have found: the same one in whatever order they come. What can be said of a tile by
 * itself, ids above all, is made while others are still looked at. All of it may rest after each step.
 */
export class ReportMaker {
  readonly #plan: Plan;
  readonly #unread: readonly Unread[];
  readonly #groupDistance: number;
  readonly #earlier: Map<string, ClashStatus>;
  readonly #found: Found[] = [];
  /** A part may have failed in several tiles: the least of the reasons counts. */
  readonly #reasons = new Map<number, string>();

  /** `unread` are the parts that no tile was asked about. Throws INVALID_ARGUMENT for options that are none. */
  constructor(
    plan: Plan,
    unread: readonly Unread[],
    { accepted, groupDistance = DEFAULT_GROUP_DISTANCE }: ReportOptions,
  ) {
    this.#groupDistance = checkNumber('groupDistance', groupDistance, 0, 'a number >= 0');
    this.#earlier = readAccepted(accepted);
    this.#plan = plan;
    this.#unread = unread;
  }

  /** Takes what a tile has. */
  *add({ findings, unread }: TileResult): Generator<void> {
    for (const finding of findings) {
      this.#take(finding);
      yield;
    }
    for (const [part, reason] of unread) {
      const known = this.#reasons.get(part);
      if (known === undefined || reason < known) this.#reasons.set(part, reason);
    }
  }

  #take(finding: Finding): void {
    const { rule, a, b, point } = finding;
    this.#found.push({ rule, a, b, point, clash: clashOf(this.#plan, finding, this.#earlier) });
  }

  *make(): Generator<void, ClashReport> {
    const plan = this.#plan;
    const clashes: Clash[] = [];
    const groups: ClashGroup[] = [];
    for (const found of yield* groupsOf(this.#found.sort(byRuleAndParts), this.#groupDistance)) {
      groups.push(groupOf(plan, found, clashes));
      yield;
    }
    const found = new Set(clashes.map(({ id }) => id));
    const counts = new Map<string, number>();
    for (const { rule } of clashes) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    const { parts, countA, isWithin, rules, warnings } = plan;
    return {
      version: 1,
      parts: { a: countA, b: isWithin ? 0 : parts.length - countA },
      rules: rules.map(({ name, kind }) => ({ name, kind, clashes: counts.get(name) ?? 0 })),
      clashes,
      groups,
      unread: this.#allUnread(),
      warnings: [...warnings],
      resolved: [...this.#earlier.keys()].filter((id) => !found.has(id)).sort(),
    };
  }

  #allUnread(): Unread[] {
    const found = [...this.#reasons].map(([part, reason]): Unread => {
      const { set, id, name } = nameOf(this.#plan, part);
      return { set, id, name, reason };
    });
    return [...this.#unread, ...found].sort((p, q) => compare(p.set, q.set) || compare(p.id, q.id));
  }
}

function byRuleAndParts(p: Grouped, q: Grouped): number {
  return p.rule - q.rule || p.a - q.a || p.b - q.b;
}

/** Reads the status of each clash of an earlier report. Throws INVALID_ARGUMENT for what is none. */
function readAccepted(report: ReportOptions['accepted']): Map<string, ClashStatus> {
  if (report === undefined) return new Map();
  const clashes: unknown = report?.clashes;
  if (!Array.isArray(clashes)) invalid('accepted', report, 'an earlier report, with `clashes`');
  return new Map(clashes.map(({ id, status }: Clash) => [id, status]));
}

function clashOf(plan: Plan, { rule, a, b, point, value, inside }: Finding, earlier: Map<string, ClashStatus>): Clash {
  const { name, kind } = plan.rules[rule];
  const id = UUIDS.of(JSON.stringify(['clash', name, plan.parts[a].id, plan.parts[b].id]));
  const before = earlier.get(id);
  return {
    id,
    rule: name,
    kind,
    status: before === undefined ? 'new' : before === 'accepted' ? 'accepted' : 'active',
    group: '',
    a: nameOf(plan, a),
    b: nameOf(plan, b),
    point: [point[0] + plan.origin[0], point[1] + plan.origin[1], point[2] + plan.origin[2]],
    ...(kind === 'hard' ? { depth: value } : kind === 'clearance' ? { distance: value } : {}),
    ...(inside === 0 ? {} : { inside: inside === 1 ? ('a' as const) : ('b' as const) }),
  };
}

/** Makes a group, and adds its clashes to a list. */
function groupOf(plan: Plan, { part, findings }: FindingGroup<Found>, clashes: Clash[]): ClashGroup {
  const members = findings.map(({ clash }) => clash);
  const { name, kind } = plan.rules[findings[0].rule];
  const ofPart = nameOf(plan, part);
  const id = UUIDS.of(JSON.stringify(['group', name, ofPart.set, ofPart.id, lowestOf(members)]));
  for (const clash of members) {
    clash.group = id;
    clashes.push(clash);
  }
  const [status, bounds] = [statusOf(members), boundsOf(members)];
  return { id, rule: name, kind, part: ofPart, status, clashes: members.map((clash) => clash.id), bounds };
}

function nameOf({ parts, countA }: Plan, part: number): PartName {
  const { id, name, layer } = parts[part];
  return { set: part < countA ? 'a' : 'b', id, name, layer };
}

function lowestOf(clashes: readonly Clash[]): string {
  return clashes.reduce((lowest, { id }) => (id < lowest ? id : lowest), clashes[0].id);
}

function statusOf(clashes: readonly Clash[]): ClashStatus {
  if (clashes.every(({ status }) => status === 'accepted')) return 'accepted';
  return clashes.some(({ status }) => status === 'new') ? 'new' : 'active';
}

function boundsOf(clashes: readonly Clash[]): ClashGroup['bounds'] {
  const bounds: ClashGroup['bounds'] = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
  for (const { point } of clashes) {
    for (let axis = 0; axis < 3; axis++) {
      bounds[axis] = Math.min(bounds[axis], point[axis]);
      bounds[axis + 3] = Math.max(bounds[axis + 3], point[axis]);
    }
  }
  return bounds;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
