import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { root } from '../../scripts/run.mjs';

/** The answer to a path; omitted fields have their defaults. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface Site {
  readonly url: string;
  /** By path; any other path is the package's own file. */
  readonly answers: Record<string, Answer>;
  close(): void;
}

const IMPORTS = {
  'collision-worker': '/dist/index.js',
  'collision-worker/three': '/dist/three.js',
  three: '/node_modules/three/build/three.module.js',
};

/** The page puts the package into globals, and the outcome of a start into words. */
const PAGE = `<!doctype html><title></title><link rel="icon" href="data:,">
<script type="importmap" nonce="page">${JSON.stringify({ imports: IMPORTS })}</script>
<script type="module" src="/page.js"></script>`;
const PAGE_SCRIPT = `
import * as three from 'three';
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
Object.assign(globalThis, { three, createCollisionService, trackScene });
globalThis.start = async (options) => {
  try {
    const service = await createCollisionService(options);
    const id = service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
    await service.update();
    const hit = await service.raycast({ origin: [0, 0, 10], direction: [0, 0, -1] });
    service.dispose();
    return hit.object === id ? 'started' : 'wrong';
  } catch ({ code, message }) {
    return code + ' ' + message;
  }
};
globalThis.fromSource = (source, type = 'module') =>
  new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), { type });
document.title = 'ready';
`;

/** The package as it is in dist/, without a bundler, on an origin of its own. */
export async function serveSite(answers: Site['answers'] = {}): Promise<Site> {
  const server = createServer((request, response) => answer(request, response, answers));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/`, answers, close };
}

function answer({ url = '' }: IncomingMessage, response: ServerResponse, answers: Site['answers']): void {
  const { status, headers, body } = answers[url] ?? {};
  const type = url === '/' ? 'text/html' : 'text/javascript';
  try {
    const content = body ?? ownFile(url);
    response.writeHead(status ?? 200, { 'Content-Type': type, ...headers }).end(content);
  } catch {
    response.writeHead(404).end();
  }
}

/** Throws if the file does not exist. */
function ownFile(url: string): string {
  if (url === '/') return PAGE;
  if (url === '/page.js') return PAGE_SCRIPT;
  return readFileSync(join(root, url), 'utf8');
}
