// Contacts of a frame in terms of the scene: seen from either object,
// with faces of the geometry; against the service's own results.
import {
  type SceneContact,
  type SceneFrame,
  type SceneObject,
  type SceneTracker,
  trackScene,
} from 'collision-worker/three';
import {
  BoxGeometry,
  type BufferGeometry,
  Group,
  InstancedMesh,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PlaneGeometry,
  Scene,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { distanceTo, faceOf } from '../fixtures/three-faces.js';
import { frontCamera, SIZE, settle } from '../fixtures/three-picks.js';
import { cube, randomMatrix, randomScene } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const DETAILS = ['any', 'manifold', 'triangles', 'full'] as const;

const step = (tracker: SceneTracker) => tracker.update(frontCamera(), SIZE);
const idOf = (tracker: SceneTracker, { object, instanceId = 0 }: SceneObject) => tracker.idsOf(object)[instanceId];
const plain = (numbers: ArrayLike<number>) => Array.from(numbers, (each) => each + 0);

/** Copies all of a contact, since it is valid for a short time only. */
function copyOf(contact: SceneContact) {
  const { a, b, index, swapped, begun, stale, contained, points, normals, depths, triangles, segments } = contact;
  const ends = [a, b].map(({ object, instanceId }) => ({ object, instanceId }));
  const arrays = [points, normals, depths, triangles, segments].map(plain);
  return { ends, index, swapped, begun, stale, contained, arrays };
}

function allIn(frame: SceneFrame) {
  const found: ReturnType<typeof copyOf>[] = [];
  frame.forEachContact((a, b, index, contact) => {
    expect([contact.a, contact.b, contact.index]).toEqual([a, b, index]);
    found.push(copyOf(contact));
  });
  return found;
}

function checkFaces(contact: ReturnType<typeof copyOf>): number {
  const [, , , triangles, segments] = contact.arrays;
  let farthest = 0;
  triangles.forEach((face, i) => {
    const { object, instanceId } = contact.ends[i % 2];
    const triangle = faceOf(object, instanceId, face);
    for (const end of [6 * (i >> 1), 6 * (i >> 1) + 3]) {
      farthest = Math.max(farthest, distanceTo(triangle, new Vector3().fromArray(segments, end)));
    }
  });
  expect(farthest).toBeLessThan(1e-5);
  return triangles.length;
}

test(`contacts of frames are those of the service, from either object, while the scene changes (seed ${SEED})`, async () => {
  const random = new Random(SEED);
  const root = randomScene(random, { objects: 30, radius: 3 });
  const meshes: Mesh[] = [];
  root.traverse((node) => {
    if (node instanceof Mesh) meshes.push(node);
  });
  const tracker = await trackScene(service, root, { objectOptions: () => ({ contacts: random.pick(DETAILS) }) });
  await settle(tracker, frontCamera());
  for (let i = 0; i < 5; i++) service.addObject({ shape: { type: 'sphere', radius: 1 + i }, layers: 1 });
  const keyOf = ({ ends }: { ends: SceneObject[] }) => ends.map((end) => idOf(tracker, end)).join();
  let touching = new Set(allIn(await step(tracker)).map(keyOf));
  let [faces, points, turned, begun] = [0, 0, 0, 0];
  // Some scenes have few that touch: they get more rounds.
  for (let round = 0; round < 12 || (begun <= 10 && round < 100); round++) {
    const moved = random.pick(meshes);
    randomMatrix(random, 2).decompose(moved.position, moved.quaternion, moved.scale);
    const hidden = random.pick(meshes);
    hidden.visible = !hidden.visible;
    const frame = await step(tracker);
    const all = allIn(frame);
    const { contacts } = frame.result;
    for (const contact of all) {
      const { index } = contact;
      const [a, b] = contact.ends.map((end) => idOf(tracker, end));
      expect([contacts.a[index], contacts.b[index], contact.swapped]).toEqual([a, b, false]);
      expect(contact.begun).toBe(!touching.has(keyOf(contact)));
      if (contact.begun) begun++;
      expect(contact.stale).toBe(false);
      faces += checkFaces(contact);
      points += contact.arrays[2].length;
    }
    touching = new Set(all.map(keyOf));
    // Contacts not among them involve objects outside the scene.
    const strangers = [...contacts].filter(({ a, b }) => !touching.has(`${a},${b}`));
    for (const { a, b } of strangers) expect([a, b].some((id) => isStranger(tracker, id))).toBe(true);

    // Comparing a thousand contacts takes a second.
    for (let i = all.length > 500 ? 7 : 0; i < 8; i++) {
      const object = random.pick(meshes);
      const instanceId =
        object instanceof InstancedMesh && random.chance(0.7) ? random.integer(object.count) : undefined;
      const isIt = (end: SceneObject) =>
        end.object === object && (instanceId === undefined || end.instanceId === instanceId);
      const expected = all.flatMap((contact) => {
        const { ends, contained, arrays } = contact;
        if (isIt(ends[0])) return [contact];
        if (!isIt(ends[1])) return [];
        turned++;
        const pairs = arrays[3].map((_, j) => arrays[3][j ^ 1]);
        const normals = arrays[1].map((each) => 0 - each);
        return [
          {
            ...contact,
            swapped: true,
            ends: ends.toReversed(),
            contained: ([0, 2, 1] as const)[contained],
            arrays: [arrays[0], normals, arrays[2], pairs, arrays[4]],
          },
        ];
      });
      const found = frame.contactsOf(instanceId === undefined ? object : { object, instanceId }).map(copyOf);
      expect(found).toEqual(expected);
      if (instanceId === undefined && object.children.length === 0) {
        expect(frame.contactsBetween(object).map(copyOf)).toEqual(expected);
      }
    }
    // Each equals the service's own result for the two, starting with the first one.
    const some = random.pick(all);
    const [first] = frame.contactsOf(some.ends[1]).filter(({ b }) => b.object === some.ends[0].object);
    const report = await service.contact(idOf(tracker, first.a), idOf(tracker, first.b), { detail: 'full' });
    if (first.points.length > 0) {
      expect(plain(first.points)).toEqual(plain(report!.points));
      expect(plain(first.normals)).toEqual(plain(report!.normals));
      expect(first.depths).toEqual(report!.depths);
    }
  }
  expect(faces).toBeGreaterThan(500);
  expect(points).toBeGreaterThan(200);
  expect(turned).toBeGreaterThan(20);
  expect(begun).toBeGreaterThan(10);
});

function isStranger(tracker: SceneTracker, id: number): boolean {
  try {
    tracker.objectOf(id);
    return false;
  } catch {
    return true;
  }
}

test('moved by its contacts, an object leaves the other, whichever comes first', async () => {
  const [left, right] = [cube(), cube()];
  right.position.set(1.5, 0.2, 0.1);
  const options = { contacts: 'manifold', updateMatrixWorld: true } as const;
  const tracker = await trackScene(service, new Scene().add(left, right), options);
  for (const [object, other] of [
    [left, right],
    [right, left],
  ]) {
    object.position.x = other.position.x + (object === left ? -1.5 : 1.5);
    const frame = await step(tracker);
    const [contact] = frame.contactsOf(object);
    expect([contact.a.object, contact.b.object]).toEqual([object, other]);
    object.position.addScaledVector(new Vector3().fromArray(contact.normals), -contact.depths[0] - 1e-3);
    expect((await step(tracker)).contactsOf(object)).toEqual([]);
  }
});

test('one in the other, from both; begun once', async () => {
  const [outer, inner] = [cube(4), cube()];
  const tracker = await trackScene(service, new Scene().add(outer, inner), {
    contacts: 'manifold',
    objectOptions: (object) => ({ solid: object === outer }),
  });
  let frame = await step(tracker);
  expect(frame.contactsOf(inner)[0]).toMatchObject({ contained: 1, begun: true });
  expect(frame.contactsOf(outer)[0]).toMatchObject({ contained: 2, begun: true });
  frame = await step(tracker);
  expect(frame.contactsOf(inner)[0]).toMatchObject({ contained: 1, begun: false });
});

test('an InstancedMesh that touches itself; what has no contacts; what can have none', async () => {
  const chain = new InstancedMesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial(), 4);
  for (let i = 0; i < 4; i++) chain.setMatrixAt(i, new Matrix4().makeTranslation(1.9 * i, 0, 0));
  const root = new Scene().add(chain);
  const tracker = await trackScene(service, root, { contacts: 'manifold' });
  const frame = await step(tracker);
  const pairs = (contacts: SceneContact[]) => contacts.map(({ a, b }) => [a.instanceId, b.instanceId]);
  expect(pairs(frame.contactsOf(chain))).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
  ]);
  expect(pairs(frame.contactsOf({ object: chain, instanceId: 2 }))).toEqual([
    [2, 1],
    [2, 3],
  ]);
  for (const { a, b, normals } of frame.contactsOf({ object: chain, instanceId: 2 })) {
    expect(Math.sign(normals[0])).toBe(b.instanceId! - a.instanceId!);
  }
  expect(frame.contactsOf({ object: chain, instanceId: 4 })).toEqual([]);
  expect(frame.contactsOf(cube())).toEqual([]);
  for (const group of [root, new Group()]) {
    expect(() => frame.contactsOf(group)).toThrowError(/contactsOf: target is "(Scene|Group)", expected a Mesh/);
  }
  expect(() => frame.contactsOf(undefined as never)).toThrowError(/contactsOf: target is undefined/);
});

test(`asked for many objects of a frame, as for few: below groups, levels, and what moves to another parent (seed ${SEED})`, async () => {
  const random = new Random(SEED);
  let found = 0;
  for (let round = 0; round < 4; round++) {
    const root = randomScene(random, { objects: 40, radius: 3 });
    const lods = [0, 1, 2].map(() => new LOD().addLevel(new Group().add(cube(1.5)), 0).addLevel(cube(), 50));
    for (const lod of lods) {
      randomMatrix(random, 1.5).decompose(lod.position, lod.quaternion, lod.scale);
      root.add(new Group().add(lod));
    }
    const tracker = await trackScene(service, root, { contacts: 'any' });
    await settle(tracker, frontCamera());
    const frame = await step(tracker);
    const nodes: Object3D[] = [];
    root.traverse((node) => nodes.push(node));
    const isBelow = (node: Object3D, above: Object3D) => above.getObjectById(node.id) !== undefined;
    const expected = (isFirst: (end: SceneObject) => boolean, isSecond: (end: SceneObject) => boolean) => {
      const pairs: [index: number, swapped: boolean][] = [];
      frame.forEachContact((a, b, index) => {
        if (isFirst(a) && isSecond(b)) pairs.push([index, false]);
        else if (isFirst(b) && isSecond(a)) pairs.push([index, true]);
      });
      return pairs;
    };
    const told = (contacts: SceneContact[]) => contacts.map(({ index, swapped }) => [index, swapped]);
    for (let i = 0; i < 60; i++) {
      const [first, second] = [random.pick(nodes), random.chance(0.5) ? random.pick(nodes) : undefined];
      const between = told(frame.contactsBetween(first, second));
      found += between.length;
      expect(between).toEqual(
        expected(
          ({ object }) => isBelow(object, first),
          ({ object }) => second === undefined || isBelow(object, second),
        ),
      );
      if (first instanceof Mesh || first instanceof LOD) {
        const isIt = ({ object }: SceneObject) => object === first || (object instanceof LOD && isBelow(first, object));
        expect(told(frame.contactsOf(first))).toEqual(expected(isIt, () => true));
      }
      // Changes that the app makes in the midst of that.
      if (i === 30 || random.chance(0.05))
        random.pick(nodes.filter((node) => node instanceof Group)).removeFromParent();
      const [moved, parent] = [random.pick(nodes), random.pick(nodes)];
      if (random.chance(0.1) && !isBelow(parent, moved)) parent.add(moved);
    }
    tracker.dispose();
  }
  expect(found).toBeGreaterThan(1000);
});

/** A box of the faces from `start` on, of twelve. */
function rangedBox(start: number): BufferGeometry {
  const geometry = new BoxGeometry(2, 2, 2);
  geometry.setDrawRange(3 * start, 36);
  return geometry;
}

test('faces are those of the geometry that the frame saw, which may be another when they are read', async () => {
  // Boxes of other faces, off to the side, so that their meshes are built.
  const shapes = [0, 5, 9].map(rangedBox);
  const models = shapes.map((geometry, i) => new Mesh(geometry).translateY(100 * (i + 1)));
  const [object, wall] = [new Mesh(shapes[0]), new Mesh(new PlaneGeometry(9, 9)).rotateY(1)];
  const tracker = await trackScene(service, new Scene().add(object, wall, ...models), {
    objectOptions: () => ({ contacts: 'triangles' }),
  });
  const faces = (frame: SceneFrame) => {
    const [contact] = frame.contactsOf(object);
    checkFaces(copyOf(contact));
    return [...contact.triangles].filter((_, i) => i % 2 === 0);
  };
  const all = faces(await step(tracker));
  expect(all.length).toBeGreaterThan(6);
  const counts = new Set([all.length]);
  let frame = await step(tracker);
  for (let round = 0; round < 6; round++) {
    const start = [5, 0, 9][round % 3];
    const before = faces(frame);
    object.geometry = shapes[[1, 0, 2][round % 3]];
    // Alone, or two that join behind one.
    const updates = round % 2 === 0 ? [step(tracker)] : [step(tracker), step(tracker), step(tracker)];
    expect(faces(frame)).toEqual(before); // the old frame, until there is a new one
    for (const update of updates) {
      frame = await update;
      expect(faces(frame)).toEqual(all.filter((face) => face >= start));
    }
    counts.add(faces(frame).length);
  }
  expect(counts.size).toBe(3);
  // Changed after the first of those that join.
  const first = step(tracker);
  const joined = [step(tracker)];
  object.geometry = shapes[1];
  joined.push(step(tracker));
  await first;
  for (const update of joined) expect(faces(await update)).toEqual(all.filter((face) => face >= 5));
});
