import { transfer } from '../shared/calls.js';
import type { ObjectDescription } from '../shared/commands.js';
import { SHAPE_CAPSULE, SHAPE_SPHERE } from '../shared/layout.js';
import type { PickRay } from '../shared/packed.js';
import {
  HIT_FIELDS,
  type PackedHit,
  type PackedHits,
  type PackedRay,
  packHit,
  packSweepHit,
  SWEEP_HIT_FIELDS,
  unpackRay,
} from '../shared/packed.js';
import type {
  Cursor,
  Filter,
  FromWorker,
  InspectRequest,
  Motion,
  Region,
  SectionRequest,
  SnapRequest,
  Soon,
  ViewRecord,
} from '../shared/protocol.js';
import type {
  BoxCheck,
  ClosestPoint,
  Inspection,
  MeshId,
  ObjectId,
  Placement,
  RayHits,
  Section,
  Sight,
  SweepHits,
  Vec3,
  VisibleSet,
} from '../shared/types.js';
import { answering } from './answering.js';
import type { Core, PlacedDescription } from './binding/core.js';
import type { CoreHit, CoreSweepHit } from './binding/hits.js';
import type { Steps } from './binding/steps.js';
import type { IdSteps } from './binding/volumes.js';
import { boxCover } from './box-cover.js';
import { buffersOf } from './buffers-of.js';
import { inspect } from './inspection.js';
import { FRAME_SLICE_MS, LongWork } from './long-work.js';
import { raycastMany, sweepMany } from './many-queries.js';
import { MeshTable } from './mesh-table.js';
import { packAll } from './pack-hits.js';
import { PairQueries } from './pair-queries.js';
import { describePlaced } from './placed-in.js';
import { NO_MOTION, place } from './placing.js';
import { section } from './section.js';
import type { MessageFlow, Slices } from './slices.js';
import { Snapper, type SnapResult } from './snap/snap.js';
import { topBoxes } from './top-boxes.js';

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** This many objects are swept against in one go: each takes up to a microsecond. */
const MAX_SWEEP_WORK = 4096;

/** Sends a message to the main thread. */
export type Post = (message: FromWorker, transfer: Transferable[]) => void;

/** The part of the worker that answers queries. Every answer says which frame it saw. */
export abstract class QueryService {
  /** Number of the last frame that was applied. */
  protected frame = 0;
  protected readonly core: Core;
  protected readonly meshes: MeshTable;
  protected readonly work: LongWork;
  protected readonly post: Post;
  readonly #pairs: PairQueries;
  readonly #snapper: Snapper;
  /** Features of meshes are found one mesh after the other. */
  #lastFeatureSearch: Promise<unknown> = Promise.resolve();
  /** The core does one section at a time. */
  #lastSection: Promise<unknown> = Promise.resolve();
  #lastInspection: Promise<unknown> = Promise.resolve();

  constructor(core: Core, post: Post, messageFlow: MessageFlow) {
    this.core = core;
    this.post = post;
    this.meshes = new MeshTable(core);
    this.work = new LongWork(core, this.meshes, messageFlow, (type) => post({ type, frame: this.frame }, []));
    this.#pairs = new PairQueries(core, this.meshes, this.work);
    this.#snapper = new Snapper(core.rays, core.snaps, this.meshes.features);
  }

  readonly raycast = answering((ray: PackedRay, filter: Filter): PackedHit | null =>
    this.#hit(this.core.rays.raycast(unpackRay(ray), filter)),
  );

  readonly pickSnap = answering((ray: PackedRay, filter: Filter, request: SnapRequest): Soon<PackedHit | null> => {
    return this.#pickSnap(this.work.call, unpackRay(ray), filter, request);
  });

  /** Returns a pick once the features of all meshes near it are found. The vertices of these meshes may move meanwhile. */
  #pickSnap(
    call: number,
    ray: PickRay,
    filter: Filter,
    request: SnapRequest,
    searchedMeshes?: Set<number>,
  ): Soon<PackedHit | null> {
    const { frame } = this;
    const steps = this.#snapper.pick(ray, filter, request, searchedMeshes);
    const answer = (result: SnapResult): Soon<PackedHit | null> => {
      if (!result.missing) return result.hit && packHit(result.hit, frame);
      const { features, flatFaces } = result.missing;
      // One after the other, since many picks may request the same features.
      const work = this.#lastFeatureSearch.then(() =>
        this.work.inSlices((slices) => this.#findFeatures(features, flatFaces, slices)),
      );
      this.#lastFeatureSearch = work.catch(() => {});
      const searched = new Set([...(searchedMeshes ?? []), ...flatFaces]);
      return work.then(() => this.#pickSnap(call, ray, filter, request, searched));
    };
    return this.#runOrSlice(steps, answer, call) as Soon<PackedHit | null>;
  }

  async #findFeatures(features: Set<number>, flatFaces: Set<number>, slices: Slices): Promise<void> {
    const store = this.meshes.features;
    for (const mesh of features) {
      const isMissing = this.meshes.hasMeshAt(mesh) && store.featuresAt(mesh)?.isMoved !== false;
      if (isMissing) await slices.run(store.find(mesh));
    }
    for (const mesh of flatFaces) {
      const isMissing = this.meshes.hasMeshAt(mesh) && !store.flatFacesAt(mesh);
      if (isMissing) await slices.run(store.findFlatFaces(mesh));
    }
  }

  readonly raycastAll = answering(
    (ray: PackedRay, filter: Filter): Soon<PackedHits> =>
      this.#allHits(this.core.rays.raycastAll(unpackRay(ray), filter)),
  );

  readonly isClear = answering(
    (ray: PackedRay, filter: Filter): boolean => !this.core.rays.anyHit(unpackRay(ray), filter),
  );

  readonly raycastMany = answering((rays: Float32Array, filter: Filter): Promise<RayHits> => {
    const { frame } = this;
    return this.#inSlices(async (slices) => {
      const hits = await raycastMany(this.core.rays, rays, filter, slices);
      return transfer({ ...hits, frame }, buffersOf(hits));
    });
  });

  readonly pickScreen = answering((view: ViewRecord, cursor: Cursor, filter: Filter): PackedHit | null =>
    this.#hit(this.core.rays.pickScreen(view, cursor, filter)),
  );

  readonly pickScreenAll = answering(
    (view: ViewRecord, cursor: Cursor, filter: Filter): Soon<PackedHits> =>
      this.#allHits(this.core.rays.pickScreenAll(view, cursor, filter)),
  );

  readonly pickRegion = answering((view: ViewRecord, region: Region, filter: Filter) =>
    this.#readIds(this.core.volumes.pickRegion(view, region, filter)),
  );

  readonly frustum = answering((volume: ViewRecord | Float32Array, filter: Filter): Soon<VisibleSet> => {
    const noIds = new Uint32Array();
    const { frame } = this;
    return this.#runOrSlice(this.core.volumes.frustum(volume, filter), (found) =>
      transfer({ ...found, entered: noIds, left: noIds, frame }, buffersOf(found)),
    );
  });

  /** Tests targets, in slices between which messages are served. Each target is tested as it is when its turn comes. */
  readonly sees = answering((view: ViewRecord, targets: Uint32Array, filter: Filter): Promise<Sight> => {
    const { frame } = this;
    return this.#inSlices(async (slices) => {
      const points = await slices.run(this.core.rays.sees(view, targets, filter));
      const ids = targets.filter((_, i) => points[i] > 0);
      return transfer({ ids, points, frame }, [ids.buffer as ArrayBuffer, points.buffer]);
    });
  });

  readonly overlap = answering((shape: ObjectDescription, matrix: number[], filter: Filter) =>
    this.#readIds(this.core.volumes.overlap(this.#describePlaced(shape, matrix), filter)),
  );

  readonly sweep = answering(
    (shape: ObjectDescription, matrix: number[], motion: Motion, filter: Filter): Soon<PackedHit | null> => {
      const { sweeps } = this.core;
      const placedShape = this.#describePlaced(shape, matrix);
      const { frame } = this;
      const quickResult = isQuick(shape, motion)
        ? sweeps.sweep(placedShape, motion, filter, MAX_SWEEP_WORK)
        : undefined;
      if (quickResult !== undefined) return quickResult && packSweepHit(quickResult, frame);
      const snapshot = sweeps.keepSweep(placedShape, motion, filter, false);
      return this.#pairs.sweep(this.work.call, snapshot, ([hit]) => (hit ? packSweepHit(hit, frame) : null));
    },
  );

  readonly sweepAll = answering(
    (shape: ObjectDescription, matrix: number[], motion: Motion, filter: Filter): Soon<PackedHits> => {
      const { frame } = this;
      const { call } = this.work;
      const pack = (hits: CoreSweepHit[]) => this.#packed(hits, SWEEP_HIT_FIELDS, packSweepHit, frame, call);
      const hits = this.#sweepAll(call, this.#describePlaced(shape, matrix), motion, filter);
      return Array.isArray(hits) ? pack(hits) : hits.then(pack);
    },
  );

  /** Sweeps for a call: at once if that is short, else in slices, the first of which has this many milliseconds left. */
  #sweepAll(
    call: number,
    placedShape: PlacedDescription,
    motion: Motion,
    filter: Filter,
    ms?: number,
  ): CoreSweepHit[] | Promise<CoreSweepHit[]> {
    const { sweeps } = this.core;
    const quickResult = isQuick(placedShape, motion)
      ? sweeps.sweepAll(placedShape, motion, filter, MAX_SWEEP_WORK)
      : undefined;
    return (
      quickResult ?? this.#pairs.sweep(call, sweeps.keepSweep(placedShape, motion, filter, true), (hits) => hits, ms)
    );
  }

  /** Places a shape, in slices. The answer belongs to the frame in which the place was last checked to be free. */
  readonly place = answering((shape: ObjectDescription, matrix: number[], filter: Filter): Promise<Placement> => {
    const placedShape = this.#describePlaced(shape, matrix);
    let { frame } = this;
    const { call } = this.work;
    return this.#inSlices(async (slices) => {
      const placement = await place(matrix, slices, (pose) => {
        ({ frame } = this);
        const ms = Math.max(slices.end - performance.now(), 0);
        return this.#sweepAll(call, { ...placedShape, matrix: pose }, NO_MOTION, filter, ms);
      });
      return transfer({ ...placement, frame }, [placement.objects.buffer as ArrayBuffer]);
    });
  });

  readonly sweepMany = answering(
    (
      shapes: ObjectDescription[],
      ways: Float64Array,
      shapeOf: Uint32Array | undefined,
      tolerance: number,
      filter: Filter,
    ): Promise<SweepHits> => {
      const placedShapes = shapes.map((shape) => this.#describePlaced(shape, IDENTITY));
      const { frame } = this;
      return this.#inSlices(async (slices) => {
        const request = { shapes: placedShapes, ways, shapeOf, tolerance, filter };
        const hits = await sweepMany(this.core.sweeps, this.#pairs, request, slices);
        return transfer({ ...hits, frame }, buffersOf(hits));
      });
    },
  );

  readonly containing = answering((point: Vec3, filter: Filter) =>
    this.#readIds(this.core.volumes.containing(point, filter)),
  );

  readonly closestPoint = answering((point: Vec3, maxDistance: number, filter: Filter): Soon<ClosestPoint | null> => {
    const { frame } = this;
    const steps = this.core.volumes.closestPoint(point, maxDistance, filter);
    return this.#runOrSlice(steps, (result) => result && { ...result, frame });
  });

  /**
   * A contact that may take long is computed in slices, when no frame and no other question about two objects is under way. It
   * works on copies of the objects as they are now.
   */
  readonly contact = answering((a: ObjectId, b: ObjectId, detail: number) =>
    this.#pairs.contact(a, b, detail, this.frame),
  );

  readonly distance = answering((a: ObjectId, b: ObjectId, limit: number) =>
    this.#pairs.distance(a, b, limit, this.frame),
  );

  /** Lists boxes, in slices between which messages are served. Each tree is listed as it is when its turn comes. */
  readonly inspect = answering((request: InspectRequest): Promise<Inspection> => {
    const answer = this.#inSlices(
      (slices) => inspect(this.core.inspector, request, slices, () => this.frame),
      this.#lastInspection,
    );
    this.#lastInspection = answer.catch(() => {});
    return answer;
  });

  /** Lists the top boxes of a mesh's tree, in slices as well. */
  readonly meshBoxes = answering((mesh: MeshId, level: number, maxCount: number): Promise<Float64Array | null> => {
    const address = this.meshes.addressOf(mesh); // it may be removed before its turn
    const answer = this.#inSlices(
      (slices) => topBoxes(this.core.inspector, address, level, maxCount, slices),
      this.#lastInspection,
    );
    this.#lastInspection = answer.catch(() => {});
    return answer;
  });

  /** Returns whether boxes contain all of a mesh, in slices between which messages are served. */
  readonly checkBoxes = answering((mesh: MeshId, records: Float64Array): Promise<BoxCheck> => {
    const address = this.meshes.addressOf(mesh);
    return this.#inSlices((slices) => slices.run(boxCover(this.core.snaps.getMemory, address, records)));
  });

  /** Cuts objects, in slices between which messages are served. Each object is cut as it is when its turn comes. */
  readonly section = answering((request: SectionRequest): Promise<Section> => {
    const answer = this.#inSlices(
      (slices) => section(this.core.sections, request, slices, () => this.frame),
      this.#lastSection,
    );
    this.#lastSection = answer.catch(() => {});
    return answer;
  });

  #describePlaced(shape: ObjectDescription, matrix: number[]): PlacedDescription {
    return describePlaced(this.meshes, shape, matrix);
  }

  #hit(hit: CoreHit | null): PackedHit | null {
    return hit && packHit(hit, this.frame);
  }

  /** Reads and packs hits, in slices if there are many. */
  #allHits(steps: Steps<CoreHit[]>): Soon<PackedHits> {
    const { frame } = this;
    const { call } = this.work;
    const pack = (hits: CoreHit[]) => this.#packed(hits, HIT_FIELDS, packHit, frame, call);
    return this.#runOrSlice(steps, pack) as Soon<PackedHits>;
  }

  #packed<H extends object>(
    hits: readonly H[],
    size: number,
    pack: (hit: H, frame: number) => PackedHit,
    frame: number,
    call: number,
  ): Soon<PackedHits> {
    const answer = (packed: PackedHits) => {
      const [fields] = packed;
      return ArrayBuffer.isView(fields) ? transfer(packed, [fields.buffer as ArrayBuffer]) : packed;
    };
    return this.#runOrSlice(packAll(hits, size, pack, frame), answer, call) as Soon<PackedHits>;
  }

  #readIds(steps: IdSteps): Soon<Uint32Array> {
    return this.#runOrSlice(steps, (ids) => transfer(ids, [ids.buffer]));
  }

  /** Does interruptible work at once if it is short, else in slices. */
  #runOrSlice<Result, Answer>(
    steps: Steps<Result>,
    answer: (result: Result) => Answer,
    call = this.work.call,
  ): Answer | Promise<Awaited<Answer>> {
    const deadline = performance.now() + FRAME_SLICE_MS;
    do {
      const step = steps.next();
      if (step.done) return answer(step.value);
    } while (performance.now() < deadline);
    return this.work.inSlices((slices) => slices.run(steps), call).then(answer) as Promise<Awaited<Answer>>;
  }

  /** Does sliced work for the call that began last, after `previous` work if it has to wait for that. */
  #inSlices<T>(work: (slices: Slices) => Promise<T>, previous?: Promise<unknown>): Promise<T> {
    return this.work.inSlices(work, this.work.call, previous);
  }
}

/** Returns whether a sweep takes no more than a few microseconds per object: that of a sphere or capsule that does not turn. */
function isQuick({ shape }: ObjectDescription, { rotation: [x, y, z] }: Motion): boolean {
  return (shape === SHAPE_SPHERE || shape === SHAPE_CAPSULE) && x === 0 && y === 0 && z === 0;
}
