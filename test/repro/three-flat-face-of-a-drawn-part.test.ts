// The worker numbers the triangles of what is drawn. A face that a pick snapped to listed these numbers, where all other answers of
// a tracker have the numbers of the geometry's faces.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';

withService();

test('a flat face lists its triangles by their faces in the geometry', async () => {
  const camera = new PerspectiveCamera(50, 4 / 3, 0.1, 100);
  camera.position.set(0, 0, 12);
  camera.updateMatrixWorld();
  const [partGeometry, groupGeometry] = [new BoxGeometry(2, 2, 2), new BoxGeometry(2, 2, 2)];
  partGeometry.setDrawRange(12, 18); // without the right and the left
  groupGeometry.clearGroups();
  groupGeometry.addGroup(24, 6, 0); // the front, drawn before the top
  groupGeometry.addGroup(12, 6, 0);
  const part = new Mesh(partGeometry, new MeshBasicMaterial());
  const groups = new Mesh(groupGeometry, [new MeshBasicMaterial()]);
  part.position.x = -2;
  groups.position.x = 2;
  const tracker = await trackScene(service, new Scene().add(part, groups), { updateMatrixWorld: true });
  await tracker.update(camera, { width: 800, height: 600 });
  for (const mesh of [part, groups]) {
    const { x, y } = mesh.position
      .clone()
      .add(new Vector3(0.3, 0.2, 1))
      .project(camera);
    const hit = await tracker.pick((x + 1) * 400, (1 - y) * 300, { snap: ['face'] });
    const { face, faceIndex } = hit!.snap!;
    expect([...face!.triangles], `seen at face ${hit!.faceIndex}`).toEqual([8, 9]);
    expect(face!.triangles).toContain(faceIndex);
    const { position } = mesh.geometry.attributes;
    const corner = new Vector3();
    face!.triangles.forEach((triangle, i) => {
      for (let k = 0; k < 3; k++) {
        corner.fromBufferAttribute(position, mesh.geometry.index!.getX(3 * triangle + k)).add(mesh.position);
        expect(corner.distanceTo(new Vector3().fromArray(face!.corners, 9 * i + 3 * k))).toBeLessThan(1e-6);
      }
    });
  }
  tracker.dispose();
});
