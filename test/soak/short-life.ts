import { createCollisionService } from 'collision-worker';
import { icosphere } from '../oracle/meshes.js';

const LARGE = icosphere(1, 80);

/** A service with a mesh, objects and frames, from start to end; `turn` determines what it leaves unfinished. */
export async function runShortLife(turn: number): Promise<void> {
  const service = await createCollisionService({ builders: turn % 2 });
  const mesh = await service.addMesh(icosphere(1, 12));
  service.addInstances({ shape: { type: 'mesh', mesh }, motion: 'static' }, 1000);
  const pending = [service.update(), service.update()];
  if (turn % 3 > 0) await pending[(turn % 3) - 1];
  if (turn % 4 === 0) pending.push(service.addMesh(LARGE) as never);
  service.dispose();
  await Promise.allSettled(pending);
}
