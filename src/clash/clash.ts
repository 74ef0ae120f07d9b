import { type CollisionService, createCollisionService, type MeshData } from 'collision-worker';
import { nextTask } from '../shared/next-task.js';
import { checkInteger, checkObject, invalid, reasonOf, throwIfAborted } from './check.js';
import { transformedBox } from './plan/bounds.js';
import { readMatrix } from './plan/matrix.js';
import { describePart, makePlan, type PlacedPart, type Plan } from './plan/plan.js';
import { MIN_PARTS_PER_WORKER, maxPartsPerTile } from './plan/tiles.js';
import { Progress } from './progress.js';
import { ReportMaker, readReportOptions } from './report/report.js';
import { compileRules } from './rules/rules.js';
import { inSlices } from './slices.js';
import type { MeshSource } from './tile/loaded-meshes.js';
import { placingOrder } from './tile/placing-order.js';
import { TileRunner } from './tile/tile-runner.js';
import { factsOf, type MeshFacts } from './tile/triangles.js';
import type { ClashOptions, ClashReport, Part, Rule, Unread } from './types.js';

/** The most bytes of the meshes of a tile, and of the meshes that are kept from earlier tiles. */
const MAX_TILE_BYTES = 256 * 2 ** 20;
/** Approximate bytes per triangle with its tree. */
const BYTES_PER_TRIANGLE = 65;

const KEYS = ['workers', 'onProgress', 'signal', 'accepted', 'groupDistance'];

/**
 * Finds the clashes between the parts of two sets, or among those of the first set if the second is null or the same list.
 *
 * ```ts
 * const report = await clash(ducts, walls, [{ name: 'ducts in walls', kind: 'hard', tolerance: 0.005 }]);
 * for (const { a, b, depth } of report.clashes) console.log(a.name, 'is', depth, 'deep in', b.name);
 * ```
 *
 * The geometry is computed by `workers` services of their own, in tiles of space; the caller's thread is blocked for a few
 * milliseconds at once, and to read a large mesh, for about one per thousand triangles. The report is the same for any number of
 * workers. A part that cannot be read is listed in `unread`, and a rule that matches nothing in `warnings`.
 *
 * Rejects with INVALID_ARGUMENT for invalid rules and parts, among them two parts of a set with the same id, with
 * ABORTED by the signal, and with WORKER_LOST when a worker is lost.
 */
export async function clash(
  a: readonly Part[],
  b: readonly Part[] | null,
  rules: readonly Rule[],
  options: ClashOptions = {},
): Promise<ClashReport> {
  const { workers = 1, onProgress, signal, ...otherOptions } = checkObject<ClashOptions>('options', options, KEYS);
  checkInteger('workers', workers, 1, 64);
  if (onProgress !== undefined && typeof onProgress !== 'function') invalid('onProgress', onProgress, 'a function');
  throwIfAborted(signal);
  const compiledRules = compileRules(rules);
  const reportOptions = readReportOptions(otherOptions);
  if (!Array.isArray(a)) invalid('a', a, 'a list of parts');
  if (b !== null && !Array.isArray(b)) invalid('b', b, 'a list of parts, or null');
  const sets = b === null || b === a ? [a] : [a, b];
  const count = sets.reduce((sum, { length }) => sum + length, 0);
  // They start while this thread plans, once it has yielded.
  const services = startServices(Math.min(workers, Math.ceil(count / MIN_PARTS_PER_WORKER)), signal);
  // A tile may take long: pending calls of its service reject at once when the service is disposed of.
  const disposeServices = (): void => {
    for (const service of services) service.then((each) => each.dispose()).catch(() => {});
  };
  signal?.addEventListener('abort', disposeServices);
  try {
    const meshes = new PartMeshes();
    const unread: Unread[] = [];
    await nextTask();
    const placedSets: PlacedPart[][] = [];
    for (const [i, set] of sets.entries()) {
      placedSets.push(await inSlices(placeAll(i === 0 ? 'a' : 'b', set, meshes, unread), signal));
    }
    const limits = {
      parts: maxPartsPerTile(
        placedSets.reduce((sum, { length }) => sum + length, 0),
        workers,
      ),
      bytes: MAX_TILE_BYTES,
    };
    const bytesOf = (mesh: number): number => meshes.bytesOf(mesh);
    const plan = await inSlices(makePlan(placedSets[0], placedSets[1] ?? null, compiledRules, bytesOf, limits), signal);
    const report = new ReportMaker(plan, unread, reportOptions);
    const progress = new Progress('clash', plan.tiles.length, onProgress);
    await runAll(plan, meshes, services, progress, report, signal);
    throwIfAborted(signal);
    return await inSlices(report.make(), signal);
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  } finally {
    signal?.removeEventListener('abort', disposeServices);
    disposeServices();
  }
}

/** A worker that builds trees in parallel would delay its tile as well: its start alone took 80 ms. */
const BUILDERS = 0;

function startServices(count: number, signal: AbortSignal | undefined): Promise<CollisionService>[] {
  return Array.from({ length: count }, () => {
    const service = createCollisionService({ restart: false, builders: BUILDERS, ...(signal ? { signal } : {}) });
    service.catch(() => {}); // callers that await it get the error
    return service;
  });
}

/** The meshes of parts, numbered: parts that share a mesh share its number. */
class PartMeshes implements MeshSource {
  readonly #indices = new Map<MeshData | ArrayBuffer, number>();
  readonly #meshes: (MeshData | ArrayBuffer)[] = [];
  readonly #facts: MeshFacts[] = [];

  /** Throws BAD_DATA. */
  add(mesh: MeshData | ArrayBuffer): number {
    const existing = this.#indices.get(mesh);
    if (existing !== undefined) return existing;
    this.#facts.push(factsOf(mesh));
    this.#indices.set(mesh, this.#meshes.length);
    return this.#meshes.push(mesh) - 1;
  }

  factsOf(mesh: number): MeshFacts {
    return this.#facts[mesh];
  }

  meshOf(mesh: number): MeshData | ArrayBuffer {
    return this.#meshes[mesh];
  }

  bytesOf(mesh: number): number {
    return BYTES_PER_TRIANGLE * this.#facts[mesh].triangles;
  }

  async load(index: number): Promise<MeshData | ArrayBuffer> {
    const mesh = this.#meshes[index];
    if (mesh instanceof ArrayBuffer) return mesh.slice(0);
    const { positions, indices, skin, morphs, ...others } = mesh;
    return { ...others, positions: positions.slice(), ...(indices ? { indices: indices.slice() } : {}) };
  }
}

function* placeAll(
  set: 'a' | 'b',
  parts: readonly Part[],
  meshes: PartMeshes,
  unread: Unread[],
): Generator<void, PlacedPart[]> {
  const placedParts: PlacedPart[] = [];
  const place = (part: Part, i: number): void => {
    const argument = (): string => `${set}[${i}]`;
    if (typeof part !== 'object' || part === null) invalid(argument(), part, 'a part');
    const { id, name, layer, properties } = describePart(argument, part);
    try {
      const matrix = readMatrix(part.matrix);
      const mesh = meshes.add(part.mesh);
      const facts = meshes.factsOf(mesh);
      const box = transformedBox(facts.points, facts.box, matrix);
      placedParts.push({ id, name, layer, properties, mesh, matrix, box });
    } catch (error) {
      unread.push({ set, id, name, reason: reasonOf(error) });
    }
  };
  for (const [i, part] of parts.entries()) {
    place(part, i);
    yield; // the mesh of each may be large
  }
  return placedParts;
}

/**
 * Runs all tiles on services, each of which takes the next tile that nobody has begun. The report takes the result of a tile
 * while the service runs the next one.
 */
async function runAll(
  plan: Plan,
  source: MeshSource,
  services: readonly Promise<CollisionService>[],
  progress: Progress,
  report: ReportMaker,
  signal: AbortSignal | undefined,
): Promise<void> {
  const placement = placingOrder(plan);
  const remainingTiles = plan.tiles.values();
  await Promise.all(
    services.map(async (service) => {
      const runner = new TileRunner(await service, plan, placement, source, MAX_TILE_BYTES);
      let lastAdded = Promise.resolve();
      for (const tile of remainingTiles) {
        const result = await runner.run(tile, signal);
        progress.add(1);
        lastAdded = lastAdded.then(nextTask).then(() => inSlices(report.add(result), signal));
        lastAdded.catch(() => {}); // it is awaited below, which gets the error
      }
      await lastAdded;
    }),
  );
}
