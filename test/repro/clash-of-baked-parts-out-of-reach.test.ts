// Parts of a baked folder whose meshes could not be reached, as on a network drive that was gone, were unread, and stayed
// so in all further runs with the work folder: what was baked of them was taken for the folder's contents.
import { renameSync, writeFileSync } from 'node:fs';
import { clashFiles } from 'collision-worker/clash/node';
import { expect, test } from 'vitest';
import { TemporaryFolder } from '../fixtures/clash-cli.js';
import { type IfcBox, ifcOf } from '../fixtures/ifc-boxes.js';

test('a baked folder whose meshes are out of reach is refused, and read when they are back', async () => {
  const folder = new TemporaryFolder();
  const [model, work] = [folder.file('model.ifc'), folder.file('work')];
  const box = (name: string, x: number): IfcBox => {
    return { guid: name, type: 'IFCWALL', name, at: [x, 0, 0], size: [1, 1, 1] };
  };
  writeFileSync(model, ifcOf([box('A', 0), box('B', 0.5)]));
  const run = (model: string, work: string) =>
    clashFiles(model, null, [{ name: 'hard', kind: 'hard' }], { work, workers: 1 });
  await run(model, work);
  const [meshes, elsewhere] = [`${work}/a/meshes-0000.bin`, folder.file('elsewhere')];
  const nextWork = folder.file('next work');
  try {
    renameSync(meshes, elsewhere);
    await expect(run(`${work}/a`, nextWork)).rejects.toMatchObject({ code: 'BAD_DATA' });
    renameSync(elsewhere, meshes);
    expect(await run(`${work}/a`, nextWork)).toMatchObject({ clashes: [{ rule: 'hard' }], unread: [] });
  } finally {
    folder.remove();
  }
});
