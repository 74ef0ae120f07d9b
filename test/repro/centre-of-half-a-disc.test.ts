// Half a disc has its centre on the border of its bounds: fitted to float32
// vertices, it came to lie slightly outside, and a pick did not snap to it.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { CircleGeometry, CylinderGeometry, Mesh, OrthographicCamera, Scene } from 'three';
import { afterAll, beforeAll, expect, test } from 'vitest';

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());

test.each([3.3, -71.7, 1000.1])('at %d', async (offset) => {
  for (let turn = 0; turn < 8; turn++) {
    const angle = (turn * Math.PI) / 4;
    const disc = new CircleGeometry(1.3, 32, angle, Math.PI);
    const rod = new CylinderGeometry(0.7, 0.7, 2, 24, 1, false, angle, Math.PI).rotateX(Math.PI / 2);
    for (const geometry of [disc, rod]) {
      geometry.translate(offset, offset / 2, -offset);
      const tracker = await trackScene(service, new Scene().add(new Mesh(geometry)));
      const camera = new OrthographicCamera(-3, 3, 3, -3, 0.1, 100);
      camera.position.set(offset, offset / 2, 10 - offset);
      await tracker.update(camera, { width: 600, height: 600 });
      const hit = await tracker.pick(300.2, 300.3, { snap: ['center'], radius: 10 });
      expect(hit?.snap?.kind, `${geometry.type}, ${turn}`).toBe('center');
      expect(hit!.snap!.point.x).toBeCloseTo(offset, 3);
      expect(hit!.snap!.point.y).toBeCloseTo(offset / 2, 3);
      tracker.dispose();
    }
  }
});
