import type { ContactDetail } from 'collision-worker';
import type { Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import { apart, type ContenderElsewhere, type Fact, here, type Row } from '../harness.js';
import { OURS, Scene } from '../ours.js';
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
      const ours = await ourContacts(triangles, poses, 'any', () => 1);
      return {
        contenders: [
          here(() => ours.contender),
          apart(() => ({ ...intersectsGeometry(triangles, poses), target: 10 })),
          ...(native ? fclPairs(triangles, poses, 'first', 2) : []),
        ],
        facts: ours.facts,
      };
    },
  };
}

/** A mesh against itself: every pair of triangles that meet, and where. */
export function allPairsRow(mesh: () => Triangles, poseCount: number): Row {
  return {
    name: 'pair-all',
    work: `${poseCount.toLocaleString('en')} random poses, dragon against dragon: every pair of triangles that meet, ours with the segments in which they do`,
    rounds: 7,
    async prepare({ native }) {
      const { triangles, poses } = workOf(mesh, poseCount);
      const ours = await ourContacts(triangles, poses, 'triangles', ({ triangles }) => triangles.length / 2);
      return {
        contenders: [
          here(() => ours.contender),
          apart(() => ({ ...bvhcast(triangles, poses), target: 15 })),
          ...(native ? fclPairs(triangles, poses, 'all', 2.5) : []),
        ],
        facts: ours.facts,
      };
    },
  };
}

/** A mesh against itself: the manifolds. Nobody else has them of meshes like these. */
export function manifoldPairsRow(mesh: () => Triangles, poseCount: number): Row {
  return {
    name: 'pair-manifold',
    work: `${poseCount.toLocaleString('en')} random poses, dragon against dragon: points, normals and depths of all regions that touch`,
    rounds: 7,
    async prepare() {
      const { triangles, poses } = workOf(mesh, poseCount);
      const ours = await ourContacts(triangles, poses, 'manifold', ({ depths }) => depths.length);
      return {
        contenders: [
          here(() => ours.contender),
          apart(() => {
            const { name, run } = bvhcast(triangles, poses);
            return { name, run, note: 'pairs of triangles, no manifolds' };
          }),
        ],
        facts: async () => [
          ...(await ours.facts()),
          { name: 'a pose', value: ours.fastest() / poseCount, unit: 'ms at best', atMost: 1 },
        ],
      };
    },
  };
}

function workOf(mesh: () => Triangles, poseCount: number) {
  const triangles = mesh();
  return { triangles, poses: posesOf(new Random(1), triangles.positions, poseCount) };
}

/** By `contact`, one call after the other, the second object in another pose for each; the worker's own time. */
async function ourContacts(
  triangles: Triangles,
  poses: Float64Array,
  detail: Exclude<ContactDetail, 'none'>,
  countOf: (contact: { triangles: Uint32Array; depths: Float32Array }) => number,
) {
  const { service, ids } = await Scene.ofMeshes(2, triangles, { contacts: 'none' });
  const counts = new Float64Array(poses.length / 16);
  let withMessages = 0;
  let fastest = Number.POSITIVE_INFINITY;
  const contender: ContenderElsewhere = {
    name: OURS,
    async measure() {
      let ms = 0;
      withMessages = 0;
      for (let i = 0; i < counts.length; i++) {
        service.setTransform(ids[1], poses.subarray(16 * i, 16 * i + 16));
        await service.update();
        const start = performance.now();
        const contact = await service.contact(ids[0], ids[1], { detail });
        withMessages += performance.now() - start;
        ms += contact?.ms ?? 0;
        counts[i] = contact === null ? 0 : countOf(contact);
      }
      fastest = Math.min(fastest, ms);
      return ms;
    },
    checksum: () => poseChecksum(counts),
    close: () => service.dispose(),
  };
  const facts = async (): Promise<Fact[]> => [{ name: 'with the messages', value: withMessages, unit: 'ms' }];
  return { contender, facts, fastest: () => fastest };
}
