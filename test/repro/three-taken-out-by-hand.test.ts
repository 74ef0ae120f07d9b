// An object that is removed from its parent's children by hand, with `parent` still set, stayed in the service forever, with
// all its descendants: three's Raycaster hits none of them.
import { trackScene } from 'collision-worker/three';
import { Group, PerspectiveCamera, Raycaster, Scene, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { SIZE } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

withService();

test('what is spliced from the children of its parent leaves within a second', async () => {
  let clock = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const group = new Group().add(cube(), new Group().add(cube()));
  const scene = new Scene().add(group);
  group.children[1].position.x = 5;
  scene.updateMatrixWorld();
  const tracker = await trackScene(service, scene);
  const rays = [0, 5].map((x) => ({ origin: new Vector3(x, 0, 5), direction: new Vector3(0, 0, -1) }));
  const compare = async () => {
    for (const { origin, direction } of rays) {
      const expected = new Raycaster(origin, direction).intersectObject(scene);
      expect((await tracker.raycast({ origin, direction }))?.object).toBe(expected[0]?.object);
    }
  };
  await compare();
  group.children.splice(0, 2);
  for (let frame = 0; frame < 12; frame++) {
    clock += 100;
    await tracker.update(new PerspectiveCamera(), SIZE);
  }
  await compare();
  expect(service.stats.objects).toBe(0);
});
