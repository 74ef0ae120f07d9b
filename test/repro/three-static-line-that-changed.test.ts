// `changed` looked at the geometry of a wide line, which is not what the worker has of it: the new segments of a static one were
// not hit before its turn came.
import { Scene } from 'three';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { LineSegments2 } from 'three/addons/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE, track } from '../fixtures/three-picks.js';

withService();

test.each([1, 2])('a static line of then %d segments is hit where `changed` told of it', async (count) => {
  const lines = Array.from({ length: 100 }, () => {
    const geometry = new LineSegmentsGeometry().setPositions([-1, 0, 0, 1, 0, 0]);
    return new LineSegments2(geometry, new LineMaterial({ linewidth: 0.1, worldUnits: true }));
  });
  lines.forEach(({ position }, i) => {
    position.z = -i;
  });
  const objectOptions = () => ({ motion: 'static' }) as const;
  const tracker = await track(service, new Scene().add(...lines), frontCamera(), { objectOptions });
  const hits = async (x: number, y: number) =>
    (await tracker.raycastAll({ origin: [x, y, 5], direction: [0, 0, -1] })).map(({ object }) => object);
  for (const line of lines.slice(40)) {
    line.geometry.setPositions([-1, 2, 0, 1, 2, 0, 3, 2, 0, 4, 2, 0].slice(0, 6 * count));
    tracker.changed(line);
  }
  do await tracker.update(frontCamera(), SIZE);
  while (tracker.pending.length > 0);
  expect(await hits(0, 2)).toEqual(lines.slice(40));
  expect(await hits(0, 0)).toEqual(lines.slice(0, 40));
  expect(await hits(3.5, 2)).toEqual(count === 2 ? lines.slice(40) : []);
});
