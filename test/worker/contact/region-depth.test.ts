// The depth of a region: exact along its normal, however large the meshes are in the world and however far from their own
// origins. Shadows that are compared in float32 (contact/mesh/shadows.ts) must not lose the deepest pair.
import { Matrix4, Triangle, Vector3 } from 'three';
import { expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { NearScene } from '../../fixtures/near-scene.js';
import { bumpyBall, torus } from '../../oracle/lumps.js';
import type { Triangles } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { intersectingFaces, regionsOf, Surface } from '../../oracle/regions.js';

const POSES = 10;
const ORIGIN = new Vector3();
/** Relative to the depth: the error of rounding a normal and a depth to float32. */
const TOLERANCE = 1e-4;

const CASES: [name: string, scale: number, offset: number][] = [
  ['as they are', 1, 0],
  ['far from their own origins', 1, 64],
  ['tiny in the world', 2 ** -50, 0],
  ['huge in the world', 2 ** 50, 0],
];

test.each(CASES)(
  `two meshes part at their depth, ${POSES} poses, seed ${SEED}: %s`,
  async (_name, scale, offset) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(ORIGIN);
    const meshes = [bumpyBall(random, 7, 0.06), torus(0.8, 0.35, 12)].map((mesh) => movedBy(mesh, offset));
    const shapes = meshes.map((mesh) => scene.mesh(mesh));
    const back = new Matrix4().makeTranslation(-offset, -offset, -offset);
    let checked = 0;
    for (let pose = 0; pose < POSES; pose++) {
      const matrices = [new Matrix4(), new Matrix4()].map((matrix, i) => {
        const place = random.direction().multiplyScalar(i * random.range(1, 1.6));
        return matrix.makeRotationFromQuaternion(random.rotation()).setPosition(place).multiply(back);
      });
      const larger = new Matrix4().makeScale(scale, scale, scale);
      const [first, second] = matrices.map((matrix, i) => scene.add(shapes[i], larger.clone().multiply(matrix)));
      const found = scene.core.pairs.contact(first.id, second.id, layout.CONTACTS_MANIFOLD);
      if (!found) continue;
      const surfaces = matrices.map((matrix, i) => new Surface(meshes[i], matrix)) as [Surface, Surface];
      const regions = regionsOf(...surfaces);
      for (const [i, scaled] of found.depths.entries()) {
        const depth = scaled / scale;
        const normal = new Vector3().fromArray(found.normals, 3 * i);
        const point = new Vector3().fromArray(found.points, 3 * i).divideScalar(scale);
        const own = regions.filter(({ facesA }) => isOn(point, surfaces[0], facesA));
        if (own.length === 0) continue;
        const moved = (distance: number) => normal.clone().multiplyScalar(distance);
        const regionMeets = (distance: number) =>
          own.some((faces) => intersectingFaces(...surfaces, moved(distance), faces).length > 0);
        const allMeet = (distance: number) => intersectingFaces(...surfaces, moved(distance)).length > 0;
        const message = `pose ${pose}, depth ${depth}`;
        expect(regionMeets(depth * (1 + TOLERANCE) + 1e-6), `${message}: still meets beyond`).toBe(false);
        // A single region moves as far as all must; geometry beside
        // it may collide while it moves, and separate a little later.
        const isAlone = regions.length === 1;
        if (isAlone) expect(allMeet(1.05 * depth + 1e-6), `${message}: something still meets far beyond`).toBe(false);
        const before = depth * (1 - TOLERANCE);
        const isDeep = depth > 1e-3;
        if (isDeep) expect(regionMeets(before) || (isAlone && allMeet(before)), `${message}: apart before`).toBe(true);
        checked++;
      }
    }
    expect(checked).toBeGreaterThan(POSES);
  },
  120_000,
);

function movedBy({ positions, indices }: Triangles, offset: number): Triangles {
  return { positions: positions.map((value) => value + offset), indices };
}

function isOn(point: Vector3, { faces }: Surface, own: Iterable<number>): boolean {
  return Array.from(own).some((face) => {
    return new Triangle(...faces[face].corners).closestPointToPoint(point, new Vector3()).distanceTo(point) < 1e-4;
  });
}

/** Nodes of a landscape along each side; the outermost are flat, so that the curve of two landscapes lies in a plane. */
const NODES = 34;
const FLAT = 3;

/** A block whose top is a landscape of random heights; `border` is how much of the flat border it has. */
function landscape(random: Random, border: number): { mesh: Triangles; heights: number[] } {
  const heights = Array.from({ length: NODES * NODES }, (_, i) => {
    const [x, y] = [i % NODES, Math.floor(i / NODES)];
    const isFlat = Math.min(x, y, NODES - 1 - x, NODES - 1 - y) < FLAT;
    return isFlat ? 0.5 : random.range(0, 1);
  });
  const [low, high] = [FLAT - border, NODES - FLAT + border];
  const [positions, indices]: [number[], number[]] = [[], []];
  const add = (...quad: number[][]) => {
    const first = positions.length / 3;
    for (const corner of quad) positions.push(...corner);
    indices.push(first, first + 1, first + 2, first, first + 2, first + 3);
  };
  const top = (x: number, y: number) => [x, y, heights[y * NODES + x]!];
  for (let y = low; y < high - 1; y++) {
    for (let x = low; x < high - 1; x++) add(top(x, y), top(x + 1, y), top(x + 1, y + 1), top(x, y + 1));
  }
  const edge = Array.from({ length: high - low - 1 }, (_, i) => low + i);
  const floor = (x: number, y: number) => [x, y, -9];
  const last = high - 1;
  for (const k of edge) {
    add(floor(k, low), floor(k + 1, low), top(k + 1, low), top(k, low));
    add(floor(k + 1, last), floor(k, last), top(k, last), top(k + 1, last));
    add(floor(low, k + 1), floor(low, k), top(low, k), top(low, k + 1));
    add(floor(last, k), floor(last, k + 1), top(last, k + 1), top(last, k));
  }
  for (const y of edge) for (const x of edge) add(floor(x, y), floor(x, y + 1), floor(x + 1, y + 1), floor(x + 1, y));
  return { mesh: { positions: Float32Array.from(positions), indices: Uint32Array.from(indices) }, heights };
}

test(`a landscape upside down on another one is as deep as both are high in one place, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(ORIGIN);
  for (let i = 0; i < 4; i++) {
    const [below, above] = [landscape(random, 2), landscape(random, 1)];
    // Mirrored in z, so that the nodes of one lie over those of the other.
    const first = scene.add(scene.mesh(below.mesh), new Matrix4());
    const second = scene.add(scene.mesh(above.mesh), new Matrix4().makeScale(1, 1, -1));
    const found = scene.core.pairs.contact(first.id, second.id, layout.CONTACTS_MANIFOLD)!;
    const depth = Math.max(...below.heights.map((height, node) => height + above.heights[node]!));
    expect(Math.abs(found.normals[2]!), `landscapes ${i}`).toBeCloseTo(1, 6);
    expect(found.depths[0], `landscapes ${i}`).toBeCloseTo(depth, 5);
  }
});
