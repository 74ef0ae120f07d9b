import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

export interface Machine extends Host {
  date: string;
  /** Commit of the sources, with a `+` if there are uncommitted changes; undefined outside of a repository. */
  commit: string | undefined;
  /** Versions of the peers, by package. */
  versions: Record<string, string>;
}

/** The environment that the code runs in. */
export interface Host {
  cpu: string;
  cores: number;
  node: string;
}

const PEERS = [
  'three',
  'three-mesh-bvh',
  '@dimforge/rapier3d-compat',
  '@dimforge/rapier3d-simd-compat',
  '@babylonjs/havok',
];

export function thisMachine(root: string): Machine {
  const versionOf = (name: string): string => {
    return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;
  };
  return {
    ...thisHost(),
    date: new Date().toISOString(),
    commit: commitOf(root),
    versions: Object.fromEntries(PEERS.map((name) => [name, versionOf(name)])),
  };
}

export function thisHost(): Host {
  return { cpu: cpus()[0].model.trim(), cores: cpus().length, node: process.version };
}

function commitOf(root: string): string | undefined {
  try {
    return execFileSync('git', ['describe', '--always', '--exclude=*', '--dirty=+'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}
