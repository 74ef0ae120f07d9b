// The tests that mutants of the main thread's side must outlive. They import dist/, which is built from the mutated
// sources (build.mjs); the adapter's, made for a page, run in Node as well, as they need nothing of one.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const path = (relative: string) => fileURLToPath(new URL(`../../../${relative}`, import.meta.url));

export default defineConfig({
  root: path('.'),
  resolve: {
    alias: { 'collision-worker/three': path('dist/three.js'), 'collision-worker': path('dist/index.js') },
  },
  define: { 'import.meta.env.SEED': JSON.stringify(process.env.SEED ?? '1') },
  test: {
    name: 'mutants',
    include: [
      'test/client/*.test.ts',
      'test/three/*.test.ts',
      'test/repro/*.test.ts',
      'test/worker/mesh-table.test.ts',
      'test/worker/contact/{contact,manifold-convex-service,manifold-mesh-service}.test.ts',
      'test/worker/mesh/refit.test.ts',
      'test/worker/scene/{core-invariants,many-views,pick,pick-region-edges,pick-screen,sees}.test.ts',
    ],
    // What takes a page, or long: services that live for minutes or are given up after seconds.
    exclude: [
      'test/client/*.browser.test.ts',
      'test/repro/*.browser.test.ts',
      'test/client/{building,long-run,paced}.test.ts',
      'test/three/{pixel-centres,restart}.browser.test.ts',
    ],
    setupFiles: ['test/mutants/client/setup.ts'],
    env: { SEED: process.env.SEED ?? '1' },
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
