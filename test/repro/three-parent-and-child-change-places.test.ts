// A parent that swapped places with its own child between two frames was attached below the child while it was still its parent:
// the page hung forever, since no loop reached the root above the two.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Group, Mesh, MeshBasicMaterial, type Object3D, Scene } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

withService();

const camera = frontCamera();
const [geometry, material] = [new BoxGeometry(), new MeshBasicMaterial()];

test.each<[string, (root: Object3D, a: Object3D, b: Object3D, c: Object3D) => void]>([
  ['a child', (root, a, b) => root.remove(a).add(b.add(a))],
  ['a child of a child', (root, a, _, c) => root.remove(a).add(c.add(a))],
  [
    'a child that moves twice',
    (root, a, b, c) => {
      root.add(b);
      b.add(a);
      root.add(c.add(b));
    },
  ],
  ['a child, below a new group', (root, a, b) => root.remove(a).add(new Group().add(b.add(new Group().add(a))))],
])('changes places with %s', async (_, change) => {
  const root = new Scene();
  const [a, b, c] = Array.from({ length: 3 }, () => new Mesh(geometry, material));
  root.add(a.add(b.add(c)));
  const tracker = await trackScene(service, root, { updateMatrixWorld: true });
  change(root, a, b, c);
  a.position.x = 10;
  b.position.x = 100;
  c.position.x = 1000;
  do await tracker.update(camera, SIZE);
  while (tracker.pending.length > 0);
  expect(service.stats.objects).toBe(3);
  for (const object of [a, b, c]) {
    const { x } = object.getWorldPosition(object.position.clone());
    const hit = await service.raycast({ origin: [x, 0, 5], direction: [0, 0, -1] });
    expect(hit?.object).toBe(tracker.idsOf(object)[0]);
  }
});
