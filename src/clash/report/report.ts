import { checkNumber, invalid } from '../check.js';
import { NameUuids } from '../name-uuid.js';
import { addPoint, emptyBox } from '../plan/bounds.js';
import type { Plan } from '../plan/plan.js';
import { inChunks } from '../slices.js';
import type { Finding, TileResult } from '../tile/tile-runner.js';
import type { Clash, ClashGroup, ClashReport, ClashStatus, PartName, ReportOptions, Unread } from '../types.js';
import { type FindingGroup, type GroupableFinding, groupsOf } from './groups.js';

/** Ids of clashes and groups are UUIDs of names in this namespace (RFC 9562, version 5). */
const UUIDS = new NameUuids('1b0c2c56-6f3c-4d0a-9d43-6a8d2f7be9c1');

const DEFAULT_GROUP_DISTANCE = 1;

const STATUSES = ['new', 'active', 'accepted'];

/** The checked options of a report. */
export interface CheckedReportOptions {
  groupDistance: number;
  /** The statuses of clashes in an earlier report, by their ids. */
  earlier: Map<string, ClashStatus>;
}

/** A finding, and its clash in the report. */
type ReportedFinding = GroupableFinding & { clash: Clash };

/**
 * Makes the report from the results of all tiles: the same one in whatever order they come. What depends on one tile alone,
 * above all ids, is made while other tiles are still running. All of it yields after each step.
 */
export class ReportMaker {
  readonly #plan: Plan;
  readonly #unread: readonly Unread[];
  readonly #groupDistance: number;
  /** Clashes of the earlier report that have not been found again so far. */
  readonly #earlier: Map<string, ClashStatus>;
  readonly #findings: ReportedFinding[] = [];
  /** A part may have failed in several tiles: the first of the reasons in alphabetical order counts. */
  readonly #reasons = new Map<number, string>();
  /** The names of parts, and their ids as JSON: made once for each part, not for each clash. */
  readonly #names: (PartName | undefined)[];
  readonly #ids: (string | undefined)[];
  /** The names of the rules as JSON. */
  readonly #ruleNames: readonly string[];

  /** `unread` are the parts that no tile contains. */
  constructor(plan: Plan, unread: readonly Unread[], { groupDistance, earlier }: CheckedReportOptions) {
    this.#groupDistance = groupDistance;
    this.#earlier = earlier;
    this.#plan = plan;
    this.#unread = unread;
    this.#names = new Array(plan.parts.length);
    this.#ids = new Array(plan.parts.length);
    this.#ruleNames = plan.rules.map(({ name }) => JSON.stringify(name));
  }

  /** Takes the result of a tile. */
  *add({ findings, unread }: TileResult): Generator<void> {
    yield* inChunks(findings.length, (i) => {
      const { rule, a, b, point } = findings[i];
      this.#findings.push({ rule, a, b, point, clash: this.#clashOf(findings[i]) });
    });
    for (const [part, reason] of unread) {
      const knownReason = this.#reasons.get(part);
      if (knownReason === undefined || reason < knownReason) this.#reasons.set(part, reason);
    }
  }

  #clashOf({ rule, a, b, point, value, inside }: Finding): Clash {
    const { rules, origin } = this.#plan;
    const { name, kind } = rules[rule];
    // The same as JSON of a list of four texts.
    const id = UUIDS.of(`["clash",${this.#ruleNames[rule]},${this.#idOf(a)},${this.#idOf(b)}]`);
    const earlierStatus = this.#earlier.get(id);
    this.#earlier.delete(id);
    const clash: Clash = {
      id,
      rule: name,
      kind,
      status: earlierStatus === 'accepted' ? earlierStatus : earlierStatus ? 'active' : 'new',
      group: '',
      a: this.#nameOf(a),
      b: this.#nameOf(b),
      point: [point[0] + origin[0], point[1] + origin[1], point[2] + origin[2]],
    };
    // Spreading these into the literal took as long as everything else of it.
    if (kind === 'hard') clash.depth = value;
    else if (kind === 'clearance') clash.distance = value;
    if (inside !== 0) clash.inside = inside === 1 ? 'a' : 'b';
    return clash;
  }

  /** Returns the name of a part; clashes and groups share the object. */
  #nameOf(part: number): PartName {
    const { parts, countA } = this.#plan;
    const { id, name, layer } = parts[part];
    this.#names[part] ??= { set: part < countA ? 'a' : 'b', id, name, layer };
    return this.#names[part];
  }

  #idOf(part: number): string {
    this.#ids[part] ??= JSON.stringify(this.#plan.parts[part].id);
    return this.#ids[part];
  }

  *make(): Generator<void, ClashReport> {
    const clashes: Clash[] = [];
    const groups: ClashGroup[] = [];
    const findingGroups = yield* groupsOf(this.#findings, this.#groupDistance);
    yield* inChunks(findingGroups.length, (i) => {
      groups.push(this.#groupOf(findingGroups[i], clashes));
    });
    const { parts, countA, rules, warnings } = this.#plan;
    const counts = new Array<number>(rules.length).fill(0);
    for (const { rule } of this.#findings) counts[rule]++;
    return {
      version: 1,
      parts: { a: countA, b: parts.length - countA },
      rules: rules.map(({ name, kind }, rule) => ({ name, kind, clashes: counts[rule] })),
      clashes,
      groups,
      unread: this.#allUnread(),
      warnings: [...warnings],
      resolved: [...this.#earlier.keys()].sort(),
    };
  }

  /** Makes a group, and adds its clashes to a list. */
  #groupOf({ part, findings }: FindingGroup<ReportedFinding>, clashes: Clash[]): ClashGroup {
    const { rule } = findings[0];
    const { name, kind } = this.#plan.rules[rule];
    const partName = this.#nameOf(part);
    const ids: string[] = [];
    const bounds = emptyBox() as ClashGroup['bounds'];
    let firstId = findings[0].clash.id;
    let isAnyNew = false;
    let areAccepted = true;
    for (const { clash } of findings) {
      ids.push(clash.id);
      if (clash.id < firstId) firstId = clash.id;
      const { point } = clash;
      addPoint(bounds, point[0], point[1], point[2]);
      isAnyNew ||= clash.status === 'new';
      areAccepted &&= clash.status === 'accepted';
    }
    // The same as JSON of a list of five texts.
    const id = UUIDS.of(`["group",${this.#ruleNames[rule]},"${partName.set}",${this.#idOf(part)},"${firstId}"]`);
    for (const { clash } of findings) {
      clash.group = id;
      clashes.push(clash);
    }
    const status = areAccepted ? 'accepted' : isAnyNew ? 'new' : 'active';
    return { id, rule: name, kind, part: partName, status, clashes: ids, bounds };
  }

  #allUnread(): Unread[] {
    const failedParts = [...this.#reasons].map(([part, reason]): Unread => {
      const { layer, ...named } = this.#nameOf(part);
      return { ...named, reason };
    });
    return [...this.#unread, ...failedParts].sort((p, q) => compare(p.set + p.id, q.set + q.id));
  }
}

/** Reads the options of a report, before there is anything to report. Throws INVALID_ARGUMENT for invalid options. */
export function readReportOptions({
  accepted = { clashes: [] },
  groupDistance = DEFAULT_GROUP_DISTANCE,
}: ReportOptions): CheckedReportOptions {
  checkNumber('groupDistance', groupDistance, 0, 'a number >= 0');
  const clashes: unknown = accepted?.clashes;
  if (!Array.isArray(clashes)) invalid('accepted', accepted, 'an earlier report, with `clashes`');
  const earlier = new Map(
    clashes.map((clash: Clash | null, i) => {
      if (typeof clash?.id !== 'string' || !STATUSES.includes(clash.status))
        invalid(`accepted.clashes[${i}]`, clash?.status ?? clash, STATUSES.join(' or '));
      return [clash.id, clash.status];
    }),
  );
  return { groupDistance, earlier };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
