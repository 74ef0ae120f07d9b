// With culling, an object that cannot be read threw out of each render of its scene, even if three does not draw it, and
// other objects were left out: it is drawn as three draws it.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  InstancedMesh,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PerspectiveCamera,
  Scene,
} from 'three';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ListPainter } from '../fixtures/list-painter.js';

function crowd(): InstancedMesh {
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 4);
  for (let i = 0; i < 4; i++) mesh.setMatrixAt(i, new Matrix4().setPosition(i - 1, 0, i % 2 === 0 ? 0 : 50));
  return mesh;
}

const fail = () => {
  throw new Error('a getter of the app');
};

/** How three draws it: 0 lines if it is invisible, and else with all of its instances. */
const BAD: Record<string, { make: () => Object3D; spoil: (object: Object3D) => void; drawn: number }> = {
  'an invisible InstancedMesh without a geometry': {
    make: () => Object.assign(crowd(), { frustumCulled: false, visible: false }),
    spoil: (mesh) => Object.assign(mesh, { geometry: null }),
    drawn: 0,
  },
  'an InstancedMesh whose children are frozen': {
    make: crowd,
    spoil: (mesh) => Object.freeze(mesh.children),
    drawn: 4,
  },
  'an InstancedMesh of which frustumCulled cannot be set': {
    make: () => Object.assign(crowd(), { frustumCulled: false }),
    spoil: (mesh) => Object.defineProperty(mesh, 'frustumCulled', { writable: false }),
    drawn: 4,
  },
  'a LOD of which a level cannot be read': {
    make: () => new LOD().addLevel(new Mesh(new BoxGeometry(), new MeshBasicMaterial())),
    spoil: (lod) => Object.defineProperty(lod.children[0], 'geometry', { get: fail }),
    drawn: 0,
  },
};

test.each(Object.entries(BAD))('%s', async (_, { make, spoil, drawn }) => {
  const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const good = crowd();
  const bad = make();
  const scene = new Scene().add(good, bad);
  const camera = new PerspectiveCamera();
  camera.position.z = 10;
  const tracker = await trackScene(service, scene, {
    objectOptions: () => ({ cullable: true }),
    culling: { levels: (object) => (object instanceof LOD ? [] : undefined) },
  });
  const painter = new ListPainter();
  const draw = async () => {
    const lines = painter.render(scene, camera);
    await tracker.update(camera, { width: 100, height: 100 });
    return lines;
  };
  for (let i = 0; i < 2; i++) await draw();
  const linesOf = (lines: string[], { uuid }: Object3D) => lines.filter((line) => line.startsWith(uuid)).length;
  spoil(bad);
  // three itself reads the LOD's level, unless the LOD is not drawn.
  if (bad instanceof LOD) bad.layers.set(5);
  if (bad instanceof LOD) bad.children[0].visible = false;
  for (let i = 0; i < 3; i++) {
    const lines = await draw();
    expect(linesOf(lines, good)).toBe(2);
    expect(linesOf(lines, bad)).toBe(drawn);
    expect(good.children).toEqual([]);
    expect(bad.children.length).toBe(bad instanceof LOD ? 1 : 0);
  }
  expect(said.mock.calls.filter(([text]) => String(text).includes('drawn without culling')).length).toBeLessThan(2);
});
