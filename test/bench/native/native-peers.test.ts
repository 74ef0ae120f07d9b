import { Box3, DoubleSide, Matrix4, MeshBasicMaterial, Raycaster, Vector3 } from 'three';
import { afterEach, describe, expect, test } from 'vitest';
import { type Corners, trianglesIntersect } from '../../oracle/exact.js';
import { icosphere, type Triangles } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { RaycastedMesh } from '../../oracle/raycaster.js';
import { missingPackages } from './compile.js';
import { missingNativePeers, type NativePeer, startEmbree, startFcl } from './native.js';

// This takes g++ a minute or two, for comparisons that a bench with native peers makes in each round anyway.
const skipReason = process.env.NATIVE === '1' ? await missingNativePeers() : 'NATIVE=1 asks for them';
if (skipReason) console.warn(`Without native peers: ${skipReason}`);

/** Compiling FCL takes a while. */
const TIMEOUT = 600_000;

const RAYS = 2000;
const POSES = 30;
const sphere = icosphere(1, 2);

describe.skipIf(skipReason !== null)(
  `Native peers answer as slow code does, seed ${SEED}`,
  { timeout: TIMEOUT },
  () => {
    const peers: NativePeer<{ ms: number }>[] = [];
    afterEach(() => {
      for (const peer of peers.splice(0)) peer.stop();
    });

    async function startPeer<Peer extends NativePeer<{ ms: number }>>(peer: Promise<Peer>): Promise<Peer> {
      peers.push(await peer);
      return peer;
    }

    test.each(['all', 'sse4.2'] as const)('Embree with instructions %s: hits and distances', async (instructions) => {
      const rays = raysAround(new Random(SEED));
      const expected = castRays(sphere, rays);
      expect(expected.hits).toBeGreaterThan(RAYS / 4);
      expect(expected.hits).toBeLessThan(RAYS);
      const embree = await startPeer(startEmbree(sphere, rays, instructions));
      for (let run = 0; run < 2; run++) {
        const { ms, hits, sum } = await embree.run();
        expect(hits).toBe(expected.hits);
        expect(sum / expected.sum).toBeCloseTo(1, 6);
        expect(ms).toBeGreaterThan(0);
      }
    });

    test('FCL: poses that collide, and pairs of triangles', async () => {
      const poses = posesAround(new Random(SEED));
      const counts = poses.map((pose) => pairsOf(sphere, pose));
      const colliding = counts.filter((count) => count > 0).length;
      expect(colliding).toBeGreaterThan(POSES / 4);
      expect(colliding).toBeLessThan(POSES);
      const all = counts.reduce((sum, count) => sum + count);
      const matrices = Float64Array.from(poses.flatMap(({ elements }) => elements));
      for (const build of ['debian', 'compiled here'] as const) {
        for (const [mode, count] of [['first', colliding] as const, ['all', all] as const]) {
          const fcl = await startPeer(startFcl(sphere, matrices, mode, build));
          for (let run = 0; run < 2; run++) expect((await fcl.run()).count, `${build}, ${mode}`).toBe(count);
        }
      }
    });

    test('one that was stopped, or that cannot start, says so', async () => {
      const embree = await startEmbree(sphere, new Float32Array(8));
      embree.stop();
      await expect(embree.run()).rejects.toThrow('rays ended with code 0');
      const empty = { positions: new Float32Array(), indices: new Uint32Array() };
      await expect(startFcl(empty, new Float64Array(16), 'first', 'debian')).rejects.toThrow(
        'could not build the tree',
      );
    });
  },
);

test('A library that is not there is missed, with the packages to install', async () => {
  const program = { source: 'rays.cpp', binary: '', flags: [], libraries: [], packages: 'g++ libnone-dev' } as const;
  await expect(missingPackages({ ...program, header: 'none/none.h' })).resolves.toContain(
    'apt-get install g++ libnone-dev',
  );
});

/** From a sphere around the mesh to points in its box, like the rays of the bench. */
function raysAround(random: Random): Float32Array {
  const rays = new Float32Array(RAYS * 8);
  for (let i = 0; i < RAYS; i++) {
    const origin = random.direction().multiplyScalar(4);
    const direction = random.point(1).sub(origin).normalize();
    rays.set([...origin, 0, ...direction, Infinity], i * 8);
  }
  return rays;
}

function castRays(mesh: Triangles, rays: Float32Array) {
  const raycasted = new RaycastedMesh(mesh);
  const material = new MeshBasicMaterial({ side: DoubleSide });
  const identity = new Matrix4();
  const raycaster = new Raycaster();
  let hits = 0;
  let sum = 0;
  for (let rayAt = 0; rayAt < rays.length; rayAt += 8) {
    raycaster.ray.origin.fromArray(rays, rayAt);
    raycaster.ray.direction.fromArray(rays, rayAt + 4);
    const [nearest] = raycasted.intersect(raycaster, identity, material);
    if (!nearest) continue;
    hits++;
    sum += nearest.distance;
  }
  return { hits, sum };
}

/** Two spheres of radius 1 meet if their centres are at most 2 apart. */
function posesAround(random: Random): Matrix4[] {
  return Array.from({ length: POSES }, () =>
    random.placement(random.direction().multiplyScalar(random.range(0.2, 3.6))),
  );
}

function pairsOf(mesh: Triangles, pose: Matrix4): number {
  const a = trianglesOf(mesh, new Matrix4());
  const b = trianglesOf(mesh, pose);
  let count = 0;
  for (const first of a) {
    for (const second of b)
      if (first.box.intersectsBox(second.box) && trianglesIntersect(first.corners, second.corners)) count++;
  }
  return count;
}

function trianglesOf({ positions, indices }: Triangles, pose: Matrix4) {
  const corner = (index: number) => new Vector3().fromArray(positions, 3 * index).applyMatrix4(pose);
  return Array.from({ length: indices.length / 3 }, (_, i) => {
    const corners: Corners = [corner(indices[3 * i]), corner(indices[3 * i + 1]), corner(indices[3 * i + 2])];
    return { corners, box: new Box3().setFromPoints([...corners]) };
  });
}
