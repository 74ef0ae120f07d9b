// `npm run headless`: the demo without a screen. Builds it, runs 300 frames of it in Chromium with a pick on each, prints their
// cost, and takes a picture of each page. Exits with an error if anything is wrong.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fail, root } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

const FRAMES = 300;
const VIEWPORT = { width: 960, height: 600 };
const SCREENSHOT = 'artifacts/headless.png';
/** Milliseconds that a page runs before its picture is taken. */
const PAGE_TIME = 1500;
/** The same pattern as in demo/quality.ts. */
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;
/** Milliseconds; a machine without a graphics card draws a few frames a second. */
const RUN_TIMEOUT = 600_000;

ensureDependencies();
ensureBuild();
const { browseDemo, demoStarted, serveDemo } = await import('./demo-page.mjs');
const server = await serveDemo();
const browser = await browseDemo(server.url, { pictures: true });
const { page, faults } = await browser.open(VIEWPORT);
let recording;
let renderer;
const pictures = [];
try {
  await demoStarted(page);
  recording = await inTime(page.evaluate((frames) => window.demo?.record(frames), FRAMES));
  const shown = await page.evaluate(() => document.getElementById('error').textContent);
  if (shown) faults.push(`the page shows: ${shown}`);
  // Puts a hit into the picture.
  await page.mouse.move(VIEWPORT.width * 0.65, VIEWPORT.height / 2);
  await page.waitForTimeout(2000);
  mkdirSync(join(root, 'artifacts'), { recursive: true });
  await page.screenshot({ path: join(root, SCREENSHOT) });
  renderer = await page.evaluate(rendererOfPage);
  // All pages that the first one links to, except itself, which was pictured above.
  const links = await page.locator('#pages a:not([aria-current])').evaluateAll((all) => all.map(({ href }) => href));
  await page.close();
  for (const link of links) pictures.push(await picture(link));
} catch (error) {
  faults.push(String(error));
} finally {
  await browser.close();
  await server.close();
}

if (recording) {
  printTable(recording);
  faults.push(...check(recording));
}
if (!recording || faults.length > 0) fail(`The demo failed:\n  ${faults.join('\n  ')}`);
console.log(`\nPictures: ${[SCREENSHOT, ...pictures].join(', ')}`);
console.log(
  `Drawn by: ${renderer}${SOFTWARE.test(renderer) ? ', in software: it says nothing about a graphics card' : ''}`,
);
process.exit(0);

/** Takes a picture of another page; its errors become faults of the run. */
async function picture(link) {
  const name = new URL(link).pathname.split('/').at(-1).replace('.html', '');
  const path = `artifacts/headless-${name}.png`;
  const opened = await browser.open(VIEWPORT, link);
  await demoStarted(opened.page);
  await opened.page.waitForTimeout(PAGE_TIME);
  await opened.page.screenshot({ path: join(root, path) });
  const shown = await opened.page.evaluate(() => document.getElementById('error').textContent);
  const wrong = shown ? [...opened.faults, `it shows: ${shown}`] : opened.faults;
  // React Three Fiber uses a deprecated API of three.
  faults.push(...wrong.filter((fault) => !/THREE\.Clock/.test(fault)).map((fault) => `${name}: ${fault}`));
  await opened.page.close();
  return path;
}

/** Runs in the page: returns the name of the WebGL renderer. */
function rendererOfPage() {
  const context = document.createElement('canvas').getContext('webgl2');
  const info = context.getExtension('WEBGL_debug_renderer_info');
  return String(context.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER));
}

function inTime(promise) {
  const timeout = new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`${FRAMES} frames took more than ${RUN_TIMEOUT / 1000} s`)), RUN_TIMEOUT).unref();
  });
  return Promise.race([promise, timeout]);
}

function printTable({ objects, triangles, costs, visible, pairs, workerMs, picks }) {
  const all = costs.map(({ simulate, collide, draw }) => simulate + collide + draw);
  const rows = [
    ['objects', count(objects)],
    ['triangles', count(triangles)],
    ['frames', count(costs.length)],
    ['picks answered', `${picks.answered} of ${picks.asked}`],
    ['picks that hit', `${picks.hits}: ${picks.names.join(', ')}`],
    ['visible objects, median', count(quantile(visible, 0.5))],
    ['pairs in contact, median', count(quantile(pairs, 0.5))],
    ['', 'median       p99'],
    ['main thread, all work', spread(all)],
    ['  of it simulation', spread(costs.map(({ simulate }) => simulate))],
    ['  of it collision work', spread(costs.map(({ collide }) => collide))],
    ['  of it drawing', spread(costs.map(({ draw }) => draw))],
    ['worker, collision work', spread(workerMs)],
    ['from pointing to knowing', spread(picks.latencies)],
    ['from frame to frame', spread(costs.map(({ interval }) => interval))],
  ];
  console.log();
  for (const [name, value] of rows) console.log(`${name.padEnd(28)}${value}`);
}

/** Returns the faults of a run, in words. */
function check({ objects, triangles, costs, visible, pairs, workerMs, picks }) {
  const expectations = [
    [objects > 5000, `there are ${objects} objects, expected the dragons and 5,000 boxes`],
    [triangles > 47_794, `there are ${triangles} triangles, expected more than those of the dragon`],
    [costs.length === FRAMES, `${costs.length} frames were run, expected ${FRAMES}`],
    [picks.asked === FRAMES, `${picks.asked} picks were asked, expected ${FRAMES}`],
    [picks.answered === picks.asked, `${picks.answered} of ${picks.asked} picks were answered`],
    [picks.hits > FRAMES / 4, `only ${picks.hits} picks hit anything`],
    [picks.names.includes('Stanford dragon'), 'no pick hit the dragon'],
    [quantile(visible, 0.1) > 0 && quantile(visible, 0.5) < objects, `visible objects: ${quantile(visible, 0.5)}`],
    [quantile(pairs, 0.1) > 0, `pairs in contact: ${quantile(pairs, 0.5)}`],
    [quantile(workerMs, 0.5) > 0, 'the worker did no work'],
    [new Set(pairs).size > 1, 'the pairs in contact never change'],
  ];
  return expectations.filter(([holds]) => !holds).map(([, fault]) => fault);
}

function count(value) {
  return value.toLocaleString('en');
}

function spread(values) {
  const ms = (part) => `${quantile(values, part).toFixed(2)} ms`;
  return `${ms(0.5).padStart(9)} ${ms(0.99).padStart(12)}`;
}

function quantile(values, part) {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))];
}
