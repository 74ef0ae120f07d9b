// An object that an app has put into the children of a second object by hand was never found again once it was removed from the
// first: the second's children were considered to be known. three's Raycaster hits what is listed, and so does a new tracker.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Group, PerspectiveCamera, Scene, Vector3 } from 'three';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SIZE } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

/** Another parent lists the cube from the beginning, or later; its own parent comes before or after that one. */
const CASES = [true, false].flatMap((isEarly) => [true, false].map((isFirst) => ({ isEarly, isFirst })));

test.each(CASES)('what two parents list stays until the last one drops it: $isEarly, $isFirst', async (options) => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  let clock = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const mesh = cube();
  const own = new Group().add(mesh);
  const other = new Group();
  const scene = options.isFirst ? new Scene().add(own, other) : new Scene().add(other, own);
  if (options.isEarly) other.children.push(mesh);
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true });
  const ray = { origin: new Vector3(0, 0, 5), direction: new Vector3(0, 0, -1) };
  const expectHit = async (expected: typeof mesh | undefined) => {
    for (let frame = 0; frame < 40; frame++) {
      clock += 100;
      await tracker.update(new PerspectiveCamera(), SIZE);
    }
    await tracker.settled(); // its mesh may have to be built again
    expect((await tracker.raycast(ray))?.object).toBe(expected);
  };
  if (!options.isEarly) other.children.push(mesh);
  await expectHit(mesh);
  own.remove(mesh);
  await expectHit(mesh);
  own.add(mesh);
  await expectHit(mesh);
  scene.remove(own);
  await expectHit(mesh);
  scene.add(own);
  await expectHit(mesh);
  own.children.length = 0;
  await expectHit(mesh);
  other.children.length = 0;
  await expectHit(undefined);
});
