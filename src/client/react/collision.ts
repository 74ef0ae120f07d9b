import { useStore } from '@react-three/fiber';
import {
  createElement,
  Fragment,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { Object3D } from 'three';
import { reportUncaught } from '../report-uncaught.js';
import type { SceneTracker } from '../three/scene-tracker.js';
import type { SceneContact, SceneFrame } from '../three/view/scene-frame.js';
import { CanvasScene, type CanvasSceneOptions, checkService, notMounted } from './canvas-scene.js';
import { NO_OPTIONS, useCanvasScene } from './use-canvas-scene.js';

/** The props of `<Collision>`. */
export interface CollisionProps extends CanvasSceneOptions {
  children?: ReactNode;
}

/**
 * Sets the service with which the scene of a canvas is tracked, and the options, for the hooks below it. It shares both with
 * `collisionEvents`: the first of them decides. They are created once, even if React mounts twice, and are released when the last
 * component that uses them is unmounted.
 *
 * ```tsx
 * <Collision track={{ contacts: 'any' }}>
 *   <Crate />
 * </Collision>
 * ```
 */
export function Collision({ children, ...options }: CollisionProps): ReactNode {
  checkService('Collision', options.service);
  const store = useStore();
  const first = useRef(options);
  // Runs before the effects of its descendants, whose hooks have no options; but a suspended component has no layout effects.
  useLayoutEffect(() => {
    const scene = CanvasScene.acquire(store, first.current);
    return () => scene.release();
  }, [store]);
  useCanvasScene(options);
  return createElement(Fragment, null, children);
}

const QUESTIONS = [
  ...(['pick', 'pickAll', 'pickRegion', 'raycast', 'raycastAll', 'lineOfSight'] as const),
  ...([
    'overlap',
    'containing',
    'closestPoint',
    'section',
    'sweep',
    'sweepAll',
    'place',
    'contact',
    'distance',
    'sees',
  ] as const),
];

type Questions = Pick<SceneTracker, (typeof QUESTIONS)[number]>;

/** The queries of `useCollision`: those of `SceneTracker`, except that they wait for the tracker. */
export type CollisionQueries = Questions & {
  /** The tracker of the canvas' scene, once all objects are built that were there when it was created. */
  readonly tracker: Promise<SceneTracker>;
};

/**
 * Returns the queries of this canvas' scene: the same object in every render.
 *
 * ```tsx
 * const { raycast } = useCollision();
 * const ground = await raycast({ origin: player.position, direction: [0, -1, 0] });
 * ```
 */
export function useCollision(): CollisionQueries {
  const scene = useCanvasScene(NO_OPTIONS);
  return useMemo(() => {
    const tracker = async (): Promise<SceneTracker> => {
      if (scene.current === null) throw notMounted();
      return scene.current.tracker;
    };
    const ask = async (name: keyof Questions, given: unknown[]): Promise<unknown> => {
      const own = await tracker();
      return Reflect.apply(own[name], own, given);
    };
    const entries = QUESTIONS.map((name) => [name, (...given: unknown[]) => ask(name, given)]);
    const questions = Object.fromEntries(entries) as Questions;
    return {
      ...questions,
      get tracker() {
        return tracker();
      },
    };
  }, [scene]);
}

/** Handlers for the pairs of one object and its descendants. */
export interface ContactHandlers {
  /** Called for each pair in its first frame; `a` is on the side of the object. */
  onContactBegin?: (contact: SceneContact) => void;
  /** Called for each pair in every frame. The contact is valid during the call. */
  onContact?: (contact: SceneContact) => void;
  /** Called with each object that has parted from the object. */
  onContactEnd?: (other: Object3D) => void;
}

/**
 * Calls the handlers for everything that touches an object or its descendants, or only for `other`. The handlers of the last
 * render are called. From the first such hook on, contacts of the canvas are computed with `contacts: 'manifold'`, unless `track`
 * of `<Collision>` or `collisionEvents`, or props, say otherwise: 'any' costs the worker less.
 *
 * ```tsx
 * const crate = useRef<Mesh>(null);
 * useContact(crate, { onContactBegin: ({ b }) => console.log('hit', b.object.name) });
 * ```
 */
export function useContact(
  object: RefObject<Object3D | null>,
  handlers: ContactHandlers,
  other?: RefObject<Object3D | null>,
): void {
  const scene = useCanvasScene(NO_OPTIONS);
  const newest = useRef(handlers);
  useEffect(() => {
    newest.current = handlers;
  });
  useEffect(() => {
    const own = scene.current!;
    own.askContacts();
    /** Which objects touch, as reported to the handlers: once an object is unmounted, its ref no longer names it. */
    const touching = new Map<Object3D, Set<Object3D>>();
    return own.onFrame((frame) => {
      // Without TypeScript, `useRef()` holds undefined until it is attached.
      const [first, second] = [object.current ?? null, other && (other.current ?? null)];
      const contacts = first === null || second === null ? [] : frame.contactsBetween(first, second);
      // Two objects may have several pairs, for example of instances.
      const ended: Object3D[] = [];
      for (const [each, its] of touching) {
        const parted = own.partedFrom(frame, each).filter((one) => its.has(one));
        for (const one of parted) its.delete(one);
        if (its.size === 0) touching.delete(each);
        ended.push(...parted);
      }
      for (const { a, b } of contacts) {
        const its = touching.get(a.object) ?? new Set();
        touching.set(a.object, its.add(b.object));
      }
      const { onContactBegin, onContact, onContactEnd } = newest.current;
      for (const contact of contacts) {
        if (contact.begun) call(onContactBegin, contact);
        call(onContact, contact);
      }
      for (const one of ended) call(onContactEnd, one);
    });
  }, [scene, object, other]);
}

/** Calls a handler. An error that it throws is reported and does not stop the others. */
function call<T>(handler: ((value: T) => void) | undefined, value: T): void {
  try {
    handler?.(value);
  } catch (error) {
    reportUncaught(error);
  }
}

/**
 * Calls `listen` with each frame of the canvas' scene, after its answer: all visible objects, and all contacts. The listener of
 * the last render is called. What the frame contains is valid during the call.
 *
 * ```tsx
 * useCollisionFrame((frame) => frame.forEachVisible(({ object }) => drawList.add(object)));
 * ```
 */
export function useCollisionFrame(listen: (frame: SceneFrame) => void): void {
  const scene = useCanvasScene(NO_OPTIONS);
  const newest = useRef(listen);
  useEffect(() => {
    newest.current = listen;
  });
  useEffect(() => scene.current!.onFrame((frame) => newest.current(frame)), [scene]);
}

/** Returns whether the camera of the canvas sees an object, or one of its descendants, as of the last frame. */
export function useVisible(object: RefObject<Object3D | null>): boolean {
  const scene = useCanvasScene(NO_OPTIONS);
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const own = scene.current!;
    return own.onFrame((frame) => {
      const { current } = object;
      setVisible(current ? own.isSeen(frame, current) : false);
    });
  }, [scene, object]);
  return isVisible;
}
