import { build, preview } from 'vite';
import { chromium } from 'playwright';
import { chromiumLaunchOptions } from '/tmp/w/cull/scripts/chromium.mjs';
const path = (r) => '/tmp/w/cull/' + r;
const OPTIONS = { root: path('test/bench/page'), logLevel: 'warn', resolve: { alias: { 'collision-worker/three': path('dist/three.js'), 'collision-worker': path('dist/index.js') } },
  build: { outDir: path('build/bench-page'), emptyOutDir: true, minify: false },
  preview: { host: '127.0.0.1', headers: { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' } } };
if (!process.env.NOBUILD) await build(OPTIONS);
const server = await preview(OPTIONS);
const browser = await chromium.launch(chromiumLaunchOptions());
const page = await browser.newPage();
page.on('console', (m) => console.log(m.text()));
page.on('pageerror', (e) => console.log('ERR', e.message));
for (const name of (process.env.PROBES ?? '').split(',')) if (name) await page.exposeFunction(name, () => 0);
await page.goto(server.resolvedUrls.local[0]);
await page.waitForFunction(() => 'bench' in window);
const [kind, count, ...names] = process.argv.slice(2);
let t = Date.now();
await page.evaluate(([k, c]) => window.bench.open(k, c), [kind, Number(count)]);
console.log('open', Date.now() - t);
if (process.env.PROFILE) {
  const s = await page.context().newCDPSession(page);
  await s.send('Profiler.enable'); await s.send('Profiler.setSamplingInterval', { interval: 200 }); 
  for (let r = 0; r < 3; r++) for (const n of names) await page.evaluate(([n, r]) => window.bench.row.contenders[n](r), [n, r]);
  await s.send('Profiler.start');
  for (let r = 3; r < 9; r++) for (const n of names.slice(0, 1)) console.log(n, await page.evaluate(([n, r]) => window.bench.row.contenders[n](r), [n, r]));
  const { profile } = await s.send('Profiler.stop');
  const self = new Map(); const dt = profile.timeDeltas; const byId = new Map(profile.nodes.map((n) => [n.id, n]));
  profile.samples.forEach((id, i) => { const f = byId.get(id).callFrame; const k = f.functionName + ' ' + f.url.split('/').pop() + ':' + f.lineNumber; self.set(k, (self.get(k) ?? 0) + dt[i]); });
  for (const [k, v] of [...self].sort((a, b) => b[1] - a[1]).slice(0, 40)) console.log((v / 1000).toFixed(1), k);
} else for (const n of names) for (let r = 0; r < Number(process.env.R ?? 3); r++) { t = Date.now(); const ms = await page.evaluate(([n, r]) => window.bench.row.contenders[n](r), [n, r]); console.log(n, ms.toFixed(1), 'wall', Date.now() - t); }
if (process.env.CHECK) for (const n of names) console.log(n, await page.evaluate((n) => window.bench.row.checksums[n](), n));
if (process.env.CHECK) console.log(JSON.stringify(await page.evaluate(() => window.bench.row.facts()), null, 1));
await browser.close(); await server.close(); process.exit(0);
