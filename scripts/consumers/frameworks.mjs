// Frameworks with their own tools: Angular and Next.js.
import { join } from 'node:path';
import { ANSWER, binOf, PAGE, runIn, serveBy, serveFolder } from './app.mjs';

const ANGULAR = {
  'angular.json': {
    version: 1,
    projects: {
      app: {
        projectType: 'application',
        root: '',
        sourceRoot: 'src',
        architect: {
          build: {
            builder: '@angular/build:application',
            options: { browser: 'src/main.ts', index: 'src/index.html', tsConfig: 'tsconfig.json', outputPath: 'out' },
            configurations: { development: { optimization: false, sourceMap: true }, production: {} },
            defaultConfiguration: 'production',
          },
          serve: { builder: '@angular/build:dev-server', options: { buildTarget: 'app:build:development' } },
        },
      },
    },
  },
  'tsconfig.json': {
    compilerOptions: {
      strict: true,
      target: 'ES2022',
      module: 'preserve',
      moduleResolution: 'bundler',
      allowJs: true,
      experimentalDecorators: true,
    },
    files: ['src/main.ts'],
  },
  'src/index.html': `${PAGE}<app-root></app-root>`,
  'src/main.ts': `
    import { Component } from '@angular/core';
    import { bootstrapApplication } from '@angular/platform-browser';
    import { pickBox } from '../pick-box.js';

    @Component({ selector: 'app-root', template: '<p>Angular</p>' })
    class App {
      constructor() {
        pickBox().then(
          (answer) => { document.title = answer; },
          (error) => { document.title = String(error.stack); },
        );
      }
    }
    bootstrapApplication(App);
  `,
};

const angular = {
  // The latest version that runs with the oldest Node that the package supports.
  packages: [
    ...['@angular/cli@21', '@angular/build@21'],
    // The same version for all, because each requires exactly its own version of the others.
    ...['compiler', 'compiler-cli', 'core', 'common', 'platform-browser'].map((name) => `@angular/${name}@21.2.24`),
    ...['rxjs', 'tslib', 'typescript@~5.9', '@types/three@0.187'],
  ],
  files: ANGULAR,
  ways: {
    dev: (app) => serveBy(app, binOf(app, 'ng'), ['serve', '--port', '4476']),
    build(app) {
      runIn(app, binOf(app, 'ng'), ['build']);
      return serveFolder(join(app, 'out/browser'));
    },
  },
};

const NEXT = {
  'app/layout.js': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;',
  'app/page.js': `
    import { Client } from './client.js';
    export default () => <Client />;
  `,
  'app/client.js': `
    'use client';
    import { useEffect } from 'react';
    import { pickBox } from '../pick-box.js';
    export function Client() {
      useEffect(() => {
        pickBox().then(
          (answer) => { document.title = answer; },
          (error) => { document.title = String(error.stack); },
        );
      }, []);
      return <p>Next.js</p>;
    }
  `,
  'app/pick/route.js': `
    import { pickBox } from '../../pick-box.js';
    export const dynamic = 'force-dynamic';
    export const GET = () => pickBox().then(
      (answer) => new Response(answer),
      (error) => new Response(String(error.stack)),
    );
  `,
};

/** The caller requests the page; this function requests the route. */
async function withRoute(starting) {
  const server = await starting;
  const answer = await (await fetch(new URL('/pick', server.url))).text();
  if (answer === ANSWER) return server;
  server.close();
  throw new Error(`the route answers ${answer}`);
}

/** The folder contains an index.html for other tools, which Next.js ignores. */
function next(bundler, ports) {
  return {
    packages: ['next', 'react', 'react-dom'],
    files: NEXT,
    ways: {
      dev: (app) => withRoute(serveBy(app, binOf(app, 'next'), ['dev', `--${bundler}`, '--port', ports[0]])),
      build(app) {
        runIn(app, binOf(app, 'next'), ['build', `--${bundler}`]);
        return withRoute(serveBy(app, binOf(app, 'next'), ['start', '--port', ports[1]]));
      },
    },
  };
}

export const FRAMEWORKS = {
  angular,
  'next-turbopack': next('turbopack', ['4477', '4478']),
  'next-webpack': next('webpack', ['4479', '4480']),
};
