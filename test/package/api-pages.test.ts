// The output of `npm run docs` from the doc comments: it fails if a link in them leads nowhere. The site itself is
// built by test/pages/docs-site.test.ts, which takes a minute.
import { expect, test } from 'vitest';
import { readApi } from '../../scripts/api-pages.mjs';

test('every link in the docstrings leads to something that an entry has', { timeout: 300_000 }, async () => {
  const { project, faults } = await readApi();
  expect(faults).toEqual([]);
  expect(project.children!.map(({ name }) => name)).toContain('collision-worker/three');
});
