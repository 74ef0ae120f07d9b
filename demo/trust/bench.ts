import { type CollisionService, createCollisionService } from 'collision-worker';
import { meshDataFromGeometry } from 'collision-worker/three';
import { type BufferGeometry, DoubleSide, Mesh, MeshBasicMaterial, Raycaster, TorusKnotGeometry, Vector3 } from 'three';
import { acceleratedRaycast, MeshBVH, SAH } from 'three-mesh-bvh';
import { mulberry32 } from '../random.js';

export const ENGINES = ['worker', 'three-mesh-bvh', 'Raycaster'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Time per ray of one engine, in µs, and a checksum of its hits. */
export interface Result {
  microseconds: number;
  /** Sum of the numbers of all objects and of the vertices of all triangles that were hit. */
  checksum: number;
}

/** One workload: the same rays against the same meshes. */
interface Workload {
  name: string;
  meshes: readonly Mesh[];
  rays: Float32Array;
}

export interface BenchEvents {
  /** Progress from 0 to 1. */
  onProgress(fraction: number): void;
  onResult(work: string, engine: EngineName, result: Result): void;
}

/** Milliseconds that the engines on the main thread may run at a time, so that the page stays responsive. */
const SLICE_MS = 12;
/** Runs in the worker, of which the median is taken; the worker finishes before the other engines begin. */
const RUNS = 5;
/** Both sides are hit, as in the worker. */
const MATERIAL = new MeshBasicMaterial({ side: DoubleSide });
/** Warm-up rays that are excluded from the figures, while code is compiled. */
const WARM_UP = 40;

/** Casts the same rays with each engine, one after the other. Rejects with the signal's reason. */
export async function runBench(
  dragon: BufferGeometry,
  smallDragon: BufferGeometry,
  events: BenchEvents,
  signal: AbortSignal,
): Promise<void> {
  const workloads = createWorkloads(dragon, smallDragon);
  const service = await createCollisionService();
  try {
    let done = 0;
    for (const work of workloads) {
      for (const engine of ENGINES) {
        const onPart = (fraction: number): void => {
          events.onProgress((done + fraction) / (workloads.length * ENGINES.length));
        };
        const result =
          engine === 'worker'
            ? await runInWorker(service, work, signal)
            : await runOnMainThread(work, engine === 'three-mesh-bvh', onPart, signal);
        events.onResult(work.name, engine, result);
        onPart(1);
        done++;
      }
    }
  } finally {
    service.dispose();
  }
}

function createWorkloads(dragon: BufferGeometry, smallDragon: BufferGeometry): Workload[] {
  const random = mulberry32(3);
  const knot = new TorusKnotGeometry(1, 0.34, 1000, 100);
  const dragons = Array.from({ length: 400 }, () => {
    const mesh = new Mesh(smallDragon, MATERIAL);
    mesh.position.set(random(), random(), random());
    mesh.quaternion.set(random() - 0.5, random() - 0.5, random() - 0.5, random() - 0.5).normalize();
    return mesh;
  });
  const createWorkload = (name: string, meshes: Mesh[], count: number): Workload => {
    for (const mesh of meshes) {
      mesh.updateMatrixWorld();
      mesh.geometry.computeBoundingSphere();
    }
    return { name, meshes, rays: raysInto(meshes, count, random) };
  };
  return [
    createWorkload('a dragon', [new Mesh(dragon, MATERIAL)], 400),
    createWorkload('400 dragons', dragons, 150),
    createWorkload('a knot of 200,000', [new Mesh(knot, MATERIAL)], 100),
  ];
}

/** Eight numbers per ray: from points around the meshes to random points in their bounding spheres. */
function raysInto(meshes: readonly Mesh[], count: number, random: () => number): Float32Array {
  const rays = new Float32Array(8 * count);
  const [origin, target] = [new Vector3(), new Vector3()];
  const anywhere = (): Vector3 => new Vector3(random() - 0.5, random() - 0.5, random() - 0.5);
  for (let i = 0; i < count; i++) {
    const { geometry, matrixWorld } = meshes[Math.floor(meshes.length * random())];
    const { center, radius } = geometry.boundingSphere!;
    target.copy(center).addScaledVector(anywhere(), radius).applyMatrix4(matrixWorld);
    origin.copy(target).addScaledVector(anywhere().normalize(), 6 * radius);
    rays.set([...origin.toArray(), 0, ...target.sub(origin).normalize().toArray(), Number.POSITIVE_INFINITY], 8 * i);
  }
  return rays;
}

async function runInWorker(
  service: CollisionService,
  { meshes, rays }: Workload,
  signal: AbortSignal,
): Promise<Result> {
  const shapes = new Map<BufferGeometry, number>();
  for (const { geometry } of meshes) {
    if (!shapes.has(geometry)) shapes.set(geometry, await service.addMesh(meshDataFromGeometry(geometry), { signal }));
  }
  const ids = meshes.map(({ geometry, matrixWorld }) => {
    const shape = { type: 'mesh', mesh: shapes.get(geometry)! } as const;
    return service.addObject({ shape, matrix: matrixWorld.elements, motion: 'static' });
  });
  const times: number[] = [];
  let checksum = 0;
  for (let run = 0; run <= RUNS; run++) {
    const start = performance.now();
    const { objects, triangles } = await service.raycastMany(rays, { signal });
    times.push(performance.now() - start);
    checksum = 0;
    objects.forEach((id, i) => {
      const index = ids.indexOf(id);
      if (index >= 0) checksum += index + vertexSum(meshes[index].geometry, triangles[i]);
    });
  }
  for (const id of ids) service.removeObject(id);
  // The first run is the warm-up, and is dropped.
  const median = times.slice(1).sort((a, b) => a - b)[Math.floor(RUNS / 2)];
  return { microseconds: (1000 * median) / (rays.length / 8), checksum };
}

async function runOnMainThread(
  { meshes, rays }: Workload,
  hasTrees: boolean,
  onPart: (fraction: number) => void,
  signal: AbortSignal,
): Promise<Result> {
  const targets = hasTrees ? withTrees(meshes) : meshes;
  const raycaster = new Raycaster();
  raycaster.firstHitOnly = hasTrees;
  const cast = (i: number): number => {
    raycaster.ray.origin.fromArray(rays, 8 * i);
    raycaster.ray.direction.fromArray(rays, 8 * i + 4);
    const [hit] = raycaster.intersectObjects(targets as Mesh[], false);
    return hit ? targets.indexOf(hit.object as Mesh) + hit.face!.a + hit.face!.b + hit.face!.c : 0;
  };
  const count = rays.length / 8;
  for (let i = 0; i < Math.min(WARM_UP, count); i++) cast(i);
  let [checksum, time] = [0, 0];
  for (let i = 0; i < count; ) {
    signal.throwIfAborted();
    const start = performance.now();
    while (i < count && performance.now() - start < SLICE_MS) checksum += cast(i++);
    time += performance.now() - start;
    onPart(i / count);
    await new Promise((resolve) => setTimeout(resolve));
  }
  return { microseconds: (1000 * time) / count, checksum };
}

/** Copies of the meshes with trees by SAH. Building a tree reorders the triangles, so each copy has its own index. */
function withTrees(meshes: readonly Mesh[]): Mesh[] {
  const geometries = new Map<BufferGeometry, BufferGeometry>();
  return meshes.map(({ geometry, material, matrixWorld }) => {
    let copy = geometries.get(geometry);
    if (copy === undefined) {
      copy = geometry.clone();
      copy.boundsTree = new MeshBVH(copy, { strategy: SAH });
      geometries.set(geometry, copy);
    }
    const mesh = new Mesh(copy, material);
    mesh.matrixWorld.copy(matrixWorld);
    mesh.raycast = acceleratedRaycast;
    return mesh;
  });
}

function vertexSum({ index }: BufferGeometry, triangle: number): number {
  return index!.getX(3 * triangle) + index!.getX(3 * triangle + 1) + index!.getX(3 * triangle + 2);
}
