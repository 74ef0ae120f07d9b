// The versions of three in the peer range: the installed one, and others under build/, where they are kept.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runNpm } from './run.mjs';

/** The oldest supported version, and some up to the installed one. Before r163, three fires no events when children change. */
export const OLDER_THREES = ['0.160.0', '0.165.0', '0.170.0', '0.180.0'];

/** Returns the version that npm installs with the other dependencies. */
export function installedThree() {
  return versionIn(join(root, 'node_modules/three'));
}

/** Returns the folder of that version of the package `three`, after `ensureThrees` has installed it. */
export function folderOfThree(version) {
  return join(version === installedThree() ? root : folderOf(version), 'node_modules/three');
}

/** Installs the missing versions. Returns those that could not be installed. */
export function ensureThrees(versions) {
  return versions.filter((version) => versionIn(folderOfThree(version)) !== version && !install(version));
}

/** Each version has its own folder, so that its addons import it and no other. */
function folderOf(version) {
  return join(root, 'build/three', version);
}

function versionIn(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}

function install(version) {
  console.log(`Installing three ${version} for the tests…`);
  const folder = folderOf(version);
  const partial = `${folder}-${process.pid}`;
  mkdirSync(partial, { recursive: true });
  writeFileSync(join(partial, 'package.json'), JSON.stringify({ private: true, dependencies: { three: version } }));
  const args = ['install', '--prefer-offline', '--fetch-retries=1', '--ignore-scripts', '--no-audit', '--no-fund'];
  const isInstalled = runNpm(args, { cwd: partial }) === 0;
  rmSync(folder, { recursive: true, force: true });
  // Moved as a whole, so that an interrupted installation is not taken for a complete one.
  if (isInstalled) renameSync(partial, folder);
  else rmSync(partial, { recursive: true, force: true });
  return isInstalled;
}
