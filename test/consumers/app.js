// A little app of somebody else: it picks a box four units in front of the camera. Bundled as it is, and run in
// Node and in a worker of the page, which makes the package's own worker one of a worker's.
import { CollisionError, createCollisionService } from 'collision-worker';
import { meshDataFromGeometry, viewFromCamera } from 'collision-worker/three';
import { BoxGeometry, PerspectiveCamera } from 'three';

async function pickBox() {
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

function answer(text) {
  if (globalThis.document) document.title = text;
  else if (globalThis.WorkerGlobalScope) postMessage(text);
  else console.log(text);
}

pickBox().then(answer, (error) => answer(`${error instanceof CollisionError} ${error.stack}`));
