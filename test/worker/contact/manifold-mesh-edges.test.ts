// Contact of two meshes with unusual numbers or shapes: scales, places, matrices, sheets, coinciding faces,
// containment, and large intersections.
import type { MeshShape } from 'collision-worker';
import { BoxGeometry, Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { ANY_TRANSFORM, type NearObject, NearScene, PLACES } from '../../fixtures/near-scene.js';
import { dragon } from '../../oracle/dragon.js';
import { bumpyBall, comb, torus } from '../../oracle/lumps.js';
import { boxMesh, icosphere, merged, type Triangles, transformed, waves, welded } from '../../oracle/meshes.js';
import { ConvexSolid, depthAlong } from '../../oracle/penetration.js';
import { Random, SEED } from '../../oracle/random.js';
import { intersectingFaces, Surface } from '../../oracle/regions.js';
import type { AnyShape } from '../../oracle/shapes.js';

const TURN = new Matrix4().makeRotationX(0.3).multiply(new Matrix4().makeRotationY(0.7));
const ORIGIN = new Vector3();

interface Answer {
  contained: number;
  points: Vector3[];
  normals: Vector3[];
  depths: number[];
}

function contactOf({ core }: NearScene, a: NearObject, b: NearObject): Answer | null {
  const found = core.pairs.contact(a.id, b.id, layout.CONTACTS_MANIFOLD);
  if (!found) return null;
  const vectors = (numbers: Float32Array) =>
    Array.from({ length: numbers.length / 3 }, (_, i) => new Vector3().fromArray(numbers, 3 * i));
  const { contained, points, normals, depths } = found;
  return { contained, points: vectors(points), normals: vectors(normals), depths: [...depths] };
}

/** That moving b along the first point's normal separates the two after its depth, and not before. */
function expectParted(answer: Answer, a: NearObject, b: NearObject, message = ''): void {
  const surfaces = [a, b].map(({ shape, matrix }) => new Surface(shape.triangles!, matrix)) as [Surface, Surface];
  const moved = (factor: number) => answer.normals[0].clone().multiplyScalar(factor * answer.depths[0]);
  expect(answer.normals[0].length(), message).toBeCloseTo(1, 6);
  expect(intersectingFaces(...surfaces, moved(1.05)), `${message}: still meets`).toEqual([]);
  expect(intersectingFaces(...surfaces, moved(0.95)).length, `${message}: apart before`).toBe(1);
}

describe('the same scene at all scales and places', () => {
  test.each([1e-3, 1, 1e3])(
    'scaled by %d, by its vertices and by its matrix, here and 10⁶ sizes away',
    async (scale) => {
      for (const far of [0, 1e6]) {
        const place = new Vector3(far, -far, far).multiplyScalar(scale);
        const shapes = [bumpyBall(new Random(1), 6, 0.05), torus(1, 0.4, 12)];
        for (const byVertices of [true, false]) {
          const scene = await NearScene.at(place);
          const [a, b] = shapes.map((mesh) =>
            scene.mesh(byVertices ? transformed(mesh, (vertex) => vertex.multiplyScalar(scale)) : mesh),
          );
          const size = new Matrix4().makeScale(
            ...(new Array(3).fill(byVertices ? 1 : scale) as [number, number, number]),
          );
          const at = new Matrix4().makeTranslation(0.3 * scale, 2.25 * scale, 0.1 * scale).multiply(TURN);
          const answer = contactOf(scene, scene.add(a, size), scene.add(b, at.multiply(size)))!;
          known ??= { depths: answer.depths.map((depth) => depth / scale), normal: answer.normals[0] };
          expect(answer.depths.length).toBe(known.depths.length);
          for (const [i, depth] of answer.depths.entries()) expect(depth / scale / known.depths[i]).toBeCloseTo(1, 4);
          expect(answer.normals[0].distanceTo(known.normal)).toBeLessThan(1e-4);
        }
      }
    },
  );
});
/** The result of the first of these scenes, relative to its scale. */
let known: { depths: number[]; normal: Vector3 } | undefined;

test(`under matrices of all kinds, mirrored ones too, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  for (const [, place] of PLACES) {
    const scene = await NearScene.at(place);
    const [a, b] = [scene.mesh(bumpyBall(random, 5, 0.05)), scene.mesh(bumpyBall(random, 4, 0.05))];
    let count = 0;
    for (let i = 0; i < 40; i++) {
      const first = scene.add(a, random.placement(new Vector3(), ANY_TRANSFORM));
      const second = scene.add(
        b,
        random.placement(random.direction().multiplyScalar(random.range(1, 4)), ANY_TRANSFORM),
      );
      const answer = contactOf(scene, first, second);
      if (!answer || new Set(answer.depths).size !== 1) continue;
      count++;
      const turned = contactOf(scene, second, first)!;
      expect(turned.depths).toEqual(answer.depths);
      expect(turned.normals.map((normal) => normal.negate())).toEqual(answer.normals);
      const message = JSON.stringify([first.matrix.elements, second.matrix.elements]);
      const surfaces = [first, second].map((t) => new Surface(t.shape.triangles!, t.matrix)) as [Surface, Surface];
      const moved = answer.normals[0].clone().multiplyScalar(1.05 * answer.depths[0]);
      expect.soft(intersectingFaces(...surfaces, moved), message).toEqual([]);
    }
    expect(count).toBeGreaterThan(8);
  }
});

test('a mesh whose faces turn in is as the other one', async () => {
  const scene = await NearScene.at(ORIGIN);
  const ball = icosphere(1, 6);
  const inward = { positions: ball.positions, indices: ball.indices.slice().reverse() };
  const at = new Matrix4().setPosition(0, 1.8, 0);
  const answers = [ball, inward].map((mesh) => {
    const a = scene.add(scene.mesh(mesh), new Matrix4());
    return contactOf(scene, a, scene.add(scene.mesh(torus(1, 0.4, 12)), at))!;
  });
  expect(answers[1].normals[0].distanceTo(answers[0].normals[0])).toBeLessThan(1e-6);
  expect(answers[1].depths[0]).toBeCloseTo(answers[0].depths[0], 6);
});

describe('sheets', () => {
  test.each([
    ['from above', 1],
    ['from below', -1],
  ])('what dips into one %s goes back there', async (_, side) => {
    const scene = await NearScene.at(ORIGIN);
    const sheet = scene.add(scene.mesh(waves(40)), new Matrix4());
    const ball = scene.add(scene.mesh(icosphere(0.4, 8)), new Matrix4().setPosition(0.1, 0.2, 0.4 * side));
    const answer = contactOf(scene, sheet, ball)!;
    expect(answer.normals[0].z * side).toBeGreaterThan(0.7);
    expectParted(answer, sheet, ball);
  });

  test('two that cross', async () => {
    const scene = await NearScene.at(ORIGIN);
    const square = scene.mesh(waves(1));
    const a = scene.add(square, new Matrix4());
    const b = scene.add(square, new Matrix4().makeRotationY(Math.PI / 2).setPosition(0.1, 0, 0.7));
    const answer = contactOf(scene, a, b)!;
    expect(answer.depths[0]).toBeLessThan(1.5);
    expectParted(answer, a, b);
  });

  test('one triangle through another', async () => {
    const scene = await NearScene.at(ORIGIN);
    const flat = scene.mesh(triangle([0, 0, 0], [1, 0, 0], [0, 1, 0]));
    const up = scene.mesh(triangle([0.2, 0.2, -0.1], [0.4, 0.3, 1], [0.3, 0.4, 1]));
    const a = scene.add(flat, new Matrix4());
    const b = scene.add(up, new Matrix4());
    const answer = contactOf(scene, a, b)!;
    expectParted(answer, a, b);
    expect(answer.depths[0]).toBeLessThan(0.2);
  });

  const flat = () => triangle([0, 0, 0], [2, 0, 0], [1, 2, 0]);
  test.each<[string, () => Triangles, () => Triangles, Matrix4]>([
    [
      'two without a thickness, whose normals cancel out',
      () => fin([0, 0, 0], [1, 0.1, 0], [0.1, 1, 0.2]),
      () => fin([0, 0, 0], [1, 0.1, 0], [0.1, 1, 0.2]),
      new Matrix4().setPosition(0.1, 0.3, 0.05).multiply(TURN),
    ],
    ['one triangle through another', flat, () => triangle([0.7, 0.4, -0.1], [1, 0.5, 1], [0.8, 0.9, 1]), new Matrix4()],
    [
      'one half of a triangle through another',
      flat,
      () => triangle([0.9, 0.4, -1], [1, 0.5, 1.2], [0.8, 0.9, 1]),
      new Matrix4(),
    ],
  ])(`%s: turned, the direction turns, seed ${SEED}`, async (_, makeFirst, makeSecond, place) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(ORIGIN);
    const sheets = [makeFirst(), makeSecond()].map((mesh) => scene.mesh(mesh));
    const normals = Array.from({ length: 20 }, (_, i) => {
      const turn = new Matrix4();
      if (i > 0) turn.makeRotationFromQuaternion(random.rotation());
      const [a, b] = [new Matrix4(), place].map((matrix, k) => scene.add(sheets[k], turn.clone().multiply(matrix)));
      return contactOf(scene, a, b)!.normals[0].applyMatrix4(turn.invert());
    });
    for (const normal of normals) expect(normal.distanceTo(normals[0])).toBeLessThan(1e-3);
  });

  test.each([
    ['a corner', new Vector3(2, -2, 0)],
    ['another corner', new Vector3(0, 2, -2)],
  ])('triangles of one plane that touch at %s leave it', async (_, way) => {
    const scene = await NearScene.at(ORIGIN);
    const mesh = scene.mesh(triangle([0, 0, 0], [2, -2, 0], [0, 2, -2]));
    const [a, b] = [scene.add(mesh, new Matrix4()), scene.add(mesh, new Matrix4().setPosition(way))];
    for (const { normals, depths } of [contactOf(scene, a, b)!, contactOf(scene, b, a)!]) {
      expect(depths[0]).toBe(0);
      expect(Math.abs(normals[0].dot(new Vector3(1, 1, 1).normalize()))).toBeCloseTo(1, 6);
    }
  });
});

/** A triangle and the same one with reversed winding. */
function fin(a: number[], b: number[], c: number[]): Triangles {
  return { positions: Float32Array.from([...a, ...b, ...c]), indices: Uint32Array.of(0, 1, 2, 0, 2, 1) };
}

describe('faces on one another', () => {
  test('a box that rests on a plain', async () => {
    const scene = await NearScene.at(ORIGIN);
    const plain = scene.add(scene.mesh(grid(10)), new Matrix4());
    const box = scene.add(scene.mesh(boxMesh(1, 1, 1)), new Matrix4().setPosition(0.13, 0.21, 0.5));
    const answer = contactOf(scene, plain, box)!;
    expect(answer.normals.every((normal) => normal.z > 0.99)).toBe(true);
    expect(answer.depths.every((depth) => depth < 1e-6)).toBe(true);
    expect(spread(answer.points)).toBeCloseTo(Math.SQRT2, 3);
  });

  test.each([
    ['the same faces', [0, 0, 1]],
    ['parts of faces', [0.3, 0.2, 1]],
  ])('two boxes that share %s', async (_, [x, y, z]) => {
    const scene = await NearScene.at(ORIGIN);
    const box = scene.mesh(boxMesh(1, 1, 1));
    const answer = contactOf(scene, scene.add(box, new Matrix4()), scene.add(box, new Matrix4().setPosition(x, y, z)))!;
    for (const normal of answer.normals) expect(normal.distanceTo(new Vector3(0, 0, 1))).toBeLessThan(1e-6);
    for (const depth of answer.depths) expect(depth).toBeLessThan(1e-6);
    expect(answer.points.length).toBe(4);
    for (const point of answer.points) expect(point.z).toBeCloseTo(0.5, 6);
  });

  test.each([
    ['an edge', [1, 0, 1], 2],
    ['a vertex', [1, 1, 1], 1],
  ])('two boxes that share %s', async (_, [x, y, z], count) => {
    const scene = await NearScene.at(ORIGIN);
    const box = scene.mesh(boxMesh(1, 1, 1));
    const answer = contactOf(scene, scene.add(box, new Matrix4()), scene.add(box, new Matrix4().setPosition(x, y, z)))!;
    expect(answer.points.length).toBe(count);
    expect(answer.depths[0]).toBeLessThan(1e-6);
    // Any direction between the faces there separates them.
    expect(answer.normals[0].dot(new Vector3(x, y, z).normalize())).toBeGreaterThan(0.57);
  });

  test('two triangles in one plane', async () => {
    const scene = await NearScene.at(ORIGIN);
    const mesh = scene.mesh(triangle([0, 0, 0], [2, 0, 0], [1, 2, 0]));
    const answer = contactOf(
      scene,
      scene.add(mesh, new Matrix4()),
      scene.add(mesh, new Matrix4().setPosition(0.4, 0.4, 0)),
    )!;
    expect(answer.points.length).toBeGreaterThan(0);
    expect(answer.normals[0].length()).toBeCloseTo(1, 6);
    expect(answer.depths[0]).toBeGreaterThanOrEqual(0);
  });
});

describe('much in common', () => {
  test.each([
    ['a ball', icosphere(1, 5)],
    ['a torus', torus(1, 0.3, 12)],
    ['a comb', comb(3)],
    ['a dragon', dragon(11102)],
  ])('%s and itself at the same place', async (_, mesh) => {
    const scene = await NearScene.at(ORIGIN);
    const shape = scene.mesh(mesh);
    const [a, b] = [scene.add(shape, new Matrix4()), scene.add(shape, new Matrix4())];
    const answer = contactOf(scene, a, b)!;
    expect(answer.depths.length).toBeGreaterThan(0);
    const width = extentAlong(mesh, answer.normals[0]);
    for (const [i, normal] of answer.normals.entries()) {
      expect(normal.length()).toBeCloseTo(1, 6);
      expect(normal.distanceTo(answer.normals[0])).toBe(0);
      // A concavity lets the other one leave somewhat earlier.
      expect(answer.depths[i] / width).toBeLessThan(1.001);
      expect(answer.depths[i] / width).toBeGreaterThan(0.75);
    }
  });

  test(`deep in one another, seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(ORIGIN);
    const shapes = [scene.mesh(bumpyBall(random, 6, 0.05)), scene.mesh(icosphere(0.8, 5))];
    for (let i = 0; i < 20; i++) {
      const a = scene.add(shapes[0], random.placement(new Vector3()));
      const b = scene.add(shapes[1], random.placement(random.direction().multiplyScalar(random.range(0.4, 1))));
      const answer = contactOf(scene, a, b);
      if (!answer || new Set(answer.depths).size !== 1) continue;
      expectParted(answer, a, b, JSON.stringify([a.matrix.elements, b.matrix.elements]));
    }
  });
});

describe('one in another', () => {
  const holders: [name: string, shape: AnyShape, matrix: Matrix4][] = [
    ['a box', { shape: { type: 'box', halfExtents: [2, 3, 4] } }, new Matrix4()],
    ['a sphere', { shape: { type: 'sphere', radius: 3 } }, new Matrix4()],
    ['a capsule', { shape: { type: 'capsule', radius: 2.5, from: [0, 0, -1], to: [0, 0, 2] } }, new Matrix4()],
  ];
  test.each(holders)('a mesh in %s leaves where the answer says', async (_, holder, matrix) => {
    const scene = await NearScene.at(ORIGIN);
    for (const inner of [torus(1, 0.3, 12), bumpyBall(new Random(1), 5, 0.1)]) {
      const at = TURN.clone().setPosition(0.5, 0.3, -0.2);
      const outside = scene.add(holder, matrix);
      const shape = scene.mesh(inner);
      const inside = scene.add(shape, at);
      const answer = contactOf(scene, outside, inside)!;
      expect(answer.contained).toBe(2);
      expect(answer.points.length).toBe(1);
      expect(answer.normals[0].length()).toBeCloseTo(1, 6);
      const moved = (factor: number) => {
        const way = answer.normals[0].clone().multiplyScalar(factor * answer.depths[0]);
        const thing = scene.add(shape, new Matrix4().setPosition(way).multiply(at));
        return contactOf(scene, outside, thing);
      };
      expect(moved(1.05)).toBeNull();
      expect(moved(0.95)).not.toBeNull();
      // No way is shorter than the one to the nearest wall and through it.
      expect(answer.depths[0]).toBeLessThan(6.5);
    }
  });

  test.each([
    ['a box', 0],
    ['a solid mesh of a box, turned in its own space', 1],
    ['a solid mesh of many faces', 8],
  ])(`what is in %s leaves it across the nearest face, or shorter, seed ${SEED}`, async (_, parts) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(ORIGIN);
    const hill = scene.mesh(bumpyBall(random, 4, 0.05));
    for (let i = 0; i < 20; i++) {
      const [size, turn] = [new Vector3(1, 2, 3).multiplyScalar(random.range(1, 2)), random.rotation()];
      const axes = [0, 1, 2].map((axis) => new Vector3().setComponent(axis, 1).applyQuaternion(turn));
      const cube = welded(new BoxGeometry(2, 2, 2, parts || 1, parts || 1, parts || 1));
      const box = transformed(cube, (vertex) => vertex.multiply(size).applyQuaternion(turn));
      const holder: AnyShape = parts
        ? solid(scene.mesh(box))
        : { shape: { type: 'box', halfExtents: size.toArray(), rotation: turn.toArray() } };
      const place = random.point(0.7).multiply(size);
      const small = new Vector3().setScalar(0.2);
      const inside = new Matrix4().compose(place.clone().applyQuaternion(turn), random.rotation(), small);
      const [outer, inner] = [scene.add(holder, new Matrix4()), scene.add(hill, inside)];
      const rooms = [0, 1, 2].map((k) => size.getComponent(k) - Math.abs(place.getComponent(k)));
      const nearest = rooms.indexOf(Math.min(...rooms));
      const normal = axes[nearest].multiplyScalar(Math.sign(place.getComponent(nearest)));
      const solids = [outer, inner].map(({ shape, matrix }) => new ConvexSolid(shape, matrix));
      const most = depthAlong(solids[0], solids[1], normal.x, normal.y, normal.z);
      for (const [contained, pair] of [
        [2, [outer, inner]],
        [1, [inner, outer]],
      ] as const) {
        const answer = contactOf(scene, pair[0], pair[1])!;
        expect(answer.contained).toBe(contained);
        expect(answer.depths[0], `case ${i}`).toBeLessThan(most * (1 + 1e-5));
      }
    }
  });
});

function solid({ shape, triangles }: AnyShape): AnyShape {
  return { shape: { ...(shape as MeshShape), solid: true }, triangles: triangles! };
}

function triangle(...corners: [number, number, number][]): Triangles {
  return { positions: new Float32Array(corners.flat()), indices: Uint32Array.of(0, 1, 2) };
}

/** The square [-1, 1]² as triangles in a plane. */
function grid(cells: number): Triangles {
  return transformed(waves(cells), (vertex) => vertex.setZ(0));
}

/** The largest distance of two points. */
function spread(points: Vector3[]): number {
  return Math.max(...points.flatMap((p) => points.map((q) => p.distanceTo(q))));
}

test.each([0, 1, 2])(
  'tips far behind their curves are found, whichever edge of a triangle leads there: edge %d',
  async (edge) => {
    const scene = await NearScene.at(ORIGIN);
    for (const sides of [3, 4, 7]) {
      const spike = tower(sides, [2, 1, 0.5, 0.25], 0.3);
      // Two of them: a single region is compared with all triangles of both.
      const spikes = startingAt(edge, merged([spike, transformed(spike, (vertex) => vertex.setX(vertex.x + 5))]));
      const ground = startingAt(
        edge,
        transformed(boxMesh(20, 20, 10), (vertex) => vertex.setZ(vertex.z - 5)),
      );
      // With another part each, so that neither is convex.
      const [a, b] = [spikes, ground].map((mesh, i) => {
        const aside = transformed(boxMesh(1, 1, 1), (vertex) => vertex.add(new Vector3(30, 30 * i, 30)));
        return scene.add(scene.mesh(merged([mesh, aside])), new Matrix4());
      });
      // The ground cuts the topmost ring of sides; the others and the tip are below.
      for (const [first, second, up] of [
        [a, b, -1],
        [b, a, 1],
      ] as const) {
        const { depths, normals } = contactOf(scene, first, second)!;
        expect(depths[0], `${sides} sides`).toBeCloseTo(1.5, 3);
        expect(normals[0].distanceTo(new Vector3(0, 0, up)), `${sides} sides`).toBeLessThan(1e-3);
      }
      scene.remove(a);
      scene.remove(b);
    }
  },
);

test.each([1e-3, 1, 1e3])(
  'sunk into the floor under a ceiling: out beyond the ceiling, scaled by %d',
  async (scale) => {
    const scene = await NearScene.at(ORIGIN);
    const block = (x: number, size: number, low: number, high: number) =>
      transformed(boxMesh(size, size, high - low), (vertex) => {
        return vertex.add(new Vector3(x, 0, 0.5 * (low + high))).multiplyScalar(scale);
      });
    // Neither is convex: the block because of the part beside it, far from everything else.
    const hall = scene.mesh(merged([block(0, 20, -5, 0), block(0, 20, 1.75, 3.75)]));
    const load = scene.mesh(merged([block(0, 2, -0.5, 1.5), block(40, 1, 0, 1)]));
    const [a, b] = [scene.add(hall, new Matrix4()), scene.add(load, new Matrix4())];
    const { depths, normals } = contactOf(scene, a, b)!;
    for (const depth of depths) expect(depth / scale).toBeCloseTo(4.25, 4);
    for (const normal of normals) expect(normal.distanceTo(new Vector3(0, 0, 1))).toBeLessThan(1e-4);
  },
);

/** Closed: rings of corners at these heights above the tip, 2 for the top, and as wide as they are high. */
function tower(sides: number, heights: number[], slope: number): Triangles {
  const corners = heights.flatMap((height) =>
    Array.from({ length: sides }, (_, i) => {
      const angle = (2 * Math.PI * i) / sides;
      return [slope * height * Math.cos(angle), slope * height * Math.sin(angle), height - 1.5];
    }),
  );
  const [tip, top] = [corners.length, corners.length + 1];
  corners.push([0, 0, -1.5], [0, 0, heights[0] - 1.5]);
  const last = (heights.length - 1) * sides;
  const indices = Array.from({ length: sides }, (_, i) => {
    const j = (i + 1) % sides;
    const rings = heights.slice(1).flatMap((_, ring) => {
      const [p, q, r, s] = [i, j, i + sides, j + sides].map((corner) => corner + ring * sides);
      return [p, r, q, q, r, s];
    });
    return [top, i, j, ...rings, tip, last + j, last + i];
  });
  return { positions: Float32Array.from(corners.flat()), indices: Uint32Array.from(indices.flat()) };
}

/** The same triangles, each starting at another of its corners. */
function startingAt(edge: number, { positions, indices }: Triangles): Triangles {
  return { positions, indices: indices.map((_, i) => indices[i - (i % 3) + ((i + edge) % 3)]) };
}

function extentAlong({ positions }: Triangles, way: Vector3): number {
  const heights = Array.from({ length: positions.length / 3 }, (_, i) =>
    new Vector3().fromArray(positions, 3 * i).dot(way),
  );
  return (
    heights.reduce((most, height) => Math.max(most, height), -Infinity) -
    heights.reduce((least, height) => Math.min(least, height), Infinity)
  );
}
