// The visibility of nodes: against that of all ancestors of each node,
// while nodes move, come, go, are hidden and are shown in slices.
import { Object3D } from 'three';
import { expect, test } from 'vitest';
import { SceneNode } from '../../src/client/three/track/scene-node.js';
import { Visibility } from '../../src/client/three/track/visibility.js';
import { Random, SEED } from '../oracle/random.js';

const NODES = 200;

test(`what is hidden is so at once, and what is shown is in the end, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const visibility = new Visibility(() => expect.unreachable());
  const root = new SceneNode(new Object3D());
  const nodes = [root];
  const told = new Map<SceneNode, boolean>();
  let slices = 0;
  const come = (): void => {
    const node = new SceneNode(new Object3D());
    node.object.visible = node.isVisible = random.chance(0.95);
    node.moveTo(random.chance(0.7) ? root : random.pick(nodes));
    node.turn = nodes.push(node);
    visibility.begin(node);
    node.entry = { count: 1, show: (isShown: boolean) => told.set(node, isShown) } as never;
    told.set(node, node.isShown);
  };
  /** By the current scene, not by what was last seen. */
  const isToBeSeen = (node: SceneNode): boolean => {
    for (let each: SceneNode | null = node; each !== null; each = each.parent) if (!each.object.visible) return false;
    return true;
  };
  visibility.begin(root);
  while (nodes.length < NODES) come();
  for (let frame = 0; frame < 3000; frame++) {
    for (let n = random.integer(4); n > 0; n--) {
      const node = random.pick(nodes);
      if (random.chance(0.7)) {
        node.object.visible = random.chance(0.95);
        visibility.look(node);
      } else if (node !== root) {
        const parent = random.pick(nodes);
        let isBelow = false;
        for (let each: SceneNode | null = parent; each !== null; each = each.parent) isBelow ||= each === node;
        if (isBelow) continue;
        node.moveTo(parent);
        visibility.see(node);
      }
    }
    if (random.chance(0.3)) {
      // All of its descendants are added again, including those that were added already.
      const node = random.pick(nodes.filter(({ first }) => first !== null));
      for (const isVisible of [false, true]) {
        node.object.visible = isVisible;
        visibility.look(node);
      }
    }
    if (random.chance(0.2)) {
      const leaves = nodes.filter((node) => node !== root && node.first === null);
      const gone = random.pick(leaves);
      gone.moveTo(null);
      visibility.forget(gone);
      nodes.splice(nodes.indexOf(gone), 1);
      come();
    }
    for (const node of nodes)
      if (node.isShown && !isToBeSeen(node)) expect.fail(`frame ${frame}: a hidden one is shown`);
    let left = random.integer(20);
    const isAll = visibility.showBelow(() => --left < 0);
    expect(isAll).toBe(!visibility.isShowing);
    if (!isAll) slices++;
    if (isAll) expect(nodes.map(({ isShown }) => isShown)).toEqual(nodes.map(isToBeSeen));
    for (const node of nodes)
      if (node !== root && told.get(node) !== node.isShown) expect.fail(`frame ${frame}: not told`);
  }
  expect(slices).toBeGreaterThan(100);
});
