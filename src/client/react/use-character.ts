import { type RefObject, useEffect, useRef } from 'react';
import type { Object3D } from 'three';
import type { SceneCharacter, SceneCharacterOptions } from '../three/scene-character.js';
import type { SceneTracker } from '../three/scene-tracker.js';
import { NO_OPTIONS, useCanvasScene } from './use-canvas-scene.js';

/** The options of the tracker's characters, except the object, which is the ref's. */
export type CharacterHookOptions = Omit<SceneCharacterOptions, 'object'>;

/**
 * Makes an object a character of the canvas' scene while the component is mounted: it slides along walls, climbs steps, falls,
 * and moves with the object that it stands on. The returned ref is set once everything that was in the scene is built and the
 * object is there, with a size if no `shape` is given. Changed options are set, and an option that is omitted later keeps its value;
 * `position` is where it starts. An object that replaces the first, for example one with another `key`, continues with the
 * character.
 *
 * ```tsx
 * const figure = useRef<Group>(null);
 * const hero = useCharacter(figure, { shape: { type: 'capsule', radius: 0.3, from: [0, 0.3, 0], to: [0, 1.5, 0] } });
 * useFrame((_, seconds) => hero.current?.advance(velocity, seconds));
 * ```
 */
export function useCharacter(
  object: RefObject<Object3D | null>,
  options: CharacterHookOptions = {},
): RefObject<SceneCharacter | null> {
  const scene = useCanvasScene(NO_OPTIONS);
  const character = useRef<SceneCharacter>(null);
  const newestOptions = useRef(options);
  /** The object of the newest render: a ref that is made in each render must not end the character. */
  const newestObject = useRef(object);
  useEffect(() => {
    newestObject.current = object;
    const { position: _, ...newOptions } = options;
    const { position: __, ...oldOptions } = newestOptions.current;
    newestOptions.current = options;
    if (areSame(newOptions, oldOptions)) return;
    try {
      character.current?.set(newOptions);
    } catch (error) {
      scene.current?.report(error);
    }
  });
  useEffect(() => {
    const canvasScene = scene.current!;
    let tracker: SceneTracker | null = null;
    /** Starts once the object is there, which may be suspended, and has a size; continues with an object that replaces it. */
    const follow = (): void => {
      const { current } = newestObject.current;
      if (tracker === null || !current || character.current?.object === current) return;
      try {
        if (character.current !== null) character.current.set({ object: current });
        else character.current = tracker.createCharacter({ ...newestOptions.current, object: current });
      } catch (error) {
        canvasScene.report(error);
      }
    };
    let isMounted = true;
    const begin = async (): Promise<void> => {
      const answer = await canvasScene.tracker;
      if (!isMounted) return;
      tracker = answer;
      follow();
    };
    begin().catch((error) => canvasScene.report(error));
    const stopListening = canvasScene.onFrame(follow);
    return () => {
      isMounted = false;
      stopListening();
      try {
        character.current?.remove();
      } catch (error) {
        canvasScene.report(error); // if the service has ended, so has the character
      }
      character.current = null;
    };
  }, [scene]);
  return character;
}

/** Returns whether options are the same: objects of the scene are compared by identity, everything else by value. */
function areSame(a: CharacterHookOptions, b: CharacterHookOptions): boolean {
  const { ignore: ignoreA = [], ...restA } = a;
  const { ignore: ignoreB = [], ...restB } = b;
  return (
    JSON.stringify(restA) === JSON.stringify(restB) &&
    ignoreA.length === ignoreB.length &&
    ignoreA.every((each, i) => each === ignoreB[i])
  );
}
