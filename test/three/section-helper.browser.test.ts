// SectionHelper: outlines and caps of a section, checked in pixels.
import { createCollisionService } from 'collision-worker';
import { SectionHelper } from 'collision-worker/three';
import { Plane, Scene, Vector3, WebGLRenderer } from 'three';
import { expect, test, vi } from 'vitest';
import { frontCamera, SIZE, track } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

const camera = frontCamera();

test.each([
  ['at the origin', new Vector3()],
  ['a million away', new Vector3(1e6, -1e6, 1e6)],
])('a cut cube is filled and outlined, %s', async (_, place) => {
  const service = await createCollisionService();
  const renderer = new WebGLRenderer({ antialias: false });
  renderer.setSize(SIZE.width, SIZE.height);
  const plane = new Plane(new Vector3(0, 0, -1), place.z); // its near half is clipped
  const box = cube();
  box.material.color.set(0x0000ff);
  box.material.clippingPlanes = [plane];
  renderer.localClippingEnabled = true;
  box.position.copy(place);
  camera.position.copy(place).add(new Vector3(0, 0, 10));
  camera.updateMatrixWorld();
  const scene = new Scene().add(box);
  const tracker = await track(service, scene, camera, { updateMatrixWorld: true });
  const asked = vi.spyOn(tracker, 'section');
  const helper = new SectionHelper(tracker, plane, { color: 0x00ff00, capColor: 0xff0000 });
  scene.add(helper);
  const frame = async () => {
    await tracker.update(camera, SIZE);
    await vi.waitFor(() => expect(asked.mock.results.length).toBeGreaterThan(0), 10_000);
    await Promise.all(asked.mock.results.map(({ value }) => value));
    asked.mockClear();
  };
  /** The numbers of red, green and blue pixels. */
  const colours = () => {
    renderer.render(scene, camera);
    const gl = renderer.getContext();
    const bytes = new Uint8Array(4 * SIZE.width * SIZE.height);
    gl.readPixels(0, 0, SIZE.width, SIZE.height, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    const counts = [0, 0, 0];
    for (let i = 0; i < bytes.length; i += 4) {
      for (let c = 0; c < 3; c++) if (bytes[i + c] > 200 && bytes[i + ((c + 1) % 3)] < 50) counts[c]++;
    }
    return counts;
  };
  await frame();
  const [red, green, blue] = colours();
  // The cap is in front of what is left of the cube, and has its outline.
  expect(red).toBeGreaterThan(100);
  expect(green).toBeGreaterThan(20);
  expect(blue).toBe(0);
  expect(helper.section!.objects).toEqual([{ object: box, instanceId: undefined }]);
  expect(tracker.untracked.size).toBe(0); // it is not tracked itself

  plane.constant += 5; // in front of the cube: the plane cuts nothing
  await frame();
  expect(colours()[0]).toBe(0);
  plane.constant = place.z;
  helper.visible = false;
  await tracker.update(camera, SIZE);
  expect(asked).not.toHaveBeenCalled();
  helper.visible = true;
  await frame();
  expect(colours()[0]).toBe(red);

  const before = renderer.info.memory.geometries;
  helper.dispose();
  expect(renderer.info.memory.geometries).toBe(before - 2);
  expect(helper.parent).toBeNull();
  await tracker.update(camera, SIZE);
  expect(asked).not.toHaveBeenCalled();
  renderer.dispose();
  service.dispose();
});

test('bad input', async () => {
  const service = await createCollisionService();
  const tracker = await track(service, new Scene().add(cube()), camera);
  const code = 'INVALID_ARGUMENT';
  const plane = new Plane();
  expect(() => new SectionHelper(null as never, plane)).toThrow(expect.objectContaining({ code }));
  expect(() => new SectionHelper(tracker, null as never)).toThrow(expect.objectContaining({ code }));
  expect(() => new SectionHelper(tracker, plane, { offset: Number.NaN })).toThrow(expect.objectContaining({ code }));
  expect(() => new SectionHelper(tracker, plane, { cap: true } as never)).toThrow(expect.objectContaining({ code }));
  // A plane without a normal is reported once, and does no harm.
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const helper = new SectionHelper(tracker, new Plane(new Vector3(), 1));
  for (let i = 0; i < 3; i++) {
    await tracker.update(camera, SIZE);
    await tracker.pick(1, 1);
  }
  expect(warn).toHaveBeenCalledTimes(1);
  expect(helper.section).toBeNull();
  warn.mockRestore();
  service.dispose();
});
