// `npm run consumers`: the packed package in an app of each tool, without any configuration for it; apps with a page run
// in a real Chromium. `npm test` runs the quick ones (test/consumers); here each tool is first installed from the
// registry, into a folder that is removed afterwards.
//
//   npm run consumers                     all of them
//   npm run consumers -- vite-5 next      only those whose names begin with these
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { chromiumLaunchOptions, ensureChromium } from './chromium.mjs';
import { ANSWER, PAGE, write } from './consumers/app.mjs';
import { BUNDLERS } from './consumers/bundlers.mjs';
import { FRAMEWORKS } from './consumers/frameworks.mjs';
import { PLAIN } from './consumers/plain.mjs';
import { RUNTIMES } from './consumers/runtimes.mjs';
import { TEST_RUNNERS } from './consumers/test-runners.mjs';
import { TYPES } from './consumers/types.mjs';
import { root, runNpm } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

/**
 * By name: packages to install besides three, files to write (`manifest` is merged into package.json), and ways to run the app.
 * Each way returns the app's output, or the address of its page and a function that stops it.
 */
const TOOLS = { ...BUNDLERS, ...FRAMEWORKS, ...PLAIN, ...RUNTIMES, ...TEST_RUNNERS, ...TYPES };
const THREE = 'three@0.187.0';
/** Outside of the repository, because tools search the parent folders of an app for settings. */
const apps = mkdtempSync(join(tmpdir(), 'collision-worker-apps-'));

function npm(cwd, ...args) {
  const flags = ['--silent', '--prefer-offline', '--no-audit', '--no-fund'];
  if (runNpm([...args, ...flags], { cwd, stdio: ['ignore', 'ignore', 'inherit'] }) !== 0)
    throw new Error(`npm ${args.join(' ')}`);
}

function prepare(name, { packages, files = {} }, tarball) {
  const app = join(apps, name);
  mkdirSync(app);
  const { manifest, ...written } = files;
  write(app, {
    'package.json': { name: 'app', type: 'module', private: true, browserslist: 'chrome 116', ...manifest },
    'index.html': `${PAGE}<script type="module" src="./app.js"></script>`,
    ...written,
  });
  for (const file of ['app.js', 'pick-box.js']) copyFileSync(join(root, 'test/consumers', file), join(app, file));
  npm(app, 'install', tarball, THREE, ...packages);
  return app;
}

/** Returns the installed versions of a tool's packages. */
function versionsIn(app, packages) {
  const names = packages.map((name) => name.replace(/(?<=.)@.*$/, ''));
  const versionOf = (name) => JSON.parse(readFileSync(join(app, 'node_modules', name, 'package.json'), 'utf8')).version;
  return names.map((name) => `${name} ${versionOf(name)}`).join(', ');
}

async function answerOn(browser, url) {
  const page = await browser.newPage();
  const said = [];
  page.on('pageerror', ({ message }) => said.push(message));
  try {
    await page.goto(url, { timeout: 120_000 }); // some tools compile the page on request
    await page.waitForFunction(() => document.title !== '', null, { timeout: 30_000 });
    return await page.title();
  } catch (error) {
    return `${error.message.split('\n')[0]} ${said.join('; ')}`;
  } finally {
    await page.close();
  }
}

async function answerOf(run, app, browser) {
  const answer = await run(app);
  if (typeof answer === 'string') return answer;
  try {
    return await answerOn(browser, answer.url);
  } finally {
    await answer.close();
  }
}

function tell(what, answer) {
  const isRight = answer === ANSWER;
  if (!isRight) failed++;
  console.log(isRight ? `ok     ${what}` : `FAILED ${what}: ${answer}`);
}

let failed = 0;
ensureDependencies();
ensureBuild();
ensureChromium();
const filters = process.argv.slice(2);
const isChosen = (name) => filters.length === 0 || filters.some((filter) => name.startsWith(filter));
const unknown = filters.filter((filter) => !Object.keys(TOOLS).some((name) => name.startsWith(filter)));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}; there are ${Object.keys(TOOLS).join(', ')}`);
  process.exit(2);
}
npm(root, 'pack', '--ignore-scripts', '--pack-destination', apps);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const tarball = join(apps, `collision-worker-${version}.tgz`);
if (!existsSync(tarball)) throw new Error(`${tarball} is not there`);
const browser = await chromium.launch(chromiumLaunchOptions());
for (const [name, tool] of Object.entries(TOOLS).filter(([each]) => isChosen(each))) {
  let app;
  try {
    app = prepare(name, tool, tarball);
  } catch (error) {
    tell(`${name}, its installation`, error.message);
    continue;
  }
  const versions = tool.packages.length > 0 ? ` (${versionsIn(app, tool.packages)})` : '';
  for (const [way, run] of Object.entries(tool.ways)) {
    tell(`${name}, ${way}${versions}`, await answerOf(run, app, browser).catch((error) => error.message));
  }
  // Some tools are large, and only one app is needed at a time.
  rmSync(app, { recursive: true, force: true });
}
await browser.close();
rmSync(apps, { recursive: true, force: true });
console.log(failed === 0 ? '\nAll run.' : `\n${failed} failed.`);
process.exit(failed === 0 ? 0 : 1);
