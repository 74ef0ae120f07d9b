import type { AddMeshOptions } from 'collision-worker';
import { boxMesh } from '../oracle/meshes.js';
import type { Actor } from './actor.js';
import { HOG_OBJECTS, HOG_RAYS } from './hogs.js';
import { hitOf, inSomeWorld } from './query-steps.js';
import { update } from './scene-steps.js';
import { isFirstHit } from './truth.js';
import { type ModelBox, namedBox } from './world.js';

const MAX_MESHES = 4;
const CUBE = boxMesh(2, 2, 2);

export const MESH_STEPS = {
  addMesh,
  'addMesh, baked': addBaked,
  updateMesh,
  bakeMesh,
  removeMesh,
  'run out of memory': runOutOfMemory,
};

function addMesh(actor: Actor): void {
  if (actor.world.meshes.size >= MAX_MESHES) return;
  const data = { positions: CUBE.positions.slice(), indices: CUBE.indices.slice() };
  const boxes = actor.random.chance(0.4) ? actor.boxes() : [];
  const options = { ...meshOptions(actor, boxes), onProgress: () => {} };
  askForMesh(actor, 'addMesh', actor.service.addMesh(data, options), 1, boxes);
}

function addBaked(actor: Actor): void {
  if (actor.world.meshes.size >= MAX_MESHES || actor.baked.length === 0) return;
  const [baked, scale, bakedBoxes] = actor.random.pick(actor.baked);
  const ownBoxes = actor.random.chance(0.3) ? actor.boxes() : [];
  const answer = actor.service.addMesh(baked.slice(0), meshOptions(actor, ownBoxes));
  askForMesh(actor, 'addMesh, baked', answer, scale, ownBoxes.length > 0 ? ownBoxes : bakedBoxes);
}

function meshOptions(actor: Actor, boxes: readonly ModelBox[]): AddMeshOptions {
  const boxOptions = boxes.length > 0 && { boxes: boxes.map(namedBox) };
  return { transfer: actor.random.chance(0.5), ...boxOptions, ...actor.signal() };
}

function askForMesh(
  { life, boxesOfMeshes }: Actor,
  name: string,
  answer: Promise<number>,
  scale: number,
  boxes: readonly ModelBox[],
): void {
  life.ask({
    ...{ name, answer },
    check: (id) => {
      boxesOfMeshes.set(id, boxes);
      life.change((_, meshes) => meshes.set(id, scale));
      return true;
    },
  });
}

function updateMesh(actor: Actor): void {
  const { life, random, meshesInDoubt } = actor;
  const mesh = actor.mesh();
  if (mesh === undefined || meshesInDoubt.has(mesh)) return;
  const scale = random.range(0.5, 1.5);
  const oldScale = actor.world.meshes.get(mesh)!;
  meshesInDoubt.add(mesh);
  const positions = CUBE.positions.map((coordinate) => coordinate * scale);
  const answer = actor.service.updateMesh(mesh, positions);
  life.change((_, meshes) => meshes.set(mesh, scale));
  life
    .ask({
      ...{ name: 'updateMesh', answer },
      check: () => true,
      // If its worker was lost, the mesh is unchanged.
      refused: () => life.change((_, meshes) => meshes.set(mesh, oldScale)),
    })
    .finally(() => meshesInDoubt.delete(mesh));
}

function bakeMesh(actor: Actor): void {
  const { life, baked, random } = actor;
  const mesh = actor.mesh();
  if (mesh === undefined) return;
  const ownBoxes = random.chance(0.3) ? actor.boxes().slice(random.integer(2)) : undefined;
  const boxes = ownBoxes ?? actor.boxesOfMeshes.get(mesh) ?? [];
  life.ask({
    name: 'bakeMesh',
    answer: actor.service.bakeMesh(mesh, ownBoxes && { boxes: ownBoxes.map(namedBox) }),
    check: (data, worlds) => {
      const scales = new Set(worlds.flatMap((world) => world.meshes.get(mesh) ?? []));
      if (scales.size === 1 && !actor.meshesInDoubt.has(mesh)) baked.push([data, [...scales][0], boxes]);
      if (baked.length > 4) baked.shift();
      return data.byteLength > 0;
    },
  });
}

function removeMesh(actor: Actor): void {
  const mesh = actor.mesh();
  if (mesh === undefined || actor.meshesInDoubt.has(mesh)) return;
  if ([...actor.world.things.values()].some((thing) => thing.mesh === mesh)) return;
  actor.service.removeMesh(mesh);
  actor.boxesOfMeshes.delete(mesh);
  actor.life.change((_, meshes) => meshes.delete(mesh));
}

/** Runs alone, so that nothing else runs out of memory, in a worker that has little: for a mesh, rays or objects. */
async function runOutOfMemory(actor: Actor): Promise<void> {
  const { life, service, random, hogs } = actor;
  if (!life.isLimited) return;
  await life.settle();
  const kind = random.pick(['a mesh', 'a baked mesh', 'rays', 'objects']);
  const codes = ['OUT_OF_MEMORY'];
  const hogName = `out of memory by ${kind}`;
  const { recoveries } = life.report;
  const oldRecoveries = recoveries.length;
  life.accidents.faults[hogName] = (life.accidents.faults[hogName] ?? 0) + 1;
  const askForMemory = (answer: Promise<unknown>) =>
    life.ask({ name: hogName, answer, check: () => 'it was held', codes });
  if (kind === 'a mesh') askForMemory(service.addMesh(hogs.mesh));
  else if (kind === 'a baked mesh') askForMemory(service.addMesh(hogs.baked));
  else if (kind === 'rays') {
    const ray = [0, 0, 0, 0, 0, 0, 1, Number.POSITIVE_INFINITY];
    const line = { origin: [0, 0, 0], direction: [0, 0, 1], tMax: Number.POSITIVE_INFINITY } as const;
    life.ask({
      name: hogName,
      answer: service.raycastMany(Float32Array.from({ length: 8 * HOG_RAYS }, (_, i) => ray[i % 8])),
      // Rays are cast block by block, and there may be enough memory for a block.
      check: (hits, worlds) => {
        const isEqual = (_: unknown, i: number) =>
          hits.objects[i] === hits.objects[0] && hits.distances[i] === hits.distances[0];
        if (hits.objects.length !== HOG_RAYS || !hits.objects.every(isEqual)) return 'equal rays hit other things';
        return inSomeWorld((world) => isFirstHit(world, line, {}, hitOf(hits, 0)))(worlds);
      },
      codes,
    });
  } else {
    const invisible = { layers: 0, collidesWith: 0, contacts: 'none', pickable: false, cullable: false } as const;
    const ids = service.addInstances({ shape: { type: 'box', halfExtents: [1, 1, 1] }, ...invisible }, HOG_OBJECTS);
    update(actor);
    await life.settle();
    for (const id of ids) service.removeObject(id);
  }
  await life.settle();
  update(actor);
  await life.settle();
  // The next worker may not have had enough memory for the rest of the scene.
  if (recoveries.length > oldRecoveries) life.isOver = true;
}
