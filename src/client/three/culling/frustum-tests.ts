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

type FrustumTest = (this: Frustum, object: Object3D) => boolean;

/** The test of three's, and what takes its place while a pass is under way. */
interface Replaced {
  readonly test: FrustumTest;
  original: FrustumTest;
}

const THREES = Frustum.prototype as unknown as { intersectsObject: FrustumTest };

/** The passes under way, the newest last: a mirror renders while what it is in does. */
const passes: RenderPass[] = [];
/** It is made once: of a function that is another in each picture, code that calls it is not compiled for long. */
let replaced = replacing();

/**
 * Lets a pass decide about all objects but sprites that renderers ask frusta of three about, until `leave`. They ask before they
 * draw, for the picture and for shadows, each with a frustum of its own. Nothing of three is changed while no pass is under way.
 */
export function enter(pass: RenderPass): void {
  if (passes.push(pass) > 1) return;
  replaced.original = THREES.intersectsObject;
  THREES.intersectsObject = replaced.test;
}

export function leave(pass: RenderPass): void {
  const at = passes.lastIndexOf(pass);
  if (at < 0) return;
  passes.splice(at, 1);
  if (passes.length > 0) return;
  // Whoever replaced it meanwhile calls ours, which asks nobody then, and goes on to what was there before.
  if (THREES.intersectsObject === replaced.test) THREES.intersectsObject = replaced.original;
  else replaced = replacing();
}

function replacing(): Replaced {
  const own: Replaced = {
    original: THREES.intersectsObject,
    test(object) {
      // Nothing is made here: it is called for each object of a scene.
      for (const pass of passes) if (pass.isForced(object)) return !passes.some(isOf, this);
      if (!own.original.call(this, object)) return false;
      for (const pass of passes) if (pass.isOf(this) && pass.isLeftOut(object)) return false;
      return true;
    },
  };
  return own;
}

function isOf(this: Frustum, pass: RenderPass): boolean {
  return pass.isOf(this);
}
