import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { chromiumLaunchOptions } from './scripts/chromium.mjs';
import { gzipAsData } from './scripts/gzip-as-data.mjs';
import { systemBrowser } from './scripts/system-browsers.mjs';
import { folderOfThree } from './scripts/three-versions.mjs';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Tests mirror `src`. Those of this ending run in a page, all others in Node. */
const IN_BROWSER = 'test/**/*.browser.test.{ts,tsx}';
/** In Node, what waits for the clock: it may lose a race against it on a busy machine. */
const TIMED = 'test/client/{aborted,building,dispose,long-run,order,paced,restart,silence,worker-link}.test.ts';
/** Folders of tests that need a set-up of their own. */
const FOLDERS = ['test/demo/**', 'test/consumers/**', 'test/pages/**'];
/** Tests of the worker's parts, each with a core of its own. */
const OF_WORKER = ['test/worker/**/*.test.ts'];
/** What puts something in a module's place that others hold, or needs a process in which nothing has happened yet. */
const ALONE = [
  'test/worker/{box-cover,scene/pairs/contact-budget}.test.ts',
  'test/client/compiled-core.test.ts',
  'test/three/batch-draws.test.ts',
  'test/repro/{clash-lock-that-came-meanwhile,clash-of-copies-in-many-places}.test.ts',
];
/** In Node, what depends on the version of three; and of that, what takes long for how little it depends on it. */
const OF_THREE = ['test/three/**/*.test.ts', 'test/repro/three-*.test.ts'];
const LONG_OF_THREE = [
  'test/three/{scene-objects,turns,skinned-mesh,posed-lod,scene-chaos,scene-queries,scene-rays,clipping}.test.ts',
  'test/repro/three-*.test.ts',
];
/** Versions of three on the way, of which only the scene graph's tests are done here. */
const ON_THE_WAY = ['0.165.0', '0.170.0', '0.180.0'];
const ON_THE_WAY_TESTS = [
  'test/three/{model,tracked-object,batched-mesh,many-instances,material-plan,version}.test.ts',
];
/** It builds the documentation's site, which takes a minute; links are looked at by test/package/docs.test.ts anyway. */
const DOCS_SITE = process.env.DOCS_SITE === '1' ? [] : ['test/pages/docs-site.test.ts'];
/** It builds the demo's site and opens each page once more: test/demo/pages.test.ts opens them anyway. */
const SITE = process.env.SITE === '1' ? [] : ['test/demo/site.test.ts'];
/** So many files at a time in Node: a test waits for its worker now and then. On two cores, three took 848 s and two 883. */
const IN_NODE = availableParallelism() + 1;
/** Files share processes, where three and the core are compiled once, not for each: a sixth less of the processor. */
const SHARED = { isolate: false, maxWorkers: IN_NODE };
/** The part of their random changes that is done where all of it would take too long. */
const SHORT = 0.15;

/**
 * What waits, for the clock or for a browser, as much as it computes: the lane `waiting`. All others are the lane `computing`.
 * `npm test` runs both beside each other.
 */
const WAITING = ['browser', 'demo', 'pages', 'consumers', 'node-timed'];
const LANE = process.env.LANE ?? '';

/** Tests that ask Chromium for its heap and its targets; scripts/test-browsers.mjs says so. */
const OF_CHROMIUM = ['test/client/{dispose,garbage}.browser.test.ts'];

/**
 * What loses a race against the clock is asked again, and printed as such. All other tests have one try: an answer that
 * is wrong once is wrong.
 */
const ONCE_MORE = { retry: 1 };

// Tests import the package by its name and get what ships.
const aliasFor = (index: string) => ({
  'collision-worker/clash/node': path('./dist/clash-node.js'),
  'collision-worker/clash': path('./dist/clash.js'),
  'collision-worker/react': path('./dist/react.js'),
  'collision-worker/pointer': path('./dist/pointer.js'),
  'collision-worker/three': path('./dist/three.js'),
  'collision-worker': path(`./dist/${index}`),
});
const aliasInNode = aliasFor('index.node.js');

export default defineConfig({
  test: {
    // What a test prints is for whoever looks why it failed.
    silent: 'passed-only',
    // Groups run one after the other: each starts workers and Chromiums enough to fill a small machine.
    projects: [
      inNode('node', ['test/*.test.ts', 'test/!(worker)/**/*.test.ts'], 0, {
        ...SHARED,
        exclude: [IN_BROWSER, TIMED, ...FOLDERS, ...ALONE],
      }),
      inNode('worker', OF_WORKER, 0, { ...SHARED, exclude: ALONE }),
      inNode('alone', ALONE, 0, { maxWorkers: IN_NODE }),
      inNode('node-timed', [TIMED], 0, { ...ONCE_MORE, maxWorkers: IN_NODE }),
      inNode('consumers', ['test/consumers/**/*.test.ts'], 0, { ...ONCE_MORE, maxWorkers: IN_NODE }),
      // Pages with headers and fates of their own, each in a Chromium that is started for it; they wait, for the most part,
      // while others compute.
      inNode('pages', ['test/pages/**/*.test.ts'], 0, { ...ONCE_MORE, exclude: DOCS_SITE, maxWorkers: IN_NODE }),
      // The scripts that name other versions of three have installed them.
      ...listed(process.env.THREES).map((version) => withThree(version, 1)),
      ...listed(process.env.THREES_IN_SHORT).map((version) => withThree(version, SHORT, LONG_OF_THREE)),
      // One at a time, which is the default on two cores: some count the workers of the browser, and measure its heap.
      inChromium('browser', [IN_BROWSER], 1, { ...ONCE_MORE, maxWorkers: 1 }),
      ...listed(process.env.THREES).map(inChromiumWithThree),
      // `npm run test:browsers` names them.
      ...listed(process.env.BROWSERS).map(inSystemBrowser),
      // Each of its files fills a small machine with a Chromium that draws in software; but those in the browser wait, as
      // often as not, for workers that are lost.
      inNode('demo', ['test/demo/**/*.test.ts'], 1, {
        ...ONCE_MORE,
        exclude: SITE,
        globalSetup: './test/demo/serve.ts',
        maxWorkers: 1,
      }),
    ].filter(({ test: { name } }) => LANE === '' || (LANE === 'waiting') === WAITING.includes(name)),
  },
});

function inNode(name: string, include: string[], groupOrder: number, options = {}) {
  return {
    resolve: { alias: aliasInNode },
    // The seed of the random tests, for pages as well, which have no `process`.
    define: { 'import.meta.env.SEED': JSON.stringify(process.env.SEED ?? '1') },
    test: {
      ...common(name, include, groupOrder),
      environment: 'node' as const,
      pool: 'forks' as const,
      setupFiles: ['./test/fixtures/quick-expect.ts'],
      ...options,
    },
  };
}

/** The adapter's tests with a version of three, in the group of all others in Node. */
function withThree(version: string, share: number, exclude: string[] = []) {
  const folder = folderOfThree(version);
  const isOnTheWay = share < 1 && ON_THE_WAY.includes(version);
  const project = inNode(`three ${version}`, isOnTheWay ? ON_THE_WAY_TESTS : OF_THREE, 0, {
    exclude: [IN_BROWSER, ...exclude],
    env: { THREE: version, SHARE: String(share) },
    ...SHARED,
  });
  const three = [
    { find: /^three$/, replacement: `${folder}/build/three.module.js` },
    { find: /^three\/(addons|examples\/jsm)\//, replacement: `${folder}/examples/jsm/` },
  ];
  const ours = Object.entries(aliasInNode).map(([find, replacement]) => ({ find, replacement }));
  return { ...project, resolve: { alias: [...three, ...ours] } };
}

function listed(versions = ''): string[] {
  return versions.split(',').filter((version) => version !== '');
}

function inChromium(name: string, include: string[], groupOrder: number, options = {}) {
  return {
    resolve: { alias: aliasFor('index.js') },
    // The seed of the random tests, for pages as well, which have no `process`.
    define: { 'import.meta.env.SEED': JSON.stringify(process.env.SEED ?? '1') },
    plugins: [gzipAsData()],
    optimizeDeps: {
      include: [
        'three',
        'three/webgpu',
        ...['Line2', 'LineGeometry', 'LineMaterial', 'LineSegments2', 'LineSegmentsGeometry'].map(
          (name) => `three/addons/lines/${name}.js`,
        ),
        'react/jsx-dev-runtime',
        'react-dom/client',
        'react-refresh/runtime',
        '@react-three/fiber',
        '@pmndrs/pointer-events',
        '@react-three/drei/core/meshBounds',
        '@react-three/drei/web/CycleRaycast',
        '@react-three/drei/web/Select',
      ],
    },
    test: {
      ...common(name, include, groupOrder),
      ...options,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        provider: playwright({ launchOptions: chromiumLaunchOptions({ install: false }) }),
        instances: [{ browser: 'chromium' as const }],
      },
    },
  };
}

/** What of the adapter hangs on how a version of three draws. */
function inChromiumWithThree(version: string) {
  const project = inChromium(`drawn by three ${version}`, ['test/three/culling.browser.test.ts'], 1, {
    ...ONCE_MORE,
    maxWorkers: 1,
  });
  const three = [{ find: /^three$/, replacement: `${folderOfThree(version)}/build/three.module.js` }];
  const ours = Object.entries(aliasFor('index.js')).map(([find, replacement]) => ({ find, replacement }));
  return { ...project, resolve: { alias: [...three, ...ours] }, optimizeDeps: {} };
}

/** The same tests in a browser that the system has. */
function inSystemBrowser(browser: string) {
  const project = inChromium(browser, [IN_BROWSER], 1, { ...ONCE_MORE, exclude: OF_CHROMIUM, maxWorkers: 1 });
  const own = { provider: systemBrowser(browser), headless: false, instances: [{ browser: browser as 'firefox' }] };
  return { ...project, test: { ...project.test, browser: { ...project.test.browser, ...own } } };
}

function common(name: string, include: string[], groupOrder: number) {
  // The seed of all random tests, where browsers can read it too: import.meta.env.SEED.
  // And how many frames flights are long that compare pictures, where that is asked for.
  const env = { SEED: process.env.SEED ?? '1', FLIGHT: process.env.FLIGHT ?? '' };
  // Both lanes share a small machine, maybe with others: what takes 30 s there took 75 on one with ten times as much to do.
  const patience = { testTimeout: 120_000, hookTimeout: 120_000 };
  // What is waited for comes at once as a rule; one second, the default, is nothing for a builder among others.
  const expect = { poll: { timeout: 20_000 } };
  return { name, include, env, ...patience, expect, sequence: { groupOrder } };
}
