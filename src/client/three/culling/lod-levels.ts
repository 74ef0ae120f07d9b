import { type LOD, type Mesh, type Object3D, Sphere } from 'three';
import type { DetailLevels } from './detail-levels.js';
import { boundsOf } from './geometry-bounds.js';
import type { ViewVolume } from './view-volume.js';

/** Chooses levels of LODs by the size in pixels of their first level, instead of by distance. */
export class LodLevels {
  /** The level of each LOD that this view has drawn last. */
  readonly #lastLevels = new WeakMap<LOD, number>();
  readonly #sphere = new Sphere();
  readonly #part = new Sphere();

  /** Shows the level of a LOD that its size in pixels chooses; `pixels` are those of a unit where clip w is 1. */
  choose(lod: LOD, levels: DetailLevels, volume: ViewVolume, pixels: number): void {
    const sphere = this.#sphereOf(lod);
    // The size of a LOD without bounds is unknown.
    const size = sphere.isEmpty() ? Number.POSITIVE_INFINITY : volume.pixelsOf(sphere, pixels);
    const targetLevel = levels.next(this.#lastLevels.get(lod) ?? 0, size);
    this.#lastLevels.set(lod, targetLevel);
    const level = Math.min(targetLevel, lod.levels.length - 1); // the LOD may have lost levels
    lod.levels.forEach(({ object }, i) => {
      object.visible = i === level;
    });
    (lod as unknown as { _currentLevel: number })._currentLevel = level; // returned by `getCurrentLevel`
  }

  /** Computes a sphere in the world around everything that the first level draws. */
  #sphereOf(lod: LOD): Sphere {
    const sphere = this.#sphere.makeEmpty();
    const stack: Object3D[] = lod.levels.length > 0 ? [lod.levels[0].object] : [];
    for (let each = stack.pop(); each !== undefined; each = stack.pop()) {
      const bounds = (each as Mesh).geometry === undefined ? null : boundsOf((each as Mesh).geometry);
      if (bounds !== null) {
        const part = this.#part.copy(bounds.sphere).applyMatrix4(each.matrixWorld);
        if (sphere.isEmpty()) sphere.copy(part);
        else sphere.radius = Math.max(sphere.radius, sphere.center.distanceTo(part.center) + part.radius);
      }
      for (const child of each.children) stack.push(child); // there may be too many for arguments of a call
    }
    return sphere;
  }
}
