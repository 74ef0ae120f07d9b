// Shared by the ways to run an app: commands in its folder, and servers of its page.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join, normalize } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

export const ANSWER = '1 visible, the box at 4.000';
export const PAGE = '<!doctype html><title></title><link rel="icon" href="data:," />';
/** Keeps these tools from sending telemetry, and from prompting. */
const ENV = { ...process.env, CI: '1', NG_CLI_ANALYTICS: 'false', NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: '' };
const MINUTES = 60_000;

/** Writes the files of an app, by path. */
export function write(app, files) {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(app, path)), { recursive: true });
    writeFileSync(join(app, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

/** Returns the path of an installed program of the app. */
export function binOf(app, name) {
  return join(app, 'node_modules/.bin', name);
}

/** Runs a command in the app's folder to its end. Returns its output; throws an error with it on failure, unless `mayFail`. */
export function runIn(app, command, args, { mayFail = false } = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: app,
    env: ENV,
    encoding: 'utf8',
    timeout: 5 * MINUTES,
  });
  if (error || (status !== 0 && !mayFail))
    throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? ''}${stdout}${stderr}`);
  return { stdout, stderr };
}

/** Starts a server by a command, and returns its address as soon as it prints one. */
export async function serveBy(app, command, args) {
  // In its own process group, because it starts other processes. esbuild exits when its stdin closes, so that stays open.
  const child = spawn(command, args, { cwd: app, env: ENV, detached: true, stdio: 'pipe' });
  const close = () => {
    try {
      process.kill(-child.pid);
    } catch {
      // it has ended
    }
  };
  let said = '';
  const url = await new Promise((resolve, reject) => {
    const give = (why) => reject(new Error(`${command} ${why}: ${said}`));
    const timer = setTimeout(give, 3 * MINUTES, 'prints no address');
    const hear = (text) => {
      said += text;
      const [address] = stripVTControlCharacters(said).match(/http:\/\/(localhost|127\.0\.0\.1):\d+\/?(?=[\s,])/) ?? [];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('error', ({ message }) => give(message));
    child.on('exit', () => give('has ended'));
  }).catch((error) => {
    close();
    throw error;
  });
  return { url, close };
}

const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

/** Serves a folder; `headers` are sent with each file. */
export async function serveFolder(folder, headers = {}) {
  const server = createServer(({ url }, response) => {
    const path = join(folder, normalize(decodeURIComponent(new URL(url, 'http://x').pathname)));
    const file = path.endsWith('/') ? `${path}index.html` : path;
    try {
      const content = readFileSync(file);
      response.writeHead(200, { 'Content-Type': TYPES[file.split('.').at(-1)] ?? TYPES.js, ...headers }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, close };
}
