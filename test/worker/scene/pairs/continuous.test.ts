// Objects that pass through each other between two frames, against
// the distances of the same shapes at many positions of their paths.
import { Matrix4, Quaternion, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../../src/shared/layout.js';
import { CoreFrames } from '../../../fixtures/core-frames.js';
import { type NearObject, NearScene } from '../../../fixtures/near-scene.js';
import { boxMesh, icosphere, soup, transformed } from '../../../oracle/meshes.js';
import { type PlacementOptions, Random, SEED } from '../../../oracle/random.js';
import type { AnyShape } from '../../../oracle/shapes.js';

/** Pairs of each world and kind of motion; `WAYS=1000 npx vitest run …` checks more. */
const COUNT = Number(process.env.WAYS ?? 120);
/** The share of pairs that separate, most of which are in contact at the start. */
const PARTING = 0.3;
/** Positions on the path that are checked. */
const PLACES_ASKED = 48;
const CONTINUOUS = { flags: layout.FLAG_CONTINUOUS };
const [NO_LIMIT, NO_TIME] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];

const FORMS: PlacementOptions = { low: 0.6, high: 1.6, mirrored: 0.2, sheared: 0.5 };

const WORLDS = [
  ['of size 1', 1, new Vector3()],
  ['of size 1e-3', 1e-3, new Vector3()],
  ['of size 1e3', 1e3, new Vector3()],
  ['10⁶ units away', 1, new Vector3(1e6, -1e6, 1e6)],
] as const;

interface Way {
  from: Matrix4;
  to: Matrix4;
}

/**
 * The pose of a shape on its path, written with three alone: its origin moves along a line, its axes rotate at a constant
 * rate by the shorter way, and it has the scale and shear of its end all the way.
 */
function poseAt({ from, to }: Way, time: number): Matrix4 {
  const [start, end] = [from, to].map((matrix) => new Vector3().setFromMatrixPosition(matrix));
  const turn = axesOf(to).multiply(axesOf(from).invert());
  const back = new Quaternion().slerp(turn, time).multiply(turn.invert());
  const linear = to.clone().setPosition(0, 0, 0).premultiply(new Matrix4().makeRotationFromQuaternion(back));
  return linear.setPosition(start.lerp(end, time));
}

/** The rotation that Gram-Schmidt makes of a matrix's columns. */
function axesOf(matrix: Matrix4): Quaternion {
  const [x, y, z] = [new Vector3(), new Vector3(), new Vector3()];
  matrix.extractBasis(x, y, z);
  x.normalize();
  y.addScaledVector(x, -x.dot(y)).normalize();
  return new Quaternion().setFromRotationMatrix(new Matrix4().makeBasis(x, y, z.crossVectors(x, y)));
}

function kindsOf(scene: NearScene, random: Random, scale: number): (() => AnyShape)[] {
  const sized = (mesh: ReturnType<typeof boxMesh>) =>
    scene.mesh(transformed(mesh, (vertex) => vertex.multiplyScalar(scale)));
  const flat = transformed(boxMesh(2, 2, 2), (vertex) => vertex.multiply(new Vector3(1, 1e-6, 1)));
  const meshes = [icosphere(1, 2), boxMesh(2, 1, 3), soup(random, 30, 0.4, 1), flat].map(sized);
  const size = () => scale * random.logRange(0.02, 1);
  const center = () => random.point(random.chance(0.5) ? 0 : 0.3 * scale).toArray();
  return [
    () => ({ shape: { type: 'sphere', radius: size(), center: center() } }),
    () => ({ shape: { type: 'capsule', radius: size(), from: center(), to: random.point(scale).toArray() } }),
    () => ({ shape: { type: 'box', halfExtents: [size(), size(), size()], center: center() } }),
    () => ({ shape: { type: 'box', halfExtents: [size(), 0, random.chance(0.5) ? 0 : size()], center: center() } }),
    () => random.pick(meshes),
  ];
}

describe.each(WORLDS)(`continuous %s, seed ${SEED}`, { timeout: 240_000 }, (_, scale, place) => {
  test.each([
    ['nothing turns', 0],
    ['one turns', 1],
    ['both turn', 2],
    ['one turns, and each has another form', 1, FORMS],
    ['both turn, and each has another form', 2, FORMS],
  ])(`${COUNT} pairs, %s`, async (_, turning, forms: PlacementOptions = {}) => {
    const random = new Random(SEED + turning + (forms === FORMS ? 2 : 0));
    const scene = await NearScene.at(place);
    const frames = new CoreFrames(scene);
    const kinds = kindsOf(scene, random, scale);
    const pairs: {
      things: [NearObject, NearObject];
      ways: [Way, Way];
      shapes: [AnyShape, AnyShape];
      isAny: boolean;
    }[] = [];
    for (let i = 0; i < COUNT; i++) {
      const middle = new Vector3(i % 12, Math.floor(i / 12) % 12, Math.floor(i / 144)).multiplyScalar(200 * scale);
      // Where nobody asks for the contact points of boxes, their time of impact is found without them.
      const isAny = random.chance(0.4);
      const some = isAny ? kinds.slice(2, 4) : kinds;
      const shapes = [random.pick(some)(), random.pick(some)()] as [AnyShape, AnyShape];
      const isAlone = random.chance(0.2);
      const areParting = random.chance(PARTING);
      const ways = shapes.map((_, k) => {
        const start = middle.clone().addScaledVector(random.direction(), scale * random.range(1, 4));
        const far = areParting ? 1 : random.logRange(0.3, 3);
        const end = start.clone().lerp(random.point((areParting ? 0.1 : 0.7) * scale).add(middle), far);
        const a = random.rotation();
        const b = turning > k ? random.rotation() : a;
        if (isAlone && k === 1) end.copy(start);
        // From the centre, where they may overlap.
        else if (areParting) swap(start, end);
        const at = (rotation: Quaternion, point: Vector3, form: Matrix4) =>
          new Matrix4().compose(scene.exactPoint(point), rotation, new Vector3(1, 1, 1)).multiply(form);
        const form = formOf(random, forms);
        if (isAlone && k === 1) return { from: at(a, start, form), to: at(a, end, form) };
        return { from: at(a, start, form), to: at(b, end, random.chance(0.8) ? formOf(random, forms) : form) };
      }) as [Way, Way];
      if (random.chance(0.5)) {
        ways.reverse();
        shapes.reverse();
      }
      // An object that stands still need not be continuous.
      const isStill = ({ from, to }: Way) => from.equals(to);
      const things = shapes.map((shape, k) =>
        scene.add(shape, ways[k].from, {
          ...(isStill(ways[k]) && random.chance(0.5) ? {} : CONTINUOUS),
          ...(isAny ? { contacts: layout.CONTACTS_ANY } : {}),
        }),
      ) as [NearObject, NearObject];
      pairs.push({ things, ways, shapes, isAny });
    }
    const before = new Set([...frames.run()].map(({ a, b }) => `${a}:${b}`));
    for (const { things, ways } of pairs) {
      for (const [k, thing] of things.entries()) frames.move(thing, ways[k].to);
    }
    const contacts = new Map([...frames.run()].map((pair) => [`${pair.a}:${pair.b}`, pair]));
    const after = frames.run();

    const seen = { apart: 0, passed: 0, atStart: 0, atEnd: 0 };
    for (const [i, { things, ways, shapes, isAny }] of pairs.entries()) {
      const message = `case ${i}: ${shapes[0].shape.type} and ${shapes[1].shape.type}`;
      const key = `${things[0].id}:${things[1].id}`;
      const contact = contacts.get(key);
      const [standA, standB] = shapes.map((shape, k) => scene.add(shape, ways[k].from, { contacts: 0 }));
      const gapAt = (time: number): number => {
        [standA, standB].forEach((stand, k) => {
          const description = scene.describe(shapes[k], poseAt(ways[k], time));
          scene.core.setObject(stand.id, { ...description, contacts: 0 });
        });
        return scene.core.pairs.beginDistance(standA.id, standB.id, NO_LIMIT, NO_TIME)!.distance;
      };
      const small = 2e-4 * Math.min(...things.map(({ bodies }) => reachOf(bodies))) + 1e-14 * place.length();
      // For pairs in contact at the end, nothing is reported of earlier contacts.
      const until = !contact ? 1 : contact.time === 1 ? 0 : contact.time - 1e-6;
      for (let k = 0; k <= PLACES_ASKED && until > 0; k++) {
        const time = (until * k) / PLACES_ASKED;
        const gap = gapAt(time);
        if (contact === undefined || time < contact.time - 1e-4) {
          expect(gap, `${message}: meets at ${time}, told ${contact?.time}`).toBeGreaterThan(0);
        }
      }
      if (!contact) seen.apart++;
      else {
        const isEnd = gapAt(1) === 0;
        if (isEnd) expect(contact.time, message).toBe(1);
        if (contact.time === 1) seen.atEnd++;
        else {
          seen[contact.time === 0 ? 'atStart' : 'passed']++;
          expect(contact.time, message).toBeLessThan(1);
          // With the scale and shear of its end, it may touch at its start what it did not touch before.
          if (forms !== FORMS) expect(before.has(key), message).toBe(contact.time === 0);
          // Time is float32.
          const blur = 1e-7 * travelOf(ways) + 10 * 1e-16 * place.length();
          expect(gapAt(contact.time), `${message} at ${contact.time}`).toBeLessThan(5 * small + blur);
          expect(contact.points.length, message).toBe(isAny ? 0 : 3);
          if (!isAny) expect(new Vector3(...contact.normals).length(), message).toBeCloseTo(1, 5);
          if (!isAny && contact.time > 0) expect(contact.depths[0], message).toBe(0);
        }
      }
      for (const stand of [standA, standB]) scene.remove(stand);
    }
    console.log(JSON.stringify(seen));
    expect(seen.passed).toBeGreaterThan(((1 - PARTING) * COUNT) / 20);
    expect(seen.atStart).toBeGreaterThan(COUNT / 20);
    // Pairs that only passed through have ended.
    expect(after.count).toBe(seen.atEnd);
    for (const pair of after) expect(pair.time).toBe(1);
  });
});

/**
 * Scale and shear without a rotation: lengths along the axes, and a shear of y and
 * z. It is mirrored along z alone, since the other two axes define the orientation:
 * along them, the mirroring would count as half a turn, which could go either way.
 */
function formOf(random: Random, { low = 1, high = 1, mirrored = 0, sheared = 0 }: PlacementOptions): Matrix4 {
  if (low === high) return new Matrix4();
  const [x, y, z] = Array.from({ length: 3 }, () => random.logRange(low, high));
  const by = () => (random.chance(sheared) ? random.range(-0.5, 0.5) : 0);
  return new Matrix4()
    .makeScale(x, y, random.chance(mirrored) ? -z : z)
    .multiply(new Matrix4().makeShear(0, 0, by(), 0, by(), by()));
}

function swap(a: Vector3, b: Vector3): void {
  const last = a.clone();
  a.copy(b);
  b.copy(last);
}

/** An upper bound of the objects' size. */
function reachOf(bodies: NearObject['bodies']): number {
  return Math.max(...bodies.map(({ columns }) => columns.reduce((sum, column) => sum + column.length(), 0)));
}

function travelOf(ways: readonly Way[]): number {
  return ways.reduce((sum, { from, to }) => {
    const [a, b] = [from, to].map((matrix) => new Vector3().setFromMatrixPosition(matrix));
    return sum + a.distanceTo(b) + 10;
  }, 0);
}
