// Pages without build tools: an import map, and files from another origin.
import { join } from 'node:path';
import { PAGE, serveFolder, write } from './app.mjs';

/** Addresses of three's file and of the package's, below a base. */
const map = (base) => ({
  imports: {
    three: `${base}three/build/three.module.js`,
    'collision-worker': `${base}collision-worker/dist/index.js`,
    'collision-worker/three': `${base}collision-worker/dist/three.js`,
  },
});

const page = (base) =>
  `${PAGE}<script type="importmap">${JSON.stringify(map(base))}</script><script type="module" src="./app.js"></script>`;

export const PLAIN = {
  'import-map': {
    packages: [],
    ways: {
      page(app) {
        write(app, { 'index.html': page('./node_modules/') });
        return serveFolder(app);
      },
    },
  },
  'other-origin': {
    packages: [],
    ways: {
      async page(app) {
        const files = await serveFolder(join(app, 'node_modules'), { 'Access-Control-Allow-Origin': '*' });
        write(app, { 'index.html': page(files.url) });
        const site = await serveFolder(app);
        const close = () => {
          files.close();
          site.close();
        };
        return { url: site.url, close };
      },
    },
  },
};
