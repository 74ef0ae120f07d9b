import { frustumMotion } from 'collision-worker';
import { type SceneFrame, viewFromCamera } from 'collision-worker/three';
import { Matrix4, type Object3D, OrthographicCamera, type PerspectiveCamera, Scene } from 'three';
import { describe, expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, pickCenter, SIZE, settle, track } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

withService();

function seen(frame: SceneFrame, view?: string): Object3D[] {
  const objects: Object3D[] = [];
  frame.forEachVisible(({ object }) => objects.push(object), view);
  return objects;
}

/** A cube in front of the camera of the whole canvas, and one that only a camera from above sees. */
async function twoCubes() {
  const [left, right] = [cube(), cube()];
  right.position.set(100, 0, 0);
  const tracker = await track(service, new Scene().add(left, right));
  const above = new OrthographicCamera(-5, 5, 5, -5, 0, 50);
  above.position.set(100, 20, 0);
  above.rotation.x = -Math.PI / 2;
  const inset = { x: 600, y: 20, width: 150, height: 150 };
  return { left, right, tracker, above, inset };
}

describe('several cameras on one canvas', () => {
  test('each sees and picks its own part of the scene', async () => {
    const { left, right, tracker, above, inset } = await twoCubes();
    tracker.setView(above, inset, 'map');
    // At once, before any frame.
    expect((await tracker.pick(675, 95, { view: 'map' }))?.object).toBe(right);
    const frame = await tracker.update(frontCamera(), SIZE);
    expect(seen(frame)).toEqual([left]);
    expect(seen(frame, 'map')).toEqual([right]);
    const hit = (await tracker.pick(675, 95, { view: 'map' }))!;
    expect(hit.distance).toBeCloseTo(19, 6);
    expect(hit.normal?.y).toBeCloseTo(1, 6); // facing this view's eye
    expect((await tracker.pickAll(675, 95, { view: 'map' })).map(({ object }) => object)).toEqual([right]);
    expect(await tracker.pick(675, 95)).toBeNull();
    expect(await tracker.pick(400, 300, { view: 'map' })).toBeNull();
    expect((await pickCenter(tracker))?.object).toBe(left);
  });

  test('have each the layers of their camera', async () => {
    const { right, tracker, above, inset } = await twoCubes();
    right.layers.set(3);
    tracker.setView(above, inset, 'map');
    await tracker.update(frontCamera(), SIZE);
    expect(await tracker.pick(675, 95, { view: 'map' })).toBeNull();
    above.layers.set(3);
    tracker.setView(above, inset, 'map');
    expect((await tracker.pick(675, 95, { view: 'map' }))?.object).toBe(right);
    expect(seen(await tracker.update(frontCamera(), SIZE), 'map')).toEqual([right]);
  });

  test('go with removeView and with dispose', async () => {
    const { tracker, above, inset } = await twoCubes();
    tracker.setView(above, inset, 'map');
    tracker.removeView('map');
    await expect(tracker.pick(675, 95, { view: 'map' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^pick: view is "map".*"main"/),
    });
    expect(() => tracker.removeView('map')).toThrow(/^removeView: view is "map"/);
    tracker.setView(above, inset, 'map');
    service.setView(viewFromCamera(above, inset), 'of somebody else');
    await expect(tracker.pick(1, 1, { view: 'of somebody else' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    tracker.dispose();
    expect([...(await service.update()).views.keys()]).toEqual(['of somebody else']);
  });
});

describe('a pick sees the view of its call', () => {
  const away = (): PerspectiveCamera => {
    const camera = frontCamera();
    camera.position.x = 500;
    return camera;
  };

  test('though the camera moves meanwhile', async () => {
    const object = cube();
    const tracker = await track(service, object);
    const picks = [pickCenter(tracker), tracker.pickAll(400, 300, { side: 'front' }).then(([hit]) => hit)];
    await tracker.update(away(), SIZE);
    for (const hit of await Promise.all(picks)) expect(hit).toMatchObject({ object, distance: 9 });
    expect(await pickCenter(tracker)).toBeNull();
  });

  test.each([
    ['perspective', frontCamera()],
    ['orthographic, the cube behind its plane', new OrthographicCamera(-4, 4, 3, -3, -20, 5)],
  ])('%s: though the camera moves and something of somebody else is before the object', async (_, camera) => {
    const object = cube();
    object.position.z = camera instanceof OrthographicCamera ? 2 : 0;
    const tracker = await track(service, object, camera);
    const expected = (await pickCenter(tracker))!;
    expect(expected.object).toBe(object);
    for (const z of [4, 5]) {
      const matrix = new Matrix4().makeTranslation(0, 0, z).elements;
      service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 0.1] }, matrix });
    }
    await tracker.update(camera, SIZE);
    const pick = pickCenter(tracker);
    await tracker.update(away(), SIZE);
    const hit = (await pick)!;
    expect(hit.object).toBe(object);
    expect(hit.distance).toBeCloseTo(expected.distance, 9);
    expect(hit.point.distanceTo(expected.point)).toBeLessThan(1e-9);
  });
});

describe('what a frame draws late', () => {
  test('a margin holds what comes into the picture, minPixels leaves out what is too small', async () => {
    const [near, beside, tiny] = [cube(), cube(), cube(0.001)];
    beside.position.x = 10; // the image ends at 6.2
    const tracker = await track(service, new Scene().add(near, beside, tiny));
    const camera = frontCamera();
    expect(seen(await tracker.update(camera, SIZE))).toEqual([near, tiny]);
    expect(seen(await tracker.update(camera, SIZE, { margin: 5, minPixels: 2 }))).toEqual([near, beside]);
    tracker.setView(camera, SIZE, 'late', { margin: 5 });
    expect(seen(await tracker.update(camera, SIZE), 'late')).toEqual([near, beside, tiny]);
  });

  test("'motion' is twice what the frustum moved since the view was set the last time", async () => {
    const tracker = await track(service, cube());
    const set = vi.spyOn(service, 'setView');
    const camera = frontCamera();
    const margins: number[] = [];
    const views = [];
    for (let frame = 0; frame < 4; frame++) {
      if (frame !== 2) camera.position.x += 0.5;
      camera.rotation.y += frame === 2 ? 0 : 0.01;
      await tracker.update(camera, SIZE, { margin: 'motion' });
      const [view] = set.mock.lastCall!;
      margins.push(view.margin!);
      views.push({ ...view, projection: [...Array.from(view.projection)], view: [...Array.from(view.view)] });
    }
    const moved = 2 * frustumMotion(views[0], views[1]);
    expect(margins[1]).toBe(moved);
    expect(margins[1]).toBeGreaterThan(1);
    expect(margins[2]).toBe(0);
    expect(margins[3]).toBe(2 * frustumMotion(views[2], views[3]));
    // The first time, nothing is known.
    tracker.setView(camera, SIZE, 'new', { margin: 'motion' });
    expect(set.mock.lastCall![0].margin).toBe(0);
    camera.far = 1e30;
    camera.updateProjectionMatrix();
    await expect(tracker.update(camera, SIZE, { margin: 'motion' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    await settle(tracker, frontCamera());
  });
});
