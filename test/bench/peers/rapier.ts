import plain, { type TempContactManifold } from '@dimforge/rapier3d-compat';
import simd from '@dimforge/rapier3d-simd-compat';
import type { Triangles } from '../../oracle/meshes.js';
import type { Contender, SelfTimedContender } from '../harness.js';
import { type BoxFrame, frameOfRound, HALF_SIZE, manifoldChecksum, pairChecksum } from '../work/boxes.js';
import { type Level, SETTLING_FRAMES, WALK_TOLERANCE, WALKER, type Walk, walkChecksum } from '../work/level.js';
import { rayChecksum } from '../work/rays.js';
import { type Sweeps, sweepChecksum } from '../work/ways.js';

type Rapier = typeof plain;

/** The SIMD package has the same interface. */
export const RAPIERS: [name: string, rapier: Rapier][] = [
  ['Rapier', plain],
  ['Rapier SIMD', simd as unknown as Rapier],
];

type ShapeOf = (rapier: Rapier) => ReturnType<Rapier['ColliderDesc']['cuboid']>;

const boxOf: ShapeOf = (rapier) => rapier.ColliderDesc.cuboid(HALF_SIZE, HALF_SIZE, HALF_SIZE);
const sensorOf: ShapeOf = (rapier) => boxOf(rapier).setSensor(true);

/**
 * Colliders of a mesh that compute manifolds, one per pair of triangles; these are not read. On kinematic bodies they take
 * longer. As sensors, which only report who touches, they take a tenth of the time.
 */
export async function trimeshPairs(
  name: string,
  rapier: Rapier,
  { positions, indices }: Triangles,
  frames: readonly BoxFrame[],
): Promise<Contender> {
  const shapeOf: ShapeOf = ({ ColliderDesc }) => ColliderDesc.trimesh(positions, indices);
  const because = 'it begins with the manifolds of the frame before';
  return {
    ...(await pairsOf(`${name} trimesh colliders`, rapier, frames, shapeOf)),
    tolerance: { of: { pairs: 0.01, products: 0.01 }, because },
  };
}

/**
 * Sensors without bodies, which are the fastest to move (1.4 times as fast as on fixed bodies, and 1.6 times as on kinematic
 * ones); the pairs come from events, which are faster than querying each collider for its own.
 */
export async function sensorPairs(name: string, rapier: Rapier, frames: readonly BoxFrame[]): Promise<Contender> {
  return pairsOf(`${name} sensors`, rapier, frames, sensorOf);
}

async function pairsOf(
  name: string,
  rapier: Rapier,
  frames: readonly BoxFrame[],
  shapeOf: ShapeOf,
): Promise<Contender> {
  const { run, close, count, pairs } = await movingPairs(rapier, frames, shapeOf);
  return {
    name,
    run,
    close,
    checksum() {
      const list = [...pairs.keys()];
      return pairChecksum(list.length, (i) => [Math.floor(list[i] / count), list[i] % count]);
    },
  };
}

/**
 * Solid colliders without bodies, again the fastest to move. Each manifold is read as ours are: normal, depths and points;
 * reading takes about as long again as the step that makes them.
 */
export async function solidManifolds(name: string, rapier: Rapier, frames: readonly BoxFrame[]): Promise<Contender> {
  const { run, close, world, count, pairs } = await movingPairs(rapier, frames, boxOf);
  const { narrowPhase, bodies } = world;
  const normal = { x: 0, y: 0, z: 0 };
  const point = { x: 0, y: 0, z: 0 };
  let depth = -1;
  let sum = 0;
  const readManifold = (manifold: TempContactManifold) => {
    manifold.normal(normal);
    for (let i = 0, contacts = manifold.numContacts(); i < contacts; i++) {
      depth = Math.max(depth, -manifold.contactDist(i));
      manifold.localContactPoint1(i, point);
      sum += point.x * normal.x + point.y * normal.y + point.z * normal.z;
    }
  };
  /** Objects that are only near have a distance, but are no contact. */
  const touching: [pair: number, depth: number][] = [];
  return {
    name: `${name} solid colliders`,
    run(round) {
      run(round);
      touching.length = 0;
      for (const [pair, [handleA, handleB]] of pairs) {
        depth = -1;
        narrowPhase.contactPair(handleA, handleB, bodies, readManifold);
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

async function movingPairs(rapier: Rapier, frames: readonly BoxFrame[], shapeOf: ShapeOf) {
  const { world, colliders } = await worldOf(rapier, frames[0], shapeOf);
  const queue = new rapier.EventQueue(true);
  const count = colliders.length;
  const indexOf = new Map(colliders.map(({ handle }, i) => [handle, i]));
  /** By the two indices combined into one number: the two handles. */
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
    queue.drainCollisionEvents((handleA, handleB, started) => {
      const a = indexOf.get(handleA)!;
      const b = indexOf.get(handleB)!;
      const pair = a < b ? a * count + b : b * count + a;
      if (started) pairs.set(pair, [handleA, handleB]);
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
  const { world, colliders } = await worldOf(rapier, frame, sensorOf);
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

async function worldOf(rapier: Rapier, { positions, rotations }: BoxFrame, shapeOf: ShapeOf) {
  await rapier.init();
  const world = new rapier.World({ x: 0, y: 0, z: 0 });
  world.integrationParameters.normalizedPredictionDistance = 0; // objects that are near without touching are not part of the work
  const { ALL, FIXED_FIXED } = rapier.ActiveCollisionTypes;
  const description = shapeOf(rapier)
    .setActiveCollisionTypes(ALL | FIXED_FIXED)
    .setActiveEvents(rapier.ActiveEvents.COLLISION_EVENTS);
  const colliders = Array.from({ length: positions.length / 3 }, (_, i) => {
    const [x, y, z, w] = rotations.subarray(4 * i, 4 * i + 4);
    description.setTranslation(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]);
    return world.createCollider(description.setRotation({ x, y, z, w }));
  });
  return { world, colliders };
}

/** One KinematicCharacterController for all, with steps and snapping. As with ours, characters do not meet one another. */
export async function rapierCharacters(
  name: string,
  rapier: Rapier,
  { mesh }: Level,
  walk: Walk,
): Promise<SelfTimedContender> {
  await rapier.init();
  const world = new rapier.World({ x: 0, y: 0, z: 0 });
  world.createCollider(rapier.ColliderDesc.trimesh(mesh.positions, mesh.indices));
  const { radius, half, skin, stepHeight, slope, step } = WALKER;
  const centerHeight = half + radius;
  const colliders = Array.from({ length: walk.count }, () => {
    return world.createCollider(rapier.ColliderDesc.capsule(half, radius).setCollisionGroups(0x0002_0001));
  });
  const controller = world.createCharacterController(skin);
  controller.enableAutostep(stepHeight, 0.1, false);
  controller.enableSnapToGround(stepHeight);
  controller.setMaxSlopeClimbAngle(slope);
  controller.setMinSlopeSlideAngle(slope);
  world.step();

  const position = { x: 0, y: 0, z: 0 };
  const displacement = { x: 0, y: 0, z: 0 };
  const actualMotion = { x: 0, y: 0, z: 0 };
  const positions = new Float64Array(3 * walk.count);
  const fallSpeeds = new Float64Array(walk.count);
  const groundedFlags = new Uint8Array(walk.count);
  const placeCollider = (i: number) => {
    position.x = positions[3 * i];
    position.y = positions[3 * i + 1] + centerHeight;
    position.z = positions[3 * i + 2];
    colliders[i].setTranslation(position);
  };
  const move = (frame: number | undefined) => {
    for (let i = 0; i < colliders.length; i++) {
      const [x, z] = frame === undefined ? [0, 0] : walk.wayOf(i, frame);
      fallSpeeds[i] -= 9.81 * step;
      displacement.x = x * step;
      displacement.y = fallSpeeds[i] * step;
      displacement.z = z * step;
      controller.computeColliderMovement(colliders[i], displacement, undefined, 0x0002_0001);
      controller.computedMovement(actualMotion);
      groundedFlags[i] = Number(controller.computedGrounded());
      if (groundedFlags[i]) fallSpeeds[i] = 0;
      positions[3 * i] += actualMotion.x;
      positions[3 * i + 1] += actualMotion.y;
      positions[3 * i + 2] += actualMotion.z;
      placeCollider(i);
    }
  };
  const settle = () => {
    positions.set(walk.starts);
    fallSpeeds.fill(0);
    for (let i = 0; i < colliders.length; i++) placeCollider(i);
    for (let i = 0; i < SETTLING_FRAMES; i++) move(undefined);
  };
  return {
    name: `${name} character controller`,
    async measure(round) {
      if (round === 0) settle();
      const start = performance.now();
      move(round);
      return performance.now() - start;
    },
    checksum() {
      const groundedCount = groundedFlags.reduce((sum, each) => sum + each, 0);
      return walkChecksum(walk, (i) => positions.subarray(3 * i, 3 * i + 3), groundedCount);
    },
    tolerance: WALK_TOLERANCE,
    close: () => world.free(),
  };
}

/** Casts capsules at a mesh or at boxes. */
export async function castShape(
  name: string,
  rapier: Rapier,
  scene: Triangles | BoxFrame,
  { radius, half, numbers }: Sweeps,
  part = 1,
): Promise<Contender> {
  const isMesh = 'indices' in scene;
  const singleFrame: BoxFrame = {
    positions: new Float32Array(3),
    rotations: Float32Array.of(0, 0, 0, 1),
    matrices: new Float32Array(),
  };
  const shapeOf: ShapeOf = isMesh
    ? ({ ColliderDesc }) => ColliderDesc.trimesh(scene.positions, scene.indices)
    : sensorOf;
  const { world } = await worldOf(rapier, isMesh ? singleFrame : scene, shapeOf);
  world.step();
  const capsule = new rapier.Capsule(half, radius);
  const times = new Float64Array(numbers.length / 14);
  const at = { x: 0, y: 0, z: 0 };
  const displacement = { x: 0, y: 0, z: 0 };
  const rotation = { x: 0, y: 0, z: 0, w: 1 };
  return {
    name: `${name} castShape`,
    part,
    run() {
      for (let i = 0, k = 0; i < Math.floor(times.length * part); i++, k += 14) {
        at.x = numbers[k];
        at.y = numbers[k + 1];
        at.z = numbers[k + 2];
        rotation.x = numbers[k + 3];
        rotation.y = numbers[k + 4];
        rotation.z = numbers[k + 5];
        rotation.w = numbers[k + 6];
        displacement.x = numbers[k + 7] - at.x;
        displacement.y = numbers[k + 8] - at.y;
        displacement.z = numbers[k + 9] - at.z;
        const hit = world.castShape(at, rotation, displacement, capsule, 0, 1, true);
        times[i] = hit ? hit.time_of_impact : Number.POSITIVE_INFINITY;
      }
    },
    checksum: (fraction) => sweepChecksum(times, fraction),
    tolerance: isMesh
      ? { of: { hits: 0.1, times: 0.2 }, because: 'it meets the mesh on one way in a hundred more' }
      : { of: { hits: 0.01, times: 0.03 }, because: 'it is in float32 and iterates to a tolerance of its own' },
    close: () => world.free(),
  };
}
