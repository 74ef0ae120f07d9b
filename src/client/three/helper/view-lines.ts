import { Matrix4, Vector3 } from 'three';
import type { Rect, ViewOptions } from '../../../shared/types.js';

/** Returns the points in the world that are drawn at a pixel of a view, on its near plane and on its far plane. */
export function pixelRayEnds(view: ViewOptions, x: number, y: number): [Vector3, Vector3] {
  const { viewport, depth = 'webgl', reversed = false } = view;
  const toWorld = new Matrix4().fromArray(view.projection).multiply(new Matrix4().fromArray(view.view)).invert();
  const clipX = (2 * (x - (viewport.x ?? 0))) / viewport.width - 1;
  const clipY = 1 - (2 * (y - (viewport.y ?? 0))) / viewport.height;
  const ends = [depth === 'webgpu' ? 0 : -1, 1].map((z) => new Vector3(clipX, clipY, z).applyMatrix4(toWorld));
  return (reversed ? ends.reverse() : ends) as [Vector3, Vector3];
}

/** Lists the ends of the edges of what a rectangle or polygon on the screen cuts out of a view; by default, of the whole view. */
export function frustumEdgeEnds(view: ViewOptions, region: Rect | Float32Array = viewportRect(view)): Vector3[] {
  const corners: [number, number][] = [];
  if (ArrayBuffer.isView(region)) {
    for (let i = 0; i < region.length; i += 2) corners.push([region[i], region[i + 1]]);
  } else {
    const { x, y, width, height } = region;
    corners.push([x, y], [x + width, y], [x + width, y + height], [x, y + height]);
  }
  const ends = corners.map(([x, y]) => pixelRayEnds(view, x, y));
  return ends.flatMap(([near, far], i) => {
    const [nextNear, nextFar] = ends[(i + 1) % ends.length];
    return [near, far, near, nextNear, far, nextFar];
  });
}

function viewportRect({ viewport: { x = 0, y = 0, width, height } }: ViewOptions): Rect {
  return { x, y, width, height };
}
