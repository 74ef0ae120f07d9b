// What files and folders may be that ended a run, or had the report name what is not there: an IFC product without a GlobalId, a
// baked mesh with another name, a finished tile of which half was written, JSON with a byte order mark.
import { readdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCollisionService } from 'collision-worker';
import { type ClashFilesOptions, clashFiles } from 'collision-worker/clash/node';
import { afterAll, expect, test } from 'vitest';
import { runCli, TemporaryFolder } from '../fixtures/clash-cli.js';
import { type IfcBox, ifcOf } from '../fixtures/ifc-boxes.js';
import { boxMesh } from '../oracle/meshes.js';

const folder = new TemporaryFolder();
afterAll(() => folder.remove());

const RULES = [{ name: 'hard', kind: 'hard' } as const];
const box = (name: string, x: number, guid = `${name}000000000000000000000`): IfcBox => {
  return { guid, type: 'IFCWALL', name, at: [x, 0, 0], size: [1, 1, 1] };
};
const file = (name: string, ...boxes: IfcBox[]): string => {
  writeFileSync(folder.file(name), ifcOf(boxes));
  return folder.file(name);
};
const run = (a: string, b: string | null, options: Partial<ClashFilesOptions> = {}) =>
  clashFiles(a, b, RULES, { work: `${a}.work`, workers: 1, ...options });
const pairsOf = ({ clashes }: Awaited<ReturnType<typeof run>>) => clashes.map(({ a, b }) => `${a.name} ${b.name}`);

test('a product with an empty GlobalId is known by its line', async () => {
  const report = await run(file('empty.ifc', box('A', 0, ''), box('B', 0.5), box('C', 0.5, '')), null);
  expect(pairsOf(report).sort()).toEqual(['A B', 'A C', 'C B'].sort());
  expect(report.clashes.every(({ a }) => /^#\d+$/.test(a.id))).toBe(true);
});

test('a baked mesh that was given another name is called by that', async () => {
  const service = await createCollisionService();
  const baked = await service.bakeMesh(await service.addMesh(boxMesh(1, 1, 1)));
  service.dispose();
  const [first, second] = ['first.mesh', 'second.mesh'].map((name) => folder.file(name));
  writeFileSync(first, new Uint8Array(baked));
  const other = file('other.ifc', box('A', 0));
  const work = folder.file('renamed.work');
  expect(pairsOf(await run(first, other, { work }))).toEqual(['first A']);
  renameSync(first, second);
  expect(pairsOf(await run(second, other, { work }))).toEqual(['second A']);
});

test('a tile of which half was written is looked at again', async () => {
  const path = file('half.ifc', box('A', 0), box('B', 0.5));
  const report = await run(path, null);
  const tiles = join(`${path}.work`, 'tiles');
  truncateSync(join(tiles, readdirSync(tiles)[0], '0.json'), 20);
  expect(await run(path, null, { resume: true })).toEqual(report);
});

test('rules may begin with a byte order mark; a queue worker takes no files', async () => {
  const path = file('mark.ifc', box('A', 0), box('B', 0.5));
  const rules = folder.file('rules.json');
  writeFileSync(rules, `\ufeff${JSON.stringify(RULES)}`);
  const args = ['--rules', rules, '--out', folder.file('mark.json'), '--workers', '1', '--quiet'];
  const [marked, worker] = await Promise.all([
    runCli(['clash', path, ...args]),
    runCli(['clash-worker', path, '--queue', 'redis://127.0.0.1:1']),
  ]);
  expect(marked).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('hard: 1\n') });
  expect(worker).toMatchObject({ code: 1, stderr: expect.stringContaining('the number of files is 1, expected none') });
});
