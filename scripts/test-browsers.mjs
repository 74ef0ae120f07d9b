// `npm run test:browsers`: the browser tests in Debian's Firefox and WebKit; missing ones are installed by apt-get if permitted.
import { fail, run, runNode } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

ensureDependencies();
ensureBuild();
const { SYSTEM_BROWSERS } = await import('./system-browsers.mjs');
const names = Object.keys(SYSTEM_BROWSERS);
const args = process.argv.slice(2);
const chosen = names.filter((name) => args.includes(name));
const files = args.filter((arg) => !names.includes(arg));
let failed = 0;
for (const name of chosen.length > 0 ? chosen : names) {
  const { find, packages } = SYSTEM_BROWSERS[name];
  if (!find()) run('apt-get', ['install', '-y', '--no-install-recommends', ...packages]);
  if (!find()) fail(`There is no ${name}: install ${packages.join(' ')}.`);
  const env = { ...process.env, BROWSERS: name };
  // This reporter prints the reason why a test is skipped.
  const options = ['run', '--project', name, '--reporter', 'verbose', ...files];
  if (runNode('node_modules/vitest/vitest.mjs', options, { env }) !== 0) failed++;
  console.log(`${name}: without test/client/{dispose,garbage}.browser.test.ts, which ask Chromium for its heap.`);
}
process.exit(failed === 0 ? 0 : 1);
