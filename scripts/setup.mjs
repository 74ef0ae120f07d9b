// Provides what a fresh clone lacks. Only Node's own modules may be imported statically here: no others may be installed yet.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildIsCurrent } from './outputs.mjs';
import { fail, root, runNode, runNpm } from './run.mjs';

function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(join(root, lockFile), 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** npm records what it installed, without the optional packages of other platforms. */
function dependenciesAreCurrent() {
  const wanted = packagesOf('package-lock.json');
  const installed = packagesOf('node_modules/.package-lock.json');
  if (!wanted) fail('package-lock.json is missing or not readable.');
  if (!installed) return false;
  for (const [path, { version, integrity, optional, peer }] of Object.entries(wanted)) {
    if (path === '') continue;
    const have = installed[path];
    if (have ? have.version !== version || have.integrity !== integrity : !optional && !peer) return false;
  }
  return Object.keys(installed).every((path) => path in wanted);
}

/** Installs the dependencies of package-lock.json if they differ from the installed ones. */
export function ensureDependencies() {
  if (dependenciesAreCurrent()) return;
  console.log('Installing the dependencies…');
  // No dependency needs its install scripts: those of the dragon unpack its models a second time, as 57 MB of JavaScript.
  const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  if (runNpm(args) !== 0) fail('npm could not install the dependencies; its own message is above.');
}

/** Builds dist/ if it is missing or was not made from the current sources. */
export function ensureBuild() {
  if (buildIsCurrent()) return;
  console.log('Building the package…');
  if (runNode('scripts/build.mjs', []) !== 0) fail('The build failed; its message is above.');
}
