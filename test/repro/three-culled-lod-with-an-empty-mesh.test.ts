// A Mesh without vertices, like `new Mesh()`, in the first level of a LOD that chooses by pixels: its bounds threw. The LOD was
// reported as drawn without culling, and its level was chosen by distance.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Group, LOD, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ListPainter } from '../fixtures/list-painter.js';

test('a LOD with an empty Mesh chooses its level by pixels', async () => {
  const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const box = () => new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  const lod = new LOD();
  lod.addLevel(new Group().add(new Mesh(), box()));
  lod.addLevel(box(), 1000); // by distance the camera would never see it
  const scene = new Scene().add(lod);
  const camera = new PerspectiveCamera();
  camera.position.z = 10;
  const tracker = await trackScene(service, scene, {
    objectOptions: () => ({ cullable: true }),
    culling: { levels: () => [{ pixels: 50 }] },
  });
  const painter = new ListPainter();
  const levelAt = async (z: number) => {
    camera.position.z = z;
    painter.render(scene, camera);
    const level = lod.getCurrentLevel();
    await tracker.update(camera, { width: 100, height: 100 });
    return level;
  };
  for (let i = 0; i < 2; i++) await levelAt(10);
  expect(await levelAt(10)).toBe(1);
  expect(await levelAt(1)).toBe(0);
  expect(await levelAt(10)).toBe(1);
  expect(said.mock.calls.filter(([text]) => String(text).includes('drawn without culling'))).toEqual([]);
});
