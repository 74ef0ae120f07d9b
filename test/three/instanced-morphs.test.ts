// InstancedMeshes whose instances are each deformed by morph targets in their own way. three draws them so, but its
// Raycaster hits each at rest: the reference is a Mesh for each instance.
import { type SceneIntersection, type SceneTracker, trackScene } from 'collision-worker/three';
import {
  type BufferGeometry,
  Float32BufferAttribute,
  Group,
  IcosahedronGeometry,
  InstancedMesh,
  type Intersection,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
} from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { KillableService } from '../fixtures/mortal.js';
import { shareOf } from '../fixtures/share.js';
import {
  type AnyCamera,
  frontCamera,
  pickCenter,
  randomCamera,
  SIZE,
  settle,
  UNRENDERED,
} from '../fixtures/three-picks.js';
import { place } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

/** Fewer with older versions of three, where all of it would take too long. */
const SCENES = shareOf(36);
const ROUNDS = 4;
const PICKS = 25;
const RADIUS = 4;
const TOLERANCE = 1e-5;
/** A hit this near to an edge of its triangle, or this nearly parallel to it, may be gained or lost by rounding. */
const EDGE = 2e-3;
const GRAZING = 2e-2;
const MATERIAL = new MeshBasicMaterial();

// three has them since r162.
const morphTest = test.skipIf(!('setMorphAt' in InstancedMesh.prototype));

function morphedGeometry(random: Random): BufferGeometry {
  const geometry = new IcosahedronGeometry(0.6, 1);
  const { position } = geometry.attributes;
  geometry.morphTargetsRelative = random.chance(0.5);
  geometry.morphAttributes.position = Array.from({ length: 1 + random.integer(3) }, () => {
    const axis = random.direction();
    const numbers = Array.from({ length: position.count }, (_, i) => {
      const at = new Vector3().fromBufferAttribute(position, i);
      const moved = axis.clone().multiplyScalar(2 * at.dot(axis) + 0.3);
      return (geometry.morphTargetsRelative ? moved : at.add(moved)).toArray();
    });
    return new Float32BufferAttribute(numbers.flat(), 3);
  });
  return geometry;
}

function setInfluences(random: Random, mesh: InstancedMesh, instance: number): void {
  const posed = new Mesh(mesh.geometry);
  const influences = posed.morphTargetInfluences!;
  for (let i = 0; i < influences.length; i++) influences[i] = random.chance(0.3) ? 0 : random.range(-0.3, 1);
  mesh.setMorphAt(instance, posed);
  mesh.morphTexture!.needsUpdate = true;
}

function instancesIn(random: Random): InstancedMesh {
  const mesh = new InstancedMesh(morphedGeometry(random), MATERIAL, 12);
  for (let i = 0; i < mesh.count; i++) {
    mesh.setMatrixAt(i, random.placement(random.point(RADIUS / 2), { low: 0.5, high: 1.5, mirrored: 0.3 }));
    if (i < 10) setInfluences(random, mesh, i); // three draws the others as a point
  }
  return mesh;
}

/** Every instance that three draws, as a Mesh with its number. */
function meshesOf(root: Object3D): { mesh: Mesh; object: InstancedMesh; instanceId: number }[] {
  const found: { mesh: Mesh; object: InstancedMesh; instanceId: number }[] = [];
  root.traverseVisible((object) => {
    if (!(object instanceof InstancedMesh)) return;
    for (let i = 0; i < object.count; i++) {
      const mesh = new Mesh(object.geometry.clone(), object.material);
      const isMorphed = object.morphTexture !== null && object.morphTexture !== undefined;
      if (isMorphed) {
        object.getMorphAt(i, mesh);
        const { data, width } = object.morphTexture!.image as { data: Float32Array; width: number };
        if (data.subarray(i * width, (i + 1) * width).every((number) => number === 0)) continue;
        if (mesh.morphTargetInfluences!.some(Number.isNaN)) continue;
      } else mesh.geometry.morphAttributes = {};
      // Its bounds are those of the mesh at rest.
      mesh.geometry.computeBoundingSphere();
      mesh.geometry.boundingSphere!.radius = 100;
      mesh.geometry.boundingBox = null;
      object.getMatrixAt(i, mesh.matrixWorld);
      mesh.matrixWorld.premultiply(object.matrixWorld);
      if (mesh.matrixWorld.determinant() !== 0) found.push({ mesh, object, instanceId: i });
    }
  });
  return found;
}

function expectedAt(root: Object3D, camera: AnyCamera): (x: number, y: number) => Intersection[] {
  const all = meshesOf(root);
  const byMesh = new Map<Object3D, (typeof all)[number]>(all.map((each) => [each.mesh, each]));
  const raycaster = new Raycaster();
  return (x, y) => {
    raycaster.setFromCamera(new Vector2((x / SIZE.width) * 2 - 1, 1 - (y / SIZE.height) * 2), camera);
    const hits = raycaster.intersectObjects(
      all.map(({ mesh }) => mesh),
      false,
    );
    return hits.map((hit) => {
      const { object, instanceId } = byMesh.get(hit.object)!;
      return { ...hit, object, instanceId, toWorld: hit.object.matrixWorld } as Intersection;
    });
  };
}

function isDoubtful({ barycoord, face, ...rest }: Intersection, direction: Vector3): boolean {
  const { toWorld } = rest as unknown as { toWorld: Matrix4 };
  const normal = face!.normal.clone().transformDirection(toWorld.clone().invert().transpose());
  return Math.min(...barycoord!.toArray()) < EDGE || Math.abs(normal.dot(direction)) < GRAZING;
}

const named = (hit: Intersection | null | undefined) => hit && `${hit.object.id} ${hit.instanceId} ${hit.faceIndex}`;

/** Reports where a pick is not the nearest hit; 'doubtful' where rounding decides. */
function faultOf(pick: SceneIntersection | null, expected: Intersection[], camera: AnyCamera): string | null {
  const direction = new Vector3();
  const [nearest] = expected;
  if (nearest) direction.subVectors(nearest.point, camera.position).normalize();
  if (camera.type === 'OrthographicCamera') camera.getWorldDirection(direction);
  if (named(pick) !== (named(nearest) ?? null)) {
    const twin = expected.find((hit) => named(hit) === named(pick));
    const isTie = twin && twin.distance - nearest.distance <= TOLERANCE * (1 + nearest.distance);
    const isOpen = isTie || (nearest && isDoubtful(nearest, direction)) || (twin && isDoubtful(twin, direction));
    return isOpen ? 'doubtful' : `${named(pick)} instead of ${named(nearest)}`;
  }
  if (pick === null) return null;
  const reach = (TOLERANCE * (1 + pick.distance)) / GRAZING;
  const isRight =
    Math.abs(pick.distance - nearest.distance) <= reach &&
    pick.point.distanceTo(nearest.point) <= reach &&
    pick.face!.normal.distanceTo(nearest.face!.normal) < 1e-3;
  return isRight || isDoubtful(nearest, direction) ? null : `${named(pick)} at ${pick.distance}, ${nearest.distance}`;
}

function change(random: Random, mesh: InstancedMesh, root: Group): void {
  const kinds: (() => void)[] = [
    () => {
      if (mesh.morphTexture === null) mesh.count = 12;
      for (let i = 0; i < 4; i++) setInfluences(random, mesh, random.integer(12));
    },
    () => {
      mesh.count = 1 + random.integer(12);
    },
    () => {
      mesh.setMatrixAt(random.integer(mesh.count), new Matrix4().makeScale(0, 0, 0));
      mesh.instanceMatrix.needsUpdate = true;
    },
    () => {
      mesh.visible = !mesh.visible;
    },
    () => {
      mesh.geometry = morphedGeometry(random);
      mesh.morphTexture?.dispose();
      mesh.morphTexture = null; // at rest, all of them
      mesh.count = 12; // for which its rows are made
      if (random.chance(0.7)) for (let i = 0; i < 12; i++) setInfluences(random, mesh, i);
    },
    () => {
      const [target] = mesh.geometry.morphAttributes.position!;
      for (let i = 0; i < target.count; i++) target.setX(i, target.getX(i) + 0.2);
      target.needsUpdate = true;
    },
    () => {
      if (mesh.morphTexture === null) return;
      (mesh.morphTexture.image.data as Float32Array).fill(Number.NaN, 1, 2);
      mesh.morphTexture.needsUpdate = true;
    },
    () => root.add(instancesIn(random)),
  ];
  random.pick(kinds)();
}

morphTest(`picks in ${SCENES} scenes that change while they run, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const faults: string[] = [];
  let [hits, doubtful] = [0, 0];
  for (let scene = 0; scene < SCENES; scene++) {
    const root = new Group();
    place(root, random, RADIUS / 4);
    root.add(instancesIn(random), instancesIn(random));
    const tracker = await trackScene(service, root, UNRENDERED);
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < 3 && round > 0; i++) change(random, random.pick(root.children as InstancedMesh[]), root);
      const camera = randomCamera(random, 2 * RADIUS);
      await settle(tracker, camera);
      const expected = expectedAt(root, camera);
      const pixels = Array.from({ length: PICKS }, () => [
        SIZE.width * random.range(0.25, 0.75),
        SIZE.height * random.range(0.25, 0.75),
      ]);
      const picks = await Promise.all(pixels.map(([x, y]) => tracker.pick(x, y)));
      for (const [i, pick] of picks.entries()) {
        if (pick !== null) hits++;
        const fault = faultOf(pick, expected(pixels[i][0], pixels[i][1]), camera);
        if (fault === 'doubtful') doubtful++;
        else if (fault !== null) faults.push(`scene ${scene}, round ${round}, pixel ${pixels[i]}: ${fault}`);
      }
    }
    tracker.dispose();
  }
  expect(faults.slice(0, 10)).toEqual([]);
  expect(hits).toBeGreaterThan((SCENES * ROUNDS * PICKS) / 10);
  expect(doubtful).toBeLessThan(hits / 20);
});

async function tracked(mesh: InstancedMesh, of = service): Promise<SceneTracker> {
  const tracker = await trackScene(of, new Scene().add(mesh), UNRENDERED);
  await settle(tracker, frontCamera());
  return tracker;
}

/** Two balls in the middle, the first of which may move up by its one target. */
function twoBalls(): { mesh: InstancedMesh; lift: (by: number, instance?: number) => void } {
  const geometry = new IcosahedronGeometry(1, 1);
  const { count } = geometry.attributes.position;
  const up = Float32Array.from({ length: 3 * count }, (_, i) => (i % 3 === 1 ? 10 : 0));
  geometry.morphAttributes.position = [new Float32BufferAttribute(up, 3)];
  geometry.morphTargetsRelative = true;
  const mesh = new InstancedMesh(geometry, MATERIAL, 2);
  mesh.setMatrixAt(0, new Matrix4());
  mesh.setMatrixAt(1, new Matrix4().makeTranslation(0, 0, -4));
  const posed = new Mesh(geometry);
  const lift = (by: number, instance = 0): void => {
    posed.morphTargetInfluences![0] = by;
    mesh.setMorphAt(instance, posed);
    mesh.morphTexture!.needsUpdate = true;
  };
  lift(0);
  lift(0, 1);
  return { mesh, lift };
}

morphTest(
  'a target that the texture has no column for has no influence, and none is read of the row below',
  async () => {
    const setPose = vi.spyOn(service, 'setPose');
    const { mesh } = twoBalls();
    const [up] = mesh.geometry.morphAttributes.position!;
    mesh.geometry.morphAttributes.position = [up, up.clone(), up.clone()];
    mesh.updateMorphTargets();
    // Two rows of three columns; each begins with the weight of the vertices at rest.
    mesh.morphTexture = null;
    for (const i of [0, 1]) mesh.setMorphAt(i, { morphTargetInfluences: [0.25, 0.5 * i] } as never);
    setPose.mockClear();
    await tracked(mesh);
    const sent = setPose.mock.calls.map(([, { morphs }]) => Array.from(morphs!));
    expect(sent).toEqual([
      [0.25, 0, 0],
      [0.25, 0.5, 0],
    ]);
  },
);

morphTest(
  'only influences that are others travel; those that are none hide their instance until they are some',
  async () => {
    const setPose = vi.spyOn(service, 'setPose');
    const { mesh, lift } = twoBalls();
    const tracker = await tracked(mesh);
    expect(setPose).toHaveBeenCalledTimes(2);
    expect(await pickCenter(tracker)).toMatchObject({ object: mesh, instanceId: 0 });
    await tracker.update(frontCamera(), SIZE);
    mesh.morphTexture!.needsUpdate = true; // with the same influences
    await tracker.update(frontCamera(), SIZE);
    expect(setPose).toHaveBeenCalledTimes(2);
    for (const by of [1, Number.NaN]) {
      lift(by);
      await settle(tracker, frontCamera());
      expect(await pickCenter(tracker)).toMatchObject({ object: mesh, instanceId: 1 });
      lift(0);
      await settle(tracker, frontCamera());
      expect(await pickCenter(tracker)).toMatchObject({ object: mesh, instanceId: 0 });
    }
    const nearest = await tracker.closestPoint(new Vector3(0, 0.3, 9));
    expect(nearest?.face?.normal.z).toBeGreaterThan(0.8);
    expect(tracker.untracked.size).toBe(0);
  },
);

morphTest('a new worker gets them back, and those that come later have theirs', async () => {
  const mortal = await KillableService.create();
  const { mesh, lift } = twoBalls();
  mesh.count = 1;
  lift(1);
  const tracker = await tracked(mesh, mortal.service);
  expect(await pickCenter(tracker)).toBeNull();
  await mortal.kill();
  expect(await pickCenter(tracker)).toBeNull();
  mesh.count = 2;
  await settle(tracker, frontCamera());
  expect(await pickCenter(tracker)).toMatchObject({ object: mesh, instanceId: 1 });
  tracker.dispose();
});

morphTest('influences of many instances that all change travel in slices, and all of them arrive', async () => {
  const count = 40_000;
  const geometry = new IcosahedronGeometry(0.4, 0);
  const { position } = geometry.attributes;
  geometry.morphTargetsRelative = true;
  geometry.morphAttributes.position = [
    new Float32BufferAttribute(Array.from({ length: position.count }, () => [0, 1, 0]).flat(), 3),
  ];
  const mesh = new InstancedMesh(geometry, MATERIAL, count);
  const posed = new Mesh(geometry);
  const liftAll = (by: number) => {
    posed.morphTargetInfluences![0] = by;
    for (let i = 0; i < count; i++) mesh.setMorphAt(i, posed);
    mesh.morphTexture!.needsUpdate = true;
  };
  for (let i = 0; i < count; i++) mesh.setMatrixAt(i, new Matrix4().makeTranslation(2 * i, 0, 0));
  liftAll(0);
  const tracker = await tracked(mesh);
  const setPose = vi.spyOn(service, 'setPose');
  // All are to move above a height that none was above before.
  const lifted = async (height: number): Promise<number> => {
    const found = await tracker.overlap({ type: 'box', halfExtents: [2 * count, 0.1, 1], center: [0, height, 0] });
    return found.length;
  };
  for (let frame = 1; frame <= 4; frame++) {
    liftAll(2 * frame);
    setPose.mockClear();
    const frameDone = tracker.update(frontCamera(), SIZE);
    expect(setPose.mock.calls.length).toBeGreaterThan(0);
    expect(setPose.mock.calls.length).toBeLessThan(count / 2); // which would take longer than a slice does
    await frameDone;
  }
  await vi.waitFor(
    async () => {
      await tracker.update(frontCamera(), SIZE);
      expect(await lifted(8)).toBe(count);
    },
    { timeout: 20_000 },
  );
  setPose.mockClear();
  await tracker.update(frontCamera(), SIZE);
  expect(setPose).not.toHaveBeenCalled();
});
