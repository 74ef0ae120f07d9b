// Sections of a scene: each outline names its object and faces, and foreign objects are left out.
import { trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  Group,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  Plane,
  Points,
  Scene,
  SphereGeometry,
  Triangle,
  Vector3,
} from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { SIZE } from '../fixtures/three-picks.js';

withService();

const plane = new Plane(new Vector3(0, 1, 0), -0.2);

test('outlines name objects, instances and faces, without what is invisible or of others', async () => {
  const scene = new Scene();
  const material = new MeshBasicMaterial();
  const boxes = new InstancedMesh(new BoxGeometry(1, 1, 1), material, 3);
  for (let i = 0; i < 3; i++) boxes.setMatrixAt(i, new Matrix4().makeTranslation(4 * i, 0, 0));
  // Some of its faces are not drawn, so that faces have other numbers than the worker's triangles.
  const geometry = new SphereGeometry(1, 16, 12);
  geometry.setDrawRange(300, 180);
  const cap = new Mesh(geometry, material);
  cap.position.z = 5;
  const hidden = new Mesh(new BoxGeometry(1, 1, 1), material);
  hidden.visible = false;
  const group = new Group().add(cap, hidden);
  group.scale.set(2, 1, -1);
  const points = new Points(new BufferGeometry().setFromPoints([new Vector3(0, 0.2, 0)]));
  scene.add(boxes, group, points);
  const stranger = service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true });
  await tracker.update(new PerspectiveCamera(), SIZE);
  expect([...(await service.section([0, 1, 0, -0.2])).objects]).toContain(stranger);

  const section = await tracker.section(plane);
  expect(section.objects.map(({ object }) => object)).toEqual([
    ...[boxes, boxes, boxes],
    ...section.objects.slice(3).map(() => cap),
  ]);
  expect(section.objects.slice(0, 3).map(({ instanceId }) => instanceId)).toEqual([0, 1, 2]);
  expect([...section.closed.subarray(0, 3)]).toEqual([1, 1, 1]);
  expect(section.objects.length).toBeGreaterThan(3);
  expect(section.starts.length).toBe(section.objects.length + 1);
  const { position } = geometry.attributes;
  const index = geometry.index!;
  const middle = new Vector3();
  const nearest = new Vector3();
  let faces = 0;
  section.objects.forEach(({ object }, outline) => {
    for (let i = section.starts[outline]; i + 1 < section.starts[outline + 1]; i++) {
      const [p, q] = [0, 3].map((offset) => new Vector3().fromArray(section.points, 3 * i + offset));
      expect(plane.distanceToPoint(p)).toBeCloseTo(0, 12);
      if (object !== cap) continue;
      const face = section.triangles[i];
      expect(face).toBeGreaterThanOrEqual(100);
      const corners = [0, 1, 2].map((c) =>
        new Vector3().fromBufferAttribute(position, index.getX(3 * face + c)).applyMatrix4(cap.matrixWorld),
      );
      middle.addVectors(p, q).multiplyScalar(0.5);
      new Triangle(...(corners as [Vector3, Vector3, Vector3])).closestPointToPoint(middle, nearest);
      expect(nearest.distanceTo(middle)).toBeLessThan(1e-6);
      faces++;
    }
  });
  expect(faces).toBeGreaterThan(5);

  // Outlines of foreign objects are not filled, and point numbers are those of the remaining points.
  const filled = await tracker.section(plane, { caps: true, ignore: [cap] });
  expect(filled.points.length).toBe(3 * 3 * 8);
  expect(filled.caps.length).toBe(3 * 3 * 6);
  expect(Math.max(...filled.caps)).toBe(3 * 8 - 1);

  const others = await tracker.section([0, 1, 0, -0.2], { ignore: [{ object: boxes, instanceId: 1 }, cap] });
  expect(others.objects.map(({ instanceId }) => instanceId)).toEqual([0, 2]);
  await expect(tracker.section(null as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(tracker.section(new Plane(new Vector3(), 1))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  tracker.dispose();
  await expect(tracker.section(plane)).rejects.toMatchObject({ code: 'DISPOSED' });
});

test('a hole is that of the outline around it, with or without what is of others, and options go on to the service', async () => {
  const shell = new SphereGeometry(1, 16, 12);
  const hollow = new BufferGeometry();
  const inner = shell.clone().scale(0.5, 0.5, 0.5);
  const all = [shell, inner].map((geometry) => geometry.toNonIndexed().getAttribute('position').array);
  hollow.setAttribute('position', new BufferAttribute(Float32Array.from(all.flatMap((each) => [...each])), 3));
  const balls = [0, 5].map((x) => {
    const ball = new Mesh(hollow, new MeshBasicMaterial());
    ball.position.x = x;
    return ball;
  });
  const scene = new Scene().add(...balls);
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true });
  await tracker.update(new PerspectiveCamera(), SIZE);
  const options = { weld: 1e-4, roundPoints: 48, caps: true };
  for (const isAmongOthers of [false, true]) {
    if (isAmongOthers) service.addObject({ shape: { type: 'sphere', radius: 2 } });
    const asked = vi.spyOn(service, 'section');
    const { parents, objects, closed, starts, points } = await tracker.section(plane, options);
    expect(asked.mock.lastCall![1]).toMatchObject(options);
    asked.mockRestore();
    expect(objects.length).toBe(4);
    expect([...closed]).toEqual([1, 1, 1, 1]);
    const widths = objects.map((_, i) => {
      const xs = Array.from(points.subarray(3 * starts[i], 3 * starts[i + 1])).filter((_, k) => k % 3 === 0);
      return Math.max(...xs) - Math.min(...xs);
    });
    objects.forEach(({ object }, i) => {
      // Its object has another outline, which contains it or is inside it.
      const other = objects.findIndex((each, k) => k !== i && each.object === object);
      expect(parents[i]).toBe(widths[other] > widths[i] ? other : -1);
    });
  }
  tracker.dispose();
});
