// `npm run bench`: the core against its peers, in this process.
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { root } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

const BUNDLE = 'build/bench.mjs';

ensureDependencies();
ensureBuild();
await bundle();
allowGarbageCollection();
const { bench } = await import(`../${BUNDLE}`);
process.exitCode = await bench({ rows: process.argv[2]?.split(','), rounds: 5 });

async function bundle() {
  const { build } = await import('rolldown');
  await build({
    input: join(root, 'test/bench/main.ts'),
    platform: 'node',
    external: [/^node:/, /^three/, /^@dimforge\//, 'echarts', 'robust-predicates'],
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    transform: { define: { 'import.meta.env.SEED': '1' } },
    output: { file: join(root, BUNDLE), sourcemap: true, codeSplitting: false },
  });
}

/** The bench collects garbage between what it measures; code that is not used for a while stays compiled. */
function allowGarbageCollection() {
  setFlagsFromString('--expose-gc');
  setFlagsFromString('--no-flush-bytecode');
  globalThis.gc = runInNewContext('gc');
}
