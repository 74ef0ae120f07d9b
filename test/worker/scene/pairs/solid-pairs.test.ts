// Pairs of all shapes in frames: which are in contact, and which contains the other.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../../src/client/frame/frame-result.js';
import * as layout from '../../../../src/shared/layout.js';
import { ANY_TRANSFORM, type NearObject, NearScene, PLACES } from '../../../fixtures/near-scene.js';
import { boxMesh, icosphere, soup } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, frameOf, randomSolid, type SolidShape } from '../../../oracle/shapes.js';
import { cubeBody, gapBetween, minimumGap } from '../../../oracle/solids.js';

const DOUBT = 1e-5;
const COUNT = 3000;

describe.each(PLACES)(`pairs of all shapes %s, seed ${SEED}`, { timeout: 240_000 }, (_, place) => {
  test.each([
    ['any', layout.CONTACTS_ANY],
    ['bounds', layout.CONTACTS_BOUNDS],
  ])(`${COUNT} pairs, each far from all others, contacts '%s'`, async (_, contacts) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const meshes = [scene.mesh(icosphere(1, 1)), scene.mesh(boxMesh(1, 0.3, 2)), scene.mesh(soup(random, 10, 0.5, 1))];
    const solid = (): SolidShape => {
      const shape = randomSolid(random);
      // The rotation of a capsule's bounds about its axis is unspecified.
      return contacts === layout.CONTACTS_BOUNDS && shape.type === 'capsule' ? solid() : shape;
    };
    const any = (): AnyShape => (random.chance(0.25) ? random.pick(meshes) : { shape: solid() });
    const pairs: [NearObject, NearObject][] = [];
    for (let i = 0; i < COUNT; i++) {
      const middle = new Vector3(i % 15, Math.floor(i / 15) % 15, Math.floor(i / 225)).multiplyScalar(64);
      // In a fifth, one is so small that the other may contain it.
      const small = random.chance(0.2) ? 0.1 : 1;
      const form = { ...ANY_TRANSFORM, low: 0.3 * small, high: 3 * small };
      const away = random
        .direction()
        .multiplyScalar(random.range(0, small < 1 ? 1 : 4))
        .add(middle);
      const large = () => scene.add(any(), random.placement(middle, ANY_TRANSFORM), { contacts });
      const other = () => scene.add(any(), random.placement(away, form));
      pairs.push(random.chance(0.5) ? [large(), other()] : [other(), large()]);
    }
    const found = frameOfScene(scene);
    let doubtful = 0;
    const contained = [0, 0, 0];
    for (const [a, b] of pairs) {
      const contact = found.get(`${a.id}:${b.id}`);
      const gap = contacts === layout.CONTACTS_BOUNDS ? boundsGap(a, b) : minimumGap(a.bodies, b.bodies, DOUBT);
      const message = `${JSON.stringify(a.shape.shape)} and ${JSON.stringify(b.shape.shape)}`;
      if (contact === undefined) expect(gap, message).toBeGreaterThan(-DOUBT);
      else expect(gap, message).toBeLessThan(DOUBT);
      if ((contact === undefined) !== gap > 0) doubtful++;
      if (contact === undefined) continue;
      contained[contact]++;
      if (contacts === layout.CONTACTS_BOUNDS) {
        expect(contact).toBe(0);
        continue;
      }
      const [aInB, bInA] = [reachIn(a, b), reachIn(b, a)];
      const expected = aInB <= 1 ? 1 : bInA <= 1 ? 2 : 0;
      // In the frame of the containing shape, so close to touching it from within.
      const certain = Math.min(Math.abs(aInB - 1), Math.abs(bInA - 1)) > 1e-4;
      if (certain) expect(contact, `${message}: reaches ${aInB} and ${bInA}`).toBe(expected);
    }
    console.log(`${found.size} of ${COUNT} in contact, ${contained} contained, ${doubtful} in doubt`);
    expect(doubtful).toBeLessThan(COUNT / 500);
    expect(found.size).toBeGreaterThan(COUNT / 4);
    if (contacts === layout.CONTACTS_ANY) expect(Math.min(...contained)).toBeGreaterThan(COUNT / 200);
  });

  test('touching counts; the same and touching from within counts as inside', async () => {
    const scene = await NearScene.at(place);
    const ball = (radius: number): AnyShape => ({ shape: { type: 'sphere', radius } });
    const pill: AnyShape = { shape: { type: 'capsule', radius: 1, from: [0, 0, -2], to: [0, 0, 2] } };
    const crate: AnyShape = { shape: { type: 'box', halfExtents: [2, 2, 2] } };
    const cases: [AnyShape, Vector3, AnyShape, Vector3, number][] = [
      [ball(1), new Vector3(), ball(1), new Vector3(), 1],
      [ball(1), new Vector3(1, 0, 0), ball(2), new Vector3(), 1],
      [ball(2), new Vector3(), ball(1), new Vector3(1.001, 0, 0), 0],
      [ball(2), new Vector3(), ball(1), new Vector3(0, 0.999, 0), 2],
      [ball(1), new Vector3(0, 0, 2), pill, new Vector3(), 1],
      [pill, new Vector3(), ball(1), new Vector3(0, 0, 2.001), 0],
      [pill, new Vector3(), crate, new Vector3(0, 0, 1), 0],
      [crate, new Vector3(), ball(2), new Vector3(), 2],
      [crate, new Vector3(), ball(3.4), new Vector3(), 0],
      [crate, new Vector3(), ball(3.5), new Vector3(), 1],
      [scene.mesh(icosphere(0.99, 3)), new Vector3(0, 0, 1.9), pill, new Vector3(), 1],
      [scene.mesh(icosphere(0.99, 3)), new Vector3(0, 0, 2.1), pill, new Vector3(), 0],
      [scene.mesh(icosphere(1, 3)), new Vector3(), ball(0.1), new Vector3(1, 0, 0), 0],
    ];
    // For boxes the faces, along each axis and on either side.
    const small: AnyShape = { shape: { type: 'box', halfExtents: [1, 1, 1] } };
    for (const way of [-1, 1].flatMap((sign) => [0, 1, 2].map((axis) => new Vector3().setComponent(axis, sign)))) {
      cases.push([crate, new Vector3(), small, way.clone(), 2], [small, way.clone(), crate, new Vector3(), 1]);
      cases.push([crate, new Vector3(), small, way.clone().multiplyScalar(3), 0]);
    }
    cases.forEach(([a, from, b, to], i) => {
      const away = new Vector3(i * 100, 0, 0);
      scene.add(a, new Matrix4().setPosition(from.add(away)));
      scene.add(b, new Matrix4().setPosition(to.add(away)));
    });
    expect([...frameOfScene(scene).values()]).toEqual(cases.map(([, , , , contained]) => contained));
  });

  test('a box that touches the side of another one from within is inside, whichever side it is', async () => {
    const scene = await NearScene.at(place);
    const crate = (half: number): AnyShape => ({ shape: { type: 'box', halfExtents: [half, half, half] } });
    const expected: number[] = [];
    for (const axis of [0, 1, 2]) {
      for (const side of [-1, 1]) {
        for (const inner of [0, 1]) {
          const middle = new Vector3(64 * expected.length, 0, 0);
          const at = new Matrix4().setPosition(middle);
          const aside = new Matrix4().setPosition(middle.clone().add(new Vector3().setComponent(axis, side)));
          for (const i of [0, 1]) scene.add(crate(i === inner ? 1 : 2), i === inner ? aside : at);
          expected.push(inner === 0 ? 1 : 2);
        }
      }
    }
    expect([...frameOfScene(scene).values()]).toEqual(expected);
  });

  test('a mesh holds nothing', async () => {
    const scene = await NearScene.at(place);
    scene.add(scene.mesh(icosphere(2, 3)), new Matrix4());
    scene.add({ shape: { type: 'sphere', radius: 1 } }, new Matrix4());
    expect(frameOfScene(scene).size).toBe(0);
  });
});

/** `contained` by the two ids, of all pairs in contact. */
function frameOfScene(scene: NearScene): Map<string, number> {
  const staging = new FrameBuilder();
  const { contacts } = new FrameView(scene.core.frame(staging.seal(1, 1), undefined), []);
  return new Map([...contacts].map(({ a, b, contained }) => [`${a}:${b}`, contained]));
}

function boundsGap(a: NearObject, b: NearObject): number {
  const [p, q] = [a, b].map((thing) => cubeBody(thing.matrix.clone().multiply(boundsFrame(thing.shape))));
  return gapBetween(p, q, 1e-7).least;
}

function boundsFrame({ shape, triangles }: AnyShape): Matrix4 {
  if (!triangles) {
    const { matrix, half } = frameOf(shape);
    return matrix.scale(new Vector3(1, 1, 1 + half));
  }
  const [low, high] = [new Vector3(Infinity, Infinity, Infinity), new Vector3(-Infinity, -Infinity, -Infinity)];
  for (let i = 0; i < triangles.positions.length; i += 3) {
    const vertex = new Vector3().fromArray(triangles.positions, i);
    low.min(vertex);
    high.max(vertex);
  }
  const half = high.clone().sub(low).multiplyScalar(0.5);
  return new Matrix4().makeScale(half.x, half.y, half.z).setPosition(low.add(high).multiplyScalar(0.5));
}

/**
 * How far `inner` reaches in the frame of `outer`, which reaches
 * to 1 there; Infinity if `outer` cannot contain anything.
 */
function reachIn(inner: NearObject, outer: NearObject): number {
  const { shape } = outer.shape;
  if (shape.type === 'mesh') return Number.POSITIVE_INFINITY;
  const { matrix, half } = frameOf(shape);
  const toFrame = outer.matrix.clone().multiply(matrix).invert();
  const reach = (point: Vector3) => {
    const own = point.clone().applyMatrix4(toFrame);
    if (shape.type === 'box') return Math.max(...own.toArray().map(Math.abs));
    own.z -= Math.min(Math.max(own.z, -half), half);
    return own.length();
  };
  return Math.max(...surfaceOf(inner).map(reach));
}

/** Points that span it: vertices, corners, or dense samples of round surfaces. */
function surfaceOf({ shape, matrix }: NearObject): Vector3[] {
  if (shape.triangles) {
    const { positions, indices } = shape.triangles;
    return Array.from(indices, (i) => new Vector3().fromArray(positions, 3 * i).applyMatrix4(matrix));
  }
  const frame = frameOf(shape.shape);
  const place = matrix.clone().multiply(frame.matrix);
  if (shape.shape.type === 'box') {
    return [0, 1, 2, 3, 4, 5, 6, 7].map((i) =>
      new Vector3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1).applyMatrix4(place),
    );
  }
  return NET.flatMap((way) =>
    [-frame.half, frame.half].map((z) =>
      way
        .clone()
        .setZ(way.z + z)
        .applyMatrix4(place),
    ),
  );
}

const NET = Array.from({ length: 3000 }, (_, i) => {
  // A Fibonacci lattice.
  const z = 1 - (2 * i + 1) / 3000;
  const angle = i * Math.PI * (3 - Math.sqrt(5));
  const r = Math.sqrt(1 - z * z);
  return new Vector3(r * Math.cos(angle), r * Math.sin(angle), z);
});
