// A small third-party app's query: which box is four units in front of the camera.
import { createCollisionService } from 'collision-worker';
import { meshDataFromGeometry, viewFromCamera } from 'collision-worker/three';
import { BoxGeometry, PerspectiveCamera } from 'three';

export async function pickBox() {
  const service = await createCollisionService({ timeout: 5000 });
  try {
    const mesh = await service.addMesh(meshDataFromGeometry(new BoxGeometry(2, 2, 2)));
    const box = service.addObject({ shape: { type: 'mesh', mesh } });
    const camera = new PerspectiveCamera(50, 1, 0.1, 100);
    camera.position.z = 5;
    camera.updateMatrixWorld();
    service.setView(viewFromCamera(camera, { width: 100, height: 100 }));
    const { visible } = await service.update();
    const hit = await service.pick(50, 50);
    return `${visible.ids.length} visible, ${hit?.object === box ? 'the box' : 'nothing'} at ${hit?.distance.toFixed(3)}`;
  } finally {
    service.dispose();
  }
}
