// The matrices of instances were taken for the previous ones if another attribute has them in the same buffer, as in apps that
// compute them in WebAssembly memory, or write one half while the other is drawn.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  InstancedBufferAttribute,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  PerspectiveCamera,
  Ray,
  Scene,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';

test('an attribute that takes turns with another one in its buffer', async () => {
  const service = await createCollisionService();
  const halves = [0, 5].map((x) => new Matrix4().makeTranslation(x, 0, 0).elements);
  const buffer = Float32Array.from(halves.flat());
  const [first, second] = [0, 16].map((at) => new InstancedBufferAttribute(buffer.subarray(at, at + 16), 16));
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 1);
  mesh.instanceMatrix = first;
  const tracker = await trackScene(service, new Scene().add(mesh));
  for (const [attribute, x] of [
    [first, 0],
    [second, 5],
    [first, 0],
  ] as const) {
    mesh.instanceMatrix = attribute;
    await tracker.update(new PerspectiveCamera(), { width: 100, height: 100 });
    const hit = await tracker.raycast(new Ray(new Vector3(x, 0, 30), new Vector3(0, 0, -1)));
    expect(hit?.object).toBe(mesh);
  }
  service.dispose();
});
