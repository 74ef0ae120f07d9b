import type { Camera, Object3D, Scene, WebGLRenderer } from 'three';

/** Is notified of the renders of a scene. */
export interface RenderListener {
  /** A render begins: matrices are as it draws them, and three has not begun to collect what it draws. */
  begin(camera: Camera, renderer: WebGLRenderer): void;
  /** A render has ended. It is not called for a render that has thrown. */
  end(camera: Camera): void;
}

type Callback = Object3D['onBeforeRender'];

const KEYS = ['onBeforeRender', 'onAfterRender'] as const;

interface Hooks {
  readonly listeners: Set<RenderListener>;
  /** Restore the scene as it was. */
  readonly ends: readonly (() => void)[];
}

/** The app's own callback, by ours that replaces it. The app may read ours, call it and put it back. */
const appCallbacks = new WeakMap<Callback, Callback>();

/** Trackers come and go in any order: a scene is hooked once for all of its listeners. */
const hooksByScene = new WeakMap<Scene, Hooks>();

/**
 * Notifies a listener of each render of a scene. The app's own `onBeforeRender` and `onAfterRender` are still called: those that
 * it has set, and those that it sets from now on. Returns a function that removes the listener; the last one restores the app's
 * own callbacks.
 */
export function listenToRenders(scene: Scene, listener: RenderListener): () => void {
  const hooks = hooksByScene.get(scene) ?? installHooks(scene);
  const { listeners, ends } = hooks;
  hooksByScene.set(scene, hooks);
  listeners.add(listener);
  return () => {
    if (!listeners.delete(listener) || listeners.size > 0) return;
    hooksByScene.delete(scene);
    for (const end of ends) end();
  };
}

function installHooks(scene: Scene): Hooks {
  const listeners = new Set<RenderListener>();
  const ends = KEYS.map((key) => {
    const isBefore = key === 'onBeforeRender';
    let current: Callback;
    const install = (appCallback: Callback): void => {
      // The app's callback runs first when a render begins, and last when it ends: what it renders is not culled for another
      // camera.
      const callback: Callback = function (this: Object3D, ...args) {
        const [renderer, , camera] = args;
        // The app has wrapped this callback in one of its own, which calls it in a render that was already reported.
        const isWrapped = callback !== current;
        if (isBefore || isWrapped) appCallback.apply(this, args);
        if (isWrapped) return;
        for (const each of listeners) isBefore ? each.begin(camera, renderer) : each.end(camera);
        if (!isBefore) appCallback.apply(this, args);
      };
      appCallbacks.set(callback, appCallback);
      current = callback;
    };
    install(scene[key]);
    Object.defineProperty(scene, key, {
      configurable: true, // stays as enumerable as it was
      get: () => current,
      set: (value: Callback) => install(appCallbacks.get(value) ?? value),
    });
    return (): void => {
      if (scene[key] !== current) return; // somebody has redefined it
      const appCallback = appCallbacks.get(current)!;
      delete (scene as Partial<Pick<Scene, typeof key>>)[key];
      if (scene[key] !== appCallback) scene[key] = appCallback;
    };
  });
  return { listeners, ends };
}

/** Returns the scene that an object is rendered in: its topmost ancestor that is a Scene, or itself; null if there is none. */
export function sceneOf(object: Object3D): Scene | null {
  let scene: Scene | null = null;
  for (let each: Object3D | null = object; each !== null; each = each.parent) {
    if ((each as Scene).isScene === true) scene = each as Scene;
  }
  return scene;
}
