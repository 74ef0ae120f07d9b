// `npm run pictures`: redraws docs/pictures from the trees that the core builds and the contacts that it returns.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

const BUNDLE = 'build/pictures.mjs';
const FOLDER = 'docs/pictures';

ensureDependencies();
ensureBuild();
const { bundleTool } = await import('./bundle.mjs');
await bundleTool('test/pictures/main.ts', BUNDLE);
const { drawPictures } = await import(`../${BUNDLE}`);
mkdirSync(join(root, FOLDER), { recursive: true });
for (const [name, picture] of Object.entries(await drawPictures())) {
  writeFileSync(join(root, FOLDER, name), picture);
  console.log(`Drawn: ${FOLDER}/${name}, ${Math.round(picture.length / 1024)} KB`);
}
