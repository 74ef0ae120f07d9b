import { CollisionError, NO_OBJECT, type SweepHits } from 'collision-worker';
import { Matrix4, Quaternion, Vector3 } from 'three';
import type { Actor } from './actor.js';
import { inMixedWorlds, inSomeWorld, meshSizes } from './query-steps.js';
import { length, type Point, type Solid, translated } from './solids.js';
import { faultOfAllContacts, freedom, isFirstContact, type SweepContact } from './sweep-truth.js';
import { type ModelObject, shapeOf, solidOf, type World } from './world.js';

export const SWEEP_STEPS = { sweep, sweepAll, sweepMany, place };

/** A thing on a path, and options. */
function randomSweep(actor: Actor) {
  const thing = actor.thing();
  const options = actor.query();
  const way = actor.random.point(12).toArray() as Point;
  const to = Array.from(thing.matrix, (value, i) => value + (i >= 12 && i < 15 ? way[i - 12] : 0));
  const solid = (world: World) => solidOf(meshSizes(actor, world, thing), thing);
  return { thing, options, way, to, solid };
}

function sweep(actor: Actor): void {
  const { thing, options, way, to, solid } = randomSweep(actor);
  actor.life.ask({
    name: 'sweep',
    asked: { thing, to, options },
    answer: actor.service.sweep(shapeOf(thing), thing.matrix, to, options),
    check: (hit, worlds) => inSomeWorld((world) => isFirstContact(world, solid(world), way, options, hit))(worlds),
  });
}

function sweepAll(actor: Actor): void {
  const { thing, options, way, to, solid } = randomSweep(actor);
  actor.life.ask({
    name: 'sweepAll',
    asked: { thing, to, options },
    answer: actor.service.sweepAll(shapeOf(thing), thing.matrix, to, options),
    check: (hits, worlds) => {
      const faults = worlds.map((world) => faultOfAllContacts(world, solid(world), way, options, hits));
      return faults.includes('') || faults.join('; or ');
    },
  });
}

/** Sweeps up to three shapes along paths in any order; paths have no scale and no reflection. */
function sweepMany(actor: Actor): void {
  const { random } = actor;
  const shapes = Array.from({ length: 1 + random.integer(3) }, () => actor.thing());
  const options = actor.query();
  const count = 1 + random.integer(30);
  const shapeOfPath = Uint32Array.from({ length: count }, () => random.integer(shapes.length));
  const poses = new Float64Array(14 * count);
  const paths = Array.from(shapeOfPath, (shapeIndex, i) => {
    const rotation = randomQuarterTurns(actor);
    const from = random.point(6);
    const way = random.point(12);
    const position = from.toArray();
    poses.set([...position, ...rotation.toArray(), ...from.clone().add(way).toArray(), ...rotation.toArray()], 14 * i);
    // Rounded to right angles, which the model requires.
    const matrix = new Matrix4().makeRotationFromQuaternion(rotation).elements.map(Math.round);
    const thing: ModelObject = { ...shapes[shapeIndex], matrix: matrix.map((value, k) => position[k - 12] ?? value) };
    return { thing, way: way.toArray() as Point };
  });
  const isOfMany = shapes.length > 1;
  actor.life.ask({
    name: 'sweepMany',
    asked: options,
    answer: actor.service.sweepMany(isOfMany ? shapes.map(shapeOf) : shapeOf(shapes[0]), poses, {
      ...options,
      ...(isOfMany && { shapeOf: shapeOfPath }),
    }),
    // Each path sees the objects as they are when its turn comes; the mesh that is swept may still have an earlier state.
    check: (hits, worlds) => {
      const wrongIndex = paths.findIndex(({ thing, way }, i) => {
        const solids = statesOf(actor, worlds, thing);
        const isRight = (world: World) =>
          solids.some((solid) => isFirstContact(world, solid, way, options, contactOf(hits, i)));
        return !inMixedWorlds(worlds, isRight);
      });
      return wrongIndex < 0 || `way ${wrongIndex}: ${JSON.stringify([contactOf(hits, wrongIndex), paths[wrongIndex]])}`;
    },
  });
}

/** A thing with the sizes that its mesh had in the given states of the scene. */
function statesOf(actor: Actor, worlds: readonly World[], thing: ModelObject): Solid[] {
  const states = worlds.map((world) => solidOf(meshSizes(actor, world, thing), thing));
  return states.filter((each, i) => i === 0 || each.half.some((half, k) => half !== states[i - 1].half[k]));
}

function contactOf({ objects, times, depths }: SweepHits, i: number): SweepContact | null {
  return objects[i] === NO_OBJECT ? null : { object: objects[i], time: times[i], depth: depths[i] };
}

/** A rotation that permutes the axes. */
function randomQuarterTurns({ random }: Actor): Quaternion {
  const rotation = new Quaternion();
  for (const axis of [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)]) {
    rotation.premultiply(new Quaternion().setFromAxisAngle(axis, (random.integer(4) * Math.PI) / 2));
  }
  return rotation.normalize();
}

/** The resulting place must be free in the current scene; a shape that was free must stay, and one that was not must move. */
function place(actor: Actor): void {
  const { thing, options, solid } = randomSweep(actor);
  actor.life.ask({
    name: 'place',
    answer: actor.service.place(shapeOf(thing), thing.matrix, options),
    codes: ['INVALID_ARGUMENT'],
    refused: (error) => {
      const isStuck =
        error.code !== 'INVALID_ARGUMENT' || /^place: matrix is still .* deep in object/.test(error.message);
      if (!(error instanceof CollisionError && isStuck)) actor.life.blame(`place failed with ${error.message}`);
    },
    check: ({ matrix, way, objects }, worlds) => {
      const isMoved = length(way) > 0;
      if (isMoved !== objects.length > 0) return `it was moved by ${way} out of ${objects.length} objects`;
      if (matrix.some((value, i) => Math.abs(value - thing.matrix[i] - (way[i - 12] ?? 0)) > 1e-9)) {
        return 'its matrix is not where the way leads';
      }
      const freedomAt = (world: World, offset: Point = [0, 0, 0]) =>
        freedom(world, translated(solid(world), offset), options);
      // The query may have seen objects in two different states.
      if (isMoved && !inMixedWorlds(worlds, (world) => !freedomAt(world).isFree)) return 'it was free';
      if (!isMoved && !inMixedWorlds(worlds, (world) => !freedomAt(world).isInside)) return 'it was in something';
      return inMixedWorlds(worlds, (world) => !freedomAt(world, way).isInside) || 'it is in something';
    },
  });
}
