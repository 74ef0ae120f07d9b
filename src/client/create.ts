import type { CollisionServiceOptions } from '../shared/types.js';
import { browserHost } from './link/host.browser.js';
import type { CollisionService } from './service.js';
import { startService } from './start-service.js';

/**
 * Starts a worker and resolves when it is ready to receive messages.
 *
 * ```ts
 * const service = await createCollisionService();
 * const mesh = await service.addMesh({ positions, indices });
 * const id = service.addObject({ shape: { type: 'mesh', mesh } });
 * service.setTransform(id, matrix);
 * service.setView({ projection, view, viewport: { width: 800, height: 600 } });
 * const { visible, contacts } = await service.update();
 * const hit = await service.pick(400, 300); // → { object: id, distance, point, … } or null
 * service.dispose();
 * ```
 *
 * Rejects with WORKER_LOST when the worker does not start, with UNSUPPORTED if there is no WebAssembly SIMD, and with
 * ABORTED by the signal.
 */
export function createCollisionService(options: CollisionServiceOptions = {}): Promise<CollisionService> {
  return startService(browserHost, options);
}
