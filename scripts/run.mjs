import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The package's folder. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Runs a program in the package's folder, its output on ours. Answers its exit code; -1 where it could not be
 * started or took longer than `timeout` milliseconds.
 */
export function run(command, args, options = {}) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  return status ?? -1;
}

/** Runs a JavaScript file with this Node. */
export function runNode(file, args, options) {
  return run(process.execPath, [file, ...args], options);
}

/** npm as it was called, else the one on the path; on Windows that is a batch file, which only a shell can start. */
export function runNpm(args, options) {
  const self = process.env.npm_execpath;
  if (self?.endsWith('npm-cli.js')) return runNode(self, args, options);
  return run('npm', args, { shell: process.platform === 'win32', ...options });
}

/** Ends the process with one line of text where a step of the set-up fails. */
export function fail(message) {
  console.error(`\n${message}`);
  process.exit(1);
}
