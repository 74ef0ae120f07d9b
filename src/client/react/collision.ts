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
  const initialOptions = useRef(options);
  // Runs before the effects of its descendants, whose hooks have no options; but a suspended component has no layout effects.
  useLayoutEffect(() => {
    const scene = CanvasScene.acquire(store, initialOptions.current);
    return () => scene.release();
  }, [store]);
  useCanvasScene(options);
  return createElement(Fragment, null, children);
}

const QUERY_NAMES = [
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

type TrackerQueries = Pick<SceneTracker, (typeof QUERY_NAMES)[number]>;

/** The queries of `useCollision`: those of `SceneTracker`, except that they wait for the tracker. */
export type CollisionQueries = TrackerQueries & {
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
    const ask = async (name: keyof TrackerQueries, args: unknown[]): Promise<unknown> => {
      const sceneTracker = await tracker();
      return Reflect.apply(sceneTracker[name], sceneTracker, args);
    };
    const entries = QUERY_NAMES.map((name) => [name, (...args: unknown[]) => ask(name, args)]);
    const queries = Object.fromEntries(entries) as TrackerQueries;
    return {
      ...queries,
      get tracker() {
        return tracker();
      },
    };
  }, [scene]);
}

/** Handlers for the pairs of one object and its descendants. */
export interface ContactHandlers {
  /**
   * Called for each pair in its first frame, and in the first frame of the hook for what touches already; `a` is on the side of
   * the object.
   */
  onContactBegin?: ((contact: SceneContact) => void) | undefined;
  /** Called for each pair in every frame. The contact is valid during the call. */
  onContact?: ((contact: SceneContact) => void) | undefined;
  /**
   * Called with each object that has parted from the object: in the next frame of the hook, if it was hidden meanwhile. Also called
   * for what the object touches when the ref no longer names it.
   */
  onContactEnd?: ((other: Object3D) => void) | undefined;
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
  const newestHandlers = useRef(handlers);
  useEffect(() => {
    newestHandlers.current = handlers;
  });
  /** What touched, as reported to the handlers, by the ids of each pair. It outlives the effect: see below. */
  const reportedPairs = useRef<ReadonlyMap<string, Object3D>>(new Map());
  useEffect(() => {
    const canvasScene = scene.current!;
    canvasScene.askContacts();
    return canvasScene.onFrame((frame) => {
      // Without TypeScript, `useRef()` holds undefined until it is attached.
      const [first, second] = [object.current ?? null, other && (other.current ?? null)];
      const contacts = first === null || second === null ? [] : frame.contactsBetween(first, second);
      const { a, b } = frame.result.contacts;
      const pairs = new Map(contacts.map((contact) => [`${a[contact.index]} ${b[contact.index]}`, contact]));
      // Pairs may have touched before the component was mounted, or before the ref named this object. They may have parted, and
      // touched again, while a hidden component did not listen. An effect runs again in each render if a ref is made in it.
      const reported = reportedPairs.current;
      reportedPairs.current = new Map(Array.from(pairs, ([key, contact]) => [key, contact.b.object]));
      const { onContactBegin, onContact, onContactEnd } = newestHandlers.current;
      for (const [key, partner] of reported) if (pairs.get(key)?.begun !== false) call(onContactEnd, partner);
      for (const [key, contact] of pairs) {
        if (contact.begun || !reported.has(key)) call(onContactBegin, contact);
        call(onContact, contact);
      }
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
 * Calls `listener` with each frame of the canvas' scene, after its answer: all visible objects, and all contacts. The listener of
 * the last render is called. What the frame contains is valid during the call.
 *
 * ```tsx
 * useCollisionFrame((frame) => frame.forEachVisible(({ object }) => drawList.add(object)));
 * ```
 */
export function useCollisionFrame(listener: (frame: SceneFrame) => void): void {
  const scene = useCanvasScene(NO_OPTIONS);
  const newestListener = useRef(listener);
  useEffect(() => {
    newestListener.current = listener;
  });
  useEffect(() => scene.current!.onFrame((frame) => newestListener.current(frame)), [scene]);
}

/** Returns whether the camera of the canvas sees an object, or one of its descendants, as of the last frame. */
export function useVisible(object: RefObject<Object3D | null>): boolean {
  const scene = useCanvasScene(NO_OPTIONS);
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const canvasScene = scene.current!;
    return canvasScene.onFrame((frame) => {
      const { current } = object;
      setVisible(current ? canvasScene.isSeen(frame, current) : false);
    });
  }, [scene, object]);
  return isVisible;
}
