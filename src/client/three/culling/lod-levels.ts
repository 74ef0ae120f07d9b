import { type Camera, type LOD, type Mesh, type Object3D, Sphere } from 'three';
import type { DetailLevels } from './detail-levels.js';
import { boundsOf } from './geometry-bounds.js';
import type { ViewVolume } from './view-volume.js';

/** Chooses levels of LODs by the pixels of what their first level draws, instead of by its distance. */
export class LodLevels {
  /** The level of each that this view has drawn last. */
  readonly #shown = new WeakMap<LOD, number>();
  readonly #sphere = new Sphere();
  readonly #part = new Sphere();

  /**
   * Has a LOD choose by pixels while a camera draws it: `pixels` of half a unit where clip w is 1. Answers what ends that; null
   * where the app chooses by a function of its own. What cannot be read is told to `fail`, and the distance chooses.
   */
  takeOver(
    lod: LOD,
    levels: DetailLevels,
    camera: Camera,
    volume: ViewVolume,
    pixels: number,
    fail: (cause: unknown) => void,
  ): (() => void) | null {
    if (Object.hasOwn(lod, 'update')) return null;
    lod.update = (seenBy) => {
      try {
        if (seenBy === camera) return this.#choose(lod, levels, volume, pixels);
      } catch (cause) {
        fail(cause);
      }
      return Object.getPrototypeOf(lod).update.call(lod, seenBy);
    };
    return () => {
      delete (lod as Partial<LOD>).update;
    };
  }

  #choose(lod: LOD, levels: DetailLevels, volume: ViewVolume, pixels: number): void {
    const sphere = this.#sphereOf(lod);
    // Of what has no bounds nothing is known.
    const size = sphere.isEmpty() ? Number.POSITIVE_INFINITY : volume.pixelsOf(sphere, pixels);
    const level = levels.next(this.#shown.get(lod) ?? 0, size);
    this.#shown.set(lod, level);
    lod.levels.forEach(({ object }, i) => {
      const isShown = i === level;
      if (object.visible !== isShown) object.visible = isShown;
    });
    (lod as unknown as { _currentLevel: number })._currentLevel = level; // what `getCurrentLevel` answers
  }

  /** Finds a sphere about what the first level draws, in the world. */
  #sphereOf(lod: LOD): Sphere {
    const sphere = this.#sphere.makeEmpty();
    const left: Object3D[] = lod.levels.length > 0 ? [lod.levels[0].object] : [];
    for (let each = left.pop(); each !== undefined; each = left.pop()) {
      const bounds = (each as Mesh).geometry === undefined ? null : boundsOf((each as Mesh).geometry);
      if (bounds !== null) this.#include(this.#part.copy(bounds.sphere).applyMatrix4(each.matrixWorld));
      for (const child of each.children) left.push(child); // there may be too many for arguments
    }
    return sphere;
  }

  /** Grows the sphere about the first part, so that it holds another. */
  #include(part: Sphere): void {
    const sphere = this.#sphere;
    if (sphere.isEmpty()) sphere.copy(part);
    else sphere.radius = Math.max(sphere.radius, sphere.center.distanceTo(part.center) + part.radius);
  }
}
