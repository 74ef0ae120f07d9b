// The core without a service and without a worker, for what lies below the public API: tests and the bench.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { MeshData } from '../src/shared/types.js';
import { type Core, createCore } from '../src/worker/core.js';

// From the package's own folder, as the bench is bundled to another one.
const PACKAGE = createRequire(import.meta.url).resolve('collision-worker/package.json');

export const wasm = readFileSync(join(dirname(PACKAGE), 'build/core.wasm'));

export function startCore(): Promise<Core> {
  return createCore(wasm);
}

export function bake(core: Core, { positions, indices }: MeshData): ArrayBuffer {
  const build = core.beginBuild(positions, indices);
  while (build.step(Number.POSITIVE_INFINITY) < 1);
  return build.finish();
}
