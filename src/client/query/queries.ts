import { type Remote, transfer } from '../../shared/calls.js';
import { PRECISION_MESH, PRECISION_OBB, RAY_NUMBERS, SIDE_DOUBLE, SIDE_OWN, WAY_NUMBERS } from '../../shared/layout.js';
import { type PackedHit, type PackedHits, packRay } from '../../shared/packed.js';
import type { Filter, WorkerApi } from '../../shared/protocol.js';
import { concatenate } from '../../shared/typed-arrays.js';
import type {
  ClosestPoint,
  ContactOptions,
  ContactReport,
  Distance,
  DistanceOptions,
  Hit,
  Inspection,
  InspectOptions,
  ObjectId,
  PickOptions,
  Placement,
  QueryOptions,
  Ray,
  RayHits,
  Rect,
  RegionOptions,
  Section,
  SectionOptions,
  Shape,
  Sight,
  SweepHit,
  SweepHits,
  SweepManyOptions,
  SweepOptions,
  Vec3,
  ViewOptions,
  VisibleSet,
} from '../../shared/types.js';
import { checkTypedArray } from '../check/binary.js';
import { checkClipPlanes, MAX_PLANE_CONSTANT } from '../check/planes.js';
import { checkSignal } from '../check/signal.js';
import {
  checkAtLeastZero,
  checkBoolean,
  checkFinite,
  checkInteger,
  checkMatrix,
  checkNumber,
  checkOneOf,
  checkPositive,
  checkVec3,
  readOptions,
  throwInvalid,
} from '../check/validate.js';
import { askInOrder } from '../frame/ask-in-order.js';
import type { FramePump } from '../frame/frame-pump.js';
import type { ViewTable } from '../frame/view-table.js';
import { abortable } from '../link/abort.js';
import type { WorkerLink } from '../link/worker-link.js';
import type { ObjectStore } from '../scene/object-store.js';
import { IDENTITY } from '../transforms/affine.js';
import { FirstView } from './first-view.js';
import { readHit, readHits, readSweepHit, readSweepHits } from './hit-answers.js';
import { type AdapterInspect, readInspection } from './inspect-options.js';
import { LatestTurn } from './latest-turn.js';
import { pickRay } from './pick-ray.js';
import {
  ADAPTER_KEYS,
  type AdapterQuery,
  checkDetail,
  checkFilter,
  checkIds,
  checkPlanes,
  checkRay,
  checkRegion,
  checkSnap,
  checkWholeFilter,
  QUERY_KEYS,
  sightRay,
} from './query-options.js';
import { snapDrawing } from './snap-drawing.js';
import { checkMotion, checkShapeOf, checkShapes, checkWays, SWEEP_KEYS, SWEEP_MANY_KEYS } from './sweep-options.js';

const PICK_ALL_KEYS = [...QUERY_KEYS, 'view', 'method', 'radius', 'latest'];
const PICK_KEYS = [...PICK_ALL_KEYS, 'snap'];
const REGION_KEYS = [...QUERY_KEYS, 'view', 'mode', 'latest'];
const CLOSEST_KEYS = [...QUERY_KEYS, 'maxDistance'];
const SECTION_KEYS = [...QUERY_KEYS, 'weld', 'roundPoints', 'caps'];
const CONTACT_KEYS = ['detail', 'signal'];
const DISTANCE_KEYS = ['maxDistance', 'signal'];
const METHODS = ['ray', 'screen'] as const;

/** Default radii in pixels, of method 'screen' and of picks that snap. */
const SCREEN_RADIUS = 20;
const SNAP_RADIUS = 10;

/** Additional options of the three adapter. */
interface AdapterContact {
  /** Whether an object in no layer is treated as absent. */
  isShown?: boolean;
}

const MAX_ROUND_POINTS = 4096;

type Api = Remote<WorkerApi>;
type Options = Pick<PickOptions, 'signal' | 'latest'>;
type Abortable = { signal?: AbortSignal | undefined };
/** The name of the worker's method for a pick, and its arguments. */
type PickCall =
  | ['raycast', ...Parameters<WorkerApi['raycast']>]
  | ['pickScreen', ...Parameters<WorkerApi['pickScreen']>]
  | ['pickSnap', ...Parameters<WorkerApi['pickSnap']>];
type Ask<T> = (...args: unknown[]) => Promise<T>;

/** Reads options. Those of the three adapter are known, too, except for queries that it does not use. */
function readQuery<T extends QueryOptions>(
  operation: string,
  options: T,
  keys = QUERY_KEYS,
  internal: readonly string[] = ADAPTER_KEYS,
): T {
  return readOptions(operation, 'options', options, keys, internal);
}

/** Copies an array for a worker, because the next worker may be asked, too. */
function transferCopy<T extends Float32Array | Float64Array>(array: T): T {
  const copy = array.slice() as T;
  return transfer(copy, [copy.buffer as ArrayBuffer]);
}

/** Queries to the worker. Each is checked here and sent in order with the frames. */
export class Queries {
  /** Picks wait for the first view. */
  readonly firstView = new FirstView();
  readonly #link: WorkerLink;
  readonly #pump: FramePump;
  readonly #views: ViewTable;
  readonly #objects: ObjectStore;
  readonly #latestPick = new LatestTurn<Hit | null>('pick');
  /** Picks that snap have a turn of their own: the answer of another pick would have no `snap`. */
  readonly #latestSnap = new LatestTurn<Hit | null>('pick');
  readonly #latestPickAll = new LatestTurn<Hit[]>('pickAll');
  readonly #latestRegion = new LatestTurn<Uint32Array>('pickRegion');

  constructor(link: WorkerLink, pump: FramePump, views: ViewTable, objects: ObjectStore) {
    this.#link = link;
    this.#pump = pump;
    this.#views = views;
    this.#objects = objects;
    link.ended.then((error) => this.firstView.end(error));
  }

  pick(x: number, y: number, options: PickOptions = {}): Promise<Hit | null> {
    const given = readQuery('pick', options, PICK_KEYS);
    const turn = given.snap === undefined ? this.#latestPick : this.#latestSnap;
    return this.#pick(turn, x, y, given, null, (api, [name, ...args]) =>
      readHit((api[name] as Ask<PackedHit | null>)(...args)),
    );
  }

  pickAll(x: number, y: number, options: Omit<PickOptions, 'snap'> = {}): Promise<Hit[]> {
    const given = readQuery('pickAll', options, PICK_ALL_KEYS);
    return this.#pick(this.#latestPickAll, x, y, given, [], (api, [name, ...args]) =>
      readHits((api[`${name}All` as 'raycastAll' | 'pickScreenAll'] as Ask<PackedHits>)(...args)),
    );
  }

  #pick<T>(
    turn: LatestTurn<T>,
    x: number,
    y: number,
    given: PickOptions,
    localAnswer: T,
    invoke: (api: Api, call: PickCall) => Promise<T>,
  ): Promise<T> {
    const { operation } = turn;
    const pickCall = this.#readPick(operation, x, y, given);
    return this.#withView(operation, given, () => {
      const call = pickCall();
      return this.#askInTurn(turn, given, localAnswer, call && ((api) => invoke(api, call)));
    });
  }

  pickRegion(region: Rect | Float32Array, options: RegionOptions = {}): Promise<Uint32Array> {
    const operation = 'pickRegion';
    const given = readQuery(operation, options, REGION_KEYS);
    const { view = 'main', mode, latest = false } = given;
    checkBoolean(operation, 'latest', latest);
    // All of an object, whatever its own side.
    const sides = mode === 'enclose' ? SIDE_DOUBLE : SIDE_OWN;
    const filter = checkFilter(operation, given, this.#objects, PRECISION_MESH, sides);
    const clipRegion = checkRegion(operation, region, mode);
    return this.#withView(operation, given, () => {
      const record = this.#views.get(operation, 'view', view).record.slice();
      const clippedRegion = clipRegion(record);
      const invoke = clippedRegion && ((api: Api) => api.pickRegion(record, clippedRegion, filter));
      return this.#askInTurn(this.#latestRegion, given, new Uint32Array(), invoke);
    });
  }

  /** Asks at once, or as soon as there is a view if there is none yet: the arguments stay as they were at the call. */
  #withView<T>(operation: string, { view = 'main', signal }: RegionOptions, ask: () => Promise<T>): Promise<T> {
    return view === 'main' && !this.firstView.isSet ? this.firstView.ask(operation, signal, ask) : ask();
  }

  raycast(ray: Ray, options?: QueryOptions): Promise<Hit | null> {
    return this.#cast('raycast', ray, options, readHit);
  }

  raycastAll(ray: Ray, options?: QueryOptions): Promise<Hit[]> {
    return this.#cast('raycastAll', ray, options, readHits);
  }

  #cast<A, T>(
    operation: 'raycast' | 'raycastAll',
    ray: Ray,
    options: QueryOptions = {},
    read: (answer: Promise<A>) => Promise<T>,
  ): Promise<T> {
    const given = readQuery(operation, options);
    const packed = packRay(checkRay(operation, ray));
    const filter = checkFilter(operation, given, this.#objects);
    return this.#ask(operation, given, (api) => read((api[operation] as Ask<A>)(packed, filter)));
  }

  raycastMany(rays: Float32Array, options: QueryOptions = {}): Promise<RayHits> {
    const given = readQuery('raycastMany', options, QUERY_KEYS, []);
    const copy = new Float32Array(checkTypedArray<Float32Array>('raycastMany', 'rays', rays, ['Float32Array']));
    if (copy.length % RAY_NUMBERS > 0)
      throwInvalid('raycastMany', 'the length of rays', copy.length, `a multiple of ${RAY_NUMBERS}`);
    const filter = checkFilter('raycastMany', given, this.#objects);
    return this.#ask('raycastMany', given, (api) => api.raycastMany(transferCopy(copy), filter));
  }

  async lineOfSight(from: Vec3, to: Vec3, options: QueryOptions = {}): Promise<boolean> {
    const given = readQuery('lineOfSight', options, QUERY_KEYS, []);
    const origin = checkVec3('lineOfSight', 'from', from);
    const target = checkVec3('lineOfSight', 'to', to);
    const filter = checkFilter('lineOfSight', given, this.#objects);
    const ray = sightRay(origin, target);
    if (!ray) return true;
    return this.#ask('lineOfSight', given, (api) =>
      api.isClear([...ray.origin, ...ray.direction, 0, ray.tMax], filter),
    );
  }

  frustum(volume: string | ViewOptions | Float32Array, options: QueryOptions = {}): Promise<VisibleSet> {
    const given = readQuery('frustum', options, QUERY_KEYS, []);
    const filter = checkFilter('frustum', given, this.#objects, PRECISION_OBB);
    const checked = ArrayBuffer.isView(volume)
      ? checkPlanes('frustum', volume)
      : this.#views.recordOf('frustum', 'view', volume);
    return this.#ask('frustum', given, (api) => api.frustum(checked, filter));
  }

  sees(view: string | ViewOptions, targets: ArrayLike<ObjectId>, options: QueryOptions = {}): Promise<Sight> {
    const given = readQuery('sees', options);
    const filter = checkFilter('sees', given, this.#objects);
    const record = this.#views.recordOf('sees', 'view', view);
    const ids = checkIds('sees', 'targets', targets, this.#objects);
    return this.#ask('sees', given, (api) => api.sees(record, ids, filter));
  }

  overlap(shape: Shape, matrix: ArrayLike<number> = IDENTITY, options: QueryOptions = {}): Promise<Uint32Array> {
    const given = readQuery('overlap', options);
    const description = this.#objects.describeQuery('overlap', shape);
    const transform = checkMatrix('overlap', 'matrix', matrix);
    const filter = checkWholeFilter('overlap', given, this.#objects);
    return this.#ask('overlap', given, (api) => api.overlap(description, transform, filter));
  }

  containing(point: Vec3, options: QueryOptions = {}): Promise<Uint32Array> {
    const given = readQuery('containing', options);
    const position = checkVec3('containing', 'point', point);
    const filter = checkFilter('containing', given, this.#objects);
    return this.#ask('containing', given, (api) => api.containing(position, filter));
  }

  closestPoint(point: Vec3, options: QueryOptions & { maxDistance?: number } = {}): Promise<ClosestPoint | null> {
    const given = readQuery('closestPoint', options, CLOSEST_KEYS);
    const position = checkVec3('closestPoint', 'point', point);
    if (!position.every((each) => Math.abs(each) <= MAX_PLANE_CONSTANT))
      throwInvalid('closestPoint', 'point', position, 'no number beyond 1e150');
    const { maxDistance = Number.POSITIVE_INFINITY } = given;
    checkNumber('closestPoint', 'maxDistance', maxDistance, 0, 'a number >= 0');
    const filter = checkWholeFilter('closestPoint', given, this.#objects);
    return this.#ask('closestPoint', given, (api) => api.closestPoint(position, maxDistance, filter));
  }

  sweep(
    shape: Shape | ObjectId,
    from: ArrayLike<number>,
    to: ArrayLike<number>,
    options: SweepOptions = {},
  ): Promise<SweepHit | null> {
    return this.#askSweep('sweep', shape, from, to, options, readSweepHit);
  }

  sweepAll(
    shape: Shape | ObjectId,
    from: ArrayLike<number>,
    to: ArrayLike<number>,
    options: SweepOptions = {},
  ): Promise<SweepHit[]> {
    return this.#askSweep('sweepAll', shape, from, to, options, readSweepHits);
  }

  place(shape: Shape | ObjectId, matrix: ArrayLike<number> = IDENTITY, options: QueryOptions = {}): Promise<Placement> {
    const given = readQuery('place', options);
    const description = this.#objects.describeQuery('place', shape);
    const transform = checkMatrix('place', 'matrix', matrix);
    const filter = this.#filterOf('place', shape, given);
    return this.#ask('place', given, (api) => api.place(description, transform, filter));
  }

  /** Reads the filter of a query that moves a shape; an object whose shape is moved does not block itself. */
  #filterOf(operation: string, shape: Shape | ObjectId, options: QueryOptions & AdapterQuery): Filter {
    const filter = checkWholeFilter(operation, options, this.#objects, SIDE_DOUBLE);
    if (typeof shape !== 'number') return filter;
    return { ...filter, ignore: concatenate([filter.ignore ?? [], [shape]]).sort() };
  }

  /** Sends a query about one shape on its way. */
  #askSweep<A, T>(
    operation: 'sweep' | 'sweepAll',
    shape: Shape | ObjectId,
    from: ArrayLike<number>,
    to: ArrayLike<number>,
    options: SweepOptions & AdapterQuery,
    read: (answer: Promise<A>) => Promise<T>,
  ): Promise<T> {
    const given = readQuery(operation, options, SWEEP_KEYS);
    const description = this.#objects.describeQuery(operation, shape);
    const { matrix, motion } = checkMotion(operation, from, to, given.tolerance);
    const filter = this.#filterOf(operation, shape, given);
    return this.#ask(operation, given, (api) => read((api[operation] as Ask<A>)(description, matrix, motion, filter)));
  }

  sweepMany(
    shape: Shape | readonly Shape[],
    ways: Float64Array | Float32Array,
    options: SweepManyOptions = {},
  ): Promise<SweepHits> {
    const operation = 'sweepMany';
    const given = readOptions(operation, 'options', options, SWEEP_MANY_KEYS);
    const shapes = checkShapes(operation, shape);
    const descriptions = shapes.map((each) => this.#objects.describeQuery(operation, each));
    const copy = checkWays(operation, ways);
    const shapeOf = checkShapeOf(operation, given.shapeOf, shapes, copy.length / WAY_NUMBERS);
    const tolerance = given.tolerance === undefined ? 0 : checkPositive(operation, 'tolerance', given.tolerance);
    const filter = checkWholeFilter(operation, given, this.#objects, SIDE_DOUBLE);
    return this.#ask(operation, given, (api) =>
      api.sweepMany(descriptions, transferCopy(copy), shapeOf, tolerance, filter),
    );
  }

  contact(a: ObjectId, b: ObjectId, options: ContactOptions & AdapterContact = {}): Promise<ContactReport | null> {
    const given = readOptions('contact', 'options', options, CONTACT_KEYS, ['isShown']);
    const detail = checkDetail('contact', given.detail);
    return this.#askPair('contact', a, b, given, (api) => api.contact(a, b, detail));
  }

  distance(a: ObjectId, b: ObjectId, options: DistanceOptions & AdapterContact = {}): Promise<Distance | null> {
    const given = readOptions('distance', 'options', options, DISTANCE_KEYS, ['isShown']);
    const { maxDistance = Number.POSITIVE_INFINITY } = given;
    checkNumber('distance', 'maxDistance', maxDistance, 0, 'a number >= 0');
    return this.#askPair('distance', a, b, given, (api) => api.distance(a, b, maxDistance));
  }

  /** Sends a query about two objects; with `isShown`, null if one of them is in no layer. */
  #askPair<T>(
    operation: string,
    a: ObjectId,
    b: ObjectId,
    { signal, isShown }: Abortable & AdapterContact,
    invoke: (api: Api) => Promise<T | null>,
  ): Promise<T | null> {
    checkSignal(operation, signal);
    this.#objects.check(operation, 'a', a);
    this.#objects.check(operation, 'b', b);
    if (a === b) throwInvalid(operation, 'b', b, `another object than a, which is ${a}`);
    if (isShown === true && (this.#objects.layersOf(a) === 0 || this.#objects.layersOf(b) === 0)) {
      return this.#answered<T | null>(operation, signal, null);
    }
    return this.#ask(operation, { signal }, invoke);
  }

  section(plane: ArrayLike<number>, options: SectionOptions = {}): Promise<Section> {
    const given = readQuery('section', options, SECTION_KEYS);
    const checkedPlane = checkClipPlanes('section', 'plane', plane, 1);
    if (checkedPlane.length !== 4) throwInvalid('section', 'the length of plane', checkedPlane.length, 'four numbers');
    const { weld, roundPoints = 64, caps = false } = given;
    if (weld !== undefined) checkAtLeastZero('section', 'weld', weld);
    checkInteger('section', 'roundPoints', roundPoints, 3, MAX_ROUND_POINTS);
    const filter = checkWholeFilter('section', given, this.#objects);
    checkBoolean('section', 'caps', caps);
    return this.#ask('section', given, (api) => api.section({ plane: checkedPlane, filter, roundPoints, weld, caps }));
  }

  inspect(options?: InspectOptions & AdapterInspect): Promise<Inspection> {
    const { request, signal } = readInspection('inspect', options, this.#objects, this.#views);
    return this.#ask('inspect', { signal }, (api) => api.inspect(request));
  }

  /**
   * Reads the arguments of a pick, and returns a function that computes the call in the view as it is then; null for a point
   * outside of the viewport.
   */
  #readPick(operation: string, x: number, y: number, options: PickOptions & AdapterQuery): () => PickCall | null {
    checkFinite(operation, 'x', x);
    checkFinite(operation, 'y', y);
    const { method = 'ray', view: name = 'main', latest = false, asked } = options;
    checkBoolean(operation, 'latest', latest);
    checkOneOf(operation, 'method', method, METHODS);
    const filter = checkFilter(operation, options, this.#objects);
    const kinds = checkSnap(operation, options);
    const { radius = method === 'screen' ? SCREEN_RADIUS : kinds ? SNAP_RADIUS : 0 } = options;
    checkAtLeastZero(operation, 'radius', radius);
    if (method === 'ray' && radius > 0 && filter.threshold !== undefined && !kinds) {
      throwInvalid(
        operation,
        'radius',
        radius,
        `0 with a threshold, which is ${filter.threshold}; one of both decides`,
      );
    }
    return () => {
      const view = asked ?? this.#views.get(operation, 'view', name);
      // The worker computes the snap radius in the world, from the drawing.
      const ray = pickRay(view, x, y, method === 'ray' && !kinds ? radius : 0);
      if (!ray) return null;
      if (method === 'screen') return ['pickScreen', view.record.slice(), { x, y, radius }, filter];
      const packed = packRay(ray);
      if (!kinds) return ['raycast', packed, filter];
      return ['pickSnap', packed, filter, { kinds, drawing: snapDrawing(view, x, y, radius) }];
    };
  }

  #ask<T>(operation: string, { signal }: Abortable, invoke: (api: Api) => Promise<T>): Promise<T> {
    return askInOrder(this.#link, this.#pump, operation, signal, invoke);
  }

  /** Sends a query like `#ask`, with `latest`; if there is nothing to invoke, the answer is `localAnswer`. */
  #askInTurn<T>(
    turn: LatestTurn<T>,
    { signal, latest = false }: Options,
    localAnswer: T,
    invoke: ((api: Api) => Promise<T>) | null,
  ): Promise<T> {
    const { operation } = turn;
    if (latest && invoke) {
      const answer = this.#link.deferQuestion<T>(operation);
      const promise = abortable(operation, signal, answer);
      const ask = () => this.#link.answerWith(answer, operation, invoke);
      turn.add(answer, ask, (ready) => this.#pump.enqueue(ready));
      return promise;
    }
    if (invoke) return this.#ask(operation, { signal }, invoke);
    const answer = this.#answered(operation, signal, localAnswer);
    if (latest) turn.answerWaiting(localAnswer);
    return answer;
  }

  /** Answers a query without the worker, unless the service has ended. */
  #answered<T>(operation: string, signal: AbortSignal | undefined, value: T): Promise<T> {
    const answer = this.#link.defer<T>(operation);
    const promise = abortable(operation, signal, answer);
    answer.resolve(value);
    return promise;
  }
}
