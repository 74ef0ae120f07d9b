// Pairs that are nearer than the sum of their clearances, in frames
// and by queries, against float64 distances of all pairs of all parts.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../../src/shared/layout.js';
import type { ContactPair } from '../../../../src/shared/types.js';
import { boundsPart, CoreFrames, partsOf, sizeOfParts } from '../../../fixtures/core-frames.js';
import { ANY_TRANSFORM, type NearObject, NearScene } from '../../../fixtures/near-scene.js';
import { minimumDistance, type Part } from '../../../oracle/distances.js';
import { bumpyBall, torus } from '../../../oracle/lumps.js';
import { boxMesh, icosphere, soup, type Triangles, transformed, waves } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, randomSolid } from '../../../oracle/shapes.js';
import { gapBetween, pointBody } from '../../../oracle/solids.js';

/** Frames of each world; `FRAMES=100 npx vitest run …` checks more. */
const FRAMES = Number(process.env.FRAMES ?? 5);
const COUNT = 24;

const WORLDS = [
  ['of size 1', 1, new Vector3()],
  ['of size 1e-3', 1e-3, new Vector3()],
  ['of size 1e3', 1e3, new Vector3()],
  ['10⁶ units away', 1, new Vector3(1e6, -1e6, 1e6)],
] as const;

const DETAILS = [
  ['manifold', layout.CONTACTS_MANIFOLD],
  ['bounds', layout.CONTACTS_BOUNDS],
  ['any', layout.CONTACTS_ANY],
  ['triangles', layout.CONTACTS_TRIANGLES],
] as const;

interface Near extends NearObject {
  clearance: number;
}

const keyOf = ({ a, b }: { a: number; b: number }) => `${a}:${b}`;

const distanceOf = (parts: readonly Part[], point: Vector3, precision: number) =>
  Math.min(...parts.map(({ body }) => gapBetween(body, pointBody(point), precision).least));

describe.each(WORLDS)(`clearance %s, seed ${SEED}`, { timeout: 240_000 }, (_, scale, place) => {
  test.each(scale === 1 && place.length() === 0 ? DETAILS : DETAILS.slice(0, 2))(
    `${FRAMES} frames of ${COUNT} things, contacts '%s'`,
    async (_, contacts) => {
      const random = new Random(SEED);
      const scene = await NearScene.at(place);
      const frames = new CoreFrames(scene);
      const meshes = meshesOf(random, scale).map((each) => scene.mesh(each));
      const isBounds = contacts === layout.CONTACTS_BOUNDS;
      const form = { ...ANY_TRANSFORM, low: 0.4, high: 1.5 };
      const somewhere = () => random.placement(random.point(4 * scale), form);
      const sized = (matrix: Matrix4) => matrix.clone().multiply(new Matrix4().makeScale(scale, scale, scale));
      const things: Near[] = [];
      const anyShape = (): AnyShape => {
        if (random.chance(0.5)) return random.pick(meshes);
        const shape = randomSolid(random);
        // The rotation of a capsule's bounds about its axis is unspecified.
        return isBounds && shape.type === 'capsule' ? anyShape() : { shape };
      };
      const clearanceOf = () => (random.chance(0.3) ? 0 : scale * random.logRange(0.01, 0.6));
      const optionsOf = (clearance: number) => ({
        ...{ contacts, clearance, flags: clearance > 0 ? layout.FLAG_CLEARANCE : 0 },
      });
      for (let i = 0; i < COUNT; i++) {
        const shape = anyShape();
        const clearance = clearanceOf();
        const matrix = shape.triangles ? somewhere() : sized(somewhere());
        things.push({ ...scene.add(shape, matrix, optionsOf(clearance)), clearance });
      }
      let before = new Set<string>();
      const seen = { apart: 0, met: 0, doubtful: 0, begun: 0, ended: 0 };
      for (let frame = 0; frame < FRAMES; frame++) {
        const sliced = frame % 2 === 1;
        const set = frames.run(0, sliced ? 0 : Number.POSITIVE_INFINITY);
        const found = new Map([...set].map((pair) => [keyOf(pair), pair]));
        for (const pair of set) {
          expect(pair.begun, keyOf(pair)).toBe(!before.has(keyOf(pair)));
          if (pair.begun) seen.begun++;
        }
        const ended = Array.from(set.endedA, (a, i) => keyOf({ a, b: set.endedB[i] }));
        expect(new Set(ended)).toEqual(new Set([...before].filter((key) => !found.has(key))));
        seen.ended += ended.length;
        before = new Set(found.keys());

        const parts = things.map((thing) => (isBounds ? [boundsPart(thing)] : partsOf(thing)));
        for (let i = 0; i < COUNT; i++) {
          for (let j = i + 1; j < COUNT; j++) {
            const [a, b] = [things[i], things[j]];
            const message = `frame ${frame}, ${i} and ${j}: ${a.shape.shape.type} and ${b.shape.shape.type}`;
            const reach = a.clearance + b.clearance;
            const size = sizeOfParts(a) + sizeOfParts(b);
            const digits = 2e-6 * Math.max(size, scale) + 1e-15 * place.length();
            const truth = minimumDistance(parts[i], parts[j], reach + 10 * digits);
            const pair = found.get(keyOf({ a: a.id, b: b.id }));
            if (truth > reach + digits) expect(pair, `${message}: ${truth} beyond ${reach}`).toBeUndefined();
            else if (truth < reach - digits) expect(pair, `${message}: ${truth} within ${reach}`).toBeDefined();
            else if (reach > 0) seen.doubtful++;
            if (pair && !isBounds && (i + j) % 4 === 0) expectSame(scene, a, b, contacts, pair, message);
            if (!pair) continue;
            expect(pair.time, message).toBe(1);
            const isApart = pair.depths.length > 0 && pair.depths[0] < 0;
            seen[isApart ? 'apart' : 'met']++;
            if (contacts !== layout.CONTACTS_MANIFOLD) expect(pair.points.length, message).toBe(0);
            else if (truth > digits) expectGap(pair, truth, [parts[i], parts[j]], digits, place, message);
          }
        }
        for (const thing of things) {
          if (!random.chance(0.4)) continue;
          const matrix = thing.shape.triangles ? somewhere() : sized(somewhere());
          if (random.chance(0.2)) {
            thing.clearance = clearanceOf();
            scene.core.setObject(thing.id, { ...scene.describe(thing.shape, matrix), ...optionsOf(thing.clearance) });
            frames.place(thing, matrix);
          } else frames.move(thing, matrix);
        }
      }
      console.log(JSON.stringify(seen));
      expect(seen.doubtful).toBeLessThan(2 + (seen.met + seen.apart) / 100);
      expect(seen.met).toBeGreaterThan(FRAMES * 2);
      if (contacts === layout.CONTACTS_MANIFOLD) expect(seen.apart).toBeGreaterThan(0);
    },
  );
});

/** Expects the query to give the frame's result, in either order. */
function expectSame(
  scene: NearScene,
  a: NearObject,
  b: NearObject,
  contacts: number,
  pair: ContactPair,
  message: string,
): void {
  for (const [p, q, sign] of [
    [a, b, 1],
    [b, a, -1],
  ] as const) {
    const asked = scene.core.pairs.contact(p.id, q.id, contacts)!;
    expect(asked, message).not.toBeNull();
    expect(asked.points, message).toEqual(pair.points);
    expect(asked.depths, message).toEqual(pair.depths);
    expect(
      asked.normals.map((value) => sign * value + 0),
      message,
    ).toEqual(pair.normals.map((value) => value + 0));
  }
}

/** Expects one point, halfway between the two closest points, which are half the gap away from it along the normal. */
function expectGap(
  { points, normals, depths }: ContactPair,
  truth: number,
  parts: readonly Part[][],
  digits: number,
  place: Vector3,
  message: string,
): void {
  expect(depths.length, message).toBe(1);
  expect(Math.abs(depths[0] + truth), `${message}: ${depths[0]} for ${truth}`).toBeLessThan(digits);
  const normal = new Vector3(...normals);
  expect(normal.length(), message).toBeCloseTo(1, 5);
  const middle = new Vector3(...points).sub(place);
  const rounding = 2 * digits + 2e-7 * place.length();
  for (const [i, sign] of [
    [0, 0.5],
    [1, -0.5],
  ] as const) {
    const onSurface = middle.clone().addScaledVector(normal, sign * depths[0]);
    expect(distanceOf(parts[i], onSurface, digits), `${message}: side ${i}`).toBeLessThan(rounding);
  }
}

function meshesOf(random: Random, scale: number): Triangles[] {
  return [
    icosphere(1, 1),
    bumpyBall(random, 1, 0.3),
    torus(1, 0.3, 4),
    boxMesh(1, 2, 0.5),
    soup(random, 20, 0.5, 1),
    waves(3),
  ].map((each) => transformed(each, (vertex) => vertex.multiplyScalar(scale)));
}
