// A scene of tens of thousands that is added, removed, hidden and reordered at once must take linear time: the
// adapter's own part of it, so that the service only counts the calls.
import type { CollisionService } from 'collision-worker';
import { Group, Mesh, MeshBasicMaterial, Scene, SphereGeometry } from 'three';
import { expect, test } from 'vitest';
import { SceneTracker } from '../../src/client/three/scene-tracker.js';
import { makeId } from '../../src/shared/ids.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';
import { Random, SEED } from '../oracle/random.js';

/** Quadratic work on this many takes minutes. */
const MANY = 30_000;
const MOST_SECONDS = 50;

/** Gives ids, counts, and rejects transforms that are not invertible. */
class Counting {
  alive = 0;
  added = 0;
  removed = 0;
  changed = 0;
  moved = 0;
  movedLast = 0;
  readonly ended = new Promise<never>(() => {});
  #rejected: number[] = [];

  addInstances(_: unknown, count: number): Uint32Array {
    this.alive += count;
    return Uint32Array.from({ length: count }, () => makeId(this.added++, 1));
  }
  removeObjects({ length }: Uint32Array): void {
    this.alive -= length;
    this.removed += length;
  }
  setLayers({ length }: Uint32Array): void {
    this.changed += length;
  }
  moveObjects(ids: Uint32Array, matrices: ArrayLike<number>[], first: number, end: number): void {
    this.moved += end - first;
    for (let i = first; i < end; i++) if (matrices[i][0] === 0) this.#rejected.push(ids[i]);
  }
  addEventListener(): void {}
  removeEventListener(): void {}
  setView(): void {}
  removeView(): void {}
  async update(): Promise<unknown> {
    this.movedLast = this.moved;
    this.moved = 0;
    return { rejected: Uint32Array.from(this.#rejected.splice(0)), views: new Map() };
  }
}

test(`${MANY} come and go again in any order, seed ${SEED}`, { timeout: 300_000 }, async () => {
  // Processor time: the time of other processes does not matter.
  const before = process.cpuUsage();
  const service = new Counting();
  const root = new Scene();
  const tracker = await SceneTracker.track(service as unknown as CollisionService, root, {
    shapeOf: () => ({ type: 'sphere', radius: 1 }),
  });
  const geometry = new SphereGeometry(1, 3, 2);
  const material = new MeshBasicMaterial();
  const group = new Group();
  const meshes = Array.from({ length: MANY }, () => new Mesh(geometry, material));
  const random = new Random(SEED);
  const orders: ((of: Mesh[]) => Mesh[])[] = [
    (of) => of,
    (of) => of.toReversed(),
    (of) =>
      of
        .map((mesh) => [random.next(), mesh] as const)
        .sort(([a], [b]) => a - b)
        .map(([, mesh]) => mesh),
    (of) => of.filter((_, i) => i % 2 === 0), // the others are removed in as many places
  ];
  /** three's own `add` and `remove` search for each among all. */
  const put = (children: Mesh[]): void => {
    for (const mesh of meshes) mesh.parent = null;
    for (const mesh of children) mesh.parent = group;
    group.children = children;
  };
  const step = async (expected: number) => {
    tracker.changed(root);
    const deadline = performance.now() + 60_000;
    do {
      await Promise.all([tracker.update(frontCamera(), SIZE), tracker.update(frontCamera(), SIZE)]);
      await new Promise(setImmediate); // in slices
    } while ((service.alive !== expected || tracker.pending.length > 0) && performance.now() < deadline);
    await tracker.update(frontCamera(), SIZE);
    expect(service.alive).toBe(expected);
  };
  for (const order of orders) {
    put(meshes);
    root.add(group);
    await step(MANY);
    const children = order(meshes);
    put(children);
    await step(children.length);
    expect(service.movedLast).toBe(children.length);
    const before = service.changed;
    for (const mesh of children) mesh.matrixWorld.makeScale(0, 0, 0);
    await step(children.length);
    expect(service.changed - before).toBe(children.length);
    for (const mesh of children) mesh.matrixWorld.identity();
    await step(children.length);
    expect(service.changed - before).toBe(2 * children.length);
    root.remove(group);
    await step(0);
  }
  expect(service.removed).toBe(service.added);
  expect(service.added).toBe(orders.length * MANY);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(MOST_SECONDS);
});
