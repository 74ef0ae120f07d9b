import plain, { type TempContactManifold } from '@dimforge/rapier3d-compat';
import simd from '@dimforge/rapier3d-simd-compat';
import type { Contender } from '../harness.js';
import { type BoxFrame, frameOfRound, HALF_SIZE, manifoldChecksum, pairChecksum } from '../work/boxes.js';
import { rayChecksum } from '../work/rays.js';

type Rapier = typeof plain;

/** The SIMD package has the same interface. */
export const RAPIERS: [name: string, rapier: Rapier][] = [
  ['Rapier', plain],
  ['Rapier SIMD', simd as unknown as Rapier],
];

/**
 * Sensors without bodies, which are fastest to move (1.4 times as fast as on fixed bodies and 1.6 times as on kinematic
 * ones); the pairs by events, which are faster than asking every collider for its own.
 */
export async function sensorPairs(name: string, rapier: Rapier, frames: readonly BoxFrame[]): Promise<Contender> {
  const { run, close, count, pairs } = await movingPairs(rapier, frames, true);
  return {
    name: `${name} sensors`,
    run,
    close,
    checksum() {
      const list = [...pairs.keys()];
      return pairChecksum(list.length, (i) => [Math.floor(list[i] / count), list[i] % count]);
    },
  };
}

/**
 * Solid colliders without bodies, fastest to move again. Each manifold is read as ours are: normal, depths and points;
 * about as long again as the step that makes them.
 */
export async function solidManifolds(name: string, rapier: Rapier, frames: readonly BoxFrame[]): Promise<Contender> {
  const { run, close, world, count, pairs } = await movingPairs(rapier, frames, false);
  const { narrowPhase, bodies } = world;
  const normal = { x: 0, y: 0, z: 0 };
  const point = { x: 0, y: 0, z: 0 };
  let depth = -1;
  let sum = 0;
  const read = (manifold: TempContactManifold) => {
    manifold.normal(normal);
    for (let i = 0, contacts = manifold.numContacts(); i < contacts; i++) {
      depth = Math.max(depth, -manifold.contactDist(i));
      manifold.localContactPoint1(i, point);
      sum += point.x * normal.x + point.y * normal.y + point.z * normal.z;
    }
  };
  /** What is only near has a distance, and is no contact. */
  const touching: [pair: number, depth: number][] = [];
  return {
    name: `${name} solid colliders`,
    run(round) {
      run(round);
      touching.length = 0;
      for (const [pair, [one, other]] of pairs) {
        depth = -1;
        narrowPhase.contactPair(one, other, bodies, read);
        if (depth >= 0) touching.push([pair, depth]);
      }
    },
    checksum() {
      if (!Number.isFinite(sum)) throw new Error(`the points sum up to ${sum}`);
      return manifoldChecksum(
        touching.length,
        (i) => [Math.floor(touching[i][0] / count), touching[i][0] % count],
        (i) => touching[i][1],
      );
    },
    close,
  };
}

async function movingPairs(rapier: Rapier, frames: readonly BoxFrame[], sensors: boolean) {
  const { world, colliders } = await worldOf(rapier, frames[0], sensors);
  const queue = new rapier.EventQueue(true);
  const count = colliders.length;
  const indexOf = new Map(colliders.map(({ handle }, i) => [handle, i]));
  /** By the two indices as one number, the two handles. */
  const pairs = new Map<number, [one: number, other: number]>();
  const translation = { x: 0, y: 0, z: 0 };
  const rotation = { x: 0, y: 0, z: 0, w: 1 };
  const run = (round: number) => {
    const { positions, rotations } = frameOfRound(frames, round);
    for (let i = 0; i < count; i++) {
      translation.x = positions[3 * i];
      translation.y = positions[3 * i + 1];
      translation.z = positions[3 * i + 2];
      rotation.x = rotations[4 * i];
      rotation.y = rotations[4 * i + 1];
      rotation.z = rotations[4 * i + 2];
      rotation.w = rotations[4 * i + 3];
      colliders[i].setTranslation(translation);
      colliders[i].setRotation(rotation);
    }
    world.step(queue);
    queue.drainCollisionEvents((one, other, started) => {
      const a = indexOf.get(one)!;
      const b = indexOf.get(other)!;
      const pair = a < b ? a * count + b : b * count + a;
      if (started) pairs.set(pair, [one, other]);
      else pairs.delete(pair);
    });
  };
  const close = () => {
    queue.free();
    world.free();
  };
  return { world, count, pairs, run, close };
}

export async function castRay(name: string, rapier: Rapier, frame: BoxFrame, rays: Float32Array): Promise<Contender> {
  const { world, colliders } = await worldOf(rapier, frame, true);
  world.step();
  const indexOf = new Map(colliders.map(({ handle }, i) => [handle, i]));
  const ray = new rapier.Ray({ x: 0, y: 0, z: 0 }, { x: 0, y: 0, z: 1 });
  const distances = new Float64Array(rays.length / 8);
  const objects = new Int32Array(rays.length / 8);
  return {
    name: `${name} castRay`,
    run() {
      for (let i = 0, at = 0; i < distances.length; i++, at += 8) {
        ray.origin.x = rays[at];
        ray.origin.y = rays[at + 1];
        ray.origin.z = rays[at + 2];
        ray.dir.x = rays[at + 4];
        ray.dir.y = rays[at + 5];
        ray.dir.z = rays[at + 6];
        const hit = world.castRay(ray, 1e9, true);
        distances[i] = hit ? hit.timeOfImpact : Infinity;
        objects[i] = hit ? indexOf.get(hit.collider.handle)! : -1;
      }
    },
    checksum: (part) => rayChecksum(distances, part),
    tolerance: { of: { hits: 3e-4, distances: 3e-4 }, because: 'all in float32, so rays that graze a box may miss it' },
    close: () => world.free(),
  };
}

async function worldOf(rapier: Rapier, { positions, rotations }: BoxFrame, sensors: boolean) {
  await rapier.init();
  const world = new rapier.World({ x: 0, y: 0, z: 0 });
  const { ALL, FIXED_FIXED } = rapier.ActiveCollisionTypes;
  const description = rapier.ColliderDesc.cuboid(HALF_SIZE, HALF_SIZE, HALF_SIZE)
    .setSensor(sensors)
    .setActiveCollisionTypes(ALL | FIXED_FIXED)
    .setActiveEvents(rapier.ActiveEvents.COLLISION_EVENTS);
  const colliders = Array.from({ length: positions.length / 3 }, (_, i) => {
    const [x, y, z, w] = rotations.subarray(4 * i, 4 * i + 4);
    description.setTranslation(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]);
    return world.createCollider(description.setRotation({ x, y, z, w }));
  });
  return { world, colliders };
}
