import type { Instance } from '@react-three/fiber';
import { Object3D } from 'three';
import type { ContactDetail, Shape } from '../../shared/types.js';
import { throwInvalid } from '../check/validate.js';
import { isDrawable } from '../three/track/is-drawable.js';
import type { SceneDrawable, SceneObjectOptions } from '../three/track/object-settings.js';
import type { TrackOptions } from '../three/track-options.js';

/**
 * The value of the prop `collision` of a three element. On an object that is not drawn itself (a group, the scene of a model) it
 * applies to all of its descendants; the nearest ancestor takes precedence, separately for each option.
 *
 * ```tsx
 * <mesh collision={{ shape: { type: 'sphere', radius: 1 }, contacts: 'manifold', group: 2 }} />
 * ```
 */
export interface CollisionProp extends OrUndefined<SceneObjectOptions> {
  /** Replaces the object's triangles, as `shapeOf` of `trackScene` does. */
  shape?: Shape | undefined;
}

/** The same options, each of which may be undefined, as a component that passes on its own props has them. */
type OrUndefined<T> = { [K in keyof T]: T[K] | undefined };

declare module '@react-three/fiber' {
  // All elements have these props.
  interface ReactProps<P> {
    /** What the service of `collision-worker` is to know of the object, and of all of its descendants if it is a group. */
    collision?: (P extends Object3D ? CollisionProp : never) | undefined;
  }
}

type Managed = { readonly __r3f?: Instance; collision?: unknown };
type Listener = (object: Object3D) => void;

const LISTENERS = new Set<Listener>();

/**
 * Calls `listener` with each object whose prop is set, changed or removed; returns a function that ends it. fiber assigns its
 * props to the object; for a removed prop it assigns the value of a new object, unless that is undefined: so all objects have
 * null.
 */
export function onCollisionProp(listener: Listener): () => void {
  if (LISTENERS.size === 0) Object.defineProperty(Object3D.prototype, 'collision', ACCESSOR);
  LISTENERS.add(listener);
  return () => {
    LISTENERS.delete(listener);
    if (LISTENERS.size === 0) delete (Object3D.prototype as unknown as Managed).collision;
  };
}

const ACCESSOR: PropertyDescriptor & ThisType<Managed> = {
  configurable: true,
  get: () => null,
  set(value: unknown) {
    if (this.__r3f === undefined) {
      // This is not fiber's object, and the field is its owner's.
      Object.defineProperty(this, 'collision', { value, configurable: true, enumerable: true, writable: true });
    } else {
      for (const listener of LISTENERS) listener(this as unknown as Object3D);
    }
  },
};

/**
 * Returns options for `trackScene` that read the props first, and call the caller's functions for what the props leave open.
 * `defaultContacts` returns the default of contacts.
 */
export function withProps(
  track: Omit<TrackOptions, 'signal'>,
  defaultContacts: () => ContactDetail,
): Omit<TrackOptions, 'signal'> {
  const { shapeOf, objectOptions, contacts } = track;
  // A value that is not a function is passed on, and rejected there.
  for (const callback of [shapeOf, objectOptions])
    if (callback !== undefined && typeof callback !== 'function') return track;
  return {
    ...track,
    shapeOf: (object) => propsOf(object).shape ?? shapeOf?.(object),
    objectOptions: (object) => {
      const { shape: _, ...options } = propsOf(object);
      return { ...(contacts === undefined && { contacts: defaultContacts() }), ...objectOptions?.(object), ...options };
    },
  };
}

/** Returns the props that apply to an object. Throws INVALID_ARGUMENT. */
function propsOf(object: SceneDrawable): SceneObjectOptions & { shape?: Shape } {
  const props: Record<string, unknown> = {};
  for (let each: Object3D | null = object; each !== null; each = each.parent) {
    if (each !== object && isDrawable(each)) continue;
    for (const [name, value] of Object.entries(ownProp(each as unknown as Managed)))
      if (value !== undefined) props[name] ??= value;
  }
  return props;
}

function ownProp(object: Managed): object {
  const prop: unknown = object.__r3f?.props.collision;
  // fiber assigns 0 for a removed prop if it cannot make a new object.
  if (prop === undefined || prop === null || prop === 0) return {};
  if (typeof prop !== 'object') throwInvalid('trackScene', 'collision', prop, 'an object of options');
  // Set before anybody listened: without the own field, changes are noticed from now on.
  if (Object.hasOwn(object, 'collision') && object.collision === prop) delete object.collision;
  return prop;
}
