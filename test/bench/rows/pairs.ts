import type { ContactDetail } from 'collision-worker';
import type { Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import { type Fact, inOwnProcess, inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS, Scene } from '../ours.js';
import { fclDistances, fclPairs } from '../peers/native.js';
import { bvhcast, closestPointToGeometry, intersectsGeometry } from '../peers/three-mesh-bvh.js';
import { poseChecksum, posesApart, posesOf, sumOfFirst } from '../work/poses.js';

/** A mesh against itself: whether they intersect. */
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
          inThisProcess(() => ours.contender),
          inOwnProcess(() => ({ ...intersectsGeometry(triangles, poses), target: 10 })),
          ...(native ? fclPairs(triangles, poses, 'first', 2) : []),
        ],
        facts: ours.facts,
      };
    },
  };
}

/** A mesh against itself: every pair of triangles that intersect, and where. */
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
          inThisProcess(() => ours.contender),
          inOwnProcess(() => ({ ...bvhcast(triangles, poses), target: 15 })),
          ...(native ? fclPairs(triangles, poses, 'all', 2.5) : []),
        ],
        facts: ours.facts,
      };
    },
  };
}

/** A mesh against itself: the manifolds. No peer computes them for meshes like these. */
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
          inThisProcess(() => ours.contender),
          inOwnProcess(() => {
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

/** A mesh against itself: the distance, and the closest points. */
export function distanceRow(mesh: () => Triangles, poseCount: number): Row {
  return {
    name: 'distance-48k',
    work: `${poseCount.toLocaleString('en')} random poses apart, dragon to dragon: how far, and where they are nearest`,
    rounds: 11,
    async prepare({ native }) {
      const triangles = mesh();
      const poses = posesApart(new Random(1), triangles.positions, poseCount);
      const ours = await ourDistances(triangles, poses);
      return {
        contenders: [
          inThisProcess(() => ours.contender),
          inOwnProcess(() => closestPointToGeometry(triangles, poses)),
          ...(native ? fclDistances(triangles, poses, 3) : []),
        ],
        facts: ours.facts,
      };
    },
  };
}

/** By `distance`: all poses at once, each as a separate object, including messages. */
async function ourDistances(triangles: Triangles, poses: Float64Array) {
  const count = poses.length / 16;
  const { service, ids } = await Scene.ofMeshes(count + 1, triangles, { contacts: 'none' });
  service.setTransforms(ids.subarray(1), poses);
  await service.update();
  const distances = new Float64Array(count);
  let sequentialMs = 0;
  const contender: SelfTimedContender = {
    name: OURS,
    async measure() {
      const start = performance.now();
      const results = await Promise.all(Array.from(ids.subarray(1), (id) => service.distance(ids[0], id)));
      const ms = performance.now() - start;
      for (let i = 0; i < count; i++) distances[i] = results[i]!.distance;
      return ms;
    },
    checksum: (part) => ({ distances: sumOfFirst(distances, part) }),
    close: () => service.dispose(),
  };
  const facts = async (): Promise<Fact[]> => {
    const start = performance.now();
    for (const id of ids.subarray(1)) await service.distance(ids[0], id);
    sequentialMs = performance.now() - start;
    return [{ name: 'one after the other', value: sequentialMs, unit: 'ms' }];
  };
  return { contender, facts };
}

function workOf(mesh: () => Triangles, poseCount: number) {
  const triangles = mesh();
  return { triangles, poses: posesOf(new Random(1), triangles.positions, poseCount) };
}

/** By `contact`, one call after the other, with another pose of the second object each time; the worker's own time. */
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
  const contender: SelfTimedContender = {
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
