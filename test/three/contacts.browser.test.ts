// Contacts in terms of the scene: subtrees, instances, removed objects; against a loop over all pairs of objects.
import { type SceneContact, type SceneFrame, type SceneObject, trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  type BufferGeometry,
  Group,
  InstancedMesh,
  Matrix4,
  type Mesh,
  MeshBasicMaterial,
  type Object3D,
  Scene,
} from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE, settle, track, WITH_CONTACTS } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

function named<T extends Object3D>(name: string, object: T, x = 0): T {
  object.name = name;
  object.position.x = x;
  return object;
}

function row(name: string, count: number, distance: number): InstancedMesh<BufferGeometry, MeshBasicMaterial> {
  const instances = named(name, new InstancedMesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial(), count));
  for (let i = 0; i < count; i++) instances.setMatrixAt(i, new Matrix4().makeTranslation(i * distance, 0, 0));
  return instances;
}

const nameOf = ({ object, instanceId }: SceneObject) => `${object.name}${instanceId ?? ''}`;
const keyOf = (a: SceneObject, b: SceneObject) => [nameOf(a), nameOf(b)].sort().join(' ');
const names = (contacts: SceneContact[]) => contacts.map(({ a, b }) => `${nameOf(a)} ${nameOf(b)}`).sort();

function endedIn(frame: SceneFrame): string[] {
  const ended: string[] = [];
  frame.forEachEnded((a, b) => ended.push(keyOf(a, b)));
  return ended.sort();
}

/** A robot of an arm and a gripper with two fingers, each 2 wide. */
function robot(name: string, x: number): { root: Group; arm: Mesh; gripper: Group } {
  const arm = named(`${name}arm`, cube());
  const gripper = named(`${name}gripper`, new Group(), 4);
  gripper.add(named(`${name}left`, cube(), -1), named(`${name}right`, cube(), 1));
  return { root: named(name, new Group(), x).add(arm, gripper), arm, gripper };
}

test('does robot A touch robot B, which parts, the gripper against the box only: one call each', async () => {
  const [a, b] = [robot('A', 0), robot('B', 6.5)]; // A: -1…1, 2…4 and 4…6; B: 5.5…7.5, 8.5…10.5 and 10.5…12.5
  const box = named('box', cube(), 3);
  const away = named('away', cube(), 90);
  const root = new Scene().add(a.root, b.root, box, away);
  const robots = [a.root, b.root];
  const tracker = await trackScene(service, root, {
    ...WITH_CONTACTS,
    objectOptions: ({ id }) => ({ group: 1 + robots.findIndex((robot) => robot.getObjectById(id)) }),
  });
  const frame = await tracker.update(frontCamera(), SIZE);

  expect(names(frame.contactsBetween(a.root, b.root))).toEqual(['Aright Barm']);
  expect(names(frame.contactsBetween(b.root, a.root))).toEqual(['Barm Aright']);
  expect(names(frame.contactsBetween(a.gripper, box))).toEqual(['Aleft box', 'Aright box']);
  expect(names(frame.contactsBetween(box, a.gripper))).toEqual(['box Aleft', 'box Aright']);
  expect(names(frame.contactsBetween(a.root))).toEqual(['Aleft box', 'Aright Barm', 'Aright box']);
  expect(names(frame.contactsBetween(box))).toEqual(['box Aleft', 'box Aright']);
  expect(frame.contactsBetween(b.gripper)).toEqual([]);
  expect(frame.contactsBetween(away, root)).toEqual([]);
  expect(frame.contactsBetween(new Group(), root)).toEqual([]);
  // A group has no pairs of its own parts; of two nested groups,
  // the pairs are those of the smaller with the rest of the larger.
  expect(frame.contactsBetween(a.gripper, a.root)).toEqual([]);
  expect(frame.contactsBetween(root)).toHaveLength(3);
  expect(frame.contactsBetween(root, root)).toHaveLength(3);
});

test('says where the pair is in the result, and whether it is turned', async () => {
  const [left, right] = [named('left', cube()), named('right', cube(), 1.5)];
  const tracker = await track(service, new Scene().add(left, right));
  const frame = await tracker.update(frontCamera(), SIZE);
  for (const [first, second] of [
    [left, right],
    [right, left],
  ]) {
    const [{ a, b, index, swapped }] = frame.contactsBetween(first, second);
    expect([a.object, b.object]).toEqual([first, second]);
    const { contacts } = frame.result;
    const ids = [tracker.idsOf(first)[0], tracker.idsOf(second)[0]];
    expect([contacts.a[index], contacts.b[index]]).toEqual(swapped ? ids.toReversed() : ids);
  }
});

test('instances are told apart, also where an InstancedMesh touches itself', async () => {
  const chain = row('link', 4, 1.9);
  const hook = named('hook', cube(), 1.9 * 3 + 1.5);
  const tracker = await track(service, new Scene().add(chain, hook));
  const frame = await tracker.update(frontCamera(), SIZE);
  expect(names(frame.contactsBetween(hook))).toEqual(['hook link3']);
  expect(names(frame.contactsBetween(chain, hook))).toEqual(['link3 hook']);
  const own = frame.contactsBetween(chain, chain);
  const pairs = own.map(({ a, b }) => [a.instanceId!, b.instanceId!].sort((i, j) => i - j).join());
  expect(pairs.sort()).toEqual(['0,1', '1,2', '2,3']);
});

test('pairs end by name: apart, hidden, removed with what was above, by an instance less', async () => {
  const [still, moving, hidden] = [named('still', cube()), named('moving', cube(), 1), named('hidden', cube(), -1)];
  const model = new Group().add(named('part', cube(), 0.5));
  const chain = row('link', 2, 200);
  const root = new Scene().add(still, moving, hidden, model, chain);
  chain.setMatrixAt(1, new Matrix4().makeTranslation(0, 1, 0));
  chain.setMatrixAt(0, new Matrix4().makeTranslation(200, 0, 0));
  const tracker = await track(service, root);
  const step = () => tracker.update(frontCamera(), SIZE);
  expect(endedIn(await step())).toEqual([]);

  moving.position.x = 50;
  expect(endedIn(await step())).toEqual(['hidden moving', 'link1 moving', 'moving part', 'moving still']);
  hidden.visible = false;
  expect(endedIn(await step())).toEqual(['hidden link1', 'hidden part', 'hidden still']);
  root.remove(model);
  expect(endedIn(await step())).toEqual(['link1 part', 'part still']);
  chain.count = 1;
  const frame = await step();
  expect(endedIn(frame)).toEqual(['link1 still']);
  expect(endedIn(frame)).toEqual(['link1 still']); // for as long as the frame is valid
  expect(endedIn(await step())).toEqual([]);
});

test('frames that are on their way together name what left meanwhile', async () => {
  const [left, middle, right] = [named('left', cube()), named('middle', cube(), 1), named('right', cube(), 1.5)];
  const root = new Scene().add(left, middle, right);
  const tracker = await track(service, root);
  const frames = [tracker.update(frontCamera(), SIZE)];
  root.remove(left);
  frames.push(tracker.update(frontCamera(), SIZE));
  root.remove(middle);
  frames.push(tracker.update(frontCamera(), SIZE));
  const ended = new Map<number, string[]>();
  for (const each of frames) {
    // Joined frames are one.
    each.then((frame) => ended.set(frame.frame, endedIn(frame)));
  }
  await Promise.all(frames);
  expect([...ended.values()].flat().sort()).toEqual(['left middle', 'left right', 'middle right']);
});

test('what others added to the service is passed over', async () => {
  const object = named('own', cube());
  const tracker = await track(service, object);
  const foreign = service.addObject({ shape: { type: 'sphere', radius: 1 } });
  const begun = await tracker.update(frontCamera(), SIZE);
  expect(begun.result.contacts.count).toBe(1);
  expect(begun.contactsBetween(object)).toEqual([]);
  service.removeObject(foreign);
  const ended = await tracker.update(frontCamera(), SIZE);
  expect(ended.result.contacts.endedA).toHaveLength(1);
  expect(endedIn(ended)).toEqual([]);
});

test(`subtrees of random scenes, both orders, while parts move, come and go (seed ${SEED})`, async () => {
  const random = new Random(SEED);
  const root = named('root', new Scene());
  const nodes: Object3D[] = [root];
  for (let i = 0; i < 40; i++) {
    const node = named(`${i} `, random.chance(0.4) ? new Group() : random.chance(0.2) ? row('', 3, 2.5) : cube());
    node.name = `${i} `;
    node.position.copy(random.point(2));
    random.pick(nodes).add(node);
    nodes.push(node);
  }
  const tracker = await track(service, root);
  await settle(tracker, frontCamera());
  const touching = new Set<string>();
  const chainOf = (object: Object3D): Object3D[] =>
    object.parent === null ? [object] : [object, ...chainOf(object.parent)];
  (await tracker.update(frontCamera(), SIZE)).forEachContact((a, b) => {
    touching.add(keyOf(a, b));
  });
  let [found, ended] = [0, 0];
  for (let step = 0; step < 30; step++) {
    for (const node of nodes.slice(1)) if (random.chance(0.2)) node.position.copy(random.point(2));
    const some = random.pick(nodes.slice(1));
    if (step % 5 === 4) some.visible = !some.visible;
    const frame = await tracker.update(frontCamera(), SIZE);

    frame.forEachEnded((a, b) => {
      expect(touching.delete(keyOf(a, b))).toBe(true);
      ended++;
    });
    const all: { a: SceneObject; b: SceneObject; index: number }[] = [];
    frame.forEachContact((a, b, index) => {
      all.push({ a, b, index });
      touching.add(keyOf(a, b));
    });
    expect(touching.size).toBe(all.length);

    for (let i = 0; i < 10; i++) {
      const first = random.pick(nodes);
      const second = random.chance(0.3) ? undefined : random.pick(nodes);
      const isIn = (object: Object3D, side: Object3D | undefined) =>
        side === undefined || chainOf(object).includes(side);
      const expected = all.flatMap(({ a, b, index }) => {
        if (isIn(a.object, first) && isIn(b.object, second)) return [{ a, b, index, swapped: false }];
        if (isIn(b.object, first) && isIn(a.object, second)) return [{ a: b, b: a, index, swapped: true }];
        return [];
      });
      const answer = frame.contactsBetween(first, second);
      expect(answer.map((each) => ({ ...each, a: nameOf(each.a), b: nameOf(each.b) }))).toEqual(
        expected.map((each) => ({ ...each, a: nameOf(each.a), b: nameOf(each.b) })),
      );
      found += answer.length;
    }
  }
  expect(found).toBeGreaterThan(500);
  expect(ended).toBeGreaterThan(100);
});
