import { Frustum, type Object3D } from 'three';

/** It decides about objects that three would draw. */
export interface RenderPass {
  /** Tells whether it is about what is in this frustum. */
  isOf(frustum: Frustum): boolean;
  /** Tells whether the object is always to be drawn but by this pass: its `frustumCulled` is not the app's. */
  isForced(object: Object3D): boolean;
  /** Tells whether the object is left out, which three would draw. */
  isLeftOut(object: Object3D): boolean;
}

type Test = 'intersectsObject' | 'intersectsSprite';

const TESTS: readonly Test[] = ['intersectsObject', 'intersectsSprite'];

/** The passes under way, the newest last: a mirror renders while what it is in does. */
const passes: RenderPass[] = [];
let restore: (() => void) | null = null;

/**
 * Lets a pass decide about all that renderers ask frusta of three about, until `leave`. They ask before they draw, for the
 * picture and for shadows, each with a frustum of its own. Nothing of three is changed while no pass is under way.
 */
export function enter(pass: RenderPass): void {
  passes.push(pass);
  restore ??= replaceTests();
}

export function leave(pass: RenderPass): void {
  const at = passes.lastIndexOf(pass);
  if (at >= 0) passes.splice(at, 1);
  if (passes.length > 0 || restore === null) return;
  restore();
  restore = null;
}

function replaceTests(): () => void {
  const { prototype } = Frustum;
  const ends = TESTS.map((name) => {
    const original = prototype[name] as (this: Frustum, object: Object3D) => boolean;
    const test = function (this: Frustum, object: Object3D): boolean {
      if (passes.some((pass) => pass.isForced(object))) return !passes.some((pass) => pass.isOf(this));
      if (!original.call(this, object)) return false;
      return !passes.some((pass) => pass.isOf(this) && pass.isLeftOut(object));
    };
    (prototype as unknown as Record<Test, typeof test>)[name] = test;
    return (): void => {
      // Whoever replaced it meanwhile calls ours, which asks nobody then.
      if (prototype[name] === test) (prototype as unknown as Record<Test, typeof original>)[name] = original;
    };
  });
  return () => {
    for (const end of ends) end();
  };
}
