import type { Camera } from 'three';

/**
 * Updates the world matrix of a camera, and its inverse, as three does when it draws with it. For a camera without a parent, it
 * leaves alone what three leaves alone: the matrices of an ArrayCamera and its parts, which `renderer.xr` poses below a parent
 * that they do not know, a world matrix that was set alone, as in a StereoCamera, and both matrices without
 * `matrixWorldAutoUpdate`.
 */
export function updateCamera(camera: Camera): void {
  const { parent, matrixAutoUpdate, matrixWorldNeedsUpdate } = camera;
  if (parent === null && ('isArrayCamera' in camera || 'viewport' in camera || !camera.matrixWorldAutoUpdate)) return;
  // Old versions of three copy `matrix` whether or not it has changed.
  if (parent !== null || matrixAutoUpdate || matrixWorldNeedsUpdate) camera.updateWorldMatrix(true, false);
  else camera.updateMatrixWorld();
}
