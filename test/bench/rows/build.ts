import { type AddMeshOptions, createCollisionService, type MeshId } from 'collision-worker';
import { CENTER, MeshBVH, SAH } from 'three-mesh-bvh';
import type { Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import { type Contender, type Fact, inOwnProcess, inThisProcess, type Row } from '../harness.js';
import { OURS, timeAwaited } from '../ours.js';
import { geometryOf, raycastFirst } from '../peers/three-mesh-bvh.js';
import { rayChecksum, raysAround } from '../work/rays.js';

/** From vertices and indices to a tree that can be raycast; ours is built in a builder's worker. */
export function buildRow(mesh: () => Triangles): Row {
  return {
    name: 'build-871k',
    work: 'the tree of the full dragon',
    rounds: 7,
    async prepare() {
      const triangles = mesh();
      const rays = raysAround(new Random(1), triangles.positions, 1000);
      const { contender, bytes } = await ourBuild(triangles, rays);
      return {
        contenders: [
          inThisProcess(() => contender),
          inOwnProcess(() => ({ ...peerBuild(triangles, rays), target: 1 })),
        ],
        facts: async () => factsOf(triangles, bytes()),
      };
    },
  };
}

/** The same with a faster build, at the cost of slower rays, and the cost of rays in that tree. */
export function fastBuildRow(mesh: () => Triangles): Row {
  return {
    name: 'build-fast',
    work: "the tree of the full dragon with quality: 'fast'",
    rounds: 7,
    async prepare() {
      const triangles = mesh();
      const rays = raysAround(new Random(1), triangles.positions, 1000);
      const [fast, good] = [
        await ourBuild(triangles, rays, { quality: 'fast' }),
        await ourBuild(triangles, rays, { quality: 'good' }),
      ];
      const center = { ...peerBuild(triangles, rays, CENTER), name: 'three-mesh-bvh CENTER' };
      return {
        contenders: [
          inThisProcess(() => ({ ...fast.contender, atMost: 300 })),
          inThisProcess(() => ({ ...good.contender, name: "quality: 'good'" })),
          inOwnProcess(() => center),
        ],
        facts: async () => {
          const timedRays = raysAround(new Random(2), triangles.positions, RAYS_COMPARED);
          const [quick, slow]: number[][] = [[], []];
          for (let i = 0; i < TIMES_COMPARED; i++) {
            quick.push(await fast.msOf(timedRays));
            slow.push(await good.msOf(timedRays));
          }
          const value = Math.min(...quick) / Math.min(...slow);
          return [{ name: "rays, by those of quality: 'good'", value, unit: '×', atMost: 1.15 }];
        },
      };
    },
  };
}

/** The same with two builders, which share one mesh. */
export function twoBuildersRow(mesh: () => Triangles): Row {
  return {
    name: 'build-two',
    work: 'the tree of the full dragon, by two builders',
    rounds: 9,
    async prepare() {
      const triangles = mesh();
      const rays = raysAround(new Random(1), triangles.positions, 1000);
      const [two, one] = [await ourBuild(triangles, rays, {}, 2), await ourBuild(triangles, rays)];
      return {
        contenders: [
          inThisProcess(() => two.contender),
          inThisProcess(() => ({ ...one.contender, name: 'one builder', target: 1.7 })),
        ],
      };
    },
  };
}

const RAYS_COMPARED = 50_000;
const TIMES_COMPARED = 9;

async function ourBuild(triangles: Triangles, rays: Float32Array, options: AddMeshOptions = {}, builders = 1) {
  const service = await createCollisionService({ builders });
  let mesh: MeshId | undefined;
  let bytes = 0;
  const contender = timeAwaited({
    name: OURS,
    before() {
      if (mesh !== undefined) service.removeMesh(mesh);
    },
    async run() {
      mesh = await service.addMesh(triangles, options);
    },
    async checksum() {
      bytes = service.meshInfo(mesh!).bytes;
      const object = service.addObject({ shape: { type: 'mesh', mesh: mesh! } });
      const { distances } = await service.raycastMany(rays);
      service.removeObject(object);
      return rayChecksum(distances, 1);
    },
    close: () => service.dispose(),
  });
  /** The worker's time for rays in a tree that was built. */
  const msOf = async (timedRays: Float32Array): Promise<number> => {
    const object = service.addObject({ shape: { type: 'mesh', mesh: mesh! } });
    const { ms } = await service.raycastMany(timedRays);
    service.removeObject(object);
    return ms;
  };
  return { contender, bytes: () => bytes, msOf };
}

function peerBuild(triangles: Triangles, rays: Float32Array, strategy: typeof SAH | typeof CENTER = SAH): Contender {
  let geometry = geometryOf(triangles);
  let tree: MeshBVH;
  return {
    name: 'three-mesh-bvh SAH',
    before() {
      geometry = geometryOf(triangles); // a new copy, since the build sorts the indices
    },
    run() {
      tree = new MeshBVH(geometry, { strategy });
    },
    checksum() {
      const check = raycastFirst(tree, rays);
      check.run(0);
      return check.checksum!(1);
    },
    tolerance: { of: { distances: 1e-9 }, because: 'float64 sums, rounded otherwise' },
  };
}

function factsOf(triangles: Triangles, bytes: number): Fact[] {
  const count = triangles.indices.length / 3;
  const geometry = geometryOf(triangles);
  const { roots } = MeshBVH.serialize(new MeshBVH(geometry, { strategy: SAH }), { cloneBuffers: false });
  const peerBuild = roots.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const arrays = triangles.positions.byteLength + triangles.indices.byteLength;
  const unit = 'bytes per triangle, vertices included';
  return [
    { name: OURS, value: bytes / count, unit, atMost: 90 },
    { name: 'three-mesh-bvh', value: (peerBuild + arrays) / count, unit },
  ];
}
