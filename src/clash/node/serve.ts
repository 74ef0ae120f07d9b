import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** The files of a work folder that workers need. */
const SERVED_PATHS = /^\/(run\.json|[ab]\/(parts\.json|meshes-\d+\.bin))$/;

/** Serves the run and the baked parts of a work folder, and nothing else, to workers on other machines. */
export async function serveWork(work: string, port: number): Promise<Server> {
  const server = createServer(async ({ method, url = '' }, response) => {
    const path = SERVED_PATHS.test(url) ? join(work, url) : null;
    const stats = path === null ? null : await stat(path).catch(() => null);
    if (path === null || stats === null || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-length': stats.size, 'cache-control': 'no-store' });
    if (method === 'HEAD') response.end();
    else await pipeline(createReadStream(path), response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => resolve());
  });
  return server;
}
