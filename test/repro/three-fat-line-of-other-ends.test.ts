// For a wide line, only a change of the array with its segments' starts was noticed, not of the array with their ends.
import { BufferAttribute, Scene } from 'three';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { LineSegments2 } from 'three/addons/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, settle, track } from '../fixtures/three-picks.js';

withService();

test('a line is hit where it ends now', async () => {
  const line = new LineSegments2(new LineSegmentsGeometry(), new LineMaterial({ linewidth: 0.1, worldUnits: true }));
  const endsAt = (x: number, y: number) =>
    line.geometry.setAttribute('instanceEnd', new BufferAttribute(Float32Array.of(x, y, 0), 3));
  line.geometry.setAttribute('instanceStart', new BufferAttribute(Float32Array.of(-1, 0, 0), 3));
  endsAt(1, 0);
  line.geometry.instanceCount = 1;
  const tracker = await track(service, new Scene().add(line));
  const hit = async (x: number, y: number) =>
    (await tracker.raycast({ origin: [x, y, 5], direction: [0, 0, -1] }))?.object ?? null;
  expect([await hit(0, 0), await hit(-1, 1)]).toEqual([line, null]);
  endsAt(-1, 2);
  await settle(tracker, frontCamera());
  expect([await hit(0, 0), await hit(-1, 1)]).toEqual([null, line]);
});
