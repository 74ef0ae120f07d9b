import { type Camera, InstancedBufferAttribute, InstancedMesh, type Material, PerspectiveCamera } from 'three';
import type { SeenInstances } from './seen-instances.js';

/** Only a camera that views a frozen frame renders this layer. */
export const FROZEN_LAYER = 1;

/**
 * Shows from outside what a camera saw when it was frozen. It draws copies, since the outside camera's view covers more than
 * that.
 */
export class FrozenView {
  /** Follows the other camera, but is not one of the tracker's cameras: nothing is culled from its picture. */
  readonly outside = new PerspectiveCamera();
  readonly copies: readonly InstancedMesh[];

  constructor(meshes: readonly InstancedMesh[], material: Material) {
    this.outside.layers.set(FROZEN_LAYER);
    this.copies = meshes.map((mesh) => {
      // If it were created with instances, it would write an identity matrix for each.
      const copy = new InstancedMesh(mesh.geometry, material, 0);
      copy.instanceMatrix = new InstancedBufferAttribute(new Float32Array(16 * mesh.count), 16);
      copy.instanceColor = new InstancedBufferAttribute(new Float32Array(3 * mesh.count), 3);
      copy.frustumCulled = false; // three would use the initial bounds
      copy.layers.set(FROZEN_LAYER);
      return copy;
    });
  }

  /** Draws these instances. */
  freeze(seen: readonly SeenInstances[]): void {
    seen.forEach(({ mesh, numbers, count }, index) => {
      const copy = this.copies[index];
      const pairs = [
        [mesh.instanceMatrix, copy.instanceMatrix],
        [mesh.instanceColor!, copy.instanceColor!],
      ] as const;
      for (const [source, target] of pairs) {
        const { itemSize } = source;
        for (let i = 0; i < count; i++) {
          for (let k = 0; k < itemSize; k++) target.array[itemSize * i + k] = source.array[itemSize * numbers[i] + k];
        }
        target.clearUpdateRanges();
        target.addUpdateRange(0, count * itemSize);
        target.needsUpdate = true;
      }
      copy.count = count;
    });
  }

  /** Moves the outside camera to a camera, and returns it. */
  follow(camera: Camera): PerspectiveCamera {
    const { mask } = this.outside.layers;
    this.outside.copy(camera as PerspectiveCamera, false).layers.mask = mask;
    return this.outside;
  }
}
