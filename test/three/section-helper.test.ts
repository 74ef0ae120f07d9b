// What SectionHelper draws: each outline as lines from corner to
// corner, and closed ones back to the first; caps over closed ones.
import { SectionHelper, trackScene } from 'collision-worker/three';
import { BoxGeometry, type LineSegments, Mesh, PerspectiveCamera, Plane, PlaneGeometry, Scene, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { SIZE } from '../fixtures/three-picks.js';

withService();

function linesOf(outlines: LineSegments): [Vector3, Vector3][] {
  const { position } = outlines.geometry.attributes;
  const index = outlines.geometry.index!;
  const end = (i: number) => new Vector3().fromBufferAttribute(position, index.getX(i)).add(outlines.position);
  return Array.from({ length: index.count / 2 }, (_, line) => [end(2 * line), end(2 * line + 1)]);
}

test.each([
  ['at the origin', 0, 0],
  ['10⁶ units away, before the plane', 1e6, 0.25],
])('a cube and a sheet, %s', async (_, away, offset) => {
  const scene = new Scene();
  const cube = new Mesh(new BoxGeometry(2, 2, 2));
  cube.position.set(away, 0, 0);
  const sheet = new Mesh(new PlaneGeometry(2, 2));
  sheet.position.set(away + 5, 0, 0);
  scene.add(cube, sheet);
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true });
  const helper = new SectionHelper(tracker, new Plane(new Vector3(0, -2, 0), 1), { offset });
  scene.add(helper);
  await tracker.update(new PerspectiveCamera(), SIZE);
  await vi.waitFor(() => expect(helper.section).not.toBeNull());

  const { starts, closed, points } = helper.section!;
  expect([...closed].sort()).toEqual([0, 1]);
  const corner = (i: number) => new Vector3().fromArray(points, 3 * i).add(new Vector3(0, -offset, 0));
  const expected = [...closed].flatMap((isClosed, outline) => {
    const own = Array.from({ length: starts[outline + 1] - starts[outline] }, (_, i) => corner(starts[outline] + i));
    return own.slice(isClosed ? 0 : 1).map((to, i) => (isClosed ? [to, own[(i + 1) % own.length]] : [own[i], to]));
  });
  const lines = linesOf(helper.outlines);
  expect(lines.length).toBe(expected.length);
  expect(lines.length).toBeGreaterThanOrEqual(5);
  lines.forEach(([from, to], i) => {
    expect(from.distanceTo(expected[i][0])).toBeLessThan(1e-6);
    expect(to.distanceTo(expected[i][1])).toBeLessThan(1e-6);
    expect(Math.abs(from.y - (0.5 - offset))).toBeLessThan(1e-6);
  });
  expect(helper.outlines.visible).toBe(true);
  // The cap covers the square of the cube, and nothing else.
  const { position } = helper.caps.geometry.attributes;
  const index = helper.caps.geometry.index!;
  let area = 0;
  for (let i = 0; i < index.count; i += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => new Vector3().fromBufferAttribute(position, index.getX(i + k)));
    area += b.sub(a).cross(c.sub(a)).length() / 2;
  }
  expect(area).toBeCloseTo(4, 5);
  expect(helper.caps.visible).toBe(true);
  tracker.dispose();
});

test.each(['color', 'capColor'])(
  'a %s that cannot be read is an error, and leaves nothing with the tracker',
  async (key) => {
    const tracker = await trackScene(service, new Scene());
    const asked = vi.spyOn(tracker, 'section');
    const options = { [key]: new Proxy({}, { get: () => never() }) };
    expect(() => new SectionHelper(tracker, new Plane(), options)).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: `SectionHelper: ${key} cannot be read: Error: it cannot be read`,
      }),
    );
    await tracker.update(new PerspectiveCamera(), SIZE);
    expect(asked).not.toHaveBeenCalled();
    tracker.dispose();
  },
);

function never(): never {
  throw new Error('it cannot be read');
}
