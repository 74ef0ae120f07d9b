// Picks that snap, through the service: against all features of all objects, and every triangle that may hide them.
import { type CollisionService, createCollisionService, type Hit, type PickOptions } from 'collision-worker';
import { BoxGeometry, CylinderGeometry, OrthographicCamera, PerspectiveCamera, TorusGeometry, Vector3 } from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { comb } from '../../oracle/lumps.js';
import { boxMesh, icosphere, merged, soup, type Triangles, transformed, trianglesOf } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { type Feature, featuresOfMesh, type SnapObject, snapsAt } from '../../oracle/snaps.js';

const ROUNDS = Number(process.env.SNAP_ROUNDS ?? 3);
const PICKS = 30;
const RADIUS = 12;
const VIEWPORT = { x: 7, y: 11, width: 640, height: 480 };
/** Pixels by which rounding may differ, and the order of features within a 64th of a pixel. */
const DOUBT = 0.05;

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());

/** Meshes of all kinds: subdivided, bent, degenerate, non-manifold, with duplicate vertices. */
function meshes(random: Random): Triangles[] {
  const cube = trianglesOf(new BoxGeometry(2, 1.5, 1, 2, 3, 1));
  const fin = merged([
    cube,
    { positions: Float32Array.of(1, 0.75, 0.5, 1, 0.75, -0.5, 1.6, 1.2, 0), indices: Uint32Array.of(0, 1, 2) },
  ]);
  const flat = merged([
    boxMesh(1, 1, 1),
    { positions: Float32Array.of(0, 0, 0, 1, 1, 1, 2, 2, 2), indices: Uint32Array.of(0, 1, 2) },
  ]);
  const plate = {
    positions: Float32Array.of(-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0),
    indices: Uint32Array.of(0, 1, 2, 0, 2, 3, 0, 2, 1),
  };
  return [
    cube,
    fin,
    flat,
    plate,
    comb(3),
    trianglesOf(new CylinderGeometry(0.7, 1, 1.5, 24)),
    trianglesOf(new TorusGeometry(0.8, 0.3, 8, 16)),
    icosphere(1, 1),
    soup(random, 12, 0.8, 1),
  ];
}

/** Two triangles across a scene: features behind either of them are skipped if it is drawn all around the cursor. */
const WALL: Triangles = {
  positions: Float32Array.of(-6, -6, 0, 6, -6, 0, 6, 6, 0, -6, 6, 0),
  indices: Uint32Array.of(0, 1, 2, 0, 2, 3),
};

function cameraOf(random: Random, size: number, place: Vector3): PerspectiveCamera | OrthographicCamera {
  const { width, height } = VIEWPORT;
  const isParallel = random.chance(0.4);
  const [w, h] = [2.4 * size, (2.4 * size * height) / width];
  const camera = isParallel
    ? new OrthographicCamera(-w, w, h, -h, 0.1 * size, 30 * size)
    : new PerspectiveCamera(random.range(25, 70), width / height, 0.05 * size, 40 * size);
  camera.position.copy(random.direction().multiplyScalar(random.range(4, 8) * size)).add(place);
  camera.up.copy(random.direction());
  camera.lookAt(random.point(0.5 * size).add(place));
  camera.updateMatrixWorld();
  camera.updateProjectionMatrix();
  return camera;
}

const rankOf = ({ kind }: { kind: string }) => (kind === 'edge' ? 1 : 0);

/** Compares an answer with all features within the radius and slightly beyond. */
function compare(hit: Hit | null, features: Feature[], size: number, what: string): void {
  const snap = hit?.snap ?? null;
  if (snap) {
    const same = features.filter(
      ({ kind, point, object }) =>
        kind === snap.kind && object === snap.object && point.distanceTo(new Vector3(...snap.point)) < 1e-5 * size,
    );
    expect(same.length, `${what}: a ${snap.kind} of ${snap.object} that is none`).toBeGreaterThan(0);
    expect(
      same.some(({ visibility }) => visibility !== 'hidden'),
      `${what}: a hidden ${snap.kind}`,
    ).toBe(true);
    expect(Math.min(...same.map(({ pixels }) => Math.abs(pixels - snap.pixels)))).toBeLessThan(DOUBT);
    expect(snap.pixels).toBeLessThanOrEqual(RADIUS);
  }
  for (const feature of features) {
    if (feature.visibility !== 'visible' || feature.pixels > RADIUS - DOUBT) continue;
    expect(snap, `${what}: no snap, but a ${feature.kind} ${feature.pixels} pixels away`).not.toBeNull();
    const isBetter =
      rankOf(feature) < rankOf(snap!) || (rankOf(feature) === rankOf(snap!) && feature.pixels < snap!.pixels - DOUBT);
    expect(isBetter, `${what}: ${snap!.kind} at ${snap!.pixels}, but a ${feature.kind} at ${feature.pixels}`).toBe(
      false,
    );
  }
}

describe.each([
  ['at the origin', 1, 0],
  ['a thousandth of the size', 1e-3, 0],
  ['a thousand times the size', 1e3, 0],
  ['a million units away', 1, 1e6],
] as const)('%s', (_, size, far) => {
  test.each(Array.from({ length: ROUNDS }, (_, i) => i))(
    `scene %i is as looking at everything says, seed ${SEED}`,
    async (round) => {
      const random = new Random(SEED + 1000 * round);
      const place = new Vector3(far, -far, 0.5 * far);
      const found = new Map<Triangles, ReturnType<typeof featuresOfMesh>>();
      const objects: SnapObject[] = [];
      const handles = [];
      for (let i = 0; i < 5; i++) {
        const form = i === 0 && round % 2 === 1 ? WALL : random.pick(meshes(random));
        const mesh = transformed(form, (vertex) => vertex.multiplyScalar(size));
        const matrix = random.placement(random.point(1.5 * size).add(place), {
          low: 0.5,
          high: 2,
          mirrored: 0.4,
          sheared: 0.3,
        });
        const angle = random.pick([undefined, 10, 50]);
        const features = featuresOfMesh(mesh, angle ?? 35);
        if (features.isDoubtful) continue;
        found.set(mesh, features);
        const side = random.pick(['front', 'back', 'double', 'double'] as const);
        const options = angle === undefined ? {} : { features: { angle } };
        const handle = await service.addMesh(
          { positions: mesh.positions.slice(), indices: mesh.indices.slice() },
          options,
        );
        const id = service.addObject({ shape: { type: 'mesh', mesh: handle }, matrix: matrix.elements, side });
        handles.push(handle);
        objects.push({ id, mesh, matrix, side });
      }
      const camera = cameraOf(random, size, place);
      service.setView({
        projection: camera.projectionMatrix.elements,
        view: camera.matrixWorldInverse.elements,
        viewport: VIEWPORT,
      });
      await service.update();
      let snapped = 0;
      for (let i = 0; i < PICKS && objects.length > 0; i++) {
        // Mostly near a vertex of an object.
        const { mesh, matrix } = random.pick(objects);
        const vertex = random.integer(mesh.positions.length / 3);
        const p = new Vector3()
          .fromArray(mesh.positions, 3 * vertex)
          .applyMatrix4(matrix)
          .project(camera);
        const x = VIEWPORT.x + ((p.x + 1) / 2) * VIEWPORT.width + random.range(-15, 15);
        const y = VIEWPORT.y + ((1 - p.y) / 2) * VIEWPORT.height + random.range(-15, 15);
        const isIn = x > 7 && y > 11 && x < 647 && y < 491;
        if (!isIn) continue;
        const kinds = random.pick([['vertex'], ['midpoint'], ['edge'], ['vertex', 'midpoint', 'edge']] as const);
        const options: PickOptions = { snap: kinds, radius: RADIUS };
        const [hit, plain] = await Promise.all([service.pick(x, y, options), service.pick(x, y)]);
        const features = snapsAt({ camera, viewport: VIEWPORT }, objects, found, x, y, RADIUS + 1, kinds);
        compare(hit, features, size + 1e-9 * far, `pick ${i} of ${kinds.join()}`);
        if (hit?.snap) snapped++;
        if (plain) expect(hit).toMatchObject(plain);
        else if (hit) expect(hit.point).toEqual(hit.snap!.point);
      }
      expect(objects.length === 0 || snapped > 0).toBe(true);
      for (const { id } of objects) service.removeObject(id);
      for (const handle of handles) service.removeMesh(handle);
    },
    60_000,
  );
});
