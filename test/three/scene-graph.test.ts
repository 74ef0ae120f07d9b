// The tracker's record of the root's descendants, against the scene itself: with three's events, and with changes made by hand.
import { Object3D, Scene } from 'three';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { HAS_CHILD_EVENTS } from '../../src/client/three/track/child-events.js';
import { MAX_CHILDREN_AT_ONCE } from '../../src/client/three/track/child-round.js';
import { SceneGraph } from '../../src/client/three/track/scene-graph.js';
import { childrenOf, type SceneNode } from '../../src/client/three/track/scene-node.js';
import { Random, SEED } from '../oracle/random.js';

let now = 0;
beforeEach(() => {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A scene of another copy of three, or of one before r163: it fires no events when children come and go. */
class Silent {
  parent: Silent | null = null;
  children: Silent[] = [];
  visible = true;
  name = '';
  type = 'Silent';
}
const silent = () => new Silent() as unknown as Object3D;

interface Watched {
  graph: SceneGraph;
  moved: [Object3D, boolean][];
  left: Object3D[];
}

function watch(root: Object3D): Watched {
  const moved: [Object3D, boolean][] = [];
  const left: Object3D[] = [];
  const graph = new SceneGraph(
    root,
    () => undefined,
    ({ object }, isBack) => moved.push([object, isBack]),
    ({ object }) => left.push(object),
  );
  return { graph, moved, left };
}

/** Does all pending work, as slices do. */
function work(graph: SceneGraph): void {
  graph.settle();
  while (graph.isLeaving) {
    const node = graph.takeLeaving();
    if (node !== null) graph.remove(node);
  }
  while (graph.isArriving) graph.takeArriving();
}

/** Visits all nodes, as a second of frames does. */
function pass(graph: SceneGraph, visited: SceneNode[] = []): void {
  for (let frame = 0; frame < 40; frame++) {
    now += 1000 / 30;
    graph.lookAtAll();
    graph.takeTurns((node) => visited.push(node));
    work(graph);
  }
}

function below(object: Object3D): Object3D[] {
  if ((object as { isCollisionHelper?: boolean }).isCollisionHelper === true) return [];
  return [object, ...object.children.flatMap(below)];
}

function check({ root, nodes, order }: SceneGraph): void {
  const objects = below(root);
  expect(new Set(nodes.keys())).toEqual(new Set(objects));
  expect(nodes.size).toBe(objects.length);
  expect(new Set(order).size).toBe(nodes.size);
  for (const [i, node] of order.entries()) {
    expect(node.turn).toBe(i);
    expect(nodes.get(node.object)).toBe(node);
    expect(node.parent?.object).toBe(node.object === root ? undefined : node.object.parent);
    const children = childrenOf(node);
    expect(new Set(children.map(({ object }) => object))).toEqual(
      new Set(node.object.children.filter((child) => nodes.has(child))),
    );
    expect(children.every((child, k) => child.previous === (children[k - 1] ?? null))).toBe(true);
    expect(node.last).toBe(children.at(-1) ?? null);
  }
}

const detach = (object: Object3D) => {
  const { parent } = object;
  if (parent !== null) parent.children.splice(parent.children.indexOf(object), 1);
  object.parent = null;
};
const attach = (object: Object3D, parent: Object3D) => {
  object.parent = parent;
  parent.children.push(object);
};

describe.each([
  ['told of', () => new Object3D(), 0],
  ['done by hand', () => new Object3D(), 1],
  ['of a three that tells nothing', silent, 1],
])('what is %s', (_, make, byHand) => {
  test(`is followed, seed ${SEED}`, () => {
    const random = new Random(SEED);
    const root = make();
    const known = [root];
    const { graph } = watch(root);
    let most = 0;
    for (let round = 0; round < 60; round++) {
      for (let change = random.integer(8); change >= 0; change--) {
        const attached = byHand ? attach : (object: Object3D, parent: Object3D) => parent.add(object);
        const detached = byHand ? detach : (object: Object3D) => object.removeFromParent();
        const some = random.pick(random.chance(0.9) ? below(root) : known);
        if (random.chance(0.45)) {
          const added = make();
          // With a child already.
          if (random.chance(0.5)) {
            const child = make();
            attached(child, added);
            known.push(child);
          }
          attached(added, some);
          known.push(added);
        } else if (some !== root) {
          const own = new Set(below(some));
          const others = random.chance(0.9) ? below(root) : known;
          const parents = others.filter((each) => !own.has(each));
          detached(some);
          if (random.chance(0.8)) attached(some, random.pick(parents));
        }
      }
      if (byHand || !HAS_CHILD_EVENTS) pass(graph);
      else work(graph);
      check(graph);
      most = Math.max(most, graph.nodes.size);
    }
    expect(most).toBeGreaterThan(10);
    graph.clear();
    expect([graph.nodes.size, graph.isArriving, graph.isLeaving]).toEqual([0, false, false]);
    graph.letGo();
    expect(graph.order).toEqual([]);
    if (byHand) return;
    root.add(new Object3D());
    work(graph);
    expect(graph.nodes.size).toBe(0);
  });
});

test('each has a turn within a second, and those that are overtaken by one that goes, too', () => {
  const root = new Scene();
  const objects = Array.from({ length: 50 }, () => new Object3D());
  root.add(...objects);
  const { graph } = watch(root);
  work(graph);
  for (let first = 0; first < 50; first += 7) {
    const seen = new Set<Object3D>();
    for (let frame = 0; frame < 30; frame++) {
      now += 1000 / 30;
      graph.lookAtAll();
      graph.takeTurns(({ object }) => seen.add(object));
      if (frame % 10 === 0 && root.children.length > 4)
        root.remove(root.children[(first + frame) % root.children.length]);
      work(graph);
    }
    for (const object of [root, ...root.children]) expect(seen.has(object)).toBe(true);
    check(graph);
  }
});

test.skipIf(!HAS_CHILD_EVENTS)('what comes is listed until it is taken, in its order', () => {
  const root = new Scene();
  const [a, b, c] = [new Object3D(), new Object3D(), new Object3D()];
  root.add(a, b);
  a.add(c);
  const { graph } = watch(root);
  expect(graph.arriving).toEqual([root]);
  expect(graph.takeArriving()!.object).toBe(root);
  expect(graph.arriving).toEqual([a, b]);
  expect(graph.takeArriving()!.object).toBe(a);
  expect(graph.arriving).toEqual([b, c]);
  expect([graph.takeArriving()!.object, graph.takeArriving()!.object, graph.isArriving]).toEqual([c, b, false]);
  // An object removed before it was processed is never added; nor are helpers that only draw.
  root.add(new Object3D(), Object.assign(new Object3D(), { isCollisionHelper: true }));
  const gone = root.children[2];
  graph.settle();
  gone.removeFromParent();
  expect([graph.takeArriving(), graph.takeArriving(), graph.isArriving]).toEqual([null, null, false]);
  // An object announced twice is added once.
  const twice = new Object3D();
  root.add(twice);
  graph.settle();
  graph.touch(twice);
  graph.settle();
  expect(graph.arriving).toEqual([twice, twice]);
  expect([graph.takeArriving()?.object, graph.takeArriving()]).toEqual([twice, null]);
  check(graph);
});

test.skipIf(!HAS_CHILD_EVENTS)('what goes is told of, and what moves, with whether it was about to go', () => {
  const root = new Scene();
  const [a, b, c] = [new Object3D(), new Object3D(), new Object3D()];
  root.add(a, b);
  a.add(c);
  const { graph, moved, left } = watch(root);
  work(graph);
  expect([moved, left]).toEqual([[], []]);
  b.add(c);
  work(graph);
  expect([moved.splice(0), left]).toEqual([[[c, false]], []]);
  const node = graph.nodes.get(b)!;
  root.remove(b);
  graph.settle();
  expect([left.splice(0), graph.isLeaving, graph.isAboutToGo(node)]).toEqual([[b], true, true]);
  expect(graph.isAboutToGo(graph.nodes.get(c)!)).toBe(true);
  expect(graph.isAboutToGo(graph.nodes.get(a)!)).toBe(false);
  a.add(c); // it is back, and its parent is not
  graph.settle();
  root.add(b);
  graph.settle();
  expect(moved.splice(0)).toEqual([
    [c, true],
    [b, true],
  ]);
  expect([graph.takeLeaving(), graph.isLeaving, graph.isAboutToGo(node)]).toEqual([null, false, false]);
  check(graph);
  // Among the descendants of a removed object, the newest is processed first.
  const [d, e] = [new Object3D(), new Object3D()];
  b.add(d, e);
  work(graph);
  root.remove(b);
  graph.settle();
  const order: Object3D[] = [];
  while (graph.isLeaving) {
    const going = graph.takeLeaving();
    if (going === null) continue;
    order.push(going.object);
    graph.remove(going);
  }
  expect(order).toEqual([b, d, e]); // the event of e was last, and it was taken first
  root.add(d);
  work(graph);
  check(graph);
});

test('what cannot be read has nothing below it, which is said once', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const root = new Scene();
  const bad = Object.assign(new Object3D(), { name: 'bad' });
  bad.add(new Object3D());
  root.add(bad, new Object3D());
  const { graph } = watch(root);
  work(graph);
  const { children } = bad;
  Object.defineProperty(bad, 'children', {
    get: () => {
      throw new Error('no');
    },
    configurable: true,
  });
  pass(graph);
  expect(graph.nodes.size).toBe(3);
  expect(warn.mock.calls).toEqual([['trackScene: what is below the Object3D "bad" is left out: Error: no']]);
  Object.defineProperty(bad, 'children', { value: children, configurable: true });
  pass(graph);
  expect(graph.nodes.size).toBe(4);
  const worse = new Object3D();
  Object.defineProperty(worse, 'children', {
    get: () => {
      throw new Error('neither');
    },
  });
  root.add(worse);
  pass(graph);
  expect([graph.nodes.size, warn.mock.calls.length]).toEqual([5, 2]);
  expect(graph.nodes.get(worse)!.children).toEqual([]);
});

test('thousands of children are gone through by turns', () => {
  const root = new Scene();
  const crowd = new Object3D();
  root.add(crowd);
  for (let i = 0; i <= MAX_CHILDREN_AT_ONCE; i++) attach(new Object3D(), crowd);
  const { graph } = watch(root);
  work(graph);
  pass(graph);
  check(graph);
  const [first] = crowd.children;
  const reads = vi.fn();
  const { children } = crowd;
  Object.defineProperty(crowd, 'children', {
    get: () => {
      reads();
      return children;
    },
  });
  // By hand: one is removed, one is replaced, one is appended, and many are removed at once.
  detach(first);
  attach(new Object3D(), crowd);
  children[7] = Object.assign(new Object3D(), { parent: crowd });
  pass(graph);
  pass(graph);
  expect(graph.nodes.has(first)).toBe(false);
  check(graph);
  for (const gone of children.splice(100, 200)) gone.parent = null;
  pass(graph);
  pass(graph);
  check(graph);
  // And with a parent that is no longer a crowd.
  expect(crowd.children.length).toBeLessThan(MAX_CHILDREN_AT_ONCE);
  for (const gone of children.splice(5, 2)) gone.parent = null;
  pass(graph);
  check(graph);
});
