// The packed package, installed by npm in an app of its own, with common tools. None of them is configured for it.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright';
import { build, createServer, type InlineConfig, type PreviewServer, preview, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import webpack from 'webpack';
import { chromiumLaunchOptions } from '../../scripts/chromium.mjs';
import { root, runNpm } from '../../scripts/run.mjs';

const ANSWER = '1 visible, the box at 4.000';
const INDEX = '<!doctype html><title></title><link rel="icon" href="data:," />';
// The first bytes of the packed core, and of the worker's text that is packed
// for a Blob. The module that culling loads begins alike, but is small.
const CORE_MAGIC = Buffer.of(0x1f, 0x8b, 8, 0, 0, 0).toString('base64');
const CORE_BYTES = 200_000;

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const app = mkdtempSync(join(tmpdir(), 'collision-worker-app-'));
const vite: InlineConfig = { root: app, configFile: false, logLevel: 'error' };
let browser: Browser;

beforeAll(async () => {
  browser = await chromium.launch(chromiumLaunchOptions());
  npm(root, 'pack', '--ignore-scripts', '--pack-destination', app);
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', type: 'module', private: true }));
  writeFileSync(join(app, 'index.html'), `${INDEX}<script type="module" src="./app.js"></script>`);
  writeFileSync(join(app, 'nested.html'), `${INDEX}<script type="module" src="./nested.js"></script>`);
  for (const name of ['app.js', 'pick-box.js', 'nested.js'])
    cpSync(join(root, 'test/consumers', name), join(app, name));
  npm(app, 'install', `./collision-worker-${manifest.version}.tgz`, `three@${manifest.devDependencies.three}`);
});

afterAll(async () => {
  await browser?.close();
  rmSync(app, { recursive: true, force: true });
});

function npm(cwd: string, ...args: string[]) {
  const flags = ['--silent', '--prefer-offline', '--no-audit', '--no-fund'];
  expect(runNpm([...args, ...flags], { cwd, stdio: ['ignore', 'ignore', 'inherit'] }), args.join(' ')).toBe(0);
}

/** The result of the app's page on that server, which is then closed. */
async function answerOn(server: ViteDevServer | PreviewServer, path: string): Promise<string> {
  const page = await browser.newPage();
  try {
    await page.goto(new URL(path, server.resolvedUrls?.local[0]).href);
    await page.waitForFunction(() => document.title !== '', null, { timeout: 30_000 });
    return await page.title();
  } finally {
    await page.close();
    await server.close();
  }
}

async function answerOfBuild(outDir: string, path: string): Promise<string> {
  const files = readdirSync(join(app, outDir), { recursive: true, encoding: 'utf8' });
  const holdingCore = files.filter((file) => {
    const text = file.endsWith('.js') ? readFileSync(join(app, outDir, file), 'utf8') : '';
    return text.length > CORE_BYTES && text.includes(CORE_MAGIC);
  });
  // Once as the worker, and once as its text, which is loaded if the worker does not start.
  expect(holdingCore, 'emitted workers').toHaveLength(2);
  return answerOn(await preview({ ...vite, build: { outDir }, preview: { port: 0 } }), path);
}

test('holds what ships and nothing else', () => {
  const installed = readdirSync(join(app, 'node_modules/collision-worker'));
  expect(installed.sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'package.json']);
});

test('runs in Node', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['app.js'], { cwd: app, encoding: 'utf8', timeout: 30_000 });
  expect(stderr + stdout).toBe(`${ANSWER}\n`);
});

describe.each([
  ['on the page', 'index.html', 'app.js'],
  ['in a worker of the page', 'nested.html', 'nested.js'],
])('runs %s', (_, html, script) => {
  test('on the development server of Vite', async () => {
    const server = await createServer({ ...vite, server: { port: 0 } });
    await server.listen();
    expect(await answerOn(server, html)).toBe(ANSWER);
  });

  test('when built by Vite', async () => {
    const outDir = `dist-vite-${script}`;
    await build({ ...vite, build: { outDir, rolldownOptions: { input: join(app, html) } } });
    expect(await answerOfBuild(outDir, html)).toBe(ANSWER);
  });

  test('when built by webpack', { timeout: 180_000 }, async () => {
    const outDir = `dist-webpack-${script}`;
    const path = join(app, outDir);
    const errors = await new Promise<string>((resolve, reject) => {
      // The worker's file and the page's script are larger than webpack recommends (docs/start-up.md).
      const performance = { maxAssetSize: 458_000, maxEntrypointSize: 260_000 };
      webpack(
        { mode: 'production', context: app, entry: `./${script}`, output: { path }, performance },
        (error, stats) => {
          if (error) reject(error);
          else resolve(stats?.toString({ all: false, errors: true, warnings: true }) ?? '');
        },
      );
    });
    expect(errors).toBe('');
    writeFileSync(join(path, html), `${INDEX}<script src="./main.js"></script>`);
    expect(await answerOfBuild(outDir, html)).toBe(ANSWER);
  });
});

/** Compiles an app with the package's types and those of `packages`, and returns what the compiler says. */
function compile(code: string, packages: readonly string[], ...flags: string[]): string {
  mkdirSync(join(app, 'node_modules/@types'), { recursive: true });
  for (const name of packages) {
    const link = join(app, 'node_modules/@types', name);
    rmSync(link, { force: true });
    symlinkSync(join(root, 'node_modules/@types', name), link, 'junction');
  }
  writeFileSync(join(app, 'types.ts'), code);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const always = ['--noEmit', '--strict', '--target', 'es2022'];
  return spawnSync(process.execPath, [tsc, ...always, ...flags, 'types.ts'], { cwd: app, encoding: 'utf8' }).stdout;
}

test.each(['bundler', 'nodenext'])('has types that stand alone, module resolution %s', (moduleResolution) => {
  // Both have `measure`: one with three's vectors, one with numbers.
  const entries = ['', '/three'].map((entry) => `export * from 'collision-worker${entry}';`);
  const types = [...entries, "export { measure } from 'collision-worker/three';"];
  const module = moduleResolution === 'bundler' ? 'preserve' : 'nodenext';
  const flags = ['--lib', 'es2022,dom', '--module', module, '--moduleResolution', moduleResolution];
  expect(compile(types.join('\n'), ['three'], ...flags, '--exactOptionalPropertyTypes')).toBe('');
});

test('has types for Node that need none of the DOM', () => {
  const entries = ['', '/inline', '/clash', '/clash/node'].map((entry) => `import 'collision-worker${entry}';`);
  const use = `import { createCollisionService } from 'collision-worker';
    const service = await createCollisionService();
    service.addEventListener('lost', ({ final }) => console.log(final), { once: true });
    // @ts-expect-error an option that there is not: an option of an unknown type would let it pass
    service.addEventListener('lost', () => {}, { twice: true });`;
  const flags = ['--lib', 'es2022', '--types', 'node', '--module', 'nodenext', '--moduleResolution', 'nodenext'];
  expect(compile([...entries, use].join('\n'), ['node'], ...flags)).toBe('');
});

test('has types that refuse what is always an error, and take what is none', () => {
  const use = `import type { CollisionService } from 'collision-worker';
    import type { SceneTracker, TrackOptions } from 'collision-worker/three';
    import type { Material } from 'three';
    export const ask = (service: CollisionService, tracker: SceneTracker) => [
      service.pick(1, 2, { snap: ['vertex'] }),
      tracker.pick(1, 2, { snap: ['vertex'] }),
      // @ts-expect-error only a single pick snaps
      service.pickAll(1, 2, { snap: ['vertex'] }),
      // @ts-expect-error only a single pick snaps
      tracker.pickAll(1, 2, { snap: ['vertex'] }),
    ];
    export const options: TrackOptions = {
      objectOptions: ({ material }) => ({ occluder: !(material as Material | undefined)?.transparent }),
    };`;
  const flags = ['--lib', 'es2022,dom', '--module', 'nodenext', '--moduleResolution', 'nodenext'];
  expect(compile(use, ['three'], ...flags)).toBe('');
});
