// What is culled from a render, without an image: occluded objects, and instances of a BatchedMesh before three r187, where three
// asks the mesh for its draw list just before it draws it.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  Bone,
  BoxGeometry,
  type Camera,
  Float32BufferAttribute,
  InstancedMesh,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  REVISION,
  Scene,
  Skeleton,
  SkinnedMesh,
  Uint16BufferAttribute,
} from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { ListPainter } from '../fixtures/list-painter.js';

const SIZE = { width: 100, height: 100 };

/** A BatchedMesh of an older version, which counts how often its own list was written. */
class OlderBatch extends BatchedMesh {
  readonly _updateDrawParameters = undefined;
  asked = 0;

  override onBeforeRender(): void {
    this.asked++;
  }
}

class OtherPainter extends ListPainter {
  override readonly isWebGLRenderer = false as never;
}

/** Four instances, the second of which is out of view. */
async function tracked() {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const batch = new OlderBatch(4, 24, 36, new MeshBasicMaterial());
  const box = batch.addGeometry(new BoxGeometry());
  for (let i = 0; i < 4; i++) {
    batch.setMatrixAt(batch.addInstance(box), new Matrix4().setPosition(i - 1, 0, i === 1 ? 50 : 0));
  }
  const scene = new Scene().add(batch);
  const tracker = await trackScene(service, scene, { culling: true });
  const camera = new PerspectiveCamera();
  const draw = async (painter = new ListPainter(), from: Camera = camera) => {
    camera.position.z = 10;
    const lines = painter.render(scene, from);
    await tracker.update(camera, SIZE);
    return lines.map((line) => Number(line.split(' ')[1]));
  };
  await draw();
  return { batch, draw, asked: batch.asked };
}

// Earlier versions do not number the drawn instances.
test.skipIf(Number.parseInt(REVISION, 10) < 166)('it is ours for as long as the render lasts', async () => {
  const { batch, draw, asked } = await tracked();
  for (let i = 0; i < 3; i++) expect(new Set(await draw())).toEqual(new Set([0, 2, 3]));
  expect(batch.asked).toBe(asked);
  expect(Object.hasOwn(batch, 'onBeforeRender')).toBe(false);
});

test.skipIf(Number.parseInt(REVISION, 10) < 166)(
  "it is the mesh's own with another renderer, and the app's",
  async () => {
    const { batch, draw, asked } = await tracked();
    await draw(new OtherPainter());
    expect(batch.asked).toBe(asked + 1);
    let calls = 0;
    const own = () => calls++;
    batch.onBeforeRender = own as never;
    await draw();
    expect(calls).toBe(1);
    expect(batch.onBeforeRender).toBe(own);
  },
);

// three does no frustum test for such a mesh, unless the app allows culling it.
test.skipIf(Number.parseInt(REVISION, 10) < 166)(
  'instances of a mesh that is not to be culled are left out where the app says so',
  async () => {
    const service = await createCollisionService();
    onTestFinished(() => service.dispose());
    for (const cullable of [undefined, true]) {
      const batch = new BatchedMesh(4, 24, 36, new MeshBasicMaterial());
      const box = batch.addGeometry(new BoxGeometry());
      const instanced = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 4);
      for (let i = 0; i < 4; i++) {
        const matrix = new Matrix4().setPosition(i - 1, 0, i === 1 ? 50 : 0);
        batch.setMatrixAt(batch.addInstance(box), matrix);
        instanced.setMatrixAt(i, matrix);
      }
      batch.frustumCulled = false;
      batch.perObjectFrustumCulled = false;
      instanced.frustumCulled = false;
      const scene = new Scene().add(batch, instanced);
      const objectOptions = () => ({ ...(cullable !== undefined && { cullable }) });
      const tracker = await trackScene(service, scene, { culling: true, objectOptions });
      const camera = new PerspectiveCamera();
      camera.position.z = 10;
      const painter = new ListPainter();
      for (let i = 0; i < 4; i++) {
        painter.render(scene, camera);
        await tracker.update(camera, SIZE);
      }
      painter.render(scene, camera);
      expect(tracker.culled.instances).toBe(cullable ? 2 : 0);
      tracker.dispose();
    }
  },
);

test('a level that bones move is drawn where they have moved it, though the level before it was a Mesh', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const geometry = new BoxGeometry();
  const { count } = geometry.attributes.position;
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(new Uint16Array(4 * count), 4));
  const weights = Float32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 0 ? 1 : 0));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute(weights, 4));
  const bone = new Bone();
  const skinned = new SkinnedMesh(geometry, new MeshBasicMaterial());
  skinned.add(bone);
  skinned.bind(new Skeleton([bone]));
  // Its vertices are there, and drawn where the LOD is.
  geometry.translate(500, 0, 0);
  bone.position.x = -500;
  const lod = new LOD().addLevel(new Mesh(new BoxGeometry(), new MeshBasicMaterial()), 0).addLevel(skinned, 20);
  const scene = new Scene().add(lod);
  const tracker = await trackScene(service, scene, { culling: true });
  const camera = new PerspectiveCamera();
  const painter = new ListPainter();
  const draw = async (z: number, turn: number) => {
    camera.position.z = z;
    camera.rotation.y = turn;
    const lines = painter.render(scene, camera);
    await tracker.update(camera, SIZE);
    return lines;
  };
  for (let i = 0; i < 4; i++) expect(await draw(10, 0)).toEqual([lod.children[0].uuid]);
  for (let i = 0; i < 4; i++) expect(await draw(10, Math.PI)).toEqual([]);
  expect(await draw(40, 0)).toEqual([skinned.uuid]);
});

test('a Mesh that nearer ones hide is not drawn for as long as that is so', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const [wall, hidden] = [6, 1].map((size) => new Mesh(new BoxGeometry(size, size, 1), new MeshBasicMaterial()));
  hidden.position.z = -10;
  const scene = new Scene().add(wall, hidden);
  const tracker = await trackScene(service, scene, { culling: { occlusion: true } });
  const camera = new PerspectiveCamera();
  camera.position.z = 10;
  const painter = new ListPainter();
  const draw = async (frames: number) => {
    let lines: string[] = [];
    for (let i = 0; i < frames; i++) {
      lines = painter.render(scene, camera);
      await tracker.update(camera, SIZE);
    }
    return new Set(lines);
  };
  const [one, both] = [new Set([wall.uuid]), new Set([wall.uuid, hidden.uuid])];
  expect(await draw(1)).toEqual(both);
  expect(await draw(6)).toEqual(one);
  // A renderer that draws no opaque objects shows what is behind them.
  expect(new Set(Object.assign(new ListPainter(), { opaque: false }).render(scene, camera))).toEqual(both);
  hidden.position.x = 1; // it is where no update has seen it
  expect(await draw(1)).toEqual(both);
  expect(await draw(6)).toEqual(one);
  wall.visible = false;
  expect(await draw(1)).toEqual(new Set([hidden.uuid]));
});
