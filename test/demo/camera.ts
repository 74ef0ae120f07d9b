import type { Page } from 'playwright';
import { PerspectiveCamera } from 'three';

interface CameraState {
  projection: number[];
  world: number[];
}

/** The page's camera under that expression, for three's own results. */
export async function cameraIn(page: Page, expression: string): Promise<PerspectiveCamera> {
  const { projection, world } = await page.evaluate<CameraState>(
    `(({ projectionMatrix, matrixWorld }) =>
      ({ projection: [...projectionMatrix.elements], world: [...matrixWorld.elements] }))(${expression})`,
  );
  const camera = new PerspectiveCamera();
  camera.projectionMatrix.fromArray(projection);
  camera.projectionMatrixInverse.copy(camera.projectionMatrix).invert();
  camera.matrixAutoUpdate = false;
  camera.matrix.fromArray(world);
  camera.updateMatrixWorld(true);
  return camera;
}
