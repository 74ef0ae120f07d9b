import { createCollisionService } from 'collision-worker';
import { icosphere, type Triangles } from '../oracle/meshes.js';
import type { MakeWorker } from './chaos-worker.js';
import { ChaosWorker } from './chaos-worker.js';

/** Memory of a limited core: enough for the scenes here, but not for the objects below. */
export const LIMITED_PAGES = 100;
export const HOG_RAYS = 150_000;
export const HOG_OBJECTS = 40_000;

/** Objects that need more memory than such a core can have. */
export interface Hogs {
  mesh: Triangles;
  baked: ArrayBuffer;
}

export async function makeHogs(makeWorker: MakeWorker): Promise<Hogs> {
  const mesh = icosphere(1, 70);
  const createWorker = () => new ChaosWorker(makeWorker('well', undefined));
  const service = await createCollisionService({ createWorker, builders: 0 });
  const baked = await service.bakeMesh(await service.addMesh(mesh));
  service.dispose();
  return { mesh, baked };
}
