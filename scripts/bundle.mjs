// Bundles standalone tools of the test folder: from TypeScript to a single JavaScript file.
import { join } from 'node:path';
import { build } from 'rolldown';
import { root } from './run.mjs';

/** Bundles `input` to `file`, leaving packages external. */
export async function bundleTool(input, file) {
  await build({
    input: join(root, input),
    platform: 'node',
    external: [
      /^node:/,
      /^three/,
      /^@babylonjs\//,
      /^@dimforge\//,
      /^jolt-physics/,
      /^assemblyscript/,
      /^@stryker-mutator\//,
      'collision-worker',
      'collision-worker/clash',
      'echarts',
      'playwright',
      'vite',
    ],
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    transform: { define: { 'import.meta.env.SEED': '1' } },
    output: { file: join(root, file), sourcemap: true, codeSplitting: false },
  });
}
