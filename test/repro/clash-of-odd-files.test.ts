// Files and folders that ended a run, or made the report name parts that do not exist: an IFC product without a GlobalId, half an
// IFC file, a baked mesh with another name, a finished tile of which half was written, JSON with a byte order mark, glTF nodes in
// a long chain or with one name, primitives that share their vertices, a truncated buffer. Also the files that a run leaves open
// if it is aborted while it bakes, and a worker lost meanwhile.
import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { createCollisionService } from 'collision-worker';
import { type ClashFilesOptions, clashFiles } from 'collision-worker/clash/node';
import { afterAll, describe, expect, test } from 'vitest';
import { bakeParts } from '../../src/clash/node/part-store.js';
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

test('an IFC file that was cut off is refused: the parts that were behind were missing in silence', async () => {
  const whole = ifcOf([box('A', 0), box('B', 0.5), box('C', 0.5)]);
  writeFileSync(folder.file('cut.ifc'), whole.slice(0, whole.indexOf("'C'")));
  await expect(run(folder.file('cut.ifc'), null)).rejects.toThrow('cut.ifc cannot be read as IFC: it was cut off');
  writeFileSync(folder.file('text.ifc'), 'some text');
  await expect(run(folder.file('text.ifc'), null)).rejects.toThrow('text.ifc cannot be read as IFC: it is none');
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

describe('a glTF file', () => {
  /**
   * Its meshes are lists of indices of primitives that share all vertices: those of a unit cube, then as many more as requested.
   */
  const gltf = (name: string, meshes: number[][], nodes: object[], roots: number[], vertices = 8, mode = 4) => {
    const { positions, indices } = boxMesh(1, 1, 1);
    const all = new Float32Array(3 * vertices);
    all.set(positions);
    const lists = [Array.from(indices!), [0, 1, 2], [0, 1, 9]];
    const bytes = Buffer.concat(
      [all, ...lists.map((each) => Uint32Array.from(each))].map(({ buffer }) => new Uint8Array(buffer)),
    );
    let byteOffset = 12 * vertices;
    const views = lists.map(({ length }) => {
      const view = { buffer: 0, byteOffset, byteLength: 4 * length };
      byteOffset += 4 * length;
      return view;
    });
    const file = {
      asset: { version: '2.0' },
      buffers: [{ uri: `data:application/octet-stream;base64,${bytes.toString('base64')}`, byteLength: bytes.length }],
      bufferViews: [{ buffer: 0, byteLength: 12 * vertices }, ...views],
      accessors: [
        { bufferView: 0, componentType: 5126, count: vertices, type: 'VEC3' },
        ...lists.map(({ length }, i) => ({ bufferView: 1 + i, componentType: 5125, count: length, type: 'SCALAR' })),
      ],
      meshes: meshes.map((each) => ({
        primitives: each.map((list) => ({ attributes: { POSITION: 0 }, indices: 1 + list, mode })),
      })),
      nodes,
      scenes: [{ nodes: roots }],
      scene: 0,
    };
    writeFileSync(folder.file(name), JSON.stringify(file));
    return run(folder.file(name), null);
  };

  test('may have a long chain of nodes', async () => {
    const chain = Array.from({ length: 10_000 }, (_, i) => ({ children: [i + 1] }));
    const { clashes, unread } = await gltf(
      'chain.gltf',
      [[0]],
      [...chain, { mesh: 0 }, { mesh: 0, name: 'root' }],
      [0, 10_001],
    );
    expect(unread).toEqual([]);
    expect(clashes).toHaveLength(1);
  });

  test('may have many nodes of one name, which are numbered', async () => {
    const nodes = Array.from({ length: 10_000 }, (_, i) => ({ mesh: 0, name: i === 1 ? 'node#3' : 'node' }));
    const { unread } = await gltf('names.gltf', [[0]], nodes, [...nodes.keys()], 8, 1);
    expect(new Set(unread.map(({ id }) => id)).size).toBe(10_000);
    expect(unread.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['node', 'node#2', 'node#3', 'node#4', 'node#10000']),
    );
  });

  test('may have primitives that share all of their vertices, but no index beyond these', async () => {
    const many = [0, ...new Array(1000).fill(1)];
    const nodes = [
      { mesh: 0, name: 'A' },
      { mesh: 1, name: 'B' },
      { mesh: 2, name: 'C' },
    ];
    const large = await gltf('shared.gltf', [many, [0], [1]], nodes, [0, 1], 40_000);
    expect(pairsOf(large)).toEqual(['A B']);
    const { unread } = await gltf('beyond.gltf', [[2, 0], [0], [0]], nodes, [0, 1, 2]);
    expect(unread).toMatchObject([{ name: 'A', reason: 'index 9 is not one of its 8 vertices' }]);
  });

  test('may have names that are no texts, but no buffer that was cut off: bytes of others were read behind it', async () => {
    const nodes = [
      { mesh: 0, name: 5 },
      { mesh: 0, name: null },
    ];
    expect(pairsOf(await gltf('names-of-others.gltf', [[0]], nodes, [0, 1]))).toEqual(['5 ']);
    const { buffers, ...others } = JSON.parse(readFileSync(folder.file('names-of-others.gltf'), 'utf8'));
    const uri = buffers[0].uri.slice(0, 200);
    writeFileSync(folder.file('cut.gltf'), JSON.stringify({ ...others, buffers: [{ ...buffers[0], uri }] }));
    await expect(run(folder.file('cut.gltf'), null)).rejects.toThrow('buffer 0 has 122 of 264 bytes');
  });
});

describe('while parts are baked', () => {
  const many = Array.from({ length: 400 }, (_, i) => ({ part: { id: `${i}`, mesh: boxMesh(1, 1, 1 + i) } }));
  const options = { workers: 1, bytes: 2 ** 30 };

  test('what aborts leaves no file open', async () => {
    const controller = new AbortController();
    const items = async function* () {
      yield* many;
      controller.abort('enough');
      yield* many;
    };
    const place = folder.file('aborted');
    const baking = bakeParts(place, 'key', items(), { ...options, signal: controller.signal });
    await expect(baking).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' });
    const open = existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd') : [];
    const targets = open.map((name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`);
      } catch {
        return '';
      }
    });
    expect(targets.filter((target) => target.startsWith(place))).toEqual([]);
    expect(readdirSync(place)).toEqual(['meshes-0000.bin']);
  });

  test('a lost worker ends the run: the parts that it had are not unreadable', async () => {
    const workers: Worker[] = [];
    const note = (worker: Worker) => workers.push(worker);
    process.on('worker', note);
    const items = async function* () {
      yield* many.slice(0, 100);
      for (const worker of workers) await worker.terminate();
      yield* many.slice(100);
    };
    await expect(bakeParts(folder.file('lost'), 'key', items(), options)).rejects.toMatchObject({
      code: 'WORKER_LOST',
    });
    process.off('worker', note);
  });
});
