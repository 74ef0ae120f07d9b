import type { CollisionServiceOptions } from '../shared/types.js';
import { nodeHost } from './link/host.node.js';
import type { CollisionService } from './service.js';
import { startService } from './start-service.js';

/** Starts a worker as in browsers, with Node as the host. */
export function createCollisionService(options: CollisionServiceOptions = {}): Promise<CollisionService> {
  return startService(nodeHost, options);
}
