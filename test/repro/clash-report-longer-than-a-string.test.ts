// A report of more characters than a string may have, as of two million clashes, was lost with the error "Invalid string length"
// once all tiles were done. Here, few clashes have long names.
import { constants } from 'node:buffer';
import { statSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { building } from '../fixtures/building.js';
import { buildingGlb } from '../fixtures/building-glb.js';
import { runCli, TemporaryFolder } from '../fixtures/clash-cli.js';

const NAME = 'n'.repeat(1e6);
/** Each is a copy of each other one: 276 clashes of two names. */
const COPIES = 24;

test('a report that is longer than a string may be is written', { timeout: 120_000 }, async () => {
  const folder = new TemporaryFolder();
  onTestFinished(() => folder.remove());
  const [part] = building({ parts: 100 });
  const copies = Array.from({ length: COPIES }, (_, i) => ({ ...part, id: `${i}`, name: NAME }));
  writeFileSync(folder.file('model.glb'), await buildingGlb(copies));
  writeFileSync(folder.file('rules.json'), JSON.stringify([{ name: 'copies', kind: 'duplicates' }]));
  const outs = ['report.json', 'report.csv'].map(folder.file, folder);
  const args = [folder.file('model.glb'), '--rules', folder.file('rules.json'), '--work', folder.file('work')];
  const result = await runCli(['clash', ...args, ...outs.flatMap((out) => ['--out', out]), '--quiet']);
  expect(result.stderr).toBe('');
  expect(result.stdout).toContain(`${(COPIES * (COPIES - 1)) / 2} clashes`);
  for (const out of outs) expect(statSync(out).size).toBeGreaterThan(constants.MAX_STRING_LENGTH);
});
