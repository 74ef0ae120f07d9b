// `npm start`: sets up everything that a fresh clone lacks, then serves the demo on a development server. Arguments after `--` go
// to Vite: `npm start -- --port 8080 --open`.
import { root } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

ensureDependencies();
ensureBuild();

// Runs Vite in this process: a child would continue serving after this one is terminated.
process.chdir(root);
process.argv.splice(2, 0, 'demo');
await import('../node_modules/vite/bin/vite.js');
