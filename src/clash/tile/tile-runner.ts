import { CollisionError, type CollisionService, type ContactSet, type ObjectId, type Vec3 } from 'collision-worker';
import { reasonOf, throwIfAborted } from '../check.js';
import { type Box, squaredGap } from '../plan/bounds.js';
import { isAbout, type Plan, SIDE_A, SIDE_B } from '../plan/plan.js';
import { halves, isOfCell, type Tile } from '../plan/tiles.js';
import type { Rule } from '../types.js';
import { isDuplicate, isSameBox, type PlacedGeometry, placeGeometry } from './duplicates.js';
import { LoadedMeshes, type MeshSource } from './loaded-meshes.js';
import { trianglesOf } from './triangles.js';

/** What two parts have done against a rule. All numbers are those of the plan: parts, rules, and places about its origin. */
export interface Finding {
  rule: number;
  /** Less than `b`. */
  a: number;
  b: number;
  point: Vec3;
  /** The depth, or the distance; 0 of duplicates. */
  value: number;
  /** 1: a lies inside of b, 2: b inside of a, else 0. */
  inside: number;
}

export interface TileResult {
  findings: Finding[];
  /** Parts that could not be loaded, and why. */
  unread: [part: number, reason: string][];
}

/** Boxes that make room for objects: nothing touches them. */
const ASIDE = { shape: { type: 'box', halfExtents: [1, 1, 1] }, contacts: 'none' } as const;

/** So many distances are asked for at once. */
const MOST_AT_ONCE = 1024;

/** Hard rules share so many pairs of layers. */
const PAIRS_OF_LAYERS = 16;

/** Lists the rules of a kind that are about two parts, by their limits. */
function rulesAbout(
  plan: Plan,
  kind: Rule['kind'],
  a: number,
  b: number,
  isNear: (limit: number) => boolean,
): number[] {
  const found: number[] = [];
  plan.rules.forEach((rule, i) => {
    if (rule.kind === kind && isNear(rule.limit) && isAbout(plan, i, a, b)) found.push(i);
  });
  return found;
}

/** Finds the greatest depth of a pair of a frame, and the middle of the points that have it. */
function deepestOf({ start, points, depths }: ContactSet, pair: number): { depth: number; point: Vec3 } {
  let depth = Number.NEGATIVE_INFINITY;
  let [x, y, z, count] = [0, 0, 0, 0];
  for (let i = start[pair]; i < start[pair + 1]; i++) {
    if (depths[i] > depth) {
      depth = depths[i];
      x = y = z = count = 0;
    }
    if (depths[i] < depth) continue;
    x += points[3 * i];
    y += points[3 * i + 1];
    z += points[3 * i + 2];
    count++;
  }
  return { depth, point: [x / count, y / count, z / count] };
}

/** Looks at tiles, one after the other, by a service of its own. */
export class TileRunner {
  readonly #service: CollisionService;
  readonly #plan: Plan;
  readonly #source: MeshSource;
  readonly #meshes: LoadedMeshes;
  /**
   * Objects that stay, by ascending ids: the n-th part of a tile is the n-th of them. So of two parts the lower one has the
   * lower id, and what is computed of them is the same to the last bit in every tile and every worker.
   */
  readonly #objects: ObjectId[] = [];
  /** Those of them that are not aside. */
  readonly #used = new Set<ObjectId>();

  constructor(service: CollisionService, plan: Plan, source: MeshSource, bytes: number) {
    this.#service = service;
    this.#plan = plan;
    this.#source = source;
    this.#meshes = new LoadedMeshes(service, source, bytes);
  }

  /** Looks at all pairs of a tile. Rejects with ABORTED, and with WORKER_LOST when the service is no more. */
  async run(tile: Tile, signal?: AbortSignal): Promise<TileResult> {
    throwIfAborted(signal);
    const result: TileResult = { findings: [], unread: [] };
    const meshes = tile.parts.map((part) => this.#plan.parts[part].mesh);
    const failed = await this.#meshes.load(meshes, signal);
    const isRead = (part: number): boolean => !failed.has(this.#plan.parts[part].mesh);
    for (const part of tile.parts) {
      const { mesh } = this.#plan.parts[part];
      if (failed.has(mesh)) result.unread.push([part, failed.get(mesh)!]);
    }
    const parts = tile.parts.filter(isRead);
    const split = tile.parts.slice(0, tile.split).filter(isRead).length;
    // A side of the split of which nothing could be read has no pairs.
    const isEmpty = tile.split > 0 && (split === 0 || split === parts.length);
    if (!isEmpty) {
      const pairs = this.#pairsOf({ ...tile, parts, split });
      await this.#findHard({ ...tile, parts, split }, result, signal);
      await this.#findNear(pairs, result, signal);
      await this.#findDuplicates(pairs, result);
    }
    return result;
  }

  /** By frames: all pairs that touch, in one answer. Where there is too much to say, by halves. */
  async #findHard(tile: Tile, result: TileResult, signal: AbortSignal | undefined): Promise<void> {
    const { rules } = this.#plan;
    const hard = Array.from(rules.keys()).filter((rule) => rules[rule].kind === 'hard');
    const placed = this.#place(tile, hard);
    if (placed === 0) return;
    throwIfAborted(signal);
    const findings: Finding[] = [];
    try {
      await this.#readFrame(tile, hard, findings);
    } catch (error) {
      const isTooMuch = CollisionError.is(error) && error.code === 'OUT_OF_MEMORY';
      if (!isTooMuch) throw error;
      this.#clear();
      if (tile.parts.length > 2) await this.#findByHalves(tile, result, signal);
      else for (const part of tile.parts) result.unread.push([part, reasonOf(error)]);
      return;
    }
    this.#clear();
    result.findings.push(...findings);
  }

  async #findByHalves(tile: Tile, result: TileResult, signal: AbortSignal | undefined): Promise<void> {
    const { cell, parts, split } = tile;
    const [low, high] = split > 0 ? [parts.slice(0, split), parts.slice(split)] : halves(parts);
    if (split === 0) {
      for (const half of [low, high]) {
        if (half.length > 1) await this.#findHard({ cell, parts: half, split: 0 }, result, signal);
      }
      await this.#findHard({ cell, parts, split: low.length }, result, signal);
      return;
    }
    for (const one of low.length > 1 ? halves(low) : [low]) {
      for (const other of high.length > 1 ? halves(high) : [high]) {
        await this.#findHard({ cell, parts: [...one, ...other], split: one.length }, result, signal);
      }
    }
  }

  /** Puts the parts that hard rules are about in their places; answers how many there are. */
  #place({ parts, split }: Tile, hard: readonly number[]): number {
    while (this.#objects.length < parts.length) this.#objects.push(this.#service.addObject(ASIDE));
    let placed = 0;
    parts.forEach((part, i) => {
      let [layers, collidesWith] = [0, 0];
      hard.forEach((rule, k) => {
        const pair = 2 * (k % PAIRS_OF_LAYERS);
        const side = this.#plan.sides[rule][part];
        layers |= side << pair;
        if (side & SIDE_A) collidesWith |= SIDE_B << pair;
        if (side & SIDE_B) collidesWith |= SIDE_A << pair;
      });
      if (layers === 0) return;
      const { mesh, matrix } = this.#plan.parts[part];
      const { id, closed } = this.#meshes.get(mesh);
      this.#service.setObject(this.#objects[i], {
        shape: { type: 'mesh', mesh: id, solid: closed },
        matrix,
        contacts: 'manifold',
        layers: layers >>> 0,
        collidesWith: collidesWith >>> 0,
        group: split === 0 ? 0 : i < split ? 1 : 2,
      });
      this.#used.add(this.#objects[i]);
      placed++;
    });
    return placed;
  }

  #clear(): void {
    for (const object of this.#used) this.#service.setObject(object, ASIDE);
    this.#used.clear();
  }

  async #readFrame(tile: Tile, hard: readonly number[], findings: Finding[]): Promise<void> {
    const { contacts } = await this.#service.update();
    const indexOf = new Map(this.#objects.map((object, i) => [object, i]));
    for (let i = 0; i < contacts.count; i++) {
      const [a, b] = [contacts.a[i], contacts.b[i]].map((object) => tile.parts[indexOf.get(object)!]);
      if (!isOfCell(tile.cell, this.#plan.parts[a].padded, this.#plan.parts[b].padded)) continue;
      const { depth, point } = deepestOf(contacts, i);
      for (const rule of hard) {
        if (!(depth > this.#plan.rules[rule].limit) || !isAbout(this.#plan, rule, a, b)) continue;
        findings.push({ rule, a, b, point, value: depth, inside: contacts.contained[i] });
      }
    }
  }

  /** Lists the pairs that rules of nearness or sameness may be about: those whose padded boxes meet. */
  #pairsOf({ cell, parts, split }: Tile): [a: number, b: number][] {
    const pairs: [number, number][] = [];
    if (this.#plan.rules.every(({ kind }) => kind === 'hard')) return pairs;
    const order = Array.from(parts.keys()).sort((i, j) => this.#boxOf(parts[i])[0] - this.#boxOf(parts[j])[0]);
    order.forEach((i, at) => {
      const box = this.#boxOf(parts[i]);
      for (let next = at + 1; next < order.length && this.#boxOf(parts[order[next]])[0] <= box[3]; next++) {
        const j = order[next];
        const other = this.#boxOf(parts[j]);
        if (box[1] > other[4] || other[1] > box[4] || box[2] > other[5] || other[2] > box[5]) continue;
        if (split > 0 && i < split === j < split) continue;
        if (isOfCell(cell, box, other)) pairs.push([parts[Math.min(i, j)], parts[Math.max(i, j)]]);
      }
    });
    return pairs;
  }

  async #findNear(pairs: readonly [number, number][], result: TileResult, signal?: AbortSignal): Promise<void> {
    const { rules, parts, rounding } = this.#plan;
    const near: { a: number; b: number; maxDistance: number; wanted: number[] }[] = [];
    for (const [a, b] of pairs) {
      const square = squaredGap(parts[a].box, parts[b].box);
      const wanted = rulesAbout(this.#plan, 'clearance', a, b, (limit) => square <= (limit + rounding) ** 2);
      const maxDistance = Math.max(...wanted.map((rule) => rules[rule].limit));
      if (wanted.length > 0) near.push({ a, b, maxDistance, wanted });
    }
    for (let first = 0; first < near.length; first += MOST_AT_ONCE) {
      throwIfAborted(signal);
      await this.#measure(near.slice(first, first + MOST_AT_ONCE), result);
    }
  }

  async #measure(
    near: readonly { a: number; b: number; maxDistance: number; wanted: number[] }[],
    result: TileResult,
  ): Promise<void> {
    const involved = [...new Set(near.flatMap(({ a, b }) => [a, b]))].sort((a, b) => a - b);
    while (this.#objects.length < involved.length) this.#objects.push(this.#service.addObject(ASIDE));
    const objectOf = new Map(involved.map((part, i) => [part, this.#objects[i]]));
    for (const [part, object] of objectOf) {
      const { id, closed } = this.#meshes.get(this.#plan.parts[part].mesh);
      const { matrix } = this.#plan.parts[part];
      this.#service.setObject(object, {
        ...{ shape: { type: 'mesh', mesh: id, solid: closed }, matrix, contacts: 'none' },
        ...{ layers: 1, collidesWith: 0xffffffff, group: 0 },
      });
      this.#used.add(object);
    }
    try {
      await this.#service.update();
      const answers = await Promise.all(
        near.map(({ a, b, maxDistance }) =>
          this.#service.distance(objectOf.get(a)!, objectOf.get(b)!, { maxDistance }),
        ),
      );
      near.forEach(({ a, b, wanted }, i) => {
        const answer = answers[i];
        if (answer === null) return;
        const { distance, pointA, pointB } = answer;
        const point: Vec3 = [
          0.5 * (pointA[0] + pointB[0]),
          0.5 * (pointA[1] + pointB[1]),
          0.5 * (pointA[2] + pointB[2]),
        ];
        for (const rule of wanted) {
          if (!(distance < this.#plan.rules[rule].limit)) continue;
          result.findings.push({ rule, a, b, point, value: distance, inside: 0 });
        }
      });
    } finally {
      this.#clear();
    }
  }

  async #findDuplicates(pairs: readonly [number, number][], result: TileResult): Promise<void> {
    const { rules, parts, rounding } = this.#plan;
    const geometries = new Map<number, Promise<PlacedGeometry>>();
    for (const [a, b] of pairs) {
      const wanted = rulesAbout(this.#plan, 'duplicates', a, b, () => true);
      if (wanted.length === 0) continue;
      const most = Math.max(...wanted.map((rule) => rules[rule].limit));
      if (!isSameBox(parts[a].box, parts[b].box, most + rounding)) continue;
      const [one, other] = await Promise.all([a, b].map((part) => this.#geometryOf(part, geometries)));
      for (const rule of wanted) {
        if (!isDuplicate(one, other, rules[rule].limit)) continue;
        const { box } = parts[a];
        const point: Vec3 = [0.5 * (box[0] + box[3]), 0.5 * (box[1] + box[4]), 0.5 * (box[2] + box[5])];
        result.findings.push({ rule, a, b, point, value: 0, inside: 0 });
      }
    }
  }

  #boxOf(part: number): Box {
    return this.#plan.parts[part].padded;
  }

  #geometryOf(part: number, known: Map<number, Promise<PlacedGeometry>>): Promise<PlacedGeometry> {
    const { mesh, matrix } = this.#plan.parts[part];
    const place = async () => placeGeometry(trianglesOf(await this.#source.load(mesh)), matrix);
    const found = known.get(part) ?? place();
    known.set(part, found);
    return found;
  }
}
