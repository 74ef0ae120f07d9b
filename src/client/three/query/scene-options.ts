import type { Plane } from 'three';
import type { QueryOptions } from '../../../shared/types.js';
import { checkSignal } from '../../check/signal.js';
import { guardRead, readOptions } from '../../check/validate.js';
import { readTarget, readTargets, type SceneTarget } from '../scene-target.js';
import type { SceneObject } from '../track/scene-objects.js';
import type { SceneWalk } from '../track/scene-walk.js';
import { idsOfAll } from './target-ids.js';

/** The service's options, with objects of the scene instead of ids. */
export interface SceneQueryOptions extends Pick<QueryOptions, 'layers' | 'precision' | 'clipIntersection' | 'signal'> {
  /** As in the service's options, or three's planes. */
  clip?: ArrayLike<number> | readonly Plane[];
  /**
   * Objects or instances that this query ignores; their descendants are not ignored. Objects that are not in the scene, or not
   * built yet, are not there anyway.
   */
  ignore?: readonly SceneTarget[];
}

/** Options that have been read and checked. */
export type CheckedOptions<T extends SceneQueryOptions> = Omit<T, 'ignore' | 'clip'> & {
  ignore: readonly SceneObject[];
  clip?: ArrayLike<number>;
};

type ForwardedOption = 'layers' | 'side' | 'precision' | 'clip' | 'clipIntersection' | 'signal';

/** Filter options of a query in terms of the scene. */
type SceneFilter = { [K in ForwardedOption]?: QueryOptions[K] | undefined } & {
  ignore: readonly SceneObject[];
};

/** Checks and copies the options; the service itself checks those that are passed on to it. */
export function readQueryOptions<T extends SceneQueryOptions>(
  operation: string,
  given: T | undefined,
  keys: readonly string[],
): CheckedOptions<T> {
  const options = readOptions(operation, 'options', given, keys);
  const { ignore = [], clip, signal } = options;
  checkSignal(operation, signal);
  return {
    ...options,
    ...(clip !== undefined && { clip: guardRead(operation, 'clip', () => coefficientsOf(clip)) }),
    ignore: readTargets(operation, 'ignore', ignore, readTarget),
  } as CheckedOptions<T>;
}

/** Reads three's planes as numbers, four each; numbers are returned as they are. */
function coefficientsOf(clip: ArrayLike<number> | readonly Plane[]): ArrayLike<number> {
  if (!Array.isArray(clip) || typeof clip[0] !== 'object') return clip as ArrayLike<number>;
  return (clip as readonly Plane[]).flatMap(({ normal, constant }) => [normal.x, normal.y, normal.z, constant]);
}

/** Returns the options for the service, with the present ids of the scene. */
export function queryOptionsOf(
  walk: SceneWalk,
  { layers, ignore, side, precision, clip, clipIntersection, signal }: SceneFilter,
): QueryOptions {
  // The service treats undefined options as not given.
  return { layers, ignore: idsOfAll(walk, ignore), side, precision, clip, clipIntersection, signal } as QueryOptions;
}
