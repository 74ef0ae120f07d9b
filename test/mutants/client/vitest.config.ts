// The tests that mutants of the main thread's code must survive. They import dist/, which is built from the mutated sources
// (build.mjs). Those of the adapter, which is made for a page, also run in Node, because they need no DOM; those of pointers and
// of React get a minimal DOM (page.ts).
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const path = (relative: string) => fileURLToPath(new URL(`../../../${relative}`, import.meta.url));

export default defineConfig({
  root: path('.'),
  resolve: {
    alias: [
      { find: 'collision-worker/three', replacement: path('dist/three.js') },
      { find: 'collision-worker/pointer', replacement: path('dist/pointer.js') },
      { find: 'collision-worker/react', replacement: path('dist/react.node.js') },
      { find: 'collision-worker', replacement: path('dist/index.node.js') },
      // Replaces the browser features that tests of a page need (page.ts).
      { find: /^\.\.?\/(fixtures\/)?react-page\.js$/, replacement: path('test/mutants/client/react-page.tsx') },
      { find: 'vitest/browser', replacement: path('test/mutants/client/browser.ts') },
    ],
  },
  define: {
    'import.meta.env.SEED': JSON.stringify(process.env.SEED ?? '1'),
    // Not in process.env, where it is the fraction of all cases that a fuzz test tries: for culling, that takes half a minute.
    'import.meta.env.SHARE': JSON.stringify('0.1'),
  },
  test: {
    name: 'mutants',
    include: [
      'test/client/**/*.test.ts',
      'test/composed/{proximity,section,snap,tracker}.test.ts',
      'test/fuzz/*.test.ts',
      'test/three/{*,transcripts/*}.test.ts',
      'test/pointer/*.test.ts',
      'test/react/*.test.ts',
      'test/react/{fiber-events,hooks,use-character,worker-events}.browser.test.tsx',
      'test/repro/*.test.ts',
      'test/worker/{binding,box-cover,box-lines,commands-in-slices,core-start,failures,mesh-table,placing}.test.ts',
      'test/worker/{motion-order,second-part,steps,top-boxes,used-memory,worker-service}.test.ts',
      'test/worker/boxes/*.test.ts',
      'test/worker/contact/{contact,manifold-convex-service,manifold-mesh-service}.test.ts',
      'test/worker/mesh/{refit,stale-derived,update-mesh,weld}.test.ts',
      'test/worker/point-line/{picks,baked,queries}.test.ts',
      'test/worker/scene/{core-invariants,inspect,frame/matrices,view/many-views}.test.ts',
      'test/worker/scene/query/{pick,pick-region-edges,pick-screen,sees,overlap,containing,closest-point}.test.ts',
      'test/worker/scene/query/{sweep,distance,rays-many,frustum-query,clip-rays,clip-regions,time-left}.test.ts',
      'test/worker/{section,snap,skin}/*.test.ts',
    ],
    // Excludes tests that need a page, or take long: services that run for minutes or are given up after seconds, and large
    // meshes, which concern the core.
    exclude: [
      'test/client/*.browser.test.ts',
      'test/pointer/places.browser.test.ts',
      'test/fuzz/{*.browser,culled}.test.ts',
      'test/repro/*.browser.test.ts',
      'test/client/{ahead,building,character-course,large-meshes,long-run,paced}.test.ts',
      'test/three/{batched-mesh,collision-helper,culling,culling-webgpu,drawn-classes}.browser.test.ts',
      'test/three/{hitches,occlusion,pixel-centres,restart,section-helper}.browser.test.ts',
      'test/repro/{depth-of-a-large-mesh-in-a-box,depth-of-concentric-convex-meshes,derived-of-a-large-mesh}.test.ts',
      'test/repro/{budget-coincident-objects,copies-in-one-mesh,mesh-far-smaller-than-another}.test.ts',
      'test/repro/{flat-mesh-of-denormals,rays-from-afar,removals-in-any-order,three-of-many-in-any-order}.test.ts',
    ],
    setupFiles: ['test/fixtures/quick-expect.ts', 'test/mutants/client/page.ts', 'test/mutants/client/setup.ts'],
    // They must use the same instance of three as the tests.
    server: { deps: { inline: [/@react-three/, /@pmndrs/] } },
    env: { SEED: process.env.SEED ?? '1' },
    // On a busy machine, tests take long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
