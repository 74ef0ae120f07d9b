// `npm run docs`: builds the documentation as a static site in build/docs, which works in any folder of any server. It fails on a
// broken link. `npm run docs -- --watch` previews the pages of docs/ while they are edited.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, runNode } from './run.mjs';
import { ensureDependencies } from './setup.mjs';

const FOLDER = 'build/docs';

/** Builds the site. */
async function buildDocs() {
  const { writeApiPages } = await import('./api-pages.mjs');
  await writeApiPages();
  const { build } = await import('vitepress');
  await build(join(root, 'docs'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  ensureDependencies();
  if (process.argv.includes('--watch')) {
    const { writeApiPages } = await import('./api-pages.mjs');
    await writeApiPages();
    process.exitCode = runNode('node_modules/vitepress/bin/vitepress.js', ['dev', 'docs', '--host', '127.0.0.1']);
  } else {
    await buildDocs();
    console.log(`\nBuilt: ${FOLDER}. Any server serves it, say \`npx vite preview --outDir ${FOLDER}\`.`);
    process.exit(0);
  }
}
