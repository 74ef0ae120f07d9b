import type { InstancedMesh, LOD, Object3D } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { checkAtLeastZero, invalid, readOptions, reasonOf, show, unreadable } from '../../check/validate.js';
import { nameOf } from '../track/name-of.js';
import { type CullingOptions, checkOrder, type DetailLevel, type InstanceOrder } from '../track-options.js';
import { DetailLevels } from './detail-levels.js';

const LEVEL_KEYS = ['pixels', 'geometry', 'hysteresis'];

/** The caller's wishes for single objects: each object is asked about once, and an error is reported once in the console. */
export class CullingWishes {
  readonly #options: CullingOptions;
  readonly #orders = new WeakMap<InstancedMesh, InstanceOrder | null>();
  readonly #levels = new WeakMap<Object3D, DetailLevels | null>();
  /** Objects that have been reported as unreadable. */
  readonly #unread = new WeakSet<Object3D>();

  constructor(options: CullingOptions) {
    this.#options = options;
  }

  /** Warns, once per object, that three draws it as it is because reading it threw an error. */
  drawAsItIs(object: Object3D, cause: unknown): void {
    if (this.#unread.has(object)) return;
    this.#unread.add(object);
    console.warn(`${unreadable('trackScene', `the ${nameOf(object)}`, cause).message}; it is drawn without culling`);
  }

  /** Returns the order in which a mesh's instances are drawn; null for the order of their numbers. */
  orderOf(mesh: InstancedMesh): InstanceOrder | null {
    const { order } = this.#options;
    if (typeof order !== 'function') return order ?? null;
    return known(this.#orders, mesh, () => {
      const wish = order(mesh) ?? null;
      if (wish !== null) checkOrder('trackScene', 'the answer of culling.order', wish);
      return wish;
    });
  }

  /** Returns the levels of detail that are chosen by size in pixels; null if there are none. */
  levelsOf(object: InstancedMesh | LOD): DetailLevels | null {
    const { levels } = this.#options;
    if (levels === undefined) return null;
    return known(this.#levels, object, () => {
      const wish = levels(object);
      if (wish === undefined || wish === null) return null;
      const read = readLevels(wish, object);
      return read.length === 0 ? null : new DetailLevels(read);
    });
  }
}

function known<K extends Object3D, V>(table: WeakMap<K, V | null>, key: K, ask: () => V | null): V | null {
  const found = table.get(key);
  if (found !== undefined) return found;
  let answer: V | null = null;
  try {
    answer = ask();
  } catch (error) {
    const message = CollisionError.is(error)
      ? error.message
      : `trackScene: the culling option throws ${reasonOf(error)}`;
    console.warn(`${message}; the ${nameOf(key)} is drawn without it`);
  }
  table.set(key, answer);
  return answer;
}

function readLevels(levels: readonly DetailLevel[], object: InstancedMesh | LOD): DetailLevel[] {
  const operation = 'trackScene';
  const name = 'the answer of culling.levels';
  if (!Array.isArray(levels)) invalid(operation, name, levels, 'an array of levels');
  const own = 'isLOD' in object ? object.levels.length - 1 : levels.length;
  if (levels.length > own)
    invalid(operation, `the length of ${name}`, levels.length, `at most ${own}, one less than the LOD has`);
  const read = levels.map((level, i) => readOptions(operation, `${name}[${i}]`, level, LEVEL_KEYS));
  read.forEach(({ pixels, geometry, hysteresis = 0 }, i) => {
    checkAtLeastZero(operation, `${name}[${i}].pixels`, pixels);
    checkAtLeastZero(operation, `${name}[${i}].hysteresis`, hysteresis);
    if (i > 0 && !(pixels < read[i - 1].pixels)) {
      invalid(operation, `${name}[${i}].pixels`, pixels, `less than ${show(read[i - 1].pixels)}, of the level before`);
    }
    const isGeometry = (geometry as { isBufferGeometry?: boolean } | undefined)?.isBufferGeometry === true;
    if ('isLOD' in object ? geometry !== undefined : !isGeometry) {
      const expected = 'isLOD' in object ? 'none: a LOD has objects of its own' : 'a BufferGeometry';
      invalid(operation, `${name}[${i}].geometry`, geometry, expected);
    }
  });
  return read;
}
