import type { Camera, Object3D, Scene, WebGLRenderer } from 'three';

/** What is told of the renders of a scene. */
export interface RenderListener {
  /** A render begins: matrices are as it draws them, and nothing is looked for yet. */
  begin(camera: Camera, renderer: WebGLRenderer): void;
  /** It has ended. That of one that has thrown is never told of. */
  end(camera: Camera): void;
}

type Callback = Object3D['onBeforeRender'];

const KEYS = ['onBeforeRender', 'onAfterRender'] as const;

interface Hooks {
  readonly listeners: Set<RenderListener>;
  /** They leave the scene as it was. */
  readonly ends: readonly (() => void)[];
}

/** The app's own callback, by ours in its place. The app may read ours, call it and put it back. */
const givenBy = new WeakMap<Callback, Callback>();

/** Trackers come and go in any order: a scene is hooked once for all who listen to it. */
const heard = new WeakMap<Scene, Hooks>();

/**
 * Has a listener told of each render of a scene, beside what the app has in `onBeforeRender` and `onAfterRender`: what it
 * has put there is called, and what it puts there from now on. Answers what ends that; the last one leaves the app's own there.
 */
export function listenToRenders(scene: Scene, listener: RenderListener): () => void {
  const hooks = heard.get(scene) ?? hook(scene);
  const { listeners, ends } = hooks;
  heard.set(scene, hooks);
  listeners.add(listener);
  return () => {
    if (!listeners.delete(listener) || listeners.size > 0) return;
    heard.delete(scene);
    for (const end of ends) end();
  };
}

function hook(scene: Scene): Hooks {
  const listeners = new Set<RenderListener>();
  const ends = KEYS.map((key) => {
    const isBefore = key === 'onBeforeRender';
    let current: Callback;
    const put = (given: Callback): void => {
      // The app's own goes first where a render begins, and last where it ends: it draws nothing that is culled for another.
      const callback: Callback = function (this: Object3D, ...args) {
        const [renderer, , camera] = args;
        // The app has put a callback of its own around this one, which calls it in a render that was told already.
        const isTold = callback !== current;
        if (isBefore || isTold) given.apply(this, args);
        if (isTold) return;
        for (const each of listeners) isBefore ? each.begin(camera, renderer) : each.end(camera);
        if (!isBefore) given.apply(this, args);
      };
      givenBy.set(callback, given);
      current = callback;
    };
    put(scene[key]);
    Object.defineProperty(scene, key, {
      configurable: true, // it stays as enumerable as it was
      get: () => current,
      set: (value: Callback) => put(givenBy.get(value) ?? value),
    });
    return (): void => {
      if (scene[key] !== current) return; // somebody has defined it anew
      const given = givenBy.get(current)!;
      delete (scene as Partial<Pick<Scene, typeof key>>)[key];
      if (scene[key] !== given) scene[key] = given;
    };
  });
  return { listeners, ends };
}

/** Answers the scene that is rendered with an object in it: the topmost above it, or itself; null where there is none. */
export function sceneOf(object: Object3D): Scene | null {
  let found: Scene | null = null;
  for (let each: Object3D | null = object; each !== null; each = each.parent) {
    if ((each as Scene).isScene === true) found = each as Scene;
  }
  return found;
}
