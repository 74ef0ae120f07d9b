// `npm run consumers`: the packed package in an app of each tool, none of which is configured for it, on a page in a real
// Chromium. `npm test` does the quick ones (test/consumers); here each tool is installed first, from the registry.
//
//   npm run consumers                     all of them
//   npm run consumers -- vite-5 esbuild   only these
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright';
import { chromiumLaunchOptions, ensureChromium } from './chromium.mjs';
import { root, runNpm } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

const ANSWER = '1 visible, the box at 4.000';
const PAGE = '<!doctype html><title></title><link rel="icon" href="data:," />';
const THREE = 'three@0.187.0';
/** Outside of the repository, as tools look for settings above an app. */
const apps = mkdtempSync(join(tmpdir(), 'collision-worker-apps-'));
const folderOf = (name) => join(apps, name);

/** Each tool: what is installed, and ways to run the app, which answer the address of its page and how to end it. */
const TOOLS = {
  ...Object.fromEntries([5, 6, 7, 8].map((major) => [`vite-${major}`, vite(major)])),
  esbuild: built(['esbuild'], (app) => [
    'esbuild',
    ['app.js', '--bundle', '--format=esm', `--outdir=${join(app, 'out')}`],
  ]),
  'esbuild, split': built(['esbuild'], (app) => [
    'esbuild',
    ['app.js', '--bundle', '--splitting', '--format=esm', `--outdir=${join(app, 'out')}`],
  ]),
  rollup: built(['rollup', '@rollup/plugin-node-resolve'], () => [
    'rollup',
    ['app.js', '--plugin', 'node-resolve={browser:true}', '--format', 'es', '--dir', 'out'],
  ]),
  parcel: built(['parcel'], () => ['parcel', ['build', 'app.js', '--dist-dir', 'out', '--no-source-maps']]),
  rspack: built(
    ['@rspack/core', '@rspack/cli'],
    () => ['rspack', ['build', '--mode', 'production', '--entry', './app.js', '--output-path', 'out']],
    'main.js',
  ),
};

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

/** A tool of the command line that writes app.js to out/. */
function built(packages, command, script = 'app.js') {
  return {
    packages,
    ways: {
      async build(app) {
        const [tool, args] = command(app);
        const { status, stdout, stderr } = spawnSync(join(app, 'node_modules/.bin', tool), args, {
          cwd: app,
          encoding: 'utf8',
        });
        if (status !== 0) throw new Error(`${tool} failed: ${stdout}${stderr}`);
        writeFileSync(join(app, 'out/index.html'), `${PAGE}<script type="module" src="./${script}"></script>`);
        return serveFolder(join(app, 'out'));
      },
    },
  };
}

async function serveFolder(folder) {
  const server = createServer(({ url }, response) => {
    const path = join(folder, normalize(new URL(url, 'http://x').pathname));
    const file = path.endsWith('/') ? `${path}index.html` : path;
    const type = file.endsWith('.html') ? 'text/html' : 'text/javascript';
    try {
      const content = readFileSync(file);
      response.writeHead(200, { 'Content-Type': type }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, close };
}

function npm(cwd, ...args) {
  const flags = ['--silent', '--prefer-offline', '--no-audit', '--no-fund'];
  if (runNpm([...args, ...flags], { cwd, stdio: ['ignore', 'ignore', 'inherit'] }) !== 0)
    throw new Error(`npm ${args.join(' ')}`);
}

function prepare(name, packages, tarball) {
  const app = folderOf(name);
  rmSync(app, { recursive: true, force: true });
  mkdirSync(app, { recursive: true });
  const manifest = { name: 'app', type: 'module', private: true, browserslist: 'chrome 116', source: 'app.js' };
  // Without this line Parcel knows no `exports` of any package (docs/start-up.md).
  if (name === 'parcel') manifest['@parcel/resolver-default'] = { packageExports: true };
  writeFileSync(join(app, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(app, 'index.html'), `${PAGE}<script type="module" src="./app.js"></script>`);
  copyFileSync(join(root, 'test/consumers/app.js'), join(app, 'app.js'));
  npm(app, 'install', tarball, THREE, ...packages);
  return app;
}

async function answerOn(browser, url) {
  const page = await browser.newPage();
  const said = [];
  page.on('pageerror', ({ message }) => said.push(message));
  try {
    await page.goto(url);
    await page.waitForFunction(() => document.title !== '', null, { timeout: 30_000 });
    return await page.title();
  } catch (error) {
    return `${error.message.split('\n')[0]} ${said.join('; ')}`;
  } finally {
    await page.close();
  }
}

ensureDependencies();
ensureBuild();
ensureChromium();
const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in TOOLS));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}; there are ${Object.keys(TOOLS).join(', ')}`);
  process.exit(2);
}
npm(root, 'pack', '--ignore-scripts', '--pack-destination', apps);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const tarball = join(apps, `collision-worker-${version}.tgz`);
if (!existsSync(tarball)) throw new Error(`${tarball} is not there`);
const browser = await chromium.launch(chromiumLaunchOptions());
let failed = 0;
for (const [name, { packages, ways }] of Object.entries(TOOLS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  let app;
  for (const [way, run] of Object.entries(ways)) {
    let answer;
    try {
      app ??= prepare(name.replace(/\W+/g, '-'), packages, tarball);
      const { url, close } = await run(app);
      answer = await answerOn(browser, url);
      await close();
    } catch (error) {
      answer = error.message;
    }
    const isRight = answer === ANSWER;
    if (!isRight) failed++;
    console.log(`${isRight ? 'ok    ' : 'FAILED'} ${name}, ${way}${isRight ? '' : `: ${answer}`}`);
  }
}
await browser.close();
rmSync(apps, { recursive: true, force: true });
console.log(failed === 0 ? '\nAll run.' : `\n${failed} failed.`);
process.exit(failed === 0 ? 0 : 1);
