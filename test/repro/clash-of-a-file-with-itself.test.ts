// Between a file and the same file, each part was a clash with itself, and each pair was reported twice. Between a list of
// parts and the same list, neither was.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { clash, type Rule } from 'collision-worker/clash';
import { clashFiles } from 'collision-worker/clash/node';
import { afterAll, expect, test } from 'vitest';
import { building } from '../fixtures/building.js';
import { buildingGlb } from '../fixtures/building-glb.js';
import { TemporaryFolder } from '../fixtures/clash-cli.js';
import { clashParts } from '../fixtures/clash-parts.js';

const folder = new TemporaryFolder();
afterAll(() => folder.remove());

const RULES: Rule[] = [
  { name: 'hard', kind: 'hard' },
  { name: 'copies', kind: 'duplicates' },
];

test('a file given twice, by whatever names, is one set of parts', async () => {
  const parts = building({ parts: 100 });
  const path = folder.file('model.glb');
  writeFileSync(path, await buildingGlb(parts));
  mkdirSync(folder.file('links'));
  symlinkSync(path, folder.file('links/model.glb'));
  const run = (b: string | null, work: string) => clashFiles(path, b, RULES, { work: folder.file(work), workers: 1 });
  const expected = await run(null, 'alone');
  expect(expected.clashes.length).toBeGreaterThan(0);
  expect(await run(path, 'twice')).toEqual(expected);
  expect(await run(folder.file('links/model.glb'), 'link')).toEqual(expected);
  const list = clashParts(parts);
  expect((await clash(list, list, RULES)).clashes.map(({ id }) => id)).toEqual(expected.clashes.map(({ id }) => id));
});
