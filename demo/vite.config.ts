import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { benchInBrowser } from '../scripts/bench-in-browser.mjs';
import { gzipAsData } from '../scripts/gzip-as-data.mjs';
import { framePages } from '../scripts/page-frame.mjs';
import { shownCodeOfPages } from '../scripts/shown-code.mjs';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

export default defineConfig({
  // Relative links, so that the built site works in any folder of any server.
  base: './',
  // The dragon's .ply.gz must arrive compressed: the demo decompresses it itself, as it must on any plain server.
  plugins: [gzipAsData(), benchInBrowser(), framePages(path('.')), shownCodeOfPages(path('.'), 'demo')],
  resolve: {
    // The demo imports the package by its name and resolves to the built files that ship.
    alias: {
      'collision-worker/react': path('../dist/react.js'),
      'collision-worker/pointer': path('../dist/pointer.js'),
      'collision-worker/three': path('../dist/three.js'),
      'collision-worker/clash': path('../dist/clash.js'),
      'collision-worker/worker': path('../dist/worker.js'),
      'collision-worker': path('../dist/index.js'),
    },
  },
  server: { fs: { allow: ['..'] } },
  build: {
    rolldownOptions: {
      // Puts the renderer into its own chunk: tests tell by the file whose work is whose, three's or ours.
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: 'three-renderer', test: /three.build.three\.module\.js$/ },
            { name: 'three-core', test: /three.build.three\.core\.js$/ },
          ],
        },
      },
      input: [...readdirSync(path('.')), 'examples/index.html', 'bench/index.html']
        .filter((file) => file.endsWith('.html'))
        .map((page) => path(`./${page}`)),
    },
    // three.js alone exceeds Vite's default limit.
    chunkSizeWarningLimit: 1500,
  },
});
