// How deep a region is: exact along its normal, however large the meshes are in the world and however far from their own
// origins. Shadows that are compared in float32 (contact/mesh/shadows.ts) must not lose the deepest pair.
import { Matrix4, Triangle, Vector3 } from 'three';
import { expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { NearScene } from '../../fixtures/near-scene.js';
import { bumpy, torus } from '../../oracle/lumps.js';
import type { Triangles } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { meetingFaces, regionsOf, Surface } from '../../oracle/regions.js';

const POSES = 10;
const ORIGIN = new Vector3();
/** Of the depth: what rounding a normal and a depth to float32 makes of it. */
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
    const meshes = [bumpy(random, 7, 0.06), torus(0.8, 0.35, 12)].map((mesh) => movedBy(mesh, offset));
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
          own.some((faces) => meetingFaces(...surfaces, moved(distance), faces).length > 0);
        const allMeet = (distance: number) => meetingFaces(...surfaces, moved(distance)).length > 0;
        const message = `pose ${pose}, depth ${depth}`;
        expect(regionMeets(depth * (1 + TOLERANCE) + 1e-6), `${message}: still meets beyond`).toBe(false);
        // One region alone goes as far as all must; what lies beside it may meet while it moves, and part a little later.
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
