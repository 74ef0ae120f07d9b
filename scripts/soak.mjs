// `npm run soak`: an hour's worth of frames, in Node. Installs and builds first if needed.
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fail, root } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

const HELP = `npm run soak -- [options]

Runs an hour's worth of frames, as fast as they come, in which objects move, come and go, meshes too; prints and plots the
memory of both threads and how long answers take. Exits with 1 when either rises.

  --frames n     how many; 216000 by default
  --seed n       of the scene; 1 by default
  --write        writes test/soak/results.json and test/soak/chart.svg, from which docs/failures.md has its figures
  --services n   instead of all that makes so many services and disposes of them, one after the other
  --help         this text`;

const options = optionsOf(process.argv.slice(2));
ensureDependencies();
ensureBuild();
const { bundleTool } = await import('./bundle.mjs');
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
if (options.services > 0) {
  await bundleTool('test/soak/services.ts', 'build/soak-services.mjs');
  const { soakServices } = await import('../build/soak-services.mjs');
  process.exitCode = await soakServices(options.services, collectGarbage);
} else {
  await bundleTool('test/soak/main.ts', 'build/soak.mjs');
  const { soakAnHour } = await import('../build/soak.mjs');
  process.exitCode = await soakAnHour({ root, ...options }, collectGarbage);
}

function optionsOf(args) {
  const number = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: { frames: number, seed: number, write: flag, services: number, help: flag },
    }));
  } catch (error) {
    fail(`${error.message}\n\n${HELP}`);
  }
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  const { frames = '216000', seed = '1', services, write } = values;
  for (const [name, value] of Object.entries({ frames, seed, services: services ?? '1' })) {
    if (!/^[1-9]\d*$/.test(value)) fail(`--${name}: ${value} is not a number above 0`);
  }
  return { frames: Number(frames), seed: Number(seed), services: Number(services ?? 0), write };
}
