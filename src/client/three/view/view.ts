import { type Camera, WebGPUCoordinateSystem } from 'three';
import type { ViewOptions } from '../../../shared/types.js';
import { guardRead, readOptions, throwInvalid } from '../../check/validate.js';
import { updateCamera } from '../track/update-camera.js';

/**
 * The part of the page that a camera draws to, in CSS pixels. If it is one of several on a canvas, x and y are its upper left
 * corner: `{ x: 400, y: 0, width: 400, height: 300 }` is what `renderer.setViewport(400, canvasHeight - 300, 400, 300)` draws to.
 */
export interface ViewSize {
  /** Default 0. */
  x?: number;
  /** Measured from the top. Default 0. */
  y?: number;
  /** If 0, as for a hidden canvas, the view sees nothing. */
  width: number;
  height: number;
}

/**
 * Creates a service's view of what `camera` sees: its projection (perspective, orthographic, `setViewOffset`), its clip space
 * (WebGL, WebGPU, reversed depth) and its layers. The matrices are three's own arrays, not copies.
 *
 * The camera's world matrix is updated; `updateProjectionMatrix()` remains the caller's task, as in three. The scale of the
 * camera's parents is left out, as three does when it draws. An ArrayCamera is drawn as its `cameras`, each with its own
 * `viewport`: make a view of each. Its world matrix and theirs are used as they are, because three draws with them so:
 * `renderer.xr` poses them itself, otherwise the app has to update them.
 *
 * ```ts
 * service.setView(viewFromCamera(camera, { width: canvas.clientWidth, height: canvas.clientHeight }));
 * ```
 */
export function viewFromCamera(
  camera: Camera,
  size: ViewSize,
  options: Pick<ViewOptions, 'margin' | 'minPixels'> = {},
): ViewOptions {
  const { margin = 0, minPixels = 0 } = readOptions('viewFromCamera', 'options', options, ['margin', 'minPixels']);
  return readCamera(camera, size, margin, minPixels);
}

/** Does the same as `viewFromCamera`, with options that were read. */
export function readCamera(camera: Camera, size: ViewSize, margin: number, minPixels: number): ViewOptions {
  return guardRead('viewFromCamera', 'the camera', () => viewOf(camera, size, margin, minPixels));
}

function viewOf(camera: Camera, size: ViewSize, margin: number, minPixels: number): ViewOptions {
  if (camera?.isCamera !== true) throwInvalid('viewFromCamera', 'camera', camera, 'a Camera of three');
  if (typeof size !== 'object' || size === null) throwInvalid('viewFromCamera', 'size', size, 'an object');
  updateCamera(camera);
  // `reversedDepth` is newer than the oldest supported three. Its clip z is in [0, 1] in WebGL too.
  const reversed = camera.reversedDepth === true;
  return {
    projection: camera.projectionMatrix.elements,
    view: camera.matrixWorldInverse.elements,
    viewport: { x: size.x ?? 0, y: size.y ?? 0, width: size.width, height: size.height },
    depth: reversed || camera.coordinateSystem === WebGPUCoordinateSystem ? 'webgpu' : 'webgl',
    reversed,
    layers: camera.layers.mask >>> 0,
    margin,
    minPixels,
  };
}
