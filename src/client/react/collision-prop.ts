import type { Instance } from '@react-three/fiber';
import { Object3D } from 'three';
import type { ContactDetail, Shape } from '../../shared/types.js';
import { invalid } from '../check/validate.js';
import { isDrawable } from '../three/track/is-drawable.js';
import type { SceneDrawable, SceneObjectOptions } from '../three/track/object-wishes.js';
import type { TrackOptions } from '../three/track-options.js';

/**
 * What the prop `collision` of a three element takes. On what is not drawn itself (a group, the scene of a model) it is
 * said for all below it; what is nearer to an object goes first, each option for itself.
 *
 * ```tsx
 * <mesh collision={{ shape: { type: 'sphere', radius: 1 }, contacts: 'manifold', group: 2 }} />
 * ```
 */
export interface CollisionProp extends SceneObjectOptions {
  /** It stands for the object instead of its triangles, as `shapeOf` of `trackScene` says it. */
  shape?: Shape;
}

declare module '@react-three/fiber' {
  // All elements have these props.
  interface ReactProps<P> {
    /** What the service of `collision-worker` shall know of the object, and of all below it where it is a group. */
    collision?: (P extends Object3D ? CollisionProp : never) | undefined;
  }
}

type Managed = { readonly __r3f?: Instance; collision?: unknown };
type Listener = (object: Object3D) => void;

const LISTENERS = new Set<Listener>();

/**
 * Has `listen` called with each object whose prop is set, changed or taken away; answers what ends that. fiber assigns its
 * props to the object, and of one that was taken away what a new object has, unless that is undefined: so all have null.
 */
export function onCollisionProp(listen: Listener): () => void {
  if (LISTENERS.size === 0) Object.defineProperty(Object3D.prototype, 'collision', ACCESSOR);
  LISTENERS.add(listen);
  return () => {
    LISTENERS.delete(listen);
    if (LISTENERS.size === 0) delete (Object3D.prototype as unknown as Managed).collision;
  };
}

const ACCESSOR: PropertyDescriptor & ThisType<Managed> = {
  configurable: true,
  get: () => null,
  set(value: unknown) {
    if (this.__r3f === undefined) {
      // It is not fiber's object, and the field is its owner's.
      Object.defineProperty(this, 'collision', { value, configurable: true, enumerable: true, writable: true });
    } else {
      for (const listen of LISTENERS) listen(this as unknown as Object3D);
    }
  },
};

/**
 * Answers options for `trackScene` that ask the props first, and the caller's functions for what they do not say.
 * `contactsAsked` answers what counts where nobody says anything of contacts.
 */
export function withProps(
  track: Omit<TrackOptions, 'signal'>,
  contactsAsked: () => ContactDetail,
): Omit<TrackOptions, 'signal'> {
  const { shapeOf, objectOptions, contacts } = track;
  // What is no function goes on to where it is refused.
  for (const given of [shapeOf, objectOptions]) if (given !== undefined && typeof given !== 'function') return track;
  return {
    ...track,
    shapeOf: (object) => propsOf(object).shape ?? shapeOf?.(object),
    objectOptions: (object) => {
      const { shape: _, ...options } = propsOf(object);
      return { ...(contacts === undefined && { contacts: contactsAsked() }), ...objectOptions?.(object), ...options };
    },
  };
}

/** Answers what the props say of an object. Throws INVALID_ARGUMENT. */
function propsOf(object: SceneDrawable): CollisionProp {
  const said: Record<string, unknown> = {};
  for (let each: Object3D | null = object; each !== null; each = each.parent) {
    if (each !== object && isDrawable(each)) continue;
    for (const [name, value] of Object.entries(ownProp(each as unknown as Managed)))
      if (value !== undefined) said[name] ??= value;
  }
  return said;
}

function ownProp(object: Managed): object {
  const prop: unknown = object.__r3f?.props.collision;
  // fiber says 0 of a prop that was taken away where it cannot make a new object.
  if (prop === undefined || prop === null || prop === 0) return {};
  if (typeof prop !== 'object') invalid('trackScene', 'collision', prop, 'an object of options');
  // Set before anybody listened: from now on it is to be heard.
  if (Object.hasOwn(object, 'collision') && object.collision === prop) delete object.collision;
  return prop;
}
