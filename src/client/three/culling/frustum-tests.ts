import { Frustum, type Object3D } from 'three';

/** Decides about objects that three would draw. */
export interface RenderPass {
  /** Returns whether the pass culls by this frustum. */
  isOf(frustum: Frustum): boolean;
  /**
   * Returns true for what the pass draws in place of a mesh, which nobody else draws, and false for a mesh that three does not
   * test in other renders: it is drawn unless it is left out. Undefined for all other objects.
   */
  isOwn(object: Object3D): boolean | undefined;
  /** Returns whether the pass leaves out an object that three would draw. */
  isLeftOut(object: Object3D): boolean;
}

type FrustumTest = (this: Frustum, object: Object3D) => boolean;

/** three's own test, and its replacement while a pass is under way. */
interface FrustumTestPatch {
  readonly test: FrustumTest;
  original: FrustumTest;
}

const FRUSTUM_PROTOTYPE = Frustum.prototype as unknown as { intersectsObject: FrustumTest };

/** The passes under way, the newest last: a mirror renders while the scene that contains it is being rendered. */
const passes: RenderPass[] = [];
/** Made only once: if the function were another in each picture, the code that calls it would not stay compiled for long. */
let patch = createPatch();

/**
 * Lets a pass decide, until `leavePass`, about all objects except sprites that renderers test against frusta of three. They test
 * before they draw, for the picture and for shadows, each with a frustum of its own. Nothing of three is changed while no pass is
 * under way.
 */
export function enterPass(pass: RenderPass): void {
  if (passes.push(pass) > 1) return;
  patch.original = FRUSTUM_PROTOTYPE.intersectsObject;
  FRUSTUM_PROTOTYPE.intersectsObject = patch.test;
}

export function leavePass(pass: RenderPass): void {
  const index = passes.lastIndexOf(pass);
  if (index < 0) return;
  passes.splice(index, 1);
  if (passes.length > 0) return;
  // Whoever replaced the method meanwhile calls ours, which then asks no pass and continues with the original.
  if (FRUSTUM_PROTOTYPE.intersectsObject === patch.test) FRUSTUM_PROTOTYPE.intersectsObject = patch.original;
  else patch = createPatch();
}

function createPatch(): FrustumTestPatch {
  const newPatch: FrustumTestPatch = {
    original: FRUSTUM_PROTOTYPE.intersectsObject,
    test(object) {
      // Nothing is allocated here: this is called for each object of a scene.
      let isOwn: boolean | undefined;
      for (const pass of passes) isOwn ??= pass.isOwn(object);
      if (isOwn) return passes.some(isPassOf, this);
      if (isOwn === undefined && !newPatch.original.call(this, object)) return false;
      for (const pass of passes) if (pass.isOf(this) && pass.isLeftOut(object)) return false;
      return true;
    },
  };
  return newPatch;
}

function isPassOf(this: Frustum, pass: RenderPass): boolean {
  return pass.isOf(this);
}
