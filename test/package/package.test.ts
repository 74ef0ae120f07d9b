import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../scripts/run.mjs';
import { packedSizes } from '../../scripts/sizes.mjs';
import { VERSION } from '../../src/shared/version.js';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' });
const textOf = (file: string) => readFileSync(join(root, 'dist', file), 'utf8');
const textOfSource = (file: string) => readFileSync(join(root, file), 'utf8');

function targetsOf(entry: string | Record<string, string>): string[] {
  return typeof entry === 'string' ? [entry] : Object.values(entry);
}

/** What a file of dist imports, by name. */
function importsOf(file: string): string[] {
  const found = textOf(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["']([^"'\n]+)["']/g);
  return [...found].map(([, name = '']) => name);
}

/** Clash detection is built separately, on the package itself; readers of files and queues are loaded on demand. */
const CLASH_PEERS = 'collision-worker|@gltf-transform|web-ifc|bullmq|ioredis';

describe('package', () => {
  test.each(Object.entries(manifest.exports))('%s leads to files', (_, entry) => {
    for (const target of targetsOf(entry as string | Record<string, string>)) {
      expect(existsSync(join(root, target)), target).toBe(true);
    }
  });

  test('imports nothing but three, and in Node its own, and what an entry is for there alone', () => {
    for (const file of files.filter((name) => /\.(js|d\.ts)$/.test(name) && name !== 'worker.js')) {
      const isAlone = /^(index|index\.node|inline|shared|worker-text)\./.test(file); // without three
      const own = { react: 'react|@react-three/fiber', pointer: '@pmndrs/pointer-events' }[file.split('.')[0]];
      const ofClash = file.startsWith('clash') ? CLASH_PEERS : undefined;
      const peers = ofClash ?? (own !== undefined ? `three|${own}` : isAlone ? 'none' : 'three');
      const known = new RegExp(`^(\\./|(${peers})(/|$)|node:)`);
      for (const name of importsOf(file)) expect(name, file).toMatch(known);
    }
  });

  test.each(['index', 'react'])('%s starts threads in Node, and workers elsewhere', (name) => {
    const all = (file: string): string[] => [file, ...importsOf(file).filter((each) => each.startsWith('./'))];
    const inNode = (file: string) => all(file).some((each) => importsOf(each).includes('node:worker_threads'));
    expect([`${name}.node.js`, `${name}.js`].map(inNode)).toEqual([true, false]);
    expect(manifest.exports[name === 'index' ? '.' : `./${name}`].node).toBe(`./dist/${name}.node.js`);
  });

  test('has a worker in one file, with the core inside', () => {
    expect(importsOf('worker.js')).toEqual([]);
    const core = readFileSync(join(root, 'build/core.wasm.gz'), 'base64');
    expect(textOf('worker.js').includes(core)).toBe(true);
  });

  test('starts the worker by the line that bundlers know', () => {
    expect(textOf('shared.js')).toMatch(/new Worker\(new URL\("\.\/worker\.js",import\.meta\.url\),\{type:"module"/);
  });

  test('has one CollisionError for all its entries', () => {
    const having = files.filter((name) => name.endsWith('.js') && name !== 'worker.js');
    expect(
      having.filter((name) =>
        /CollisionError=class|class CollisionError|\.name=["'`]CollisionError|name=`CollisionError`/.test(textOf(name)),
      ),
    ).toHaveLength(1);
  });

  test('has the version that its code says', () => {
    expect(VERSION).toBe(manifest.version);
  });

  test('maps its code to its sources, by less than the code itself', () => {
    const maps = files.filter((name) => name.endsWith('.js.map'));
    for (const map of maps) {
      const { sources, mappings, sourcesContent } = JSON.parse(textOf(map));
      expect(sources.filter((source: string) => /src\/(client|clash)\//.test(source)).length, map).toBeGreaterThan(0);
      expect(mappings.length, map).toBeGreaterThan(0);
      expect(sourcesContent, map).toBeUndefined();
    }
    const bytesOf = (names: string[]) =>
      names.reduce((sum, name) => {
        const entry = statSync(join(root, 'dist', name));
        return sum + (entry.isFile() ? entry.size : 0);
      }, 0);
    expect(bytesOf(maps) / bytesOf(files)).toBeLessThan(0.4);
  });

  test('prints little of its code above an error that nobody caught, and by its map the line of the source', () => {
    const script =
      "import('./dist/index.node.js').then(({ createCollisionService }) => createCollisionService({ x: 1 }))";
    const printed = (...options: string[]) => {
      const { stderr } = spawnSync(process.execPath, [...options, '-e', script], { cwd: root, encoding: 'utf8' });
      return stderr;
    };
    expect(printed()).toContain('options has the unknown key "x"');
    expect(printed().length).toBeLessThan(4000);
    const source = textOfSource('src/client/check/validate.ts').split('\n');
    const [, line] = /validate\.ts:(\d+)/.exec(printed('--enable-source-maps'))!;
    expect(source[Number(line) - 1]).toContain('new CollisionError(');
  });

  // What a page loads; the bounds leave room for some features, not for a second copy of anything.
  test.each([
    ['index.js', 1],
    ['index.node.js', 1],
    ['adapter.js', 57],
    ['clash.js', 2],
    ['clash-shared.js', 17],
    ['clash-node.js', 1],
    ['clash-node-shared.js', 11],
    ['clash-cli.js', 4],
    ['clash-gltf.js', 3],
    ['clash-ifc.js', 3],
    ['clash-thread.js', 1],
    ['events.js', 2],
    ['helper.js', 5],
    ['packed-filter.js', 4],
    ['inline.js', 1],
    ['pointer.js', 4],
    ['react.js', 6],
    ['react.node.js', 6],
    ['shared.node.js', 1],
    ['worker-text.js', 297],
    ['shared.js', 45],
    ['three.js', 1],
    ['worker.js', 296],
  ])('%s is sent as less than %d KB, gzipped', (name, limit) => {
    expect(packedSizes(readFileSync(join(root, 'dist', name))).gzip).toBeLessThan(limit * 1000);
  });
});

// In development, Parcel runs an entry that re-exports from other files without the imports of its own classes.
test.each(['index.js', 'index.node.js', 'three.js'])(
  '%s hands on what others export, and has nothing of its own',
  (name) => {
    expect(textOf(name)).toMatch(/^(import\s*\{[^}]*\}from"[^"]*";)*export\{[^}]*\}(from"[^"]*")?;\s*$/);
  },
);

test('its types hold nothing of the inside', () => {
  const types = files.filter((name) => name.endsWith('.d.ts'));
  expect(types.sort()).toEqual([
    'adapter.d.ts',
    'clash-node.d.ts',
    'clash-shared.d.ts',
    'clash.d.ts',
    'index.d.ts',
    'inline.d.ts',
    'pointer.d.ts',
    'react.d.ts',
    'shared.d.ts',
    'three.d.ts',
    'worker.d.ts',
  ]);
  for (const name of types) expect(textOf(name), name).not.toMatch(/@internal|WorkerLink|comlink/);
});
