// Sections, nearest points, containing solids and snaps in scenes that three draws: meshes with groups of materials, draw ranges
// and clipping planes, instances, skinned and morphed meshes, below groups that mirror and shear, while they move and hide:
// against every face in float64, where three has its vertices.
import { type CollisionService, createCollisionService, type SnapKind } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BackSide,
  BoxGeometry,
  type BufferGeometry,
  CylinderGeometry,
  DoubleSide,
  FrontSide,
  Group,
  InstancedMesh,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PerspectiveCamera,
  Plane,
  PlaneGeometry,
  type Side,
  TorusGeometry,
  Vector3,
} from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SIZE, settle } from '../fixtures/three-picks.js';
import type { Triangles } from '../oracle/meshes.js';
import { triangleDistanceSquared } from '../oracle/nearest.js';
import { Random, SEED } from '../oracle/random.js';
import { poseRandomly, type Rig, randomRig, roundBones } from '../oracle/rigs.js';
import { type Feature, featuresOfMesh, type SnapObject, snapsAt } from '../oracle/snaps.js';

/** The amount of work: 10 takes ten times as long. */
const SCALE = Number(process.env.COMPOSED ?? 1);
const ROUNDS = Math.ceil(2 * SCALE);
const SIDES = { [FrontSide]: 'front', [BackSide]: 'back', [DoubleSide]: 'double' } as const;

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

/** An object, or an instance, with its drawn faces. */
interface DrawnMesh {
  object: Mesh;
  instanceId: number | undefined;
  /** The corners of faces in world space, nine numbers each, and their numbers. */
  corners: Float64Array;
  faces: number[];
  materials: Material[];
  /** In its own space, in float32; for posed ones where three has the vertices. */
  mesh: Triangles;
  matrix: Matrix4;
  isPosed: boolean;
}

/** Lists what three would draw. */
function drawnMeshes(root: Object3D): DrawnMesh[] {
  const meshes: DrawnMesh[] = [];
  root.updateMatrixWorld(true);
  root.traverseVisible((object) => {
    if (!(object instanceof Mesh)) return;
    const { geometry, material } = object as Mesh<BufferGeometry, Material | Material[]>;
    const index = geometry.getIndex();
    const count = index ? index.count : geometry.getAttribute('position').count;
    const { start, count: length } = geometry.drawRange;
    const end = Math.min(count, start + length);
    const faces: number[] = [];
    const materials: Material[] = [];
    for (let at = 0; at + 3 <= count; at += 3) {
      if (at < start || at + 3 > end) continue;
      const group = geometry.groups.find((each) => at >= each.start && at < each.start + each.count);
      const faceMaterial = Array.isArray(material) ? group && material[group.materialIndex ?? 0] : material;
      if (!faceMaterial?.visible) continue;
      faces.push(at / 3);
      materials.push(faceMaterial);
    }
    const p = new Vector3();
    const positions = Float32Array.from({ length: 9 * faces.length }, () => 0);
    const exactPositions = new Float64Array(9 * faces.length);
    faces.forEach((face, i) => {
      for (let k = 0; k < 3; k++) {
        const vertex = index ? index.getX(3 * face + k) : 3 * face + k;
        object.getVertexPosition(vertex, p).toArray(exactPositions, 9 * i + 3 * k);
      }
    });
    positions.set(exactPositions);
    const mesh = { positions, indices: Uint32Array.from({ length: 3 * faces.length }, (_, i) => i) };
    const isPosed = object.morphTargetInfluences !== undefined || 'isSkinnedMesh' in object;
    const instances = object instanceof InstancedMesh ? object.count : 1;
    for (let i = 0; i < instances; i++) {
      const matrix = object.matrixWorld.clone();
      if (object instanceof InstancedMesh) {
        const instanceMatrix = new Matrix4();
        object.getMatrixAt(i, instanceMatrix);
        matrix.multiply(instanceMatrix);
      }
      const corners = new Float64Array(exactPositions.length);
      for (let at = 0; at < exactPositions.length; at += 3)
        p.fromArray(exactPositions, at).applyMatrix4(matrix).toArray(corners, at);
      const instanceId = object instanceof InstancedMesh ? i : undefined;
      meshes.push({ object, instanceId, corners, faces, materials, mesh, matrix, isPosed });
    }
  });
  return meshes;
}

const nameOf = ({ object, instanceId }: { object: Object3D; instanceId?: number | undefined }) =>
  `${object.id} ${instanceId ?? ''}`;

class TestScene {
  readonly root = new Group();
  readonly random: Random;
  readonly rigs: Rig[] = [];

  constructor(random: Random) {
    this.random = random;
    for (let i = 2 + random.integer(6); i > 0; i--) this.add();
  }

  #material(): MeshBasicMaterial {
    const { random } = this;
    const material = new MeshBasicMaterial({ side: random.pick<Side>([FrontSide, BackSide, DoubleSide]) });
    if (random.chance(0.3)) {
      material.clippingPlanes = Array.from(
        { length: 1 + random.integer(2) },
        () => new Plane(random.direction(), random.range(-0.5, 2)),
      );
      material.clipIntersection = random.chance(0.3);
    }
    return material;
  }

  #geometry(): BufferGeometry {
    const { random } = this;
    const geometry: BufferGeometry = random.pick([
      () => new BoxGeometry(1, 1.5, 0.7),
      () => new BoxGeometry(1, 1, 1, 2, 2, 2),
      () => new CylinderGeometry(0.5, 0.7, 1.2, 12),
      () => new TorusGeometry(0.6, 0.2, 6, 12),
      () => new PlaneGeometry(2, 1, 2, 1),
    ])();
    if (random.chance(0.2)) geometry.setDrawRange(3 * random.integer(4), 3 * (4 + random.integer(20)));
    return random.chance(0.2) ? geometry.toNonIndexed() : geometry;
  }

  #place(object: Object3D): void {
    const { random } = this;
    object.position.copy(random.point(2));
    object.quaternion.copy(random.rotation());
    const scale = () => random.range(0.4, 1.5) * (random.chance(0.2) ? -1 : 1);
    object.scale.set(scale(), scale(), scale());
  }

  add(): void {
    const { random } = this;
    const geometry = this.#geometry();
    const isMixed = geometry.groups.length > 0 && random.chance(0.4);
    const material = isMixed ? geometry.groups.map(() => this.#material()) : this.#material();
    let object: Object3D;
    switch (random.integer(4)) {
      case 0: {
        const rig = randomRig(random, { bones: random.integer(4), targets: 1 });
        poseRandomly(random, rig, 0.5);
        roundBones(rig);
        this.rigs.push(rig);
        object = rig.root;
        break;
      }
      case 1: {
        const instanced = new InstancedMesh(geometry, material, 1 + random.integer(4));
        for (let i = 0; i < instanced.count; i++)
          instanced.setMatrixAt(i, random.placement(random.point(1), { low: 0.5, high: 1.5, mirrored: 0.3 }));
        object = instanced;
        break;
      }
      default:
        object = new Mesh(geometry, material);
    }
    if (this.rigs.every(({ root }) => root !== object)) this.#place(object);
    if (random.chance(0.3)) {
      const group = new Group();
      this.#place(group);
      group.add(object);
      object = group;
    }
    this.root.add(object);
  }

  change(tracker: SceneTracker): void {
    const { random, root } = this;
    const object = random.pick(root.children);
    if (!object) return;
    switch (random.integer(7)) {
      case 0:
        this.add();
        break;
      case 1:
        if (root.children.length > 2) object.removeFromParent();
        break;
      case 2:
        object.visible = !object.visible;
        break;
      case 3:
        if (object instanceof Mesh && !Array.isArray(object.material))
          object.material.side = random.pick<Side>([FrontSide, BackSide, DoubleSide]);
        break;
      case 4: {
        const rig = this.rigs.find((each) => each.root === object);
        if (rig && !('isSkinnedMesh' in rig.mesh)) poseRandomly(random, rig, 0.5);
        break;
      }
      case 5:
        if (object instanceof InstancedMesh) {
          object.setMatrixAt(random.integer(object.count), random.placement(random.point(1)));
          object.instanceMatrix.needsUpdate = true;
        }
        break;
      default:
        if (this.rigs.every((rig) => rig.root !== object)) this.#place(object);
    }
    tracker.changed(object);
  }
}

test(`${ROUNDS} scenes of three's classes, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const counts = { outlines: 0, around: 0, snaps: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const seed = random.integer(2 ** 31);
    const sceneRandom = new Random(seed);
    const scene = new TestScene(sceneRandom);
    const renderer = {
      localClippingEnabled: sceneRandom.chance(0.7),
      clippingPlanes: sceneRandom.chance(0.2) ? [new Plane(sceneRandom.direction(), 1.5)] : [],
    };
    const tracker = await trackScene(service, scene.root, { updateMatrixWorld: true, renderer: renderer as never });
    const camera = new PerspectiveCamera(50, SIZE.width / SIZE.height, 0.1, 50);
    camera.position.copy(sceneRandom.direction().multiplyScalar(sceneRandom.range(3, 8)));
    camera.lookAt(sceneRandom.point(0.5));
    camera.updateMatrixWorld();
    await settle(tracker, camera);
    for (let step = 0; step < 4; step++) {
      if (step > 0) {
        for (let i = sceneRandom.integer(3); i >= 0; i--) scene.change(tracker);
        await settle(tracker, camera);
      }
      const allDrawn = drawnMeshes(scene.root);
      const label = `round ${round}, seed ${seed}, step ${step}`;
      const planes = renderer.clippingPlanes;
      const isLocal = renderer.localClippingEnabled;
      await Promise.all([
        ...[0, 1, 2].map((i) => compareSection(tracker, sceneRandom, allDrawn, counts, `${label}, section ${i}`)),
        ...[0, 1, 2].map((i) => compareNearest(tracker, sceneRandom, allDrawn, `${label}, nearest ${i}`)),
        ...[0, 1, 2, 3, 4, 5].map((i) =>
          compareSnap(tracker, sceneRandom, camera, allDrawn, planes, isLocal, counts, `${label}, snap ${i}`),
        ),
      ]);
    }
    tracker.dispose();
  }
  console.log(JSON.stringify(counts));
  expect(counts.outlines).toBeGreaterThan(ROUNDS);
  expect(counts.snaps).toBeGreaterThan(ROUNDS / 2);
});

/** Objects for a query to ignore. */
function pickIgnored(random: Random, allDrawn: readonly DrawnMesh[]) {
  const ignore = random.chance(0.3) ? allDrawn.filter(() => random.chance(0.3)) : [];
  const names = new Set(ignore.map(nameOf));
  return {
    ignore: ignore.map(({ object, instanceId }) => (instanceId === undefined ? object : { object, instanceId })),
    left: allDrawn.filter((each) => !names.has(nameOf(each))),
  };
}

async function compareSection(
  tracker: SceneTracker,
  random: Random,
  allDrawn: readonly DrawnMesh[],
  counts: { outlines: number },
  label: string,
): Promise<void> {
  const { ignore, left } = pickIgnored(random, allDrawn);
  const plane = new Plane(random.direction(), random.range(-1.5, 1.5));
  const section = await tracker.section(plane, { ignore, caps: random.chance(0.5) });
  counts.outlines += section.objects.length;
  const seenFaces = new Map<string, Set<number>>();
  section.objects.forEach((each, outline) => {
    const name = nameOf(each);
    const drawnMesh = left.find((other) => nameOf(other) === name);
    expect(drawnMesh, `${label}: ${name} is not there`).toBeDefined();
    const faceSet = seenFaces.get(name) ?? new Set();
    seenFaces.set(name, faceSet);
    const [start, end] = [section.starts[outline], section.starts[outline + 1]];
    for (let i = start; i < end; i++) {
      const face = section.triangles[i];
      if (face < 0) continue;
      const slot = drawnMesh!.faces.indexOf(face);
      expect(slot, `${label}: face ${face} of ${name} is not drawn`).toBeGreaterThanOrEqual(0);
      const next = i + 1 === end ? start : i + 1;
      const midpoint = new Vector3()
        .fromArray(section.points, 3 * i)
        .add(new Vector3().fromArray(section.points, 3 * next))
        .multiplyScalar(0.5);
      expect(
        Math.sqrt(triangleDistanceSquared(drawnMesh!.corners, 9 * slot, midpoint.x, midpoint.y, midpoint.z)),
        `${label}: face ${face} of ${name}`,
      ).toBeLessThan(1e-5);
      faceSet.add(face);
    }
  });
  for (const each of left) {
    const { corners, faces } = each;
    faces.forEach((face, slot) => {
      const heights = [0, 3, 6].map((k) => plane.distanceToPoint(new Vector3().fromArray(corners, 9 * slot + k)));
      const isCut = Math.max(...heights) > 1e-5 && Math.min(...heights) < -1e-5;
      if (isCut)
        expect(
          seenFaces.get(nameOf(each))?.has(face) ?? false,
          `${label}: face ${face} of ${nameOf(each)} is cut`,
        ).toBe(true);
      if (Math.max(...heights) < -1e-5 || Math.min(...heights) > 1e-5)
        expect(
          seenFaces.get(nameOf(each))?.has(face) ?? false,
          `${label}: face ${face} of ${nameOf(each)} is not cut`,
        ).toBe(false);
    });
  }
}

async function compareNearest(
  tracker: SceneTracker,
  random: Random,
  allDrawn: readonly DrawnMesh[],
  label: string,
): Promise<void> {
  const { ignore, left } = pickIgnored(random, allDrawn);
  const point = random.point(3);
  const maxDistance = random.pick([Infinity, random.range(0, 2)]);
  const result = await tracker.closestPoint(point, { ignore, maxDistance });
  let minDistance = Infinity;
  for (const { corners } of left) {
    for (let at = 0; at < corners.length; at += 9)
      minDistance = Math.min(minDistance, Math.sqrt(triangleDistanceSquared(corners, at, point.x, point.y, point.z)));
  }
  if (Math.abs(minDistance - maxDistance) < 1e-5) return;
  if (minDistance > maxDistance || minDistance === Infinity)
    return expect(result, `${label}: ${minDistance} away`).toBeNull();
  expect(result, `${label}: ${minDistance} away`).not.toBeNull();
  expect(Math.abs(result!.distance - minDistance), `${label}: ${result!.distance} of ${minDistance}`).toBeLessThan(
    1e-5,
  );
  const drawnMesh = left.find((other) => nameOf(other) === nameOf(result!));
  expect(drawnMesh, label).toBeDefined();
  const slot = drawnMesh!.faces.indexOf(result!.faceIndex ?? -1);
  expect(slot, label).toBeGreaterThanOrEqual(0);
  const { x, y, z } = result!.point;
  expect(Math.sqrt(triangleDistanceSquared(drawnMesh!.corners, 9 * slot, x, y, z)), label).toBeLessThan(1e-5);
}

const featureCache = new WeakMap<Triangles, ReturnType<typeof featuresOfMesh>>();

async function compareSnap(
  tracker: SceneTracker,
  random: Random,
  camera: PerspectiveCamera,
  allDrawn: readonly DrawnMesh[],
  clippingPlanes: readonly Plane[],
  isLocal: boolean,
  counts: { snaps: number },
  label: string,
): Promise<void> {
  const { ignore, left } = pickIgnored(random, allDrawn);
  if (left.length === 0) return;
  const { corners } = random.pick(left);
  if (corners.length === 0) return;
  const p = new Vector3().fromArray(corners, 3 * random.integer(corners.length / 3)).project(camera);
  const x = ((p.x + 1) / 2) * SIZE.width + random.range(-6, 6);
  const y = ((1 - p.y) / 2) * SIZE.height + random.range(-6, 6);
  if (!(x > 0 && y > 0 && x < SIZE.width && y < SIZE.height && Math.abs(p.z) < 1)) return;
  const kinds = random.pick<SnapKind[]>([['vertex'], ['midpoint'], ['edge'], ['vertex', 'edge']]);
  const radius = random.pick([4, 10, 20]);
  const hit = await tracker.pick(x, y, { snap: kinds, radius, ignore });
  const snap = hit?.snap ?? null;
  if (snap) counts.snaps++;
  const heights: ((q: Vector3) => number)[] = [];
  const keptBy = (planes: readonly Plane[], isIntersection: boolean) => {
    for (const plane of planes) heights.push((q) => Math.abs(plane.distanceToPoint(q)));
    return (q: Vector3): boolean => {
      const inFront = planes.map((plane) => plane.distanceToPoint(q) >= 0);
      return planes.length === 0 || (isIntersection ? inFront.includes(true) : !inFront.includes(false));
    };
  };
  const isInAll = keptBy(clippingPlanes, false);
  const featureMap = new Map<Triangles, ReturnType<typeof featuresOfMesh>>();
  const objects = left.map((each, i): SnapObject => {
    const { mesh, matrix, materials } = each;
    if (!featureCache.has(mesh)) featureCache.set(mesh, featuresOfMesh(mesh, 35));
    featureMap.set(mesh, featureCache.get(mesh)!);
    const sides = materials.map(({ side }) => SIDES[side as keyof typeof SIDES]);
    const localPlanes = isLocal ? (materials[0]?.clippingPlanes ?? []) : [];
    const isKept = keptBy(localPlanes, materials[0]?.clipIntersection ?? false);
    return { id: i, mesh, matrix, side: 'double', sides, isKept };
  });
  // A deformed mesh has the features of the mesh at rest; and each of several materials has planes of its own.
  const isUnreliable = (i: number) =>
    left[i].isPosed || new Set(left[i].materials).size > 1 || featureMap.get(objects[i].mesh)!.isDoubtful;
  const features = snapsAt(
    { camera, viewport: { x: 0, y: 0, ...SIZE } },
    objects,
    featureMap,
    x,
    y,
    radius + 1,
    kinds,
    isInAll,
  );
  const isOnPlane = (q: Vector3) => heights.some((height) => height(q) < 1e-4);
  const snappedIndex = snap && left.findIndex((each) => nameOf(each) === nameOf(snap));
  const hasUnreliable = left.some((_, i) => isUnreliable(i));
  if (snap) {
    expect(snappedIndex, `${label}: ${nameOf(snap)} is not there`).toBeGreaterThanOrEqual(0);
    expect(snap.pixels, label).toBeLessThanOrEqual(radius);
    if (isUnreliable(snappedIndex!) || isOnPlane(snap.point)) return;
    const matching = features.filter(
      ({ kind, object, point }) => kind === snap.kind && object === snappedIndex && point.distanceTo(snap.point) < 1e-4,
    );
    expect(matching.length, `${label}: a ${snap.kind} that is none`).toBeGreaterThan(0);
    // An odd object may occlude parts of itself that the reference does not know of.
    if (!hasUnreliable)
      expect(
        matching.some(({ visibility }) => visibility !== 'hidden'),
        `${label}: a hidden ${snap.kind}`,
      ).toBe(true);
  }
  const rankOf = ({ kind }: { kind: string }) => (kind === 'edge' ? 1 : 0);
  const isMissed = (feature: Feature) =>
    !hasUnreliable &&
    feature.visibility === 'visible' &&
    feature.pixels < radius - 0.05 &&
    !isOnPlane(feature.point) &&
    (!snap ||
      rankOf(feature) < rankOf(snap) ||
      (rankOf(feature) === rankOf(snap) && feature.pixels < snap.pixels - 0.05));
  const missed = features.find(isMissed);
  expect(
    missed && `${missed.kind} at ${missed.pixels}, of ${nameOf(left[missed.object])}`,
    `${label}: ${snap?.kind} at ${snap?.pixels}`,
  ).toBeUndefined();
}
