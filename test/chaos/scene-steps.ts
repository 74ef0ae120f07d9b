import { Matrix4 } from 'three';
import type { Actor } from './actor.js';
import { viewOf } from './windows.js';
import { optionsOf, type Thing } from './world.js';

const MOST_THINGS = 32;
const MOST_WINDOWS = 4;
/** Enough instances to make the worker's memory grow. */
const CROWD = 4000;

export const SCENE_STEPS = {
  add,
  'add instances': addInstances,
  move,
  'move many': moveMany,
  'move badly': moveBadly,
  change,
  resize,
  remove,
  'add a crowd': addCrowd,
  'move the crowd': moveCrowd,
  'remove the crowd': removeCrowd,
  'set a view': setView,
  'remove a view': removeView,
  update,
};

function add(actor: Actor): void {
  if (actor.world.things.size >= MOST_THINGS) return;
  const thing = actor.thing();
  const id = actor.service.addObject(optionsOf(thing));
  actor.life.change((things) => things.set(id, thing));
}

function addInstances(actor: Actor): void {
  if (actor.world.things.size >= MOST_THINGS) return;
  const thing = actor.thing();
  const ids = actor.service.addInstances(optionsOf(thing), 1 + actor.random.integer(3));
  actor.life.change((things) => {
    for (const id of ids) things.set(id, thing);
  });
}

function move(actor: Actor): void {
  for (const id of actor.ids(1)) {
    const to = actor.matrix();
    actor.service.setTransform(id, to);
    actor.staged.set(id, to);
  }
}

function moveMany(actor: Actor): void {
  const { random, service, staged } = actor;
  const ids = actor.ids(1 + random.integer(6));
  const Floats = random.chance(0.5) ? Float32Array : Float64Array;
  const matrices = Floats.from(ids.flatMap(() => actor.matrix()));
  const parent = random.chance(0.5) ? actor.matrix() : undefined;
  service.setTransforms(Uint32Array.from(ids), matrices, parent);
  ids.forEach((id, i) => {
    const own = new Matrix4().fromArray(matrices, 16 * i);
    staged.set(id, (parent ? own.premultiply(new Matrix4().fromArray(parent)) : own).elements);
  });
}

/** Sends it in a separate frame: in a shared one it would replace a valid transform. */
async function moveBadly(actor: Actor): Promise<void> {
  const [id] = actor.ids(1);
  if (id === undefined) return;
  const matrix = actor.matrix();
  matrix[actor.random.pick([0, 5, 6, 10, 12, 13])] = Number.NaN;
  update(actor);
  await actor.life.settle();
  if (!actor.world.things.has(id)) return;
  actor.service.setTransform(id, matrix);
  ask(actor, [id]);
  await actor.life.settle();
}

function change(actor: Actor): void {
  for (const id of actor.ids(1)) {
    const { matrix: now } = actor.world.things.get(id)!;
    const thing = actor.thing();
    const isMoved = actor.random.chance(0.3);
    const options = optionsOf(thing);
    if (!isMoved) delete options.matrix;
    actor.service.setObject(id, options);
    if (isMoved) actor.staged.set(id, thing.matrix);
    actor.life.change((things) => things.set(id, isMoved ? thing : { ...thing, matrix: now }));
  }
}

/** Sets the same shape in another size, and nothing else. */
function resize(actor: Actor): void {
  for (const id of actor.ids(1)) {
    const old = actor.world.things.get(id)!;
    if (old.mesh !== 0) continue;
    const factor = actor.random.range(0.6, 1.6);
    const half = old.half.map((each) => each * factor) as unknown as Thing['half'];
    const thing = { ...old, half, radius: old.radius * factor };
    actor.service.setObject(id, { shape: optionsOf(thing).shape });
    actor.life.change((things) => things.set(id, thing));
  }
}

function remove(actor: Actor): void {
  for (const id of actor.ids(1)) {
    actor.service.removeObject(id);
    actor.staged.delete(id);
    actor.life.change((things) => things.delete(id));
  }
}

/** Adds instances that no query sees, hits or touches. */
function addCrowd(actor: Actor): void {
  if (actor.crowd.length > 0 || actor.life.isLimited) return;
  const shape = { type: 'box', halfExtents: [1, 1, 1] } as const;
  const unseen = { layers: 0, collidesWith: 0, contacts: 'none', pickable: false, cullable: false } as const;
  actor.crowd = actor.service.addInstances({ shape, ...unseen }, actor.random.integer(CROWD));
}

function moveCrowd(actor: Actor): void {
  const count = actor.random.integer(actor.crowd.length + 1);
  const one = actor.matrix();
  const matrices = Float32Array.from({ length: 16 * count }, (_, i) => one[i % 16]);
  actor.service.setTransforms(actor.crowd.subarray(0, count), matrices);
}

function removeCrowd(actor: Actor): void {
  for (const id of actor.crowd) actor.service.removeObject(id);
  actor.crowd = new Uint32Array(0);
}

/** Adds a view, or changes the position and size of an existing one. */
function setView(actor: Actor): void {
  const { random, windows } = actor;
  const window = actor.window();
  const isNew = windows.size < MOST_WINDOWS && random.chance(0.3);
  const name = isNew ? actor.newName() : random.pick([...windows.keys()]);
  actor.service.setView(viewOf(window), name);
  windows.set(name, window);
}

function removeView(actor: Actor): void {
  const { random, windows, world } = actor;
  const others = [...windows.keys()].filter((name) => name !== 'main');
  if (others.length === 0) return;
  const name = random.pick(others);
  actor.service.removeView(name);
  windows.delete(name);
  const left = new Map([...world.windows].filter(([each]) => each !== name));
  actor.life.change(() => {}, left);
}

export function update(actor: Actor): void {
  ask(actor, []);
}

/** Sends the staged transforms; `rejected` are those that the frame should reject. */
function ask(actor: Actor, rejected: readonly number[]): void {
  const { life, staged, windows, frames } = actor;
  const { age } = life;
  life.change((things) => {
    for (const [id, matrix] of staged) things.set(id, { ...things.get(id)!, matrix });
  }, new Map(windows));
  staged.clear();
  life.ask({
    name: 'update',
    answer: actor.service.update(),
    check: (result, worlds) => {
      const verdict = frames.check(result, worlds, rejected);
      life.forgetOld();
      return verdict;
    },
    codes: life.isLimited ? ['OUT_OF_MEMORY'] : [],
    refused: ({ code }) => {
      if (code === 'OUT_OF_MEMORY') life.keepFrom(age);
    },
  });
}
