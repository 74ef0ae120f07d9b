import type { InstancedMesh, LOD, Object3D } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import {
  checkAtLeastZero,
  describeValue,
  readOptions,
  reasonOf,
  throwInvalid,
  unreadableError,
} from '../../check/validate.js';
import { nameOf } from '../track/name-of.js';
import { type CullingOptions, checkOrder, type DetailLevel, type InstanceOrder } from '../track-options.js';
import { DetailLevels } from './detail-levels.js';

const LEVEL_KEYS = ['pixels', 'geometry', 'hysteresis'];

/** The caller's settings for single objects: each object is asked about once, and an error is reported once in the console. */
export class CullingSettings {
  readonly #options: CullingOptions;
  readonly #orders = new WeakMap<InstancedMesh, InstanceOrder | null>();
  readonly #levels = new WeakMap<Object3D, DetailLevels | null>();
  /** Objects that have been reported as unreadable. */
  readonly #unreadable = new WeakSet<Object3D>();

  constructor(options: CullingOptions) {
    this.#options = options;
  }

  /** Warns, once per object, that three draws it as it is because reading it threw an error. */
  drawAsItIs(object: Object3D, cause: unknown): void {
    if (this.#unreadable.has(object)) return;
    this.#unreadable.add(object);
    console.warn(
      `${unreadableError('trackScene', `the ${nameOf(object)}`, cause).message}; it is drawn without culling`,
    );
  }

  /** Returns the order in which a mesh's instances are drawn; null for the order of their numbers. */
  orderOf(mesh: InstancedMesh): InstanceOrder | null {
    const { order } = this.#options;
    if (typeof order !== 'function') return order ?? null;
    return memoize(this.#orders, mesh, () => {
      const meshOrder = order(mesh) ?? null;
      if (meshOrder !== null) checkOrder('trackScene', 'the answer of culling.order', meshOrder);
      return meshOrder;
    });
  }

  /** Returns the levels of detail that are chosen by size in pixels; null if there are none. */
  levelsOf(object: InstancedMesh | LOD): DetailLevels | null {
    const { levels } = this.#options;
    if (levels === undefined) return null;
    return memoize(this.#levels, object, () => {
      const objectLevels = levels(object);
      if (objectLevels === undefined || objectLevels === null) return null;
      const checkedLevels = readLevels(objectLevels, object);
      return checkedLevels.length === 0 ? null : new DetailLevels(checkedLevels);
    });
  }
}

function memoize<K extends Object3D, V>(table: WeakMap<K, V | null>, key: K, compute: () => V | null): V | null {
  const cached = table.get(key);
  if (cached !== undefined) return cached;
  let value: V | null = null;
  try {
    value = compute();
  } catch (error) {
    const message = CollisionError.is(error)
      ? error.message
      : `trackScene: the culling option throws ${reasonOf(error)}`;
    console.warn(`${message}; the ${nameOf(key)} is drawn without it`);
  }
  table.set(key, value);
  return value;
}

function readLevels(levels: readonly DetailLevel[], object: InstancedMesh | LOD): DetailLevel[] {
  const operation = 'trackScene';
  const name = 'the answer of culling.levels';
  if (!Array.isArray(levels)) throwInvalid(operation, name, levels, 'an array of levels');
  const maxLevels = 'isLOD' in object ? object.levels.length - 1 : levels.length;
  if (levels.length > maxLevels)
    throwInvalid(operation, `the length of ${name}`, levels.length, `at most ${maxLevels}, one less than the LOD has`);
  const checkedLevels = levels.map((level, i) => readOptions(operation, `${name}[${i}]`, level, LEVEL_KEYS));
  checkedLevels.forEach(({ pixels, geometry, hysteresis = 0 }, i) => {
    checkAtLeastZero(operation, `${name}[${i}].pixels`, pixels);
    checkAtLeastZero(operation, `${name}[${i}].hysteresis`, hysteresis);
    if (i > 0 && !(pixels < checkedLevels[i - 1].pixels)) {
      throwInvalid(
        operation,
        `${name}[${i}].pixels`,
        pixels,
        `less than ${describeValue(checkedLevels[i - 1].pixels)}, of the level before`,
      );
    }
    const isGeometry = (geometry as { isBufferGeometry?: boolean } | undefined)?.isBufferGeometry === true;
    if ('isLOD' in object ? geometry !== undefined : !isGeometry) {
      const expected = 'isLOD' in object ? 'none: a LOD has objects of its own' : 'a BufferGeometry';
      throwInvalid(operation, `${name}[${i}].geometry`, geometry, expected);
    }
  });
  return checkedLevels;
}
