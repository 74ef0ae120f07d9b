// The tests that mutants of the main thread's side must outlive. They import dist/, which is built from the mutated
// sources (build.mjs); the adapter's, made for a page, run in Node as well, as they need nothing of one.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const path = (relative: string) => fileURLToPath(new URL(`../../../${relative}`, import.meta.url));

/** What each file took when its time was first known, which is when nothing was mutated. */
const times = new Map<string, number>();

/** Short files first, and long ones last: a mutant is left at the first test that notices it. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { cache, config } = this.ctx;
    for (const { moduleId, project } of files) {
      const known = cache.getFileTestResults(`${project.name}:${moduleId.slice(config.root.length + 1)}`);
      if (known && !times.has(moduleId)) times.set(moduleId, known.duration);
    }
    const time = ({ moduleId }: TestSpecification) => times.get(moduleId) ?? 0;
    return [...files].sort((a, b) => time(a) - time(b));
  }
}

export default defineConfig({
  root: path('.'),
  resolve: {
    alias: { 'collision-worker/three': path('dist/three.js'), 'collision-worker': path('dist/index.node.js') },
  },
  define: { 'import.meta.env.SEED': JSON.stringify(process.env.SEED ?? '1') },
  test: {
    name: 'mutants',
    include: [
      'test/client/*.test.ts',
      'test/three/*.test.ts',
      'test/repro/*.test.ts',
      'test/worker/{binding,mesh-table,worker-service}.test.ts',
      'test/worker/contact/{contact,manifold-convex-service,manifold-mesh-service}.test.ts',
      'test/worker/mesh/{refit,stale-derived}.test.ts',
      'test/worker/scene/{core-invariants,frame/matrices,view/many-views}.test.ts',
      'test/worker/scene/query/{pick,pick-region-edges,pick-screen,sees}.test.ts',
    ],
    // What takes a page, or long: services that live for minutes or are given up after seconds, large meshes that are the
    // core's to cope with.
    exclude: [
      'test/client/*.browser.test.ts',
      'test/repro/*.browser.test.ts',
      'test/client/{building,character-course,long-run,paced}.test.ts',
      'test/three/{pixel-centres,restart}.browser.test.ts',
      'test/repro/{depth-of-a-large-mesh-in-a-box,depth-of-concentric-convex-meshes,derived-of-a-large-mesh}.test.ts',
      'test/repro/{budget-coincident-objects,copies-in-one-mesh,mesh-far-smaller-than-another}.test.ts',
      'test/repro/{flat-mesh-of-denormals,rays-from-afar,removals-in-any-order,three-of-many-in-any-order}.test.ts',
    ],
    sequence: { sequencer: ShortestFirst },
    setupFiles: ['test/mutants/client/setup.ts'],
    env: { SEED: process.env.SEED ?? '1' },
    // Stryker ends mutants that never answer. On a machine that does much else tests take long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
