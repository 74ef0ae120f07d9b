// Where the arrays that tell a face were gone when an answer came, the hit had NaN in its vectors, or the query was rejected with
// a TypeError and all other hits were lost: with a smaller geometry that is not built yet, with an InstancedMesh with morph
// targets that was disposed of, and with points whose index array was freed after its upload.
import {
  BoxGeometry,
  BufferGeometry,
  InstancedBufferAttribute,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Points,
  Scene,
  SphereGeometry,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { pickCenter, SIZE, track, UNRENDERED } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

withService();

const RAY = { origin: [0.1, 0.2, 10], direction: [0, 0, -1] } as const;

test('a hit beyond the vertices of a smaller geometry has no face, and the normal of the triangle', async () => {
  const mesh = new Mesh(new SphereGeometry(2, 64, 64), new MeshBasicMaterial());
  const tracker = await track(service, new Scene().add(mesh), undefined, UNRENDERED);
  const { index, attributes } = new BoxGeometry();
  mesh.geometry.setIndex(index);
  for (const name of ['position', 'normal', 'uv']) mesh.geometry.setAttribute(name, attributes[name]);
  const [picked] = await Promise.all([pickCenter(tracker), tracker.pick(SIZE.width / 2, SIZE.height / 2)]);
  const hits = [picked, ...(await tracker.raycastAll(RAY))];
  expect(hits.length).toBe(2);
  for (const hit of hits) {
    expect([hit!.face, hit!.uv]).toEqual([null, undefined]);
    expect(hit!.faceIndex).toBeGreaterThan(12);
    expect(hit!.normal!.z).toBeGreaterThan(0.99);
  }
});

test('an answer names an instance with morph targets that was disposed of meanwhile, and everything else', async () => {
  const { geometry } = cube();
  geometry.morphAttributes.position = [geometry.attributes.position.clone()];
  const instanced = new InstancedMesh(geometry, new MeshBasicMaterial(), 1);
  instanced.setMatrixAt(0, new Matrix4());
  const pose = new Mesh(geometry);
  pose.morphTargetInfluences![0] = 0.1;
  instanced.setMorphAt(0, pose);
  const front = cube(1);
  front.position.z = 5;
  const scene = new Scene().add(instanced, front);
  const tracker = await track(service, scene, undefined, UNRENDERED);
  const [from, to] = [8, -2].map((z) => new Matrix4().makeTranslation(0.1, 0.2, z));
  const sweep = tracker.sweepAll({ type: 'sphere', radius: 0.1 }, from, to);
  const closest = tracker.closestPoint([0, 0, -5]);
  scene.remove(instanced);
  instanced.dispose();
  expect((await sweep).map(({ object, face }) => [object, face === null])).toEqual([
    [front, false],
    [instanced, true],
  ]);
  expect(await closest).toMatchObject({ object: instanced, instanceId: 0, face: null, faceIndex: expect.any(Number) });
});

test('points whose index array was freed are hit without an index, and hide no other hits', async () => {
  const geometry = new BufferGeometry().setFromPoints([new Vector3(), new Vector3(0.1, 0.2, 1)]).setIndex([1, 0]);
  geometry.computeBoundingSphere();
  const points = new Points(geometry);
  const behind = cube(1);
  behind.position.z = -3;
  const tracker = await track(service, new Scene().add(points, behind), undefined, UNRENDERED);
  Object.assign(geometry.index!, { array: null });
  const params = { Points: { threshold: 0.3 } };
  const hits = await tracker.raycastAll(RAY, { params });
  expect(hits.map(({ object, index }) => [object, index])).toEqual([
    [points, undefined],
    [points, undefined],
    [behind, undefined],
  ]);
  expect((await tracker.pick(SIZE.width / 2, SIZE.height / 2))!.object).toBe(points);
  const snapped = await tracker.pick(SIZE.width / 2, SIZE.height / 2, { snap: ['vertex'] });
  expect(snapped!.snap).toMatchObject({ object: points, kind: 'vertex' });
});

test('the normal of a shape is finite, though its instance has no matrix any more', async () => {
  const instanced = new InstancedMesh(cube().geometry, new MeshBasicMaterial(), 2);
  instanced.setMatrixAt(0, new Matrix4().makeTranslation(20, 0, 0));
  instanced.setMatrixAt(1, new Matrix4());
  const shapeOf = () => ({ type: 'box', halfExtents: [1, 1, 1] }) as const;
  const tracker = await track(service, new Scene().add(instanced), undefined, { ...UNRENDERED, shapeOf });
  const answer = tracker.raycast(RAY);
  instanced.instanceMatrix = new InstancedBufferAttribute(instanced.instanceMatrix.array.slice(0, 16), 16);
  instanced.count = 1;
  const hit = await answer;
  expect(hit).toMatchObject({ object: instanced, instanceId: 1, face: null });
  expect(hit!.normal!.toArray()).toEqual([0, 0, 1]);
});
