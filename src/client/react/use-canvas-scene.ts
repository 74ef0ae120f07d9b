import { useStore } from '@react-three/fiber';
import { type RefObject, useEffect, useRef } from 'react';
import { CanvasScene, type CanvasSceneOptions } from './canvas-scene.js';

export const NO_OPTIONS: CanvasSceneOptions = {};

/** Uses the scene of the canvas while the component is mounted; the ref is set from the first effect on. */
export function useCanvasScene(options: CanvasSceneOptions): RefObject<CanvasScene | null> {
  const store = useStore();
  const scene = useRef<CanvasScene>(null);
  const initialOptions = useRef(options);
  useEffect(() => {
    const acquired = CanvasScene.acquire(store, initialOptions.current);
    scene.current = acquired;
    return () => acquired.release();
  }, [store]);
  const { service } = options;
  useEffect(() => scene.current?.compare({ service }), [service]);
  return scene;
}
