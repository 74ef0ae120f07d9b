// Embree and FCL, each in its own process, which measures itself.
import type { Triangles } from '../../oracle/meshes.js';
import { type ContenderFactory, inThisProcess, type SelfTimedContender } from '../harness.js';
import { startEmbree, startFcl, startFclClash, startFclDistance } from '../native/native.js';
import type { ClashWork } from '../work/clash.js';

export function embreeRays(mesh: Triangles, rays: Float32Array, target?: number): ContenderFactory[] {
  return [
    inThisProcess(async () => ({ ...(await embree(mesh, rays, 'all')), ...(target === undefined ? {} : { target }) })),
    inThisProcess(() => embree(mesh, rays, 'sse4.2')),
  ];
}

async function embree(
  mesh: Triangles,
  rays: Float32Array,
  instructions: 'all' | 'sse4.2',
): Promise<SelfTimedContender> {
  const peer = await startEmbree(mesh, rays, instructions);
  let checksum = { hits: 0, distances: 0 };
  return {
    name: instructions === 'all' ? 'Embree' : 'Embree, four at a time as we do',
    note: peer.name,
    async measure() {
      const { ms, hits, sum } = await peer.run();
      checksum = { hits, distances: sum };
      return ms;
    },
    checksum: () => checksum,
    tolerance: {
      of: { hits: 1e-4, distances: 1e-4 },
      because: 'all in float32, and its fastest traversal misses a few of the rays that go through edges',
    },
    close: () => peer.stop(),
  };
}

/** `target` applies to the variant that is compiled for this machine. */
export function fclPairs(
  mesh: Triangles,
  poses: Float64Array,
  mode: 'first' | 'all',
  target: number,
): ContenderFactory[] {
  return [
    inThisProcess(() => fcl(mesh, poses, mode, 'debian')),
    inThisProcess(async () => ({ ...(await fcl(mesh, poses, mode, 'compiled here')), target })),
  ];
}

async function fcl(
  mesh: Triangles,
  poses: Float64Array,
  mode: 'first' | 'all',
  build: 'debian' | 'compiled here',
): Promise<SelfTimedContender> {
  const peer = await startFcl(mesh, poses, mode, build);
  let pairs = 0;
  return {
    name: build === 'debian' ? "FCL, Debian's" : 'FCL, compiled for this machine',
    note: peer.name,
    async measure() {
      const { ms, count } = await peer.run();
      pairs = count;
      return ms;
    },
    checksum: () => ({ pairs }),
    close: () => peer.stop(),
  };
}

/** `target` applies to the variant that is compiled for this machine. */
export function fclDistances(mesh: Triangles, poses: Float64Array, target: number): ContenderFactory[] {
  return [
    inThisProcess(() => fclDistance(mesh, poses, 'debian')),
    inThisProcess(async () => ({ ...(await fclDistance(mesh, poses, 'compiled here')), target })),
  ];
}

async function fclDistance(
  mesh: Triangles,
  poses: Float64Array,
  build: 'debian' | 'compiled here',
): Promise<SelfTimedContender> {
  const peer = await startFclDistance(mesh, poses, build);
  let distances = 0;
  return {
    name: build === 'debian' ? "FCL, Debian's" : 'FCL, compiled for this machine',
    note: peer.name,
    async measure() {
      const { ms, sum } = await peer.run();
      distances = sum;
      return ms;
    },
    checksum: () => ({ distances }),
    tolerance: { of: { distances: 1e-6 }, because: 'it stops where what is left is nearer by less than a millionth' },
    close: () => peer.stop(),
  };
}

/** `target` applies to the variant that is compiled for this machine. */
export function fclClashes(work: ClashWork, mode: 'first' | 'all', target: number): ContenderFactory[] {
  return [
    inThisProcess(() => fclClash(work, mode, 'debian')),
    inThisProcess(async () => ({ ...(await fclClash(work, mode, 'compiled here')), target })),
  ];
}

async function fclClash(
  { mesh, items }: ClashWork,
  mode: 'first' | 'all',
  build: 'debian' | 'compiled here',
): Promise<SelfTimedContender> {
  const peer = await startFclClash(mesh, items, mode, build);
  let pairs = 0;
  const variant = build === 'debian' ? "Debian's" : 'compiled for this machine';
  return {
    name: `FCL's manager, ${variant}, ${mode === 'all' ? 'all contacts' : 'the first contact of each pair'}`,
    note: peer.name,
    async measure() {
      const { ms, count } = await peer.run();
      pairs = count;
      return ms;
    },
    checksum: () => ({ pairs }),
    tolerance: {
      of: { pairs: 1e-3 },
      because: 'it knows no insides, and parts that are there twice coincide',
    },
    close: () => peer.stop(),
  };
}
