// With `precision: 'obb'`, rays and picks hit the boxes of bones, which slow float64 code computes anew.
import { type CollisionService, createCollisionService, type Hit } from 'collision-worker';
import { Matrix3, Matrix4, PerspectiveCamera, Ray, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { KillableService } from '../../fixtures/mortal.js';
import { type BoneBox, boneBoxes, crossBox } from '../../oracle/bone-boxes.js';
import { Random, SEED } from '../../oracle/random.js';
import {
  boneArray,
  plateMesh,
  plates,
  poseOddly,
  poseOf,
  type Rig,
  type RigOptions,
  randomRig,
} from '../../oracle/rigs.js';

const OBB = { precision: 'obb' } as const;
const KINDS: [string, RigOptions][] = [
  ['one bone', { bones: 1 }],
  ['four bones', { bones: 4 }],
  ['sixty bones', { bones: 60 }],
  ['weights of any sum', { bones: 8, anyWeights: true, zeroWeights: true }],
  ['morph targets, which move no box', { bones: 5, targets: 3 }],
];

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

async function add(rig: Rig, to = service): Promise<number> {
  const mesh = await to.addMesh(rig.data);
  return to.addObject({ shape: { type: 'mesh', mesh }, matrix: rig.mesh.matrixWorld.elements });
}

/** Poses a rig anew; some of its bones are mirrored, and some are scaled to nothing. */
function pose(random: Random, rig: Rig, id: number, to = service): void {
  poseOddly(random, rig);
  to.setPose(id, poseOf(rig));
}

function rayAt(random: Random, boxes: BoneBox[]): Ray {
  const aim = random.pick(random.pick(boxes).vertices).clone().add(random.point(0.2));
  const origin = random.direction().multiplyScalar(8).add(aim);
  return new Ray(origin, aim.sub(origin).normalize());
}

/** Reports hits of all bones that do not lie between the crossings of slightly larger and smaller boxes. */
function faultsOf(hits: Hit[], boxes: BoneBox[], ray: Ray, hair: number): string[] {
  const faults: string[] = [];
  for (const { bone, matrix, isAmbiguous } of boxes) {
    if (isAmbiguous) continue;
    const own = hits.filter((hit) => hit.bone === bone).sort((a, b) => a.distance - b.distance);
    const [outer, inner] = [crossBox(ray, matrix, hair), crossBox(ray, matrix, -hair)];
    if (own.length === 0 && inner) faults.push(`bone ${bone} is not hit`);
    if (own.length === 0) continue;
    if (own.length !== 2) faults.push(`bone ${bone} is hit ${own.length} times`);
    const [enter, leave] = own.map(({ distance }) => distance);
    if (!outer || enter < outer[0] || leave > outer[1]) faults.push(`bone ${bone} at ${enter} is no box, ${outer}`);
    if (inner && (enter > inner[0] || leave < inner[1])) faults.push(`bone ${bone} is entered at ${enter}, ${inner}`);
    const turn = new Matrix3().getNormalMatrix(matrix);
    const normals = [0, 1, 2].map((i) => new Vector3().setComponent(i, 1).applyMatrix3(turn).normalize());
    own.forEach(({ normal, triangle, element, barycentric }, i) => {
      const along = new Vector3(...normal);
      if (normals.every((each) => Math.abs(each.dot(along)) < 1 - 1e-4)) faults.push(`${normal} is of no face`);
      if (along.dot(ray.direction) > 0 !== (i === 1)) faults.push(`${normal} of the wrong side`);
      if (triangle !== -1 || element !== -1 || barycentric.some((each) => each !== 0)) faults.push('a triangle');
    });
  }
  const known = new Set(boxes.map(({ bone }) => bone));
  for (const { bone } of hits) if (!known.has(bone)) faults.push(`bone ${bone} has no box`);
  return faults;
}

describe(`boxes of bones are hit where float64 has them, seed ${SEED}`, { timeout: 120_000 }, () => {
  test.each(KINDS)('%s', async (_, options) => {
    const random = new Random(SEED);
    let total = 0;
    let ambiguous = 0;
    let count = 0;
    for (let round = 0; round < 8; round++) {
      const rig = randomRig(random, options);
      const id = await add(rig);
      pose(random, rig, id);
      expect((await service.update()).rejected).toHaveLength(0);
      const boxes = boneBoxes(rig);
      if (boxes.length === 0) continue;
      count += boxes.length;
      ambiguous += boxes.filter(({ isAmbiguous }) => isAmbiguous).length;
      for (let i = 0; i < 40; i++) {
        const ray = rayAt(random, boxes);
        const asked = { origin: ray.origin.toArray(), direction: ray.direction.toArray() };
        const hits = await service.raycastAll(asked, OBB);
        expect(faultsOf(hits, boxes, ray, 1e-5)).toEqual([]);
        const first = hits[0] ?? null;
        expect(await service.raycast(asked, OBB)).toEqual(first);
        expect(await service.raycast(asked, { ...OBB, side: 'front' })).toEqual(first);
        expect(await service.lineOfSight(asked.origin, ray.at(30, new Vector3()).toArray(), OBB)).toBe(first === null);
        total += hits.length;
      }
      service.removeObject(id);
    }
    expect(total).toBeGreaterThan(300);
    expect(ambiguous).toBeLessThan(0.2 * count);
  });

  test('each vertex that the bone alone moves is within its box', async () => {
    const random = new Random(SEED);
    for (let round = 0; round < 5; round++) {
      const rig = randomRig(random, { bones: 6 });
      const id = await add(rig);
      pose(random, rig, id);
      await service.update();
      for (const { bone, vertices } of boneBoxes(rig)) {
        for (const vertex of vertices.slice(0, 10)) {
          const direction = random.direction();
          const origin = vertex.clone().addScaledVector(direction, -9);
          const hits = await service.raycastAll({ origin: origin.toArray(), direction: direction.toArray() }, OBB);
          const own = hits.filter((hit) => hit.bone === bone).map(({ distance }) => distance);
          expect(own).toHaveLength(2);
          expect(own[0]).toBeLessThanOrEqual(9 + 1e-6);
          expect(own[1]).toBeGreaterThanOrEqual(9 - 1e-6);
        }
      }
      service.removeObject(id);
    }
  });

  test('many rays, picks and the nearest of several objects name the same bones', async () => {
    const random = new Random(SEED);
    const rigs = Array.from({ length: 6 }, () => randomRig(random, { bones: 7 }, random.point(2)));
    const boxes: BoneBox[] = [];
    const ids: number[] = [];
    for (const rig of rigs) {
      const id = await add(rig);
      ids.push(id);
      pose(random, rig, id);
      boxes.push(...boneBoxes(rig));
    }
    const camera = new PerspectiveCamera(60, 1, 0.1, 100);
    camera.position.set(0, 0, 9);
    camera.updateMatrixWorld();
    service.setView({
      projection: camera.projectionMatrix.elements,
      view: camera.matrixWorldInverse.elements,
      viewport: { width: 200, height: 200 },
    });
    await service.update();
    const rays = Array.from({ length: 200 }, () => rayAt(random, boxes));
    const packed = Float32Array.from(
      rays.flatMap(({ origin, direction }) => [...origin.toArray(), 0, ...direction.toArray(), Infinity]),
    );
    for (const precision of ['obb', 'mesh'] as const) {
      const many = await service.raycastMany(packed, { precision });
      for (let i = 0; i < rays.length; i++) {
        const [x, y, z, , dx, dy, dz] = packed.subarray(8 * i);
        const hit = await service.raycast({ origin: [x, y, z], direction: [dx, dy, dz] }, { precision });
        expect([many.objects[i], many.bones[i]]).toEqual(hit ? [hit.object, hit.bone] : [0xffffffff, -1]);
      }
    }
    let hits = 0;
    for (let i = 0; i < 100; i++) {
      const [x, y] = [random.range(0, 200), random.range(0, 200)];
      const aim = new Vector3(x / 100 - 1, 1 - y / 100, 0.5).unproject(camera);
      const ray = new Ray(camera.position.clone(), aim.sub(camera.position).normalize());
      const hit = await service.pick(x, y, OBB);
      const found = await service.raycast({ origin: ray.origin.toArray(), direction: ray.direction.toArray() }, OBB);
      expect([hit?.object, hit?.bone]).toEqual([found?.object, found?.bone]);
      if (hit) expect(hit.bone).toBeGreaterThanOrEqual(0);
      hits += hit ? 1 : 0;
    }
    expect(hits).toBeGreaterThan(10);
  });
});

/** Plates, and a vertex far away that no triangle uses, one that no bone moves, and a morph target. */
function morphedPlates() {
  const parts = plates();
  parts.positions.push(500, 500, 500, 10, 0, 0.1);
  parts.bones.push(1, 0, 0, 0, 1, 0, 0, 0);
  parts.weights.push(1, 0, 0, 0, 0, 0, 0, 0);
  parts.indices.push(4, 5, 9);
  return {
    ...plateMesh(parts),
    morphs: { targets: [new Float32Array(parts.positions.length).fill(30)], relative: true },
  };
}

const I = new Matrix4();
const down = (x: number, y = 0) => ({ origin: [x, y, 50], direction: [0, 0, -1] }) as const;

describe('bones of all kinds', () => {
  const add = async (to: CollisionService) => {
    const mesh = await to.addMesh(morphedPlates());
    return to.addObject({ shape: { type: 'mesh', mesh } });
  };
  const bonesAlong = async (of: CollisionService, x: number, y = 0) =>
    (await of.raycastAll(down(x, y), OBB)).map(({ bone }) => bone);

  test('those without vertices, that are mirrored, flat or nothing', async () => {
    const id = await add(service);
    await service.update();
    // Before it has bones it is one box.
    expect(await bonesAlong(service, 5)).toEqual([-1, -1]);
    service.setPose(id, { bones: boneArray(I, I, I, I) });
    await service.update();
    expect(await bonesAlong(service, 0)).toEqual([0, 0]);
    expect(await bonesAlong(service, 10)).toEqual([1, 1]);
    expect(await bonesAlong(service, 5)).toEqual([]);
    expect(await bonesAlong(service, 500, 500)).toEqual([]);
    const mirror = new Matrix4().makeScale(-1, 1, 1);
    service.setPose(id, { bones: boneArray(mirror, mirror, I, I) });
    await service.update();
    expect(await bonesAlong(service, -10)).toEqual([1, 1]);
    expect(await bonesAlong(service, 10)).toEqual([]);
    expect(await service.raycast(down(-10), OBB)).toMatchObject({
      bone: 1,
      normal: [0, 0, 1].map((n) => expect.closeTo(n, 0)),
    });
    for (const flat of [new Matrix4().makeScale(0, 0, 0), new Matrix4().makeScale(1, 1, 0)]) {
      service.setPose(id, { bones: boneArray(I, flat, flat, flat) });
      await service.update();
      expect(await bonesAlong(service, 10)).toEqual([]);
      expect(await bonesAlong(service, 0)).toEqual([0, 0]);
    }
    service.setPose(id, { bones: boneArray(new Matrix4().makeScale(0, 0, 0), new Matrix4().makeScale(0, 0, 0), I, I) });
    await service.update();
    expect(await bonesAlong(service, 0)).toEqual([]);
    expect(await service.raycast(down(0), OBB)).toBeNull();
    service.setPose(id, {});
    await service.update();
    expect(await bonesAlong(service, 5)).toEqual([-1, -1]);
  });

  test('morph targets leave them where they are, and in reach', async () => {
    const id = await add(service);
    service.setPose(id, { bones: boneArray(I, I, I, I), morphs: [1] });
    await service.update();
    expect(await bonesAlong(service, 0)).toEqual([0, 0]);
    expect(await bonesAlong(service, 30, 30)).toEqual([]);
    expect((await service.raycast(down(30.2, 30)))?.bone).toBe(0);
  });

  test('planes cut the boxes', async () => {
    const id = await add(service);
    service.setPose(id, { bones: boneArray(I, new Matrix4().makeTranslation(-10, 0, -5), I, I) });
    await service.update();
    expect(await bonesAlong(service, 0)).toEqual([0, 0, 1, 1]);
    const hits = await service.raycastAll(down(0), { ...OBB, clip: [0, 0, -1, -2] });
    expect(hits.map(({ bone }) => bone)).toEqual([1, 1]);
    expect(await service.raycast(down(0), { ...OBB, clip: [0, 0, -1, -2] })).toMatchObject({ bone: 1 });
  });

  test('a lost worker has them again, from baked bytes as well', async () => {
    const mortal = await KillableService.create();
    const first = mortal.service;
    const mesh = await first.addMesh(morphedPlates());
    const baked = await first.bakeMesh(mesh);
    const id = first.addObject({ shape: { type: 'mesh', mesh: await first.addMesh(baked) } });
    first.setPose(id, { bones: boneArray(I, new Matrix4().makeTranslation(0, 20, 0), I, I) });
    await first.update();
    expect(await bonesAlong(first, 10, 20)).toEqual([1, 1]);
    await mortal.kill();
    expect(await bonesAlong(first, 10, 20)).toEqual([1, 1]);
    expect(await bonesAlong(first, 10)).toEqual([]);
  });
});
