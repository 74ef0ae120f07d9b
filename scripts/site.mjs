// `npm run site`: builds the demo and its examples as static files in build/site, which work in any folder of any server.
import { ensureBuild, ensureDependencies } from './setup.mjs';

const FOLDER = 'build/site';

ensureDependencies();
ensureBuild();
const { buildDemo } = await import('./demo-page.mjs');
await buildDemo(FOLDER);
console.log(`\nBuilt: ${FOLDER}. Any server serves it, say \`npx vite preview --outDir ${FOLDER}\`.`);
process.exit(0);
