// Node, Bun and Deno run the app directly, and print its answer.
import { ANSWER, binOf, runIn } from './app.mjs';

/** Returns stdout only; three warns on stderr when it is loaded by `require`. */
const printed = (app, command, args) => runIn(app, command, args).stdout.trim();

const REQUIRE = {
  'app.cjs': `
    const { createCollisionService } = require('collision-worker');
    const { meshDataFromGeometry } = require('collision-worker/three');
    const { BoxGeometry } = require('three');
    (async () => {
      const service = await createCollisionService();
      const mesh = await service.addMesh(meshDataFromGeometry(new BoxGeometry(2, 2, 2)));
      const box = service.addObject({ shape: { type: 'mesh', mesh } });
      await service.update();
      const hit = await service.raycast({ origin: [0, 0, 5], direction: [0, 0, -1] });
      service.dispose();
      console.log(hit?.object === box && hit.distance === 4 ? '${ANSWER}' : JSON.stringify(hit));
    })();
  `,
};

function node(version) {
  return {
    packages: [`node@${version}`],
    files: REQUIRE,
    ways: {
      import: (app) => printed(app, binOf(app, 'node'), ['app.js']),
      require: (app) => printed(app, binOf(app, 'node'), ['--disable-warning=ExperimentalWarning', 'app.cjs']),
    },
  };
}

export const RUNTIMES = {
  // The oldest version that the package supports.
  'node-20': node('20.19.0'),
  'node-22': node('22'),
  bun: {
    packages: ['bun'],
    files: REQUIRE,
    ways: {
      import: (app) => printed(app, binOf(app, 'bun'), ['app.js']),
      require: (app) => printed(app, binOf(app, 'bun'), ['app.cjs']),
    },
  },
  deno: {
    packages: ['deno'],
    files: REQUIRE,
    ways: {
      import: (app) => printed(app, binOf(app, 'deno'), ['run', '--allow-all', 'app.js']),
      require: (app) => printed(app, binOf(app, 'deno'), ['run', '--allow-all', 'app.cjs']),
    },
  },
};
