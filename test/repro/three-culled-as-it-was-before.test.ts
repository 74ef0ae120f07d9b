// Culling kept what it had once read of a mesh. A shader that was recompiled and now reads the numbers of instances got the numbers of
// their stand-ins, and a BatchedMesh that became a copy of another one still drew its earlier instances.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  BoxGeometry,
  InstancedMesh,
  Matrix4,
  type Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  REVISION,
  Scene,
} from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { ListPainter } from '../fixtures/list-painter.js';

const SIZE = { width: 100, height: 100 };

async function drawn(mesh: Mesh) {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const scene = new Scene().add(mesh);
  const tracker = await trackScene(service, scene, { culling: true });
  const [camera, painter] = [new PerspectiveCamera(), new ListPainter()];
  camera.position.z = 10;
  return async () => {
    const lines = painter.render(scene, camera);
    await tracker.update(camera, SIZE);
    return lines.map((line) => line.split(' ')[1]);
  };
}

const placeOf = (i: number) => new Matrix4().setPosition(i - 1, 0, i === 1 ? 50 : 0);

const readsNumbers = (shader: { vertexShader: string }): void => {
  shader.vertexShader += ' float number = float(gl_InstanceID);';
};

test.each([false, true])(
  'a material whose shader comes to read the numbers of instances, in an array %s',
  async (isArray) => {
    const material = new MeshBasicMaterial();
    const geometry = new BoxGeometry();
    const mesh = new InstancedMesh(geometry, isArray ? Array(6).fill(material) : material, 4);
    for (let i = 0; i < 4; i++) mesh.setMatrixAt(i, placeOf(i));
    const draw = await drawn(mesh);
    await draw();
    expect((await draw()).length).toBe(3);
    material.onBeforeCompile = readsNumbers;
    material.needsUpdate = true;
    expect((await draw()).length).toBe(4);
    material.onBeforeCompile = () => {};
    material.needsUpdate = true;
    expect((await draw()).length).toBe(3);
    if (!isArray) return;
    (mesh.material as unknown as MeshBasicMaterial[])[2] = Object.assign(new MeshBasicMaterial(), {
      onBeforeCompile: readsNumbers,
    });
    expect((await draw()).length).toBe(4);
  },
);

// Before r166, a BatchedMesh has no indices of the drawn instances.
test.skipIf(Number.parseInt(REVISION, 10) < 166)('a BatchedMesh that becomes a copy of another', async () => {
  const batchOf = (hidden: number): BatchedMesh => {
    const batch = new BatchedMesh(4, 24, 36, new MeshBasicMaterial());
    const box = batch.addGeometry(new BoxGeometry());
    for (let i = 0; i < 4; i++) batch.setMatrixAt(batch.addInstance(box), placeOf(i));
    batch.setVisibleAt(hidden, false);
    return batch;
  };
  const batch = batchOf(3);
  const draw = await drawn(batch);
  for (let i = 0; i < 3; i++) expect((await draw()).sort()).toEqual(['0', '2']);
  batch.copy(batchOf(0));
  expect((await draw()).sort()).toEqual(['2', '3']);
});
