// clashFiles ran all tiles though its signal had aborted before the first one, as by Ctrl-C while it planned, or while it
// read files whose parts were baked already: it rejected only at the end. So it did while it hashed its files.
import { existsSync, truncateSync, writeFileSync } from 'node:fs';
import { clashFiles } from 'collision-worker/clash/node';
import { afterAll, expect, test } from 'vitest';
import { TemporaryFolder } from '../fixtures/clash-cli.js';
import { type IfcBox, ifcOf } from '../fixtures/ifc-boxes.js';

const folder = new TemporaryFolder();
afterAll(() => folder.remove());

test('an abort ahead of the first tile leaves all tiles to the next run', async () => {
  const box = (name: string, x: number): IfcBox => {
    return { guid: name, type: 'IFCWALL', name, at: [x, 0, 0], size: [1, 1, 1] };
  };
  const model = folder.file('model.ifc');
  writeFileSync(model, ifcOf([box('A', 0), box('B', 0.5)]));
  const rules = [{ name: 'hard', kind: 'hard' }] as const;
  const controller = new AbortController();
  const fractions: number[] = [];
  const run = clashFiles(model, null, rules, {
    work: folder.file('work'),
    workers: 1,
    signal: controller.signal,
    onProgress: ({ phase, fraction }) => {
      if (phase === 'clash') fractions.push(fraction);
      if (phase === 'read' && fraction === 1) controller.abort('enough');
    },
  });
  await expect(run).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' });
  expect(fractions.filter((each) => each > 0)).toEqual([]);
});

test('an abort while a file is hashed rejects at once', async () => {
  const model = folder.file('huge.glb');
  writeFileSync(model, '');
  truncateSync(model, 2 ** 40); // it has no blocks on the disk, and takes several minutes to read
  const controller = new AbortController();
  const work = folder.file('work of the huge one');
  const run = clashFiles(model, null, [{ name: 'hard', kind: 'hard' }], { work, signal: controller.signal });
  setTimeout(() => controller.abort('enough'), 50);
  await expect(run).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' });
  expect(existsSync(work)).toBe(false);
});
