// Picks that snap in scenes of meshes, boxes, lines, points, balls and capsules, with
// clip planes, layers and ignored objects, while objects are moved, hidden and removed,
// several at once, some of them aborted: against all features of all objects in float64.
import {
  type CollisionService,
  createCollisionService,
  type Hit,
  type PickOptions,
  type SnapKind,
} from 'collision-worker';
import { CylinderGeometry, type Matrix4, OrthographicCamera, PerspectiveCamera, Vector3 } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { comb } from '../oracle/lumps.js';
import { boxMesh, icosphere, type Triangles, transformed, trianglesOf } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';
import { deformedPositions, poseOf, poseRandomly, type Rig, randomRig, roundBones } from '../oracle/rigs.js';
import { frameOf, randomSolid } from '../oracle/shapes.js';
import { type Feature, featuresOfElements, featuresOfMesh, type SnapObject, snapsAt } from '../oracle/snaps.js';

/** The amount of work: 10 takes ten times as long. */
const SCALE = Number(process.env.COMPOSED ?? 1);
const ROUNDS = Math.ceil(2 * SCALE);
const AT_ONCE = 8;
const VIEWPORT = { x: 7, y: 11, width: 640, height: 480 };
/** Pixels by which rounding may differ, and the order of features within a 64th of a pixel. */
const PIXEL_TOLERANCE = 0.05;

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

type SnapTarget = SnapObject & { layers: number; isPickable: boolean; rig?: Rig };
type FeatureMap = Map<Triangles, ReturnType<typeof featuresOfMesh>>;

const CUBE = boxMesh(2, 2, 2);
const NO_MESH: Triangles = { positions: new Float32Array(), indices: new Uint32Array() };

describe.each([
  ['a few things', 5, 1, 0],
  ['dozens of things', 40, 1, 0],
  ['things of a millionth', 10, 1e-6, 0],
  ['things of a million', 10, 1e6, 0],
  ['things a million away', 10, 1, 1e6],
] as const)(`${ROUNDS} rounds with %s, seed ${SEED}`, (_, count, size, away) => {
  const origin = new Vector3(away, -away, 0.5 * away);

  test('snaps', async () => {
    const random = new Random(SEED + count);
    let [snapped, aborted] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const seed = random.integer(2 ** 31);
      const [sceneRandom, name] = [new Random(seed), `round ${round}, seed ${seed}`];
      const featureMap: FeatureMap = new Map([[CUBE, featuresOfMesh(CUBE, 30)]]);
      const forms = await addForms(sceneRandom, featureMap);
      let things: SnapTarget[] = [];
      for (let i = 0; i < count; i++) things.push(addThing(sceneRandom, forms));
      if (sceneRandom.chance(0.5)) things.push(await addPosed(sceneRandom, featureMap));
      const camera = cameraOf(sceneRandom);
      service.setView({
        projection: camera.projectionMatrix.elements,
        view: camera.matrixWorldInverse.elements,
        viewport: VIEWPORT,
      });
      for (let step = 0; step < 3; step++) {
        for (let i = sceneRandom.integer(4); i > 0 && things.length > 1; i--)
          things = changeOne(sceneRandom, things, forms);
        things = things.map((thing) =>
          thing.rig && sceneRandom.chance(0.5) ? poseThing(sceneRandom, thing, thing.rig, featureMap) : thing,
        );
        if (sceneRandom.chance(0.3)) things = await reshapeMesh(sceneRandom, things, forms, featureMap);
        const updated = service.update();
        const currentThings = things;
        await Promise.all(
          Array.from({ length: AT_ONCE }, async (_, i) => {
            const abort = sceneRandom.chance(0.1) ? new AbortController() : undefined;
            const pending = comparePick(
              sceneRandom,
              camera,
              currentThings,
              featureMap,
              abort?.signal,
              `${name}, step ${step}, pick ${i}`,
            );
            if (sceneRandom.chance(0.5)) await null;
            abort?.abort();
            const hit = await pending.catch((error) => {
              if (!abort || error.code !== 'ABORTED') throw error;
              aborted++;
              return null;
            });
            if (hit?.snap) snapped++;
          }),
        );
        await updated;
      }
      service.removeObjects(Uint32Array.from(things, ({ id }) => id));
      await service.update();
    }
    if (ROUNDS <= 3) return;
    expect(snapped).toBeGreaterThan(ROUNDS);
    expect(aborted).toBeGreaterThan(0);
  });

  interface SnapForm {
    mesh: number;
    triangles: Triangles;
    topology?: 'lines' | 'points';
  }

  async function addForms(random: Random, featureMap: FeatureMap): Promise<SnapForm[]> {
    const forms: SnapForm[] = [];
    const sources: Triangles[] = [
      boxMesh(2, 1, 0.5),
      comb(3),
      trianglesOf(new CylinderGeometry(0.7, 1, 1.5, 24)),
      icosphere(1, 1),
      { positions: Float32Array.of(-6, -6, 0, 6, -6, 0, 6, 6, 0, -6, 6, 0), indices: Uint32Array.of(0, 1, 2, 0, 2, 3) },
    ];
    for (const each of sources) {
      const triangles = transformed(each, (vertex) => vertex.multiplyScalar(size));
      const features = featuresOfMesh(triangles, 35);
      if (features.isDoubtful) continue;
      featureMap.set(triangles, features);
      const mesh = await service.addMesh({
        positions: triangles.positions.slice(),
        indices: triangles.indices.slice(),
      });
      forms.push({ mesh, triangles });
    }
    for (const topology of ['lines', 'points'] as const) {
      const positions = Float32Array.from({ length: 24 }, () => random.range(-1, 1) * size);
      const triangles = { positions, indices: Uint32Array.from({ length: 8 }, (_, i) => i) };
      featureMap.set(triangles, featuresOfElements(triangles, topology));
      const mesh = await service.addMesh({ positions: positions.slice(), topology });
      forms.push({ mesh, triangles, topology });
    }
    return forms;
  }

  /** A skinned mesh with the features that it has at rest, where the bones have them. */
  async function addPosed(random: Random, featureMap: FeatureMap): Promise<SnapTarget> {
    const triangles = random.pick([icosphere(1, 1), comb(2)]);
    const rig = randomRig(random, { bones: 1 + random.integer(3), targets: 1, triangles });
    const mesh = await service.addMesh(rig.data);
    const matrix = matrixOf(random, size);
    const id = service.addObject({ shape: { type: 'mesh', mesh }, matrix: matrix.elements, contacts: 'none' });
    const thing: SnapTarget = { id, mesh: triangles, matrix, side: 'double', layers: 1, isPickable: true, rig };
    featureMap.set(triangles, featuresOfMesh(triangles, 35));
    return poseThing(random, thing, rig, featureMap);
  }

  function poseThing(random: Random, thing: SnapTarget, rig: Rig, featureMap: FeatureMap): SnapTarget {
    poseRandomly(random, rig, 0.5);
    roundBones(rig);
    service.setPose(thing.id, poseOf(rig));
    const positions = Float32Array.from(deformedPositions(rig));
    const mesh = { positions, indices: thing.mesh.indices };
    const features = featureMap.get(thing.mesh)!;
    const vertices = features.vertices.map((_, i) => new Vector3().fromArray(positions, 3 * i));
    // After the deformation a straight run is bent: its edges are tested one by one, and its midpoint moves with the edge.
    featureMap.set(mesh, { ...features, vertices });
    return { ...thing, mesh };
  }

  function matrixOf(random: Random, scale: number): Matrix4 {
    const forms = [{}, { low: 0.5, high: 2, mirrored: 0.4, sheared: 0.3 }];
    const matrix = random.placement(new Vector3(), random.pick(forms));
    return matrix.scale(new Vector3().setScalar(scale)).setPosition(random.point(1.5 * size).add(origin));
  }

  /** Moves the vertices of a mesh that several things share. */
  async function reshapeMesh(
    random: Random,
    things: SnapTarget[],
    forms: SnapForm[],
    featureMap: FeatureMap,
  ): Promise<SnapTarget[]> {
    const form = random.pick(forms.filter(({ topology }) => topology === undefined));
    const oldTriangles = form.triangles;
    const amounts = random.point(1);
    const newTriangles = transformed(oldTriangles, (vertex) => {
      const twist = (amounts.x * vertex.z) / size;
      return vertex.applyAxisAngle(new Vector3(0, 0, 1), twist).multiplyScalar(1 + 0.2 * amounts.y);
    });
    const features = featuresOfMesh(newTriangles, 35);
    if (features.isDoubtful) return things;
    featureMap.set(newTriangles, features);
    form.triangles = newTriangles;
    await service.updateMesh(form.mesh, newTriangles.positions.slice());
    return things.map((thing) => (thing.mesh === oldTriangles ? { ...thing, mesh: newTriangles } : thing));
  }

  function addThing(random: Random, forms: readonly SnapForm[]): SnapTarget {
    const side = random.pick(['front', 'back', 'double', 'double'] as const);
    const layers = random.pick([1, 1, 2, 3]);
    const isPickable = random.chance(0.9);
    const common = { side, layers, pickable: isPickable, contacts: 'none' } as const;
    if (random.chance(0.4)) {
      const shape = randomSolid(random);
      const matrix = matrixOf(random, size);
      const id = service.addObject({ shape, matrix: matrix.elements, ...common });
      const frame = frameOf(shape);
      const placedMatrix = matrix.clone().multiply(frame.matrix);
      if (shape.type === 'box') return { id, mesh: CUBE, matrix: placedMatrix, side, layers, isPickable };
      return { id, mesh: NO_MESH, matrix: placedMatrix, side, layers, isPickable, half: frame.half };
    }
    const { mesh, triangles, topology } = random.pick(forms);
    const matrix = matrixOf(random, 1);
    const id = service.addObject({ shape: { type: 'mesh', mesh }, matrix: matrix.elements, ...common });
    return { id, mesh: triangles, matrix, side, layers, isPickable, ...(topology && { topology }) };
  }

  function changeOne(random: Random, things: readonly SnapTarget[], forms: readonly SnapForm[]): SnapTarget[] {
    const i = random.integer(things.length);
    const thing = things[i];
    const others = things.filter((_, k) => k !== i);
    switch (random.integer(5)) {
      case 0:
        service.removeObject(thing.id);
        return others;
      case 1:
        service.setObject(thing.id, { pickable: !thing.isPickable });
        return [...others, { ...thing, isPickable: !thing.isPickable }];
      case 2: {
        const side = random.pick(['front', 'back', 'double'] as const);
        service.setObject(thing.id, { side });
        return [...others, { ...thing, side }];
      }
      case 3:
        return [...things, addThing(random, forms)];
      default: {
        if (thing.mesh === CUBE || thing.mesh === NO_MESH || thing.rig) return [...things];
        const matrix = matrixOf(random, 1);
        service.setTransform(thing.id, matrix.elements);
        return [...others, { ...thing, matrix }];
      }
    }
  }

  function cameraOf(random: Random): PerspectiveCamera | OrthographicCamera {
    const { width, height } = VIEWPORT;
    const [w, h] = [2.4 * size, (2.4 * size * height) / width];
    const camera = random.chance(0.4)
      ? new OrthographicCamera(-w, w, h, -h, 0.1 * size, 30 * size)
      : new PerspectiveCamera(random.range(25, 70), width / height, 0.05 * size, 40 * size);
    camera.position.copy(random.direction().multiplyScalar(random.range(1, 8) * size)).add(origin);
    camera.up.copy(random.direction());
    camera.lookAt(random.point(0.5 * size).add(origin));
    camera.updateMatrixWorld();
    camera.updateProjectionMatrix();
    return camera;
  }

  async function comparePick(
    random: Random,
    camera: PerspectiveCamera | OrthographicCamera,
    things: readonly SnapTarget[],
    featureMap: FeatureMap,
    signal: AbortSignal | undefined,
    label: string,
  ): Promise<Hit | null> {
    const thing = random.pick(things.filter(({ half }) => half === undefined)) ?? things[0];
    const { positions } = thing.mesh;
    const p = new Vector3();
    if (positions.length > 0) p.fromArray(positions, 3 * random.integer(positions.length / 3));
    p.applyMatrix4(thing.matrix).project(camera);
    const jitter = random.pick([0, 3, 15]);
    const x = VIEWPORT.x + ((p.x + 1) / 2) * VIEWPORT.width + random.range(-jitter, jitter);
    const y = VIEWPORT.y + ((1 - p.y) / 2) * VIEWPORT.height + random.range(-jitter, jitter);
    if (!(Math.abs(x - 327) < 319 && Math.abs(y - 251) < 239 && Math.abs(p.z) < 1)) return null;
    const kinds = random.pick<readonly SnapKind[]>([
      ['vertex'],
      ['midpoint'],
      ['edge'],
      ['vertex', 'midpoint', 'edge'],
    ]);
    const radius = random.pick([0, 0.5, 6, 12, 12, 40, 1e4]);
    const options: PickOptions = { snap: kinds, radius };
    if (signal) options.signal = signal;
    if (random.chance(0.3)) options.layers = random.pick([1, 2, 3]);
    if (random.chance(0.3)) options.ignore = things.filter(() => random.chance(0.3)).map(({ id }) => id);
    if (random.chance(0.2)) options.side = random.pick(['front', 'back', 'double']);
    if (random.chance(0.1)) options.latest = false;
    const planes: [Vector3, number][] = [];
    if (random.chance(0.4)) {
      for (let i = 1 + random.integer(3); i > 0; i--) {
        const n = random.direction();
        planes.push([n, -n.dot(random.point(size).add(origin))]);
      }
      options.clip = planes.flatMap(([n, d]) => [...n.toArray(), d]);
      options.clipIntersection = random.chance(0.4);
    }
    const isKept = (q: Vector3): boolean => {
      const sides = planes.map(([n, d]) => n.dot(q) + d >= 0);
      return (
        planes.length === 0 || (options.clipIntersection ? sides.some((each) => each) : sides.every((each) => each))
      );
    };
    const planeDistance = (q: Vector3): number => Math.min(Infinity, ...planes.map(([n, d]) => Math.abs(n.dot(q) + d)));
    const { snap, radius: _radius, ...plainOptions } = options;
    const plainRadius = radius <= 40 ? { radius } : {};
    const [hit, plainHit] = await Promise.all([
      service.pick(x, y, options),
      service.pick(x, y, { ...plainOptions, ...plainRadius }),
    ]);
    const candidates = things
      .filter(
        ({ id, layers, isPickable }) => isPickable && layers & (options.layers ?? -1) && !options.ignore?.includes(id),
      )
      .map((each) => ({ ...each, side: options.side ?? each.side }));
    const features = snapsAt(
      { camera, viewport: VIEWPORT },
      candidates,
      featureMap,
      x,
      y,
      Math.min(radius + 1, 60),
      kinds,
      isKept,
    );
    compare(hit, features, radius, size + 1e-9 * away, planeDistance, `${label} of ${kinds.join()} within ${radius}`);
    if (plainHit && radius <= 40) expectSimilar(hit, plainHit, 1e-12 * (size + away), label);
    if (hit)
      expect(
        candidates.some(({ id }) => id === hit.object),
        label,
      ).toBe(true);
    return hit;
  }
});

/**
 * Expects a hit equal to another one: except for its positions where points and lines are hit within a radius, which each thread
 * transforms to the world with its own rounding.
 */
function expectSimilar(hit: Hit | null, plainHit: Hit, tolerance: number, label: string): void {
  if (!hit || plainHit.distanceToRay === undefined) {
    expect(hit, label).toMatchObject(plainHit);
    return;
  }
  const { point, distance, distanceToRay, ...others } = plainHit;
  expect(hit, label).toMatchObject(others);
  const lengthsOf = (each: Hit) => [...each.point, each.distance, each.distanceToRay!];
  const lengths = lengthsOf(hit);
  const deviations = lengthsOf(plainHit).map((value, i) => Math.abs(value - lengths[i]));
  expect(Math.max(...deviations), label).toBeLessThanOrEqual(tolerance);
}

const rankOf = ({ kind }: { kind: string }) => (kind === 'edge' ? 1 : 0);

/** Compares an answer with all features within the radius and slightly beyond. */
function compare(
  hit: Hit | null,
  features: Feature[],
  radius: number,
  size: number,
  planeDistance: (p: Vector3) => number,
  label: string,
): void {
  const snap = hit?.snap ?? null;
  const tolerance = 1e-5 * size;
  if (snap && snap.pixels < 58) {
    const matching = features.filter(
      ({ kind, point, object }) =>
        kind === snap.kind && object === snap.object && point.distanceTo(new Vector3(...snap.point)) < 3 * tolerance,
    );
    const isDoubtful = planeDistance(new Vector3(...snap.point)) < tolerance;
    if (!isDoubtful) {
      expect(
        matching.length,
        `${label}: a ${snap.kind} of ${snap.object} that is none, ${snap.pixels}`,
      ).toBeGreaterThan(0);
      expect(
        matching.some(({ visibility }) => visibility !== 'hidden'),
        `${label}: a hidden ${snap.kind}`,
      ).toBe(true);
    }
    expect(snap.pixels, label).toBeLessThanOrEqual(radius);
  }
  for (const feature of features) {
    if (
      feature.visibility !== 'visible' ||
      feature.pixels > radius - PIXEL_TOLERANCE ||
      planeDistance(feature.point) < tolerance
    )
      continue;
    expect(snap, `${label}: no snap, but a ${feature.kind} of ${feature.object} ${feature.pixels} away`).not.toBeNull();
    const isBetter =
      rankOf(feature) < rankOf(snap!) ||
      (rankOf(feature) === rankOf(snap!) && feature.pixels < snap!.pixels - PIXEL_TOLERANCE);
    const snapText = `${snap!.kind} of ${snap!.object} at ${snap!.pixels}`;
    expect(isBetter, `${label}: ${snapText}, but a ${feature.kind} of ${feature.object} at ${feature.pixels}`).toBe(
      false,
    );
  }
}
