import { type CollisionService, createCollisionService, type MeshData } from 'collision-worker';
import { checkInteger, checkObject, invalid, reasonOf, throwIfAborted } from './check.js';
import { placedBox } from './plan/bounds.js';
import { readMatrix } from './plan/matrix.js';
import { describePart, makePlan, type PlacedPart, type Plan } from './plan/plan.js';
import { MOST_PARTS, type Tile } from './plan/tiles.js';
import { Progress } from './progress.js';
import { makeReport } from './report/report.js';
import { compileRules } from './rules/rules.js';
import type { MeshSource } from './tile/loaded-meshes.js';
import { type TileResult, TileRunner } from './tile/tile-runner.js';
import { factsOf, type MeshFacts, pointsOf } from './tile/triangles.js';
import type { ClashOptions, ClashReport, Part, Rule, Unread } from './types.js';

/** Parts of a tile: few, so that there are tiles for all workers and pauses between them. */
const PARTS_OF_TILE = Math.min(512, MOST_PARTS);
/** Bytes of the meshes of a tile, and of those that are kept from the tiles before. */
const BYTES_OF_TILE = 256 * 2 ** 20;
/** Bytes of a triangle with its tree. */
const BYTES_OF_TRIANGLE = 65;

const KEYS = ['workers', 'onProgress', 'signal', 'accepted', 'groupDistance'];

/**
 * Finds the clashes between the parts of two sets, or with null for the second one, among the parts of the first.
 *
 * ```ts
 * const report = await clash(ducts, walls, [{ name: 'ducts in walls', kind: 'hard', tolerance: 0.005 }]);
 * for (const { a, b, depth } of report.clashes) console.log(a.name, 'is', depth, 'deep in', b.name);
 * ```
 *
 * The geometry is done by `workers` services of their own, in tiles of space; the caller's thread does no more than a few
 * milliseconds at once. The report is the same whatever their number. A part that cannot be read is in its `unread`, and
 * a rule that matches nothing in its `warnings`.
 *
 * Rejects with INVALID_ARGUMENT for rules and parts that are none, among them two parts of a set with the same id, with
 * ABORTED by the signal, and with WORKER_LOST when a worker is lost.
 */
export async function clash(
  a: readonly Part[],
  b: readonly Part[] | null,
  rules: readonly Rule[],
  options: ClashOptions = {},
): Promise<ClashReport> {
  const { workers = 1, onProgress, signal, ...reporting } = checkObject<ClashOptions>('options', options, KEYS);
  checkInteger('workers', workers, 1, 64);
  if (onProgress !== undefined && typeof onProgress !== 'function') invalid('onProgress', onProgress, 'a function');
  throwIfAborted(signal);
  const compiled = compileRules(rules);
  const meshes = new PartMeshes();
  const unread: Unread[] = [];
  const placedA = placeAll('a', a, meshes, unread);
  const placedB = b === null || b === a ? null : placeAll('b', b, meshes, unread);
  const limits = { parts: PARTS_OF_TILE, bytes: BYTES_OF_TILE };
  const plan = makePlan(placedA, placedB, compiled, (mesh) => meshes.bytesOf(mesh), limits);
  const progress = new Progress('clash', plan.tiles.length, onProgress);
  const results = await runAll(plan, meshes, workers, progress, signal);
  return makeReport(plan, results, unread, reporting);
}

/** The meshes of parts, numbered: parts that share one share its number. */
class PartMeshes implements MeshSource {
  readonly #numbers = new Map<MeshData | ArrayBuffer, number>();
  readonly #meshes: (MeshData | ArrayBuffer)[] = [];
  readonly #facts: MeshFacts[] = [];

  /** Throws BAD_DATA. */
  add(mesh: MeshData | ArrayBuffer): number {
    const known = this.#numbers.get(mesh);
    if (known !== undefined) return known;
    this.#facts.push(factsOf(mesh));
    this.#numbers.set(mesh, this.#meshes.length);
    return this.#meshes.push(mesh) - 1;
  }

  factsOf(mesh: number): MeshFacts {
    return this.#facts[mesh];
  }

  meshOf(mesh: number): MeshData | ArrayBuffer {
    return this.#meshes[mesh];
  }

  bytesOf(mesh: number): number {
    return BYTES_OF_TRIANGLE * this.#facts[mesh].triangles;
  }

  async load(number: number): Promise<MeshData | ArrayBuffer> {
    const mesh = this.#meshes[number];
    if (mesh instanceof ArrayBuffer) return mesh.slice(0);
    const { positions, indices, ...others } = mesh;
    return { ...others, positions: positions.slice(), ...(indices ? { indices: indices.slice() } : {}) };
  }
}

function placeAll(set: 'a' | 'b', parts: readonly Part[], meshes: PartMeshes, unread: Unread[]): PlacedPart[] {
  if (!Array.isArray(parts)) invalid(set, parts, 'a list of parts');
  const placed: PlacedPart[] = [];
  parts.forEach((part: Part, i) => {
    if (typeof part !== 'object' || part === null) invalid(`${set}[${i}]`, part, 'a part');
    const described = describePart(`${set}[${i}]`, part);
    try {
      const matrix = readMatrix(part.matrix);
      const mesh = meshes.add(part.mesh);
      const box = placedBox(() => pointsOf(part.mesh), meshes.factsOf(mesh).box, matrix);
      placed.push({ ...described, mesh, matrix, box });
    } catch (error) {
      unread.push({ set, id: described.id, name: described.name, reason: reasonOf(error) });
    }
  });
  return placed;
}

/** Has services look at all tiles, each at the next one that nobody has begun. */
async function runAll(
  plan: Plan,
  source: MeshSource,
  workers: number,
  progress: Progress,
  signal: AbortSignal | undefined,
): Promise<TileResult[]> {
  const results: TileResult[] = [];
  const waiting = plan.tiles.values();
  const services: CollisionService[] = [];
  const work = async (): Promise<void> => {
    const service = await createCollisionService({ restart: false, ...(signal ? { signal } : {}) });
    services.push(service);
    const runner = new TileRunner(service, plan, source, BYTES_OF_TILE);
    for (const tile of waiting as Iterable<Tile>) {
      results.push(await runner.run(tile, signal));
      progress.add(1);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(workers, Math.max(1, plan.tiles.length)) }, work));
  } finally {
    for (const service of services) service.dispose();
  }
  return results;
}
