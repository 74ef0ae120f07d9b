import type { Shape } from 'collision-worker';
import { boxFromGeometry } from 'collision-worker/three';
import { BoxGeometry, type BufferGeometry, CapsuleGeometry, SphereGeometry } from 'three';

/** Returns the closed form of a mesh that three draws as triangles; undefined for other meshes. */
export function closedForm({ geometry }: { geometry?: BufferGeometry | undefined }): Shape | undefined {
  if (geometry instanceof BoxGeometry) return boxFromGeometry(geometry);
  if (geometry instanceof SphereGeometry) return { type: 'sphere', radius: geometry.parameters.radius };
  if (geometry instanceof CapsuleGeometry) {
    const { radius, height } = geometry.parameters;
    return { type: 'capsule', radius, from: [0, -height / 2, 0], to: [0, height / 2, 0] };
  }
  return undefined;
}
