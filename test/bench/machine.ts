import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

export interface Machine extends Host {
  date: string;
  /** Of the peers, by package. */
  versions: Record<string, string>;
}

/** What code runs on. */
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
    versions: Object.fromEntries(PEERS.map((name) => [name, versionOf(name)])),
  };
}

export function thisHost(): Host {
  return { cpu: cpus()[0].model.trim(), cores: cpus().length, node: process.version };
}
