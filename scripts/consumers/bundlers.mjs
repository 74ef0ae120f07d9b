// Bundlers, none of which is configured for the package.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { binOf, PAGE, runIn, serveBy, serveFolder, write } from './app.mjs';

function vite(major) {
  const load = async (app) => import(pathToFileURL(join(app, 'node_modules/vite/dist/node/index.js')).href);
  return {
    packages: [`vite@${major}`],
    ways: {
      async dev(app) {
        const { createServer: serve } = await load(app);
        const server = await serve({ root: app, configFile: false, logLevel: 'error', server: { port: 0 } });
        await server.listen();
        return { url: server.resolvedUrls.local[0], close: () => server.close() };
      },
      async build(app) {
        const { build, preview } = await load(app);
        await build({ root: app, configFile: false, logLevel: 'error', build: { outDir: 'out' } });
        const server = await preview({ root: app, configFile: false, build: { outDir: 'out' }, preview: { port: 0 } });
        return { url: server.resolvedUrls.local[0], close: () => server.close() };
      },
    },
  };
}

/** A command-line tool that writes app.js to out/; with arguments for `serve`, it has a server, too. */
function built(packages, tool, args, { script = 'app.js', serve, files = {} } = {}) {
  const page = (src) => `${PAGE}<script type="module" src="${src}"></script>`;
  const ways = {
    async build(app) {
      runIn(app, binOf(app, tool), args);
      write(app, { 'out/index.html': page(`./${script}`) });
      return serveFolder(join(app, 'out'));
    },
  };
  if (serve === undefined) return { packages, files, ways };
  return { packages, files, ways: { dev: (app) => serveBy(app, binOf(app, tool), serve), ...ways } };
}

const rspackPage = { 'public/index.html': `${PAGE}<script defer src="./main.js"></script>` };

export const BUNDLERS = {
  ...Object.fromEntries([5, 6, 7, 8].map((major) => [`vite-${major}`, vite(major)])),
  webpack: built(
    ['webpack', 'webpack-cli', 'webpack-dev-server'],
    'webpack',
    ['--mode', 'production', '--entry', './app.js', '--output-path', 'out'],
    {
      script: 'main.js',
      serve: ['serve', '--mode', 'development', '--entry', './app.js', '--port', '4471'],
      files: rspackPage,
    },
  ),
  rspack: built(
    ['@rspack/core', '@rspack/cli', '@rspack/dev-server'],
    'rspack',
    ['build', '--mode', 'production', '--entry', './app.js', '--output-path', 'out'],
    {
      script: 'main.js',
      serve: ['serve', '--mode', 'development', '--entry', './app.js', '--port', '4472'],
      files: rspackPage,
    },
  ),
  parcel: built(['parcel'], 'parcel', ['build', 'app.js', '--dist-dir', 'out', '--no-source-maps'], {
    serve: ['serve', 'index.html', '--port', '4473', '--no-hmr'],
    // Without this line Parcel ignores the `exports` of all packages (docs/start-up.md).
    files: { manifest: { '@parcel/resolver-default': { packageExports: true } } },
  }),
  esbuild: built(['esbuild'], 'esbuild', ['app.js', '--bundle', '--format=esm', '--outdir=out'], {
    serve: [
      'app.js',
      '--bundle',
      '--format=esm',
      '--outdir=.',
      '--allow-overwrite',
      '--servedir=.',
      '--serve=127.0.0.1:4474',
    ],
  }),
  'esbuild-split': built(['esbuild'], 'esbuild', ['app.js', '--bundle', '--splitting', '--format=esm', '--outdir=out']),
  rollup: built(['rollup', '@rollup/plugin-node-resolve'], 'rollup', [
    'app.js',
    ...['--plugin', 'node-resolve={browser:true}', '--format', 'es', '--dir', 'out'],
  ]),
  'bun-build': built(['bun'], 'bun', ['build', 'app.js', '--target=browser', '--outdir=out'], {
    serve: ['index.html', '--port=4475'],
  }),
};
