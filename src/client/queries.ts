import { type Remote, transfer } from 'comlink';
import type { CollisionError } from '../shared/errors.js';
import type { RayFilter, WorkerApi } from '../shared/protocol.js';
import type { Hit, PickOptions, QueryOptions, Ray, RayHits, Vec3 } from '../shared/types.js';
import { abortable, checkSignal } from './abort.js';
import type { FramePump } from './frame-pump.js';
import { LatestTurn } from './latest-turn.js';
import type { WorkerLink } from './link.js';
import type { ObjectStore } from './objects.js';
import { pickRay } from './pick-ray.js';
import {
  argumentError,
  checkAtLeastZero,
  checkBits,
  checkBoolean,
  checkFinite,
  checkOneOf,
  checkOptions,
  checkTypedArray,
  checkVec3,
  invalid,
} from './validate.js';
import type { ViewTable } from './views.js';

const QUERY_KEYS = ['layers', 'ignore', 'side', 'precision'];
const PICK_KEYS = [...QUERY_KEYS, 'view', 'method', 'radius', 'signal', 'latest'];
const RAY_KEYS = ['origin', 'direction', 'tMin', 'tMax'];
const SIDES = ['front', 'back', 'double'] as const; // SIDE_FRONT, SIDE_BACK, SIDE_DOUBLE, from 1 on
const METHODS = ['ray', 'screen'] as const;
const PRECISIONS = ['sphere', 'aabb', 'obb', 'mesh'] as const;

/** Questions to the worker. Each is checked here and sent in order with the frames. */
export class Queries {
  readonly #link: WorkerLink;
  readonly #pump: FramePump;
  readonly #views: ViewTable;
  readonly #objects: ObjectStore;
  readonly #latestPick = new LatestTurn<Hit | null>('pick');
  readonly #latestPickAll = new LatestTurn<Hit[]>('pickAll');

  constructor(link: WorkerLink, pump: FramePump, views: ViewTable, objects: ObjectStore) {
    this.#link = link;
    this.#pump = pump;
    this.#views = views;
    this.#objects = objects;
  }

  pick(x: number, y: number, options: PickOptions = {}): Promise<Hit | null> {
    return this.#pick(x, y, options, this.#latestPick, null, (api, ray, filter) => api.raycast(ray, filter));
  }

  pickAll(x: number, y: number, options: PickOptions = {}): Promise<Hit[]> {
    return this.#pick(x, y, options, this.#latestPickAll, [], (api, ray, filter) => api.raycastAll(ray, filter));
  }

  raycast(ray: Ray, options?: QueryOptions): Promise<Hit | null> {
    checkOptions('raycast', 'options', options, QUERY_KEYS);
    const checked = checkRay('raycast', ray);
    const filter = this.#filter('raycast', options);
    return this.#ask('raycast', (api) => api.raycast(checked, filter));
  }

  raycastAll(ray: Ray, options?: QueryOptions): Promise<Hit[]> {
    checkOptions('raycastAll', 'options', options, QUERY_KEYS);
    const checked = checkRay('raycastAll', ray);
    const filter = this.#filter('raycastAll', options);
    return this.#ask('raycastAll', (api) => api.raycastAll(checked, filter));
  }

  raycastMany(rays: Float32Array, options?: QueryOptions): Promise<RayHits> {
    checkOptions('raycastMany', 'options', options, QUERY_KEYS);
    checkTypedArray('raycastMany', 'rays', rays, ['Float32Array']);
    if (rays.length % 8 !== 0) invalid('raycastMany', 'the length of rays', rays.length, 'a multiple of 8');
    const filter = this.#filter('raycastMany', options);
    const copy = rays.slice();
    return this.#ask('raycastMany', (api) => api.raycastMany(transfer(copy, [copy.buffer]), filter));
  }

  lineOfSight(from: Vec3, to: Vec3, options?: QueryOptions): Promise<boolean> {
    checkOptions('lineOfSight', 'options', options, QUERY_KEYS);
    const origin = checkVec3('lineOfSight', 'from', from);
    const target = checkVec3('lineOfSight', 'to', to);
    const filter = this.#filter('lineOfSight', options);
    const direction: Vec3 = [target[0] - origin[0], target[1] - origin[1], target[2] - origin[2]];
    const tMax = Math.hypot(...direction);
    if (tMax === 0) return Promise.resolve(true); // nothing is between a point and itself
    return this.#ask('lineOfSight', (api) => api.isClear({ origin, direction, tMin: 0, tMax }, filter));
  }

  #ask<T>(operation: string, invoke: (api: Remote<WorkerApi>) => Promise<T>): Promise<T> {
    const answer = this.#link.defer<T>(operation);
    this.#pump.enqueue(() => {
      this.#link.answerWith(answer, operation, invoke);
    });
    return answer.promise;
  }

  /** `beside` answers points outside of the viewport. */
  #pick<T>(
    x: number,
    y: number,
    options: PickOptions,
    turn: LatestTurn<T>,
    beside: T,
    invoke: (api: Remote<WorkerApi>, ray: Ray, filter: RayFilter) => Promise<T>,
  ): Promise<T> {
    const { operation } = turn;
    checkFinite(operation, 'x', x);
    checkFinite(operation, 'y', y);
    checkOptions(operation, 'options', options, PICK_KEYS);
    const { view = 'main', method = 'ray', radius, signal, latest = false } = options;
    if (checkOneOf(operation, 'method', method, METHODS) !== 'ray') {
      throw unsupported(operation, 'method', method, "'ray'");
    }
    if (radius !== undefined) checkAtLeastZero(operation, 'radius', radius);
    checkSignal(operation, signal);
    checkBoolean(operation, 'latest', latest);
    const filter = this.#filter(operation, options);
    // The ray of this very call: the camera may move before the worker gets it.
    const ray = pickRay(this.#views.get(operation, 'view', view), x, y);
    const answer = this.#link.defer<T>(operation);
    if (latest) turn.replaceWaiting(answer);
    if (!ray) {
      answer.resolve(beside);
    } else {
      const ask = () => this.#link.answerWith(answer, operation, (api) => invoke(api, ray, filter));
      this.#pump.enqueue(() => {
        if (answer.settled) return;
        if (latest) turn.ask(answer, ask);
        else ask();
      });
    }
    return abortable(operation, signal, answer);
  }

  #filter(operation: string, options: QueryOptions = {}): RayFilter {
    const { layers = -1, ignore = [], side = 'double', precision = 'mesh' } = options;
    if (checkOneOf(operation, 'precision', precision, PRECISIONS) !== 'mesh') {
      throw unsupported(operation, 'precision', precision, "'mesh'");
    }
    return {
      layers: checkBits(operation, 'layers', layers),
      side: 1 + SIDES.indexOf(checkOneOf(operation, 'side', side, SIDES)),
      ignore: this.#checkIgnore(operation, ignore),
    };
  }

  #checkIgnore(operation: string, ignore: unknown): Uint32Array {
    const isTyped = ArrayBuffer.isView(ignore) && 'length' in ignore;
    if (!Array.isArray(ignore) && !isTyped) invalid(operation, 'ignore', ignore, 'an array of object ids');
    const ids = Array.from(ignore as ArrayLike<number>);
    for (let i = 0; i < ids.length; i++) this.#objects.check(operation, `ignore[${i}]`, ids[i]);
    return Uint32Array.from(ids);
  }
}

function checkRay(operation: string, ray: Ray): Ray {
  if (ray === undefined) invalid(operation, 'ray', ray, 'an object');
  checkOptions(operation, 'ray', ray, RAY_KEYS);
  const { tMin = 0, tMax = Number.POSITIVE_INFINITY } = ray;
  const origin = checkVec3(operation, 'ray.origin', ray.origin);
  const direction = checkVec3(operation, 'ray.direction', ray.direction);
  if (direction.every((each) => each === 0)) invalid(operation, 'ray.direction', direction, 'a direction, not zero');
  checkAtLeastZero(operation, 'ray.tMin', tMin);
  if (!(tMax >= tMin)) invalid(operation, 'ray.tMax', tMax, `a number >= tMin, which is ${tMin}`);
  return { origin, direction, tMin, tMax };
}

function unsupported(operation: string, argument: string, value: unknown, supported: string): CollisionError {
  return argumentError('UNSUPPORTED', operation, argument, value, `${supported}, all that is supported`);
}
