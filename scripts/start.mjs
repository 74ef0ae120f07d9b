// `npm start`: everything that a fresh clone lacks, then the demo on a development server. What follows `--`
// goes to Vite: `npm start -- --port 8080 --open`.
import { root } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

ensureDependencies();
ensureBuild();

// Vite's own command, in this process: a child would go on serving after this one is ended.
process.chdir(root);
process.argv.splice(2, 0, 'demo');
await import('../node_modules/vite/bin/vite.js');
