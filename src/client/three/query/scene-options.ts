import type { QueryOptions } from '../../../shared/types.js';
import { checkSignal } from '../../check/signal.js';
import { readOptions } from '../../check/validate.js';
import { readTarget, readTargets, type SceneTarget } from '../scene-target.js';
import type { SceneObject } from '../track/scene-objects.js';
import type { SceneWalk } from '../track/scene-walk.js';
import { idsOf } from './target-ids.js';

/** They are the service's, with objects of the scene instead of ids. */
export interface SceneQueryOptions extends Pick<QueryOptions, 'layers' | 'precision' | 'signal'> {
  /**
   * Objects that are not there for this query, or instances; not what is below them. What is not in the scene, or not
   * built yet, is not there anyway.
   */
  ignore?: readonly SceneTarget[];
}

/** These options were read. */
export type Checked<T extends SceneQueryOptions> = Omit<T, 'ignore'> & { ignore: readonly SceneObject[] };

/** Queries ask this of objects, in terms of the scene. */
type SceneFilter = { [K in 'layers' | 'side' | 'precision' | 'signal']?: QueryOptions[K] | undefined } & {
  ignore: readonly SceneObject[];
};

/** Checks and copies the options; what the service is told, it checks itself. */
export function readQuery<T extends SceneQueryOptions>(
  operation: string,
  given: T | undefined,
  keys: readonly string[],
): Checked<T> {
  const options = readOptions(operation, 'options', given, keys);
  const { ignore = [], signal } = options;
  checkSignal(operation, signal);
  return { ...options, ignore: readTargets(operation, 'ignore', ignore, readTarget) };
}

/** Answers what the service is to be told, with the ids that the scene has now. */
export function queryOf(walk: SceneWalk, { layers, ignore, side, precision, signal }: SceneFilter): QueryOptions {
  return {
    ignore: ignore.flatMap((target) => Array.from(idsOf(walk, target))),
    ...(layers !== undefined && { layers }),
    ...(side !== undefined && { side }),
    ...(precision !== undefined && { precision }),
    ...(signal !== undefined && { signal }),
  };
}
