import { Matrix4 } from 'three';
import type { Actor } from './actor.js';
import { viewOf } from './windows.js';
import { type ModelObject, optionsOf } from './world.js';

const MAX_OBJECTS = 32;
const MAX_VIEWS = 4;
/** Enough instances to make the worker's memory grow. */
const MAX_CROWD_SIZE = 4000;

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
  if (actor.world.things.size >= MAX_OBJECTS) return;
  const object = actor.thing();
  const id = actor.service.addObject(optionsOf(object));
  actor.life.change((things) => things.set(id, object));
}

function addInstances(actor: Actor): void {
  if (actor.world.things.size >= MAX_OBJECTS) return;
  const object = actor.thing();
  const ids = actor.service.addInstances(optionsOf(object), 1 + actor.random.integer(3));
  actor.life.change((things) => {
    for (const id of ids) things.set(id, object);
  });
}

function move(actor: Actor): void {
  for (const id of actor.ids(1)) {
    const matrix = actor.matrix();
    actor.service.setTransform(id, matrix);
    actor.staged.set(id, matrix);
  }
}

function moveMany(actor: Actor): void {
  const { random, service, staged } = actor;
  const ids = actor.ids(1 + random.integer(6));
  const FloatArray = random.chance(0.5) ? Float32Array : Float64Array;
  const matrices = FloatArray.from(ids.flatMap(() => actor.matrix()));
  const parent = random.chance(0.5) ? actor.matrix() : undefined;
  service.setTransforms(Uint32Array.from(ids), matrices, parent);
  ids.forEach((id, i) => {
    const worldMatrix = new Matrix4().fromArray(matrices, 16 * i);
    staged.set(id, (parent ? worldMatrix.premultiply(new Matrix4().fromArray(parent)) : worldMatrix).elements);
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
  requestFrame(actor, [id]);
  await actor.life.settle();
}

function change(actor: Actor): void {
  for (const id of actor.ids(1)) {
    const { matrix: oldMatrix } = actor.world.things.get(id)!;
    const object = actor.thing();
    const isMoved = actor.random.chance(0.3);
    const options = optionsOf(object);
    if (!isMoved) delete options.matrix;
    actor.service.setObject(id, options);
    if (isMoved) actor.staged.set(id, object.matrix);
    actor.life.change((things) => things.set(id, isMoved ? object : { ...object, matrix: oldMatrix }));
  }
}

/** Sets the same shape in another size, and nothing else. */
function resize(actor: Actor): void {
  for (const id of actor.ids(1)) {
    const old = actor.world.things.get(id)!;
    if (old.mesh !== 0) continue;
    const factor = actor.random.range(0.6, 1.6);
    const half = old.half.map((coordinate) => coordinate * factor) as unknown as ModelObject['half'];
    const object = { ...old, half, radius: old.radius * factor };
    actor.service.setObject(id, { shape: optionsOf(object).shape });
    actor.life.change((things) => things.set(id, object));
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
  const invisible = { layers: 0, collidesWith: 0, contacts: 'none', pickable: false, cullable: false } as const;
  actor.crowd = actor.service.addInstances({ shape, ...invisible }, actor.random.integer(MAX_CROWD_SIZE));
}

function moveCrowd(actor: Actor): void {
  const count = actor.random.integer(actor.crowd.length + 1);
  const matrix = actor.matrix();
  const matrices = Float32Array.from({ length: 16 * count }, (_, i) => matrix[i % 16]);
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
  const isNew = windows.size < MAX_VIEWS && random.chance(0.3);
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
  const remainingWindows = new Map([...world.windows].filter(([coordinate]) => coordinate !== name));
  actor.life.change(() => {}, remainingWindows);
}

export function update(actor: Actor): void {
  requestFrame(actor, []);
}

/** Sends the staged transforms; `rejected` are those that the frame should reject. */
function requestFrame(actor: Actor, rejected: readonly number[]): void {
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
