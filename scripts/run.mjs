import { spawn, spawnSync } from 'node:child_process';
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The package's folder. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Runs a program in the package's folder, with inherited stdio. Returns its exit code; -1 if it could not be started or took
 * longer than `timeout` milliseconds.
 */
export function run(command, args, options = {}) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  return status ?? -1;
}

/** Runs a JavaScript file with this Node. */
export function runNode(file, args, options) {
  return run(process.execPath, [file, ...args], options);
}

/**
 * Starts a JavaScript file with this Node. Resolves with its exit code after it has ended, and only then prints its output, in
 * one piece.
 */
export function startNode(file, args) {
  const child = spawn(process.execPath, [file, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.on('error', () => resolve(-1));
    child.on('close', (code) => {
      process.stdout.write(Buffer.concat(chunks));
      resolve(code ?? -1);
    });
  });
}

/**
 * Starts a JavaScript file with this Node, in parallel to others. Resolves with its exit code after it has ended. Its output is
 * printed line by line as it arrives. The process gets `priority`, as in `os.setPriority`: 0 is normal, and 19 the lowest.
 */
export function startBeside(file, args, { env, priority = 0 }) {
  const child = spawn(process.execPath, [file, ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  if (priority !== 0 && child.pid !== undefined) setPriority(child.pid, priority);
  createInterface({ input: child.stdout }).on('line', (line) => process.stdout.write(`${line}\n`));
  createInterface({ input: child.stderr }).on('line', (line) => process.stderr.write(`${line}\n`));
  return new Promise((resolve) => {
    child.on('error', () => resolve(-1));
    child.on('close', (code) => resolve(code ?? -1));
  });
}

/** npm as it was called, else the one on the path; on Windows that is a batch file, which needs a shell. */
export function runNpm(args, options) {
  const self = process.env.npm_execpath;
  if (self?.endsWith('npm-cli.js')) return runNode(self, args, options);
  return run('npm', args, { shell: process.platform === 'win32', ...options });
}

/** Exits with one line of text when a step of the set-up fails. */
export function fail(message) {
  console.error(`\n${message}`);
  process.exit(1);
}
