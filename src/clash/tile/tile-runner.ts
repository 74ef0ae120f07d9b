import type { CollisionService, ContactSet, MeshData, ObjectId, Vec3 } from 'collision-worker';
import { hasCode, reasonOf, throwIfAborted } from '../check.js';
import { gapOf } from '../plan/bounds.js';
import { type Plan, ruleApplies } from '../plan/plan.js';
import { halvesOf, isInCell, type Tile } from '../plan/tiles.js';
import { inChunks, inSlices } from '../slices.js';
import type { Rule } from '../types.js';
import { isDuplicate, isSameBox, type PlacedGeometry, placeGeometry } from './duplicates.js';
import { LoadedMeshes, type MeshSource } from './loaded-meshes.js';
import type { PlacingOrder } from './placing-order.js';
import { trianglesOf } from './triangles.js';

/** A violation of a rule by two parts. All numbers are those of the plan: parts, rules, and points relative to its origin. */
export interface Finding {
  rule: number;
  /** Less than `b`. */
  a: number;
  b: number;
  point: Vec3;
  /** The depth, or the distance; 0 for duplicates. */
  value: number;
  /** 1: a lies inside of b, 2: b inside of a, else 0. */
  inside: number;
}

export interface TileResult {
  findings: Finding[];
  /** Parts that could not be loaded, and why. */
  unread: [part: number, reason: string][];
}

type Pair = readonly [a: number, b: number];

/** Two parts, and the rules of a kind that are to be checked for them. */
interface PairToCheck {
  a: number;
  b: number;
  wanted: readonly number[];
  /** The greatest limit of these rules. */
  limit: number;
}

/** A test of two boxes of a list, with a limit. */
type BoxTest = typeof isSameBox;

/** The objects of a tile: those of parts first, in order, then placeholders. */
interface PlacedTile {
  objects: Uint32Array;
  parts: Uint32Array;
}

/** The placeholders: boxes that occupy slots, and that nothing touches. */
const PLACEHOLDER = { shape: { type: 'box', halfExtents: [1, 1, 1] }, contacts: 'none' } as const;

/**
 * The share of a tile's parts that begin before its cell beyond which groups save more pairs than they cost: objects of
 * different groups are added by different calls. When all tiles had groups, the report of a building of 20,000 parts took the
 * main thread 1.08 times as long.
 */
const MIN_GROUPED_SHARE = 0.125;

/** The most distances that are queried at once. */
const DISTANCES_PER_BATCH = 1024;

/** Finds the greatest depth of a pair of a frame, and the mean of the points that have it. */
function deepestOf({ start, points, depths }: ContactSet, pair: number): { depth: number; point: Vec3 } {
  let [depth, x, y, z, count] = [Number.NEGATIVE_INFINITY, 0, 0, 0, 0];
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

/** Checks the pairs of tiles, one tile after the other, with a service of its own. */
export class TileRunner {
  readonly #service: CollisionService;
  readonly #plan: Plan;
  readonly #source: MeshSource;
  readonly #meshes: LoadedMeshes;
  readonly #order: PlacingOrder;
  /**
   * How many objects each tile adds, with placeholders if it has fewer parts. So all slots are free between
   * two tiles, in order, and of two parts the one of the lower rank always has the lower id: what is computed from them
   * is the same to the last bit in every tile and every worker.
   */
  #slotCount = 0;

  constructor(service: CollisionService, plan: Plan, order: PlacingOrder, source: MeshSource, bytes: number) {
    this.#service = service;
    this.#plan = plan;
    this.#order = order;
    this.#source = source;
    this.#meshes = new LoadedMeshes(service, source, bytes);
  }

  /** Checks all pairs of a tile. Rejects with ABORTED, and with WORKER_LOST when the service has ended. */
  async run(tile: Tile, signal?: AbortSignal): Promise<TileResult> {
    throwIfAborted(signal);
    const result: TileResult = { findings: [], unread: [] };
    const meshes = tile.parts.map((part) => this.#plan.parts[part].mesh);
    const failed = await this.#meshes.load(meshes, signal);
    const isRead = (part: number): boolean => !failed.has(this.#plan.parts[part].mesh);
    for (const part of tile.parts) {
      const reason = failed.get(this.#plan.parts[part].mesh);
      if (reason !== undefined) result.unread.push([part, reason]);
    }
    const parts = tile.parts.filter(isRead);
    const split = tile.parts.slice(0, tile.split).filter(isRead).length;
    // One part has no pairs, nor has a split tile if no part of one side could be read.
    const isEmpty = parts.length < 2 || (tile.split > 0 && (split === 0 || split === parts.length));
    if (isEmpty) return result;
    const readableTile = { cell: tile.cell, parts, split };
    const placedTile = this.#place(readableTile);
    let isDone = true;
    try {
      isDone = await this.#findHardClashes(readableTile, placedTile, result, signal);
      const pairs = await inSlices(this.#pairsOf(readableTile), signal);
      await this.#findClearanceClashes(pairs, placedTile, result, signal);
      await this.#findDuplicates(pairs, result, signal);
    } finally {
      this.#service.removeObjects(placedTile.objects);
    }
    if (!isDone) await this.#findByHalves(readableTile, result, signal);
    return result;
  }

  /** Gets all pairs that touch from a frame. Returns whether it could list them; otherwise there are too many. */
  async #findHardClashes(
    tile: Tile,
    placedTile: PlacedTile,
    result: TileResult,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    throwIfAborted(signal);
    let contacts: ContactSet;
    try {
      ({ contacts } = await this.#service.update());
    } catch (error) {
      if (!hasCode(error, 'OUT_OF_MEMORY')) throw error;
      if (tile.parts.length > 2) return false;
      for (const part of tile.parts) result.unread.push([part, reasonOf(error)]);
      return true;
    }
    if (contacts.truncated) return false;
    await inSlices(this.#readFrame(tile, placedTile, contacts, result.findings), signal);
    return true;
  }

  async #findByHalves(tile: Tile, result: TileResult, signal: AbortSignal | undefined): Promise<void> {
    for (const half of halvesOf(tile)) {
      if (half.parts.length < 2) continue;
      const placedTile = this.#place(half);
      const isDone = await this.#findHardClashes(half, placedTile, result, signal).finally(() => {
        this.#service.removeObjects(placedTile.objects);
      });
      if (!isDone) await this.#findByHalves(half, result, signal);
    }
  }

  /**
   * Returns the groups of the objects of a tile's parts; objects of the same group make no pairs. A group is the side of the split,
   * or the first axis along which a part begins before the cell, since the pairs of two such parts belong to other tiles. If there
   * are few such parts, they have no groups.
   */
  #groups({ cell, parts, split }: Tile, sorted: Uint32Array): Uint8Array {
    const groups = new Uint8Array(sorted.length);
    if (split > 0) {
      const secondSide = new Set(parts.slice(split));
      sorted.forEach((part, i) => {
        groups[i] = secondSide.has(part) ? 2 : 1;
      });
      return groups;
    }
    const { padded } = this.#plan;
    let count = 0;
    sorted.forEach((part, i) => {
      const at = 6 * part;
      groups[i] = padded[at] < cell[0] ? 1 : padded[at + 1] < cell[1] ? 2 : padded[at + 2] < cell[2] ? 3 : 0;
      if (groups[i]) count++;
    });
    return count > MIN_GROUPED_SHARE * sorted.length ? groups : groups.fill(0);
  }

  /** Adds all parts as objects, in the order of their ranks, and placeholders if the tile has few. */
  #place(tile: Tile): PlacedTile {
    const service = this.#service;
    const { parts } = tile;
    const { matrices } = this.#plan;
    const { layers, collidesWith, ranks, byRank } = this.#order;
    const sorted = Uint32Array.from(parts, (part) => ranks[part])
      .sort()
      .map((rank) => byRank[rank]);
    const groups = this.#groups(tile, sorted);
    const isSameKind = (i: number, j: number): boolean => {
      const [a, b] = [sorted[i], sorted[j]];
      return (
        groups[i] === groups[j] &&
        layers[a] === layers[b] &&
        collidesWith[a] === collidesWith[b] &&
        this.#plan.parts[a].mesh === this.#plan.parts[b].mesh
      );
    };
    const objects = new Uint32Array(Math.max(this.#slotCount, sorted.length));
    this.#slotCount = objects.length;
    for (let first = 0, end = 0; first < sorted.length; first = end) {
      const part = sorted[first];
      while (end < sorted.length && isSameKind(first, end)) end++;
      const { id, closed } = this.#meshes.get(this.#plan.parts[part].mesh);
      const ids = service.addInstances(
        {
          shape: { type: 'mesh', mesh: id, solid: closed },
          contacts: layers[part] === 0 ? 'none' : 'manifold',
          layers: layers[part],
          collidesWith: collidesWith[part],
          group: groups[first],
        },
        end - first,
      );
      objects.set(ids, first);
    }
    const transforms = new Float64Array(16 * sorted.length);
    sorted.forEach((part, i) => {
      transforms.set(matrices.subarray(16 * part, 16 * part + 16), 16 * i);
    });
    // One block of transforms: setting them one by one took 16 µs for each object.
    service.setTransforms(objects.subarray(0, sorted.length), transforms);
    objects.set(service.addInstances(PLACEHOLDER, objects.length - sorted.length), sorted.length);
    return { objects, parts: sorted };
  }

  *#readFrame(tile: Tile, { objects, parts }: PlacedTile, contacts: ContactSet, findings: Finding[]): Generator<void> {
    const { padded, rules } = this.#plan;
    const partOf = new Map<ObjectId, number>();
    parts.forEach((part, i) => {
      partOf.set(objects[i], part);
    });
    yield* inChunks(contacts.count, (i) => {
      const [first, second] = [partOf.get(contacts.a[i])!, partOf.get(contacts.b[i])!];
      const isSwapped = first > second;
      const [a, b] = isSwapped ? [second, first] : [first, second];
      if (!isInCell(tile.cell, padded, a, b)) return;
      const { depth, point } = deepestOf(contacts, i);
      const contained = contacts.contained[i];
      const inside = isSwapped && contained !== 0 ? 3 - contained : contained;
      for (const rule of this.#order.hard) {
        // A depth is a float32, and so may be a little more than the tolerance that it equals.
        if (!(depth > Math.fround(rules[rule].limit)) || !ruleApplies(this.#plan, rule, a, b)) continue;
        findings.push({ rule, a, b, point, value: depth, inside });
      }
    });
  }

  /** Lists the pairs that clearance and duplicates rules may apply to: those whose padded boxes meet. */
  *#pairsOf({ cell, parts, split }: Tile): Generator<void, Pair[]> {
    const pairs: Pair[] = [];
    if (this.#plan.rules.every(({ kind }) => kind === 'hard')) return pairs;
    const { padded } = this.#plan;
    const order = [...parts.keys()].sort((i, j) => padded[6 * parts[i]] - padded[6 * parts[j]]);
    yield* inChunks(order.length, (at) => {
      const i = order[at];
      const p = 6 * parts[i];
      for (let next = at + 1; next < order.length && padded[6 * parts[order[next]]] <= padded[p + 3]; next++) {
        const j = order[next];
        const [a, b] = [parts[Math.min(i, j)], parts[Math.max(i, j)]];
        if (gapOf(padded, a, b) > 0 || (split > 0 && i < split === j < split)) continue;
        if (isInCell(cell, padded, a, b)) pairs.push([a, b]);
      }
    });
    return pairs;
  }

  async #findClearanceClashes(
    pairs: readonly Pair[],
    placedTile: PlacedTile,
    result: TileResult,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { rules } = this.#plan;
    const objectOf = new Map<number, ObjectId>();
    placedTile.parts.forEach((part, i) => {
      objectOf.set(part, placedTile.objects[i]);
    });
    const isNear: BoxTest = (boxes, a, b, distance) => gapOf(boxes, a, b) <= distance;
    const nearPairs = await inSlices(this.#pairsToCheck(pairs, 'clearance', isNear), signal);
    for (let first = 0; first < nearPairs.length; first += DISTANCES_PER_BATCH) {
      throwIfAborted(signal);
      const batch = nearPairs.slice(first, first + DISTANCES_PER_BATCH);
      const distances = await Promise.all(
        batch.map(({ a, b, limit }) => {
          return this.#service.distance(objectOf.get(a)!, objectOf.get(b)!, { maxDistance: limit });
        }),
      );
      batch.forEach(({ a, b, wanted }, i) => {
        const answer = distances[i];
        if (answer === null) return;
        const { distance, pointA, pointB } = answer;
        const point = pointA.map((each, axis) => 0.5 * (each + pointB[axis])) as readonly number[] as Vec3;
        for (const rule of wanted) {
          if (!(distance < rules[rule].limit)) continue;
          result.findings.push({ rule, a, b, point, value: distance, inside: 0 });
        }
      });
    }
  }

  /**
   * Lists the pairs that rules of a kind apply to, if their boxes pass a test with the greatest limit of these rules, plus the
   * rounding. Yields after every few.
   */
  *#pairsToCheck(pairs: readonly Pair[], kind: Rule['kind'], test: typeof isSameBox): Generator<void, PairToCheck[]> {
    const { rules, boxes, rounding } = this.#plan;
    const rulesOfKind = [...rules.keys()].filter((rule) => rules[rule].kind === kind);
    const pairsFound: PairToCheck[] = [];
    yield* inChunks(pairs.length, (i) => {
      const [a, b] = pairs[i];
      const wanted = rulesOfKind.filter((rule) => ruleApplies(this.#plan, rule, a, b));
      // No box passes for no rule.
      const limit = Math.max(...wanted.map((rule) => rules[rule].limit));
      if (test(boxes, a, b, limit + rounding)) pairsFound.push({ a, b, wanted, limit });
    });
    return pairsFound;
  }

  async #findDuplicates(
    pairs: readonly Pair[],
    { findings }: TileResult,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { parts } = this.#plan;
    const sameBoxPairs = await inSlices(this.#pairsToCheck(pairs, 'duplicates', isSameBox), signal);
    const meshes = new Map<number, MeshData | ArrayBuffer>();
    for (const mesh of new Set(sameBoxPairs.flatMap(({ a, b }) => [parts[a].mesh, parts[b].mesh]))) {
      meshes.set(mesh, await this.#source.load(mesh));
    }
    await inSlices(this.#compare(sameBoxPairs, meshes, findings), signal);
  }

  /** Compares the geometries of pairs whose boxes are equal. Yields after each step. */
  *#compare(
    sameBoxPairs: readonly PairToCheck[],
    meshes: Map<number, MeshData | ArrayBuffer>,
    findings: Finding[],
  ): Generator<void> {
    const { parts, rules, boxes, matrices } = this.#plan;
    const geometries = new Map<number, PlacedGeometry>();
    for (const { a, b, wanted } of sameBoxPairs) {
      // Each place of a mesh has a geometry: all of them may take thousands of times as much memory as the meshes.
      for (const part of geometries.keys()) if (part !== a && part !== b) geometries.delete(part);
      for (const part of [a, b]) {
        if (geometries.has(part)) continue;
        const corners = trianglesOf(meshes.get(parts[part].mesh)!);
        geometries.set(part, yield* placeGeometry(corners, matrices.subarray(16 * part, 16 * part + 16)));
      }
      for (const rule of wanted) {
        if (!(yield* isDuplicate(geometries.get(a)!, geometries.get(b)!, rules[rule].limit))) continue;
        const centerAlong = (axis: number): number => 0.5 * (boxes[6 * a + axis] + boxes[6 * a + axis + 3]);
        findings.push({ rule, a, b, point: [centerAlong(0), centerAlong(1), centerAlong(2)], value: 0, inside: 0 });
      }
    }
  }
}
