// `npm run record`: records the animation of README.md. Moves the pointer along a path over the demo's first page in Chromium,
// takes a picture at each step, and runs ffmpeg to make an animated WebP of them, which plays faster than a machine without a
// graphics card draws.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, root } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

const PICTURE = 'docs/demo.webp';
const VIEWPORT = { width: 1200, height: 675 };
const WIDTH = 640;
const FRAMES = 40;
/** Frames per second of the animation. */
const RATE = 12;
/** Quality of the pictures, from 0 to 100. */
const QUALITY = 42;

if (spawnSync('ffmpeg', ['-version']).status !== 0)
  fail('There is no ffmpeg: install it (Debian: apt-get install ffmpeg).');
ensureDependencies();
ensureBuild();
const { browseDemo, demoStarted, serveDemo } = await import('./demo-page.mjs');
const server = await serveDemo();
const browser = await browseDemo(server.url, { pictures: true });
const folder = mkdtempSync(join(tmpdir(), 'collision-worker-picture-'));
try {
  const { page, faults } = await browser.open(VIEWPORT);
  await demoStarted(page);
  await page.waitForTimeout(3000); // the chart no longer shows the cost of the start
  for (let i = 0; i < FRAMES; i++) {
    const angle = (2 * Math.PI * i) / FRAMES;
    const [x, y] = [0.62 + 0.2 * Math.cos(angle), 0.52 + 0.24 * Math.sin(2 * angle)];
    await page.mouse.move(x * VIEWPORT.width, y * VIEWPORT.height);
    await page.waitForTimeout(120); // for the answer, and a frame that shows it
    await page.screenshot({ path: join(folder, `${String(i).padStart(3, '0')}.png`) });
  }
  if (faults.length > 0) fail(`The demo failed:\n  ${faults.join('\n  ')}`);
} finally {
  await browser.close();
  await server.close();
}
const size = `scale=${WIDTH}:-2:flags=lanczos`;
const webp = ['-c:v', 'libwebp_anim', '-quality', String(QUALITY), '-compression_level', '6', '-loop', '0'];
const pictures = ['-framerate', String(RATE), '-i', join(folder, '%03d.png')];
const { status } = spawnSync('ffmpeg', ['-y', '-loglevel', 'error', ...pictures, '-vf', size, ...webp, PICTURE], {
  cwd: root,
  stdio: 'inherit',
});
rmSync(folder, { recursive: true, force: true });
if (status !== 0) fail('ffmpeg made no picture of it; its own message is above.');
console.log(`${PICTURE}: ${FRAMES} pictures, ${Math.round(statSync(join(root, PICTURE)).size / 1024)} KB`);
process.exit(0);
