import { createCollisionService } from 'collision-worker';
import { test } from 'vitest';
import { expectFlow, runBesideLargeBuild } from '../suites/flow.js';

test('frames and picks are answered while a million triangles are built', async () => {
  const service = await createCollisionService({ builders: 1 });
  expectFlow(await runBesideLargeBuild(service));
  service.dispose();
});
