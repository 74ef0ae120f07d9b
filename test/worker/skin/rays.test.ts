import { type CollisionService, createCollisionService } from 'collision-worker';
import { Raycaster, SkinnedMesh, Triangle, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { hitFaults } from '../../fixtures/posed-rays.js';
import { boxMesh } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import {
  deformedPositions,
  poseOf,
  poseRandomly,
  type Rig,
  type RigOptions,
  randomRig,
  roundBones,
} from '../../oracle/rigs.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

async function add(rig: Rig): Promise<number> {
  const mesh = await service.addMesh(rig.data);
  return service.addObject({ shape: { type: 'mesh', mesh }, matrix: rig.mesh.matrixWorld.elements });
}

/** The centre and the size in the world of where three has the vertices. */
function extentOf(rig: Rig): { middle: Vector3; size: number } {
  const positions = deformedPositions(rig);
  const low = new Vector3().setScalar(Number.POSITIVE_INFINITY);
  const high = new Vector3().setScalar(Number.NEGATIVE_INFINITY);
  const vertex = new Vector3();
  for (let i = 0; i < positions.length; i += 3) {
    vertex.fromArray(positions, i).applyMatrix4(rig.mesh.matrixWorld);
    low.min(vertex);
    high.max(vertex);
  }
  return { middle: low.clone().add(high).multiplyScalar(0.5), size: low.distanceTo(high) };
}

/** The centroid of a random triangle where three has it, in the world. */
function middleOf({ mesh, data }: Rig, positions: Float64Array, random: Random): Vector3 {
  const triangle = 3 * random.integer(data.indices!.length / 3);
  const sum = new Vector3();
  for (let k = 0; k < 3; k++) sum.add(new Vector3().fromArray(positions, 3 * data.indices![triangle + k]));
  return sum.divideScalar(3).applyMatrix4(mesh.matrixWorld);
}

/** Compares rays at a posed object with three's; returns errors and the number of hits. */
async function compare(random: Random, rig: Rig, id: number, count: number, error: number) {
  const { middle, size } = extentOf(rig);
  const positions = deformedPositions(rig);
  const faults: string[] = [];
  let hits = 0;
  for (let i = 0; i < count; i++) {
    const origin = random.direction().multiplyScalar(size).add(middle);
    const aim = random.chance(0.5) ? random.point(size / 4).add(middle) : middleOf(rig, positions, random);
    const direction = aim.sub(origin).normalize();
    const raycaster = new Raycaster(origin, direction);
    const expected = raycaster.intersectObject(rig.mesh, false);
    const ray = { origin: origin.toArray(), direction: direction.toArray() };
    const found = await service.raycastAll(ray);
    hits += found.length;
    faults.push(...hitFaults(found, expected, raycaster.ray, error * size).map((fault) => `ray ${i}: ${fault}`));
    if (found.some(({ object }) => object !== id)) faults.push(`ray ${i}: another object`);
    const nearest = await service.raycast(ray);
    if (nearest?.distance !== found[0]?.distance) faults.push(`ray ${i}: ${nearest?.distance} is not the nearest`);
    if (
      (found.length === 0) !==
      (await service.lineOfSight(
        origin.toArray(),
        origin
          .clone()
          .addScaledVector(direction, 3 * size)
          .toArray(),
      ))
    )
      faults.push(`ray ${i}: sight`);
  }
  return { faults, hits };
}

const KINDS: [string, RigOptions][] = [
  ['four bones', { bones: 4 }],
  ['one bone', { bones: 1 }],
  ['sixty bones', { bones: 60 }],
  ['weights of any sum', { bones: 8, anyWeights: true }],
  ['vertices without weights', { bones: 8, anyWeights: true, zeroWeights: true }],
  ['attached', { bones: 6, attached: true }],
  ['detached', { bones: 6, attached: false }],
  ['morphs, relative', { bones: 0, targets: 3 }],
  ['morphs, absolute', { bones: 0, targets: 2, relative: false }],
  ['bones and morphs', { bones: 5, targets: 3 }],
  ['bones and absolute morphs', { bones: 5, targets: 2, relative: false }],
];

/** The float32 rounding error of a bone's position: half of its last bit. */
const HALF_BIT = 2 ** -25;

describe(`rays at posed objects a million units away, seed ${SEED}`, { timeout: 240_000 }, () => {
  const FAR = new Vector3(1e6, -1e6, 1e6);
  // Where weights sum to less than 1, vertices are pulled towards the
  // origin: needles of a million units, thinner than float32 resolves there.
  const SHORT = KINDS.filter(([, { anyWeights }]) => !anyWeights);

  test.each(SHORT)('%s: three’s, of the same bones', async (_, options) => {
    const random = new Random(SEED);
    const rig = randomRig(random, options, FAR);
    const id = await add(rig);
    poseRandomly(random, rig);
    roundBones(rig);
    service.setPose(id, poseOf(rig));
    expect((await service.update()).rejected).toHaveLength(0);
    const { faults, hits } = await compare(random, rig, id, 25, 1e-5);
    expect(faults).toEqual([]);
    expect(hits).toBeGreaterThan(20);
  });

  test.each([
    ['meshes alone', false],
    ['a ball as well', true],
  ])(
    'many rays at %s name the triangles and bones that each alone names, the first one too',
    async (_, isBallThere) => {
      const random = new Random(SEED);
      if (isBallThere) service.addObject({ shape: { type: 'sphere', radius: 1e-3 } });
      const rig = randomRig(random, { bones: 5, triangles: boxMesh(1, 1, 1) }, FAR);
      const id = await add(rig);
      poseRandomly(random, rig);
      service.setPose(id, poseOf(rig));
      await service.update();
      const { middle, size } = extentOf(rig);
      const rays = Array.from({ length: 150 }, () => {
        const origin = random.direction().multiplyScalar(size).add(middle);
        const direction = random
          .point(size / 8)
          .add(middle)
          .sub(origin);
        return [...origin.toArray(), 0, ...direction.toArray(), Infinity];
      }).map((ray) => Float32Array.from(ray));
      const many = await service.raycastMany(Float32Array.from(rays.flatMap((ray) => [...ray])));
      const seen = new Map<number, Set<number>>();
      for (const [i, [x, y, z, , dx, dy, dz]] of rays.entries()) {
        const hit = await service.raycast({ origin: [x, y, z], direction: [dx, dy, dz] });
        const { triangle, bone } = hit ?? { triangle: -1, bone: -1 };
        expect([many.triangles[i], many.bones[i]], `ray ${i}`).toEqual([triangle, bone]);
        if (hit) seen.set(triangle, (seen.get(triangle) ?? new Set()).add(bone));
      }
      expect([...seen.values()].some((bones) => bones.size > 1)).toBe(true);
      if (SEED === 1) expect(seen.get(0)!.size).toBeGreaterThan(1); // others do not hit it
    },
  );

  test('three’s own bones: as near as their float32 matrices allow', async () => {
    const random = new Random(SEED);
    const rig = randomRig(random, { bones: 6, attached: true }, FAR);
    const id = await add(rig);
    poseRandomly(random, rig);
    service.setPose(id, poseOf(rig));
    await service.update();
    const { middle, size } = extentOf(rig);
    // Each number of a bone's position is off by half a bit of its size, and a vertex by the weighted mean of that.
    const error = HALF_BIT * 2 * 1e6 * Math.sqrt(3);
    let compared = 0;
    for (let i = 0; i < 100; i++) {
      const origin = random.direction().multiplyScalar(size).add(middle);
      const direction = middle.clone().sub(origin).normalize();
      const point = (await service.raycast({ origin: origin.toArray(), direction: direction.toArray() }))?.point;
      if (!point) continue;
      // three's surface passes within that distance of the point.
      const found = new Vector3();
      const positions = deformedPositions(rig);
      const { indices } = rig.data;
      let best = Number.POSITIVE_INFINITY;
      for (let t = 0; t < indices!.length; t += 3) {
        const [a, b, c] = [0, 1, 2].map((k) =>
          new Vector3().fromArray(positions, 3 * indices![t + k]).applyMatrix4(rig.mesh.matrixWorld),
        );
        new Triangle(a, b, c).closestPointToPoint(new Vector3(...point), found);
        best = Math.min(best, found.distanceTo(new Vector3(...point)));
      }
      expect(best).toBeLessThan(error);
      compared++;
    }
    expect(compared).toBeGreaterThan(50);
  });
});

describe(`rays at posed objects are three's, seed ${SEED}`, { timeout: 240_000 }, () => {
  test.each(KINDS)('%s', async (_, options) => {
    const random = new Random(SEED);
    let total = 0;
    for (let round = 0; round < 4; round++) {
      const rig = randomRig(random, options);
      const id = await add(rig);
      for (let pose = 0; pose < 3; pose++) {
        poseRandomly(random, rig);
        roundBones(rig);
        service.setPose(id, poseOf(rig));
        expect((await service.update()).rejected).toHaveLength(0);
        const { faults, hits } = await compare(random, rig, id, 25, 1e-5);
        expect(faults).toEqual([]);
        total += hits;
        if (rig.mesh instanceof SkinnedMesh) break; // its bones are now rounded
      }
      service.removeObject(id);
    }
    expect(total).toBeGreaterThan(100);
  });
});
