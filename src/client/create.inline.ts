import type { CollisionServiceOptions } from '../shared/types.js';
import { inlineHost } from './link/host.browser.js';
import type { CollisionService } from './service.js';
import { startService } from './start-service.js';

/**
 * Starts a worker that is made from a Blob, for pages that have no separate worker file. The Blob's text is a module that is
 * loaded for it (`worker-text.js`). A content security policy must allow `worker-src blob:`.
 */
export function createCollisionService(options: CollisionServiceOptions = {}): Promise<CollisionService> {
  return startService(inlineHost, options);
}
