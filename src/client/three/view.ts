import { type Camera, WebGPUCoordinateSystem } from 'three';
import type { ViewOptions } from '../../shared/types.js';

/** The part of the page that a camera draws to, in CSS pixels. */
export interface ViewSize {
  width: number;
  height: number;
}

/**
 * A service's view of what `camera` sees: its projection (perspective, orthographic, `setViewOffset`), its
 * clip space (WebGL, WebGPU, reversed depth) and its layers. The matrices are three's own arrays, not copies.
 *
 * The camera's world matrix is brought up to date; `updateProjectionMatrix()` stays the caller's, as in three.
 *
 * ```ts
 * service.setView(viewFromCamera(camera, { width: canvas.clientWidth, height: canvas.clientHeight }));
 * ```
 */
export function viewFromCamera(camera: Camera, size: ViewSize): ViewOptions {
  camera.updateWorldMatrix(true, false);
  // `reversedDepth` is younger than the oldest three that we accept. Its clip z is in [0, 1] in WebGL too.
  const reversed = camera.reversedDepth === true;
  return {
    projection: camera.projectionMatrix.elements,
    view: camera.matrixWorldInverse.elements,
    viewport: { x: 0, y: 0, width: size.width, height: size.height },
    depth: reversed || camera.coordinateSystem === WebGPUCoordinateSystem ? 'webgpu' : 'webgl',
    reversed,
    layers: camera.layers.mask >>> 0,
  };
}
