// Tools of the test folder that run by themselves: TypeScript in, one file of JavaScript out.
import { join } from 'node:path';
import { build } from 'rolldown';
import { root } from './run.mjs';

/** Bundles `input`, but for packages, to `file`. */
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
