// A LineSegments2 has no vertices that an `index` could count: three's intersections have the number of the segment as `faceIndex`.
// A snap on one, and the intersection of a feature that the ray missed, had the index of a vertex of LineSegments.
import { trackScene } from 'collision-worker/three';
import { PerspectiveCamera, Scene, Vector3 } from 'three';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { LineSegments2 } from 'three/addons/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';

withService();

test('a snap to a line with a width names its segment as its intersections do', async () => {
  const camera = new PerspectiveCamera(50, 4 / 3, 0.1, 100);
  camera.position.z = 12;
  camera.updateMatrixWorld();
  const ends = [0, 1, 2].flatMap((y) => [-2, y, 0, 2, y, 0]);
  const lines = new LineSegments2(new LineSegmentsGeometry().setPositions(ends), new LineMaterial({ linewidth: 2 }));
  const tracker = await trackScene(service, new Scene().add(lines), { updateMatrixWorld: true });
  await tracker.update(camera, { width: 800, height: 600 });
  const { x, y } = new Vector3(2, 2, 0).project(camera);
  const pixel = [(x + 1) * 400, (1 - y) * 300] as const;
  for (const kind of ['vertex', 'edge'] as const) {
    const hit = await tracker.pick(pixel[0] - 1, pixel[1], { snap: [kind] });
    expect(hit, kind).toMatchObject({ object: lines, faceIndex: 2 });
    expect(hit!.snap, kind).toMatchObject({ kind, object: lines, faceIndex: 2 });
    expect(hit!.snap, kind).not.toHaveProperty('index');
    const beside = await tracker.pick(pixel[0] + 7, pixel[1], { snap: [kind] });
    expect(beside, kind).toMatchObject({ object: lines, faceIndex: 2, snap: { kind, faceIndex: 2 } });
    expect(beside, kind).not.toHaveProperty('index');
  }
  tracker.dispose();
});
