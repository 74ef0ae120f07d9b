// Open edges were counted in a table of a fixed size, in as many passes over all of them as it took: 16 for 3 million separate
// triangles, which were four fifths of the time of the build, and with ten times as many triangles a hundred times as long.
import { expect, test } from 'vitest';
import { startCore } from '../fixtures/core.js';
import { Random, SEED } from '../oracle/random.js';

test(`four times as many separate triangles take about four times as many steps, seed ${SEED}`, async () => {
  const core = await startCore();
  const random = new Random(SEED);
  /** Returns how many steps the open edges of separate triangles take: the longest time without progress. */
  const stepsFor = (count: number): number => {
    const positions = Float32Array.from({ length: 9 * count }, () => random.range(0, 1));
    const build = core.beginBuild(positions, undefined, 0, 'triangles', {}, true);
    let [fraction, steps, most] = [0, 0, 0];
    // It takes one step each time.
    for (let next = 0; next < 1; next = build.step(0)) {
      steps = next === fraction ? steps + 1 : 0;
      fraction = next;
      most = Math.max(most, steps);
    }
    const mesh = core.loadMesh(build.finish());
    expect(core.meshInfo(mesh)).toMatchObject({ closed: false, openEdges: 3 * count, closingWeld: null });
    core.freeMesh(mesh);
    return most;
  };
  const few = stepsFor(175_000);
  expect(few).toBeGreaterThan(1000);
  expect(stepsFor(700_000) / few).toBeLessThan(4.5);
});
