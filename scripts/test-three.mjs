// `npm run test:three`: the adapter's tests with each version of three in the peer range. Installs and builds first if needed.
import { parseArgs } from 'node:util';
import { ensureChromium } from './chromium.mjs';
import { fail, runNode } from './run.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';
import { ensureThrees, installedThree, OLDER_THREES } from './three-versions.mjs';

const HELP = `npm run test:three -- [options] [files]

Runs the adapter's tests in Node, and what draws in Chromium, with three ${OLDER_THREES.join(', ')} and the installed version. \`npm test\` does the same
with fewer tests of the older ones, and fewer random changes. Any part of a path says which files: -- model

  --versions a,b  of three, instead of these
  --quick         as in \`npm test\`
  --help          this text`;

const { versions, quick, files } = optionsOf(process.argv.slice(2));
ensureDependencies();
ensureBuild();
if (!quick) ensureChromium();
const threes = versions ?? [...OLDER_THREES, installedThree()];
const missing = ensureThrees(threes);
if (missing.length > 0) fail(`npm could not install three ${missing.join(', ')}; its own message is above.`);
process.exitCode = runNode('node_modules/vitest/vitest.mjs', ['run', ...threes.flatMap(projectsOf), ...files], {
  env: { ...process.env, [quick ? 'THREES_IN_SHORT' : 'THREES']: threes.join() },
});

/** The older versions draw in a real browser, too, unless `--quick` is given. */
function projectsOf(version) {
  const projects = quick ? [`three ${version}`] : [`three ${version}`, `drawn by three ${version}`];
  return projects.flatMap((project) => ['--project', project]);
}

function optionsOf(args) {
  let parsed;
  try {
    parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        versions: { type: 'string' },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    fail(`${error.message}\n\n${HELP}`);
  }
  const { versions, quick, help } = parsed.values;
  if (help) {
    console.log(HELP);
    process.exit(0);
  }
  const list = versions?.split(',');
  const unknown = list?.find((version) => !/^0\.\d+\.\d+$/.test(version));
  if (unknown !== undefined) fail(`--versions: ${unknown} is not a version of three, as ${OLDER_THREES[0]} is`);
  return { versions: list, quick, files: parsed.positionals };
}
