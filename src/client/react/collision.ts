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
import type { SceneTracker } from '../three/scene-tracker.js';
import type { SceneContact, SceneFrame } from '../three/view/scene-frame.js';
import { CanvasScene, type CanvasSceneOptions, checkService, notMounted } from './canvas-scene.js';
import { NO_OPTIONS, useCanvasScene } from './use-canvas-scene.js';

/** What `<Collision>` takes. */
export interface CollisionProps extends CanvasSceneOptions {
  children?: ReactNode;
}

/**
 * Says with what service the scene of a canvas is tracked, and how, for the hooks below it. It shares both with
 * `collisionEvents`: whichever of them is first says so. They are made once, also where React mounts twice, and go when the
 * last that uses them is unmounted.
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
  // Before the effects of what is below, whose hooks have no options; but what is suspended has no layout effects.
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

/** The questions of `useCollision`: they wait for the tracker, and are those of `SceneTracker` else. */
export type CollisionQueries = Questions & {
  /** The tracker of the canvas' scene, as soon as all stands that was there when it was made. */
  readonly tracker: Promise<SceneTracker>;
};

/**
 * Answers the questions that can be asked of the scene of this canvas: the same object in every render.
 *
 * ```tsx
 * const { raycast } = useCollision();
 * const ground = await raycast({ origin: player.position, direction: [0, -1, 0] });
 * ```
 */
export function useCollision(): CollisionQueries {
  const store = useStore();
  const scene = useCanvasScene(NO_OPTIONS);
  return useMemo(() => {
    const tracker = async (): Promise<SceneTracker> => {
      if (scene.current === null) throw notMounted();
      return scene.current.track(store.getState().scene);
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
  }, [scene, store]);
}

/** They are called for the pairs of one object, and of what is below it. */
export interface ContactHandlers {
  /** It hears of each pair in its first frame; `a` is on the side of the object. */
  onContactBegin?: (contact: SceneContact) => void;
  /** It hears of each pair in every frame. The contact is valid during the call. */
  onContact?: (contact: SceneContact) => void;
  /** It hears what has parted from the object. */
  onContactEnd?: (other: Object3D) => void;
}

/**
 * Calls the handlers for what touches an object, or what is below it: anything, or only `other`. The handlers of the last
 * render are called. From the first such hook on, contacts of the canvas are looked at with `contacts: 'manifold'`, unless
 * `track` of `<Collision>` or `collisionEvents`, or props, say otherwise: 'any' costs the worker less.
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
    /** What touches what, as the handlers know it: of what is unmounted the refs say nothing any more. */
    const touching = new Map<Object3D, Set<Object3D>>();
    return own.onFrame((frame) => {
      const [first, second] = [object.current, other?.current];
      const contacts = first === null || second === null ? [] : frame.contactsBetween(first, second);
      // There may be several of two objects, as of instances.
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
        if (contact.begun) onContactBegin?.(contact);
        onContact?.(contact);
      }
      if (onContactEnd !== undefined) for (const one of ended) onContactEnd(one);
    });
  }, [scene, object, other]);
}

/**
 * Calls `listen` with each frame of the canvas' scene, behind its answer: all that is visible, and all contacts. That of the
 * last render is called. What the frame holds is valid during the call.
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

/** Tells whether the camera of the canvas sees an object, or anything below it, as of the last frame. */
export function useVisible(object: RefObject<Object3D | null>): boolean {
  const scene = useCanvasScene(NO_OPTIONS);
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const own = scene.current!;
    return own.onFrame((frame) => setVisible(object.current !== null && own.isSeen(frame, object.current)));
  }, [scene, object]);
  return isVisible;
}
