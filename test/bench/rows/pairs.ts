import type { Core } from '../../../src/worker/binding/core.js';
import { bake, startCore } from '../../fixtures/core.js';
import type { Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import type { Contender, Row } from '../harness.js';
import { OURS } from '../ours.js';
import { fclPairs } from '../peers/native.js';
import { bvhcast, intersectsGeometry } from '../peers/three-mesh-bvh.js';
import { poseChecksum, posesOf } from '../work/poses.js';

/** A mesh against itself: whether they meet. */
export function firstPairRow(mesh: () => Triangles, poseCount: number): Row {
  return {
    name: 'pair-first',
    work: `${poseCount.toLocaleString('en')} random poses, dragon against dragon: whether a triangle meets another`,
    rounds: 11,
    async prepare({ native }) {
      const { triangles, poses } = workOf(mesh, poseCount);
      return {
        contenders: [
          await ours(triangles, poses, (core, mesh, pose) => Number(core.meshesIntersect(mesh, mesh, pose))),
          { ...intersectsGeometry(triangles, poses), target: 10 },
          ...(native ? await fclPairs(triangles, poses, 'first', 2) : []),
        ],
      };
    },
  };
}

/** A mesh against itself: every pair of triangles that meet. */
export function allPairsRow(mesh: () => Triangles, poseCount: number): Row {
  return {
    name: 'pair-all',
    work: `${poseCount.toLocaleString('en')} random poses, dragon against dragon: every pair of triangles that meet`,
    rounds: 7,
    async prepare({ native }) {
      const { triangles, poses } = workOf(mesh, poseCount);
      return {
        contenders: [
          await ours(triangles, poses, (core, mesh, pose) => core.intersectingTriangles(mesh, mesh, pose).length / 2),
          { ...bvhcast(triangles, poses), target: 15 },
          ...(native ? await fclPairs(triangles, poses, 'all', 2) : []),
        ],
      };
    },
  };
}

function workOf(mesh: () => Triangles, poseCount: number) {
  const triangles = mesh();
  return { triangles, poses: posesOf(new Random(1), triangles.positions, poseCount) };
}

async function ours(
  triangles: Triangles,
  poses: Float64Array,
  pairs: (core: Core, mesh: number, pose: Float64Array) => number,
): Promise<Contender> {
  const core = await startCore();
  const mesh = core.loadMesh(bake(core, triangles));
  const counts = new Float64Array(poses.length / 16);
  return {
    name: OURS,
    run() {
      for (let i = 0; i < counts.length; i++) counts[i] = pairs(core, mesh, poses.subarray(16 * i, 16 * i + 16));
    },
    checksum: () => poseChecksum(counts),
  };
}
