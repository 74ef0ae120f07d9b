import { createCollisionService } from 'collision-worker';
import { icosphere } from '../oracle/meshes.js';

const LARGE = icosphere(1, 80);

/** A service with a mesh, objects and frames, from start to end; `index` determines what it leaves unfinished. */
export async function runShortLife(index: number): Promise<void> {
  const service = await createCollisionService({ builders: index % 2 });
  const mesh = await service.addMesh(icosphere(1, 12));
  service.addInstances({ shape: { type: 'mesh', mesh }, motion: 'static' }, 1000);
  const pending = [service.update(), service.update()];
  if (index % 3 > 0) await pending[(index % 3) - 1];
  if (index % 4 === 0) pending.push(service.addMesh(LARGE) as never);
  service.dispose();
  await Promise.allSettled(pending);
}
